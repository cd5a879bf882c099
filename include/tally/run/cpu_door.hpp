// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the cores of the host: runs the tiles of a read on as many threads as asked. Type-erased and compiled in
// dsl/cpu, so that a user's file sees neither Thrust nor OpenMP. Layer 5.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::inline v0::cpu {

/// How many threads `threads = 0` means: OMP_NUM_THREADS where set and OpenMP is there, else the cores this
/// process may run on; at least 1.
int core_count();

/// Calls body(context, tile) once for every tile in [0, tiles), on exactly `threads` threads (0: core_count()) or on
/// one per tile where there are fewer; returns when all are done. Which thread takes which tile is not promised. The
/// first exception of a body comes out here, and the tiles not begun by then are left out.
void for_each_tile(i64 tiles, void (*body)(void* context, i64 tile), void* context, int threads);

} // namespace tally::inline v0::cpu
