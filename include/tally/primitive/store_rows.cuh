// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles written by the threads of a block into shared memory, whose rows the bulk engine brings to places of their own, several tiles in flight:
// protocol::store_rows (protocols.hpp). Layer 2. Nobody reads what was stored before the kernel is over.
#pragma once

#include <tally/primitive/copy.cuh>
#include <tally/primitive/parts_ring.cuh>

namespace tally::v0::primitive {

/// A ring whose threads send bulk copies. The whole block calls it.
template <int Stages>
struct store_rows : parts_ring<Stages, circle::block> {
  using parts_ring<Stages, circle::block>::parts_ring;
  /// Until the engine has read what this thread sent; before the block ends.
  __device__ __forceinline__ void finish() { wait_bulk_reads(); }
};

} // namespace tally::v0::primitive
