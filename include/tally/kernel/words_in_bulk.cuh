// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words of a block's own table are folded into those of all by the bulk engine, while no thread does. Layer 4. Both tables are aligned to 16
// bytes and have a multiple of four words. The order is: all threads show what they wrote, the block meets, a thread asks, who asked waits.
#pragma once

#include <tally/primitive/bulk_reduce.cuh>

namespace tally::v0::kernel {

using primitive::operation;

/// Says to the bulk engine what this thread wrote to shared memory; then the block meets.
__device__ __forceinline__ void show_own_words() { primitive::show_stores_to_bulk_engine(); }

/// Asks for all[i] = Op(all[i], own[i]) of n words, from word `first` on around: blocks that begin apart do not wait for each other's words.
template <operation Op, class T>
__device__ __forceinline__ void fold_words_into(T* all, T* own, unsigned n, unsigned first) {
  auto const part = [&](unsigned from, unsigned to) {
    if (from < to)
      primitive::reduce<Op>(primitive::in_global<T>(all + from), primitive::in_shared<T const>(own + from),
                            primitive::bulk_bytes::exactly(i64(to - from) * i64(sizeof(T))));
  };
  part(first, n);
  part(0, first);
}

/// Until what this thread asked for is done.
__device__ __forceinline__ void wait_for_words() {
  primitive::commit_bulk_group();
  primitive::wait_bulk_groups();
}

} // namespace tally::v0::kernel
