// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the parts of a long read meet when warps anywhere on the chip folded them: a part is stored, its arrival counted, and whoever
// comes last of 64 neighbours combines them in their order and goes on with the result one level up. Layer 4. Nobody waits; counts
// are left at zero.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/segments_plan.hpp>

namespace tally::v0::kernel {

template <class... States>
constexpr int words_of_states(pack<States...> const*) {
  return (0 + ... + words<States>::count);
}

/// Where parts are kept and arrivals are counted: a place has the words of all states of a program, and one count.
template <class Program>
struct meeting_room {
  using States = typename Program::states;
  static constexpr int words_per_place = words_of_states(static_cast<States const*>(nullptr));
  u32* parts;
  u32* arrivals;

  __device__ __forceinline__ void store(i64 place, States const& s) const {
    u32* to = parts + place * words_per_place;
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const w = words<cuda::std::remove_cvref_t<decltype(get<i>(s))>>::of(get<i>(s));
#pragma unroll(words_at_once<w.count>)
      for (int k = 0; k < w.count; ++k)
        __stcg(to++, w.w[k]);
    });
  }
  __device__ __forceinline__ States load(i64 place) const {
    States s;
    u32 const* from = parts + place * words_per_place;
    for_each_index<Program::leaf_count>([&](auto i) {
      words<cuda::std::remove_cvref_t<decltype(get<i>(s))>> w;
#pragma unroll(words_at_once<w.count>)
      for (int k = 0; k < w.count; ++k)
        w.w[k] = __ldcg(from++);
      get<i>(s) = w.state();
    });
    return s;
  }
};

/// Part k of `parts` has the states s, in lane 0. True in the one warp whose lane 0 then has the states of all parts. place(level, k)
/// is the place of node k of a level, unlike that of any other node of the run.
template <class Program, class Place>
__device__ __forceinline__ bool meet_parts(Program const& p, meeting_room<Program> const& room, i64 parts, i64 k, int lane,
                                          typename Program::states& s, Place const& place) {
  using States = typename Program::states;
  static_assert(parts_that_meet == 64, "a lane loads two neighbours");
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
#pragma unroll 1
  for (int level = 0; parts > 1; ++level) {
    i64 const above = k / parts_that_meet, first = above * parts_that_meet;
    int const present = parts - first < parts_that_meet ? int(parts - first) : parts_that_meet;
    u32 before = 0;
    if (lane == 0) {
      room.store(place(level, k), s);
      __threadfence();
      before = atomicInc(room.arrivals + place(level, first), u32(present) - 1); // the last one leaves a zero
    }
    if (__shfl_sync(0xffffffffu, before, 0) != u32(present) - 1)
      return false;
    __threadfence();
    if (2 * lane < present)
      s = room.load(place(level, first + 2 * lane));
    if (2 * lane + 1 < present)
      s = combine(s, room.load(place(level, first + 2 * lane + 1)));
    s = combine_lanes<32>(combine, s, (present + 1) / 2, lane);
    k = above;
    parts = (parts - 1) / parts_that_meet + 1;
  }
  return true;
}

} // namespace tally::v0::kernel
