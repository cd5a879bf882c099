// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "batch of types": a few full reductions of any types, in one launch. Layer 4. The programs come with the launch itself; each has
// blocks of its own, whose warps fold a part of it each along the canonical tree, and the parts of a program meet.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/kernel/warp_parts.cuh>
#include <tally/plan/batch_plan.hpp>

namespace tally::v0::kernel {

/// Folds all programs, each by a plan; the states of one lie in `answers` where its cut says.
template <class Programs, segments_plan... Ps>
__global__ void __launch_bounds__(threads_of_batch)
    batch_of_types(__grid_constant__ Programs const programs, __grid_constant__ batch_of_types_cut const cut, u32* room, u32* arrivals, unsigned char* answers) {
  constexpr segments_plan plans[] = {Ps...};
  u32 block = blockIdx.x;
  bool done = false;
  for_each_index<int(sizeof...(Ps))>([&](auto i) {
    batch_share const& own = cut.of[i];
    if (done || block >= own.blocks) {
      block -= done ? 0 : own.blocks;
      return;
    }
    done = true;
    constexpr segments_plan P = plans[i];
    auto const& p = get<i>(programs);
    using Program = cuda::std::remove_cvref_t<decltype(p)>;
    int const lane = int(threadIdx.x % 32);
    i64 const part = i64(block) * P.warps_per_block + threadIdx.x / 32;
    if (part >= own.parts)
      return;
    typename Program::states s;
    auto const place = [&](int level, i64 node) { return own.levels.begin[level] + node; };
    if (fold_part<P>(p, meeting_room<Program>{room + own.first_word, arrivals + own.first_place}, own.parts, part, lane, s, place) && lane == 0)
      *reinterpret_cast<typename Program::states*>(answers + own.answer) = s;
  });
}

} // namespace tally::v0::kernel
