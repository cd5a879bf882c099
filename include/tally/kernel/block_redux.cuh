// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// redux.sync as the warp step of a block: one instruction where a tree takes five shuffles. Layer 4. Only integers have it, so
// it changes no bit. A header of its own because its table of operations costs NVRTC time that few plans need to pay.
#pragma once

#include <tally/kernel/block.cuh>
#include <tally/plan/combinable.hpp>

namespace tally::v0::kernel {

template <class M>
struct redux_warp {
  static_assert(planning::redux_combinable<M>);
  using word = typename M::state;
  static constexpr primitive::operation op = planning::combined_by<M>;
  /// The states of all lanes, in every lane.
  __device__ __forceinline__ static word reduce(word s) {
    using wide = cuda::std::conditional_t<cuda::std::numeric_limits<word>::is_signed, i32, u32>;
    if constexpr (op == primitive::operation::add)
      return static_cast<word>(__reduce_add_sync(0xffffffffu, u32(wide(s))));
    else if constexpr (op == primitive::operation::min)
      return static_cast<word>(__reduce_min_sync(0xffffffffu, wide(s)));
    else if constexpr (op == primitive::operation::max)
      return static_cast<word>(__reduce_max_sync(0xffffffffu, wide(s)));
    else if constexpr (op == primitive::operation::bit_and)
      return static_cast<word>(__reduce_and_sync(0xffffffffu, u32(wide(s))));
    else if constexpr (op == primitive::operation::bit_or)
      return static_cast<word>(__reduce_or_sync(0xffffffffu, u32(wide(s))));
    else
      return static_cast<word>(__reduce_xor_sync(0xffffffffu, u32(wide(s))));
  }
};

} // namespace tally::v0::kernel
