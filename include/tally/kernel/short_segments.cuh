// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short segments, each folded by one lane that reads its elements where they lie: neighbours share the cache lines. Layer 4.
#pragma once

#include <tally/fold/tree.hpp>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/segments_plan.hpp>

namespace tally::v0::kernel {

/// The longest segment that lanes of one warp fold as one straight tree.
template <segments_plan P, class Program>
inline constexpr int longest_straight = shape_of<Program>.lanes() < 32 * P.elements_per_lane ? shape_of<Program>.lanes() : 32 * P.elements_per_lane;

/// Neighbouring lanes, each of which has the `mine` first of its rows, fold a segment as one straight tree; the first of them has it.
template <segments_plan P, class Program, class Row>
__device__ __forceinline__ typename Program::states fold_straight(Program const& p, Row const (&held)[P.elements_per_lane], int mine, int lanes) {
  typename Program::states out;
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& l = get<i>(p.leaves);
    using Leaf = cuda::std::remove_cvref_t<decltype(l)>;
    using State = typename Leaf::state;
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    State s[P.elements_per_lane];
#pragma unroll
    for (int k = 0; k < P.elements_per_lane; ++k) {
      lanes_t<typename Leaf::monoid_type, 1> one(l.monoid);
      if (k < mine)
        l.step(one, 0, true, held[k]);
      s[k] = one.close(l.monoid, 0);
    }
    State root = combine_in_registers(combine, s);
#pragma unroll 1
    for (int h = 1; h < lanes; h *= 2)
      root = combine(root, shuffled_down(root, h));
    get<i>(out) = root;
  });
  return out;
}

/// Segments of few elements, one a lane, read where they lie: neighbours share the cache lines. `total` elements begin at `origin`.
template <segments_plan P, class All>
__device__ __forceinline__ void fold_tiny(All const& all, i64 s, bool own, i64 origin, int total, int x, int n) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  constexpr int each = P.elements_per_lane;
  auto const rows = all.rows_from(s, origin + (own && n > 0 ? x : 0));
  int const mine = own ? n : 0, last = mine > 0 ? mine - 1 : 0;
  decltype(rows.row_at(0)) held[each];
  if (total > 0)
#pragma unroll
    for (int k = 0; k < each; ++k)
      held[k] = rows.row_at(k < last ? k : last);
  auto const states = fold_straight<P>(all.p, held, mine, 1);
  if (own)
    all.answer(states, n, s);
}

/// A segment of at most four times elements_per_lane elements, by one lane of a warp that does the same; `longest` is that of the warp's longest. The tree
/// is the one that fold_straight has of as many lanes as the segment needs.
template <segments_plan P, class Program, class Rows>
__device__ __forceinline__ typename Program::states fold_in_lane(Program const& p, Rows const& rows, int n, int longest) {
  constexpr int each = P.elements_per_lane;
  decltype(rows.row_at(0)) held[each];
  auto const round = [&](int r) {
#pragma unroll
    for (int k = 0; k < each; ++k)
      held[k] = rows.row_at(r * each + k);
    return fold_straight<P>(p, held, n - r * each, 1);
  };
  auto s = round(0);
  if (longest > each) {
    auto const second = round(1);
    if (n > each)
      s = p.combine(s, second);
  }
  if (longest > 2 * each) {
    auto third = round(2);
    third = p.combine(third, longest > 3 * each ? round(3) : p.identity());
    if (n > 2 * each)
      s = p.combine(s, third);
  }
  return s;
}

/// Segments [i, ...) of a run of `count` that begins with segment s, as far as all are short where a warp looks: P.segments_per_lane of
/// them a lane at once. Returns the first that is not folded. What a lane reads is as long for every segment, so that it needs one address.
template <segments_plan P, class All>
__device__ __forceinline__ int fold_short_run(All const& all, i64 s, int i, int count, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  using Offset = cuda::std::remove_cvref_t<decltype(all.at.offsets[0])>;
  constexpr int each = P.elements_per_lane, of_lane = P.segments_per_lane;
  constexpr int rounds = longest_straight<P, Program> >= 4 * each ? 4 : 1;
  auto const offsets = all.at.offsets + s;
  auto const asked = [&](int k) { return offsets[k < count ? k : count]; };
  i64 const last = all.cut.extent - rounds * each; // reading from here on, a lane stays within the source
  Offset begins[of_lane], ends[of_lane];
  auto const ask = [&] {
#pragma unroll
    for (int k = 0; k < of_lane; ++k)
      begins[k] = asked(i + 32 * k + lane), ends[k] = asked(i + 32 * k + lane + 1);
  };
  ask();
#pragma unroll 1
  while (i < count) {
    i64 begin[of_lane];
    int n[of_lane];
    u64 most = 0;
#pragma unroll
    for (int k = 0; k < of_lane; ++k) {
      begin[k] = i + 32 * k + lane < count ? static_cast<i64>(begins[k]) - all.cut.base : 0;
      u64 const size = static_cast<u64>(static_cast<i64>(ends[k]) - static_cast<i64>(begins[k]));
      n[k] = int(size);
      u64 const needs = static_cast<u64>(begin[k]) <= static_cast<u64>(last) && last >= 0 ? size : ~u64(0);
      most = most < needs ? needs : most;
    }
    int const longest = int(__reduce_max_sync(0xffffffffu, most > u64(rounds * each) ? u32(rounds * each + 1) : u32(most)));
    if (longest > rounds * each)
      return i;
    int const first = i;
    i += 32 * of_lane;
    if (longest <= each) {
      decltype(all.rows_from(s, 0).row_at(0)) held[of_lane][each];
#pragma unroll
      for (int k = 0; k < of_lane; ++k) {
        auto const rows = all.rows_from(s + first + 32 * k + lane, begin[k]);
#pragma unroll
        for (int e = 0; e < each; ++e)
          held[k][e] = rows.row_at(e);
      }
      ask(); // on their way while these are folded
#pragma unroll
      for (int k = 0; k < of_lane; ++k) {
        auto const states = fold_straight<P>(all.p, held[k], n[k], 1);
        if (int const at = first + 32 * k + lane; at < count)
          all.answer(states, n[k], s + at);
      }
    } else if constexpr (rounds > 1) {
      ask();
#pragma unroll
      for (int k = 0; k < of_lane; ++k) {
        auto const states = fold_in_lane<P>(all.p, all.rows_from(s + first + 32 * k + lane, begin[k]), n[k], longest);
        if (int const at = first + 32 * k + lane; at < count)
          all.answer(states, n[k], s + at);
      }
    }
  }
  return count;
}

} // namespace tally::v0::kernel
