// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the reductions of a stream that may not be done yet write, so that none of them is read ahead. Compiled side, gpu.
#pragma once

#include "gpu/driver.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::inline v0::gpu {

/// Bytes in device memory.
struct byte_range {
  std::uintptr_t first;
  std::size_t count;
  friend bool operator==(byte_range const&, byte_range const&) = default;
};

/// Whether a launch on a stream may read these ranges while launches of its kind in front of it are not done: none of the calls before
/// named a byte of them as written, since the last that answered no, whose launch has to wait. Notes what this launch writes.
bool reads_nothing_unfinished(int ordinal, driver::stream stream, std::span<byte_range const> reads, std::span<byte_range const> writes);

} // namespace tally::inline v0::gpu
