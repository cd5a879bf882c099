// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles written by ordinary stores and folded into global memory by the bulk engine, several in flight: protocol::store_sum_ring
// (protocols.hpp). Layer 2.
#pragma once

#include <tally/primitive/bulk_reduce.cuh>
#include <tally/primitive/parts_ring.cuh>

namespace tally::v0::primitive {

/// A ring whose threads send bulk reductions.
template <int Stages, circle Who>
struct store_sum_ring : parts_ring<Stages, Who> {
  using parts_ring<Stages, Who>::parts_ring;
  /// Until everything this thread sent is in global memory; before it exits, or tells anybody.
  __device__ __forceinline__ void finish() { wait_bulk_groups<0>(); }
};

} // namespace tally::v0::primitive
