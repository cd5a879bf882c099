// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the cores of the host: runs the tiles of a read on as many threads as asked, locks, sorts, asks for memory in large pages.
// Type-erased and compiled in dsl/cpu, so that a user's file sees neither Thrust nor OpenMP nor the system. Layer 5.
#pragma once

#include <cstddef>

#include <tally/base/numbers.hpp>

namespace tally::v0::cpu {

/// How many threads `threads = 0` means: OMP_NUM_THREADS where set and OpenMP is there, else the cores this
/// process may run on; at least 1.
int core_count();

/// Calls body(context, tile) once for every tile in [0, tiles), on exactly `threads` threads (0: core_count()) or on
/// one per tile where there are fewer; returns when all are done. Which thread takes which tile is not promised. The
/// first exception of a body comes out here, and the tiles not begun by then are left out.
void for_each_tile(i64 tiles, void (*body)(void* context, i64 tile), void* context, int threads);

/// Waits until no other thread has locked the word, which is 0 at first.
void lock(int& word) noexcept;
void unlock(int& word) noexcept;

/// Sorts the numbers in [begin, end), the smallest first.
void sort(i64* begin, i64* end);
void sort(u64* begin, u64* end);

/// Asks the system for large pages under memory that nobody has written to, where it has them; small ones cost more to get than to
/// fill. Changes nothing that can be seen.
void prefer_large_pages(void* memory, std::size_t bytes) noexcept;
/// Bytes from which that is asked: less hardly holds a large page.
inline constexpr std::size_t worth_large_pages = std::size_t(4) << 20;

} // namespace tally::v0::cpu
