// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "segments": an answer for what lies between each two neighbouring offsets, in one launch. Layer 4. Every warp has an
// equal share of elements and offsets, which it finds by a search over the offsets. Neighbouring segments that fit a tile are staged
// in shared memory together and folded by as many lanes each as they are long; a longer one is read by the whole warp; one that is
// longer than a share is cut into parts of a share each, which belong to the warps whose shares they begin in and meet at the end.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/segments.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/part_meeting.cuh>
#include <tally/kernel/warp_leaf.cuh>

namespace tally::inline v0::kernel {

/// A column's part of a tile. Between groups of eight elements there is a gap, so that lanes that read eight each meet different banks.
template <segments_plan P, class Column>
struct tile_column {
  __device__ __forceinline__ void stage(Column const&, i64, int, int) {}
  __device__ __forceinline__ auto at(Column const& c, int, i64 position) const { return c.at(position); }
};
template <segments_plan P, memory_column Column>
struct tile_column<P, Column> {
  using T = typename Column::value_type;
  static constexpr int gap = sizeof(T) >= 4 ? 1 : int(4 / sizeof(T));
  static constexpr int in_flight = sizeof(T) <= 4 ? 16 : sizeof(T) <= 8 ? 8 : 4;
  T elements[P.tile_elements + P.tile_elements / 8 * gap];

  __device__ __forceinline__ static int place(int x) { return x + (x >> 3) * gap; }
  __device__ __forceinline__ void stage(Column const& c, i64 from, int count, int lane) {
    auto const here = c.from(from);
#pragma unroll 1
    for (int x0 = lane; x0 < count; x0 += 32 * in_flight) {
      T held[in_flight];
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (x0 + 32 * u < count)
          held[u] = here.at(x0 + 32 * u);
#pragma unroll
      for (int u = 0; u < in_flight; ++u)
        if (x0 + 32 * u < count)
          elements[place(x0 + 32 * u)] = held[u];
    }
  }
  __device__ __forceinline__ T at(Column const&, int x, i64) const { return elements[place(x)]; }
};

/// The tile of one warp.
template <segments_plan P, class Columns>
struct tile;
template <segments_plan P, class... Columns>
struct tile<P, pack<Columns...>> {
  pack<tile_column<P, Columns>...> columns;
  unsigned char order[32]; ///< segments of one size class, by their number in the tile

  __device__ __forceinline__ void stage(pack<Columns...> const& from, i64 begin, int count, int lane) {
    for_each_index<int(sizeof...(Columns))>([&](auto i) { get<i>(columns).stage(get<i>(from), begin, count, lane); });
  }
};

/// Rows of a segment that begins at element `begin`, which is element x of the tile.
template <segments_plan P, class Program>
struct tile_rows;
template <segments_plan P, class... Columns, class... Leaves>
struct tile_rows<P, program<pack<Columns...>, Leaves...>> {
  program<pack<Columns...>, Leaves...> const& p;
  tile<P, pack<Columns...>> const& t;
  i64 begin;
  int x;
  __device__ __forceinline__ auto row_at(i64 e) const { return row(e, indices_up_to<int(sizeof...(Columns))>{}); }

private:
  template <int... I>
  __device__ __forceinline__ group_row<typename Columns::value_type...> row(i64 e, index_list<I...>) const {
    return {make_pack(get<I>(t.columns).at(get<I>(p.columns), x + int(e), begin + e)...), p.first + begin + e, e};
  }
};

/// The longest segment that lanes of one warp fold as one straight tree.
template <segments_plan P, class Program>
inline constexpr int longest_straight = shape_of<Program>.lanes() < 32 * P.elements_per_lane ? shape_of<Program>.lanes() : 32 * P.elements_per_lane;

/// Neighbouring lanes, 2^log_lanes of them, fold a segment of n elements, j being the lane's number among them; lane j = 0 has it.
template <segments_plan P, class Program, class Rows>
__device__ __forceinline__ typename Program::states fold_straight(Program const& p, Rows const& rows, int n, int j, int lanes) {
  constexpr int each = P.elements_per_lane;
  using Row = decltype(rows.row_at(0));
  Row held[each];
#pragma unroll
  for (int k = 0; k < each; ++k)
    if (j * each + k < n)
      held[k] = rows.row_at(j * each + k);
  typename Program::states out;
  for_each_index<Program::leaf_count>([&](auto i) {
    auto const& l = get<i>(p.leaves);
    using Leaf = cuda::std::remove_cvref_t<decltype(l)>;
    using State = typename Leaf::state;
    auto const combine = [&](State const& a, State const& b) { return l.monoid.combine(a, b); };
    State s[each];
#pragma unroll
    for (int k = 0; k < each; ++k) {
      lanes_t<typename Leaf::monoid_type, 1> one(l.monoid);
      if (j * each + k < n)
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

/// What all warps of a launch know.
template <class Program, class Nodes, class Offset>
struct segments_of {
  Program const& p;
  groups_between_offsets<Offset> const& at;
  segments_cut const& cut;
  Nodes const& nodes;
  answer_arrays const& to;
  meeting_room<Program> room;
  u64* fault; ///< [0]: the complement of the first wrong offset's number, or 0; [1]: not 0 where a checked fold overflowed

  __device__ __forceinline__ i64 offset(i64 s) const { return static_cast<i64>(at.offsets[s]) - cut.base; }
  __device__ __forceinline__ void report(i64 number) const { atomicMax(reinterpret_cast<unsigned long long*>(fault), ~static_cast<unsigned long long>(number)); }
  __device__ __forceinline__ bool valid(i64 begin, i64 end) const { return 0 <= begin && begin <= end && end <= cut.extent; }
  __device__ __forceinline__ void answer(typename Program::states const& s, i64 n, i64 segment) const {
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& m = get<i>(p.leaves).monoid;
      auto const& own = get<i>(s);
      if constexpr (requires { m.overflowed(own); })
        if (m.overflowed(own))
          fault[1] = 1;
    });
    write_answers(p, nodes, s, n, to, segment);
  }
};

/// What the elements and offsets in front of a segment cost, and the first segment at which that is `cost`: the same for all warps that
/// ask, and never falling with the cost, even where offsets fall.
template <class All>
__device__ __forceinline__ void find_segments(All const& all, i64 const (&cost)[2], int lane, i64 (&found)[2]) {
  i64 const origin = all.offset(0);
  i64 high[2] = {all.at.segments(), all.at.segments()};
  found[0] = found[1] = 0;
#pragma unroll 1
  while (found[0] < high[0] || found[1] < high[1]) {
    i64 step[2];
    bool below[2];
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      step[w] = (high[w] - found[w] + 31) / 32;
      i64 const pivot = found[w] + (lane + 1) * step[w] - 1;
      below[w] = found[w] < high[w] && pivot < high[w] && all.offset(pivot) - origin + pivot * cost_of_offset < cost[w];
    }
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      u32 const beyond = ~__ballot_sync(0xffffffffu, below[w]);
      if (found[w] < high[w]) {
        int const steps = beyond == 0 ? 32 : __ffs(int(beyond)) - 1;
        i64 const last = found[w] + (steps + 1) * step[w] - 1;
        found[w] += steps * step[w];
        found[w] = found[w] < high[w] ? found[w] : high[w];
        high[w] = last < high[w] ? last : high[w];
      }
    }
  }
}

/// Part k of a segment of n elements, by the whole warp: answered at once where it is the only one.
template <segments_plan P, class All>
__device__ __forceinline__ void fold_part(All const& all, i64 segment, i64 begin, i64 n, i64 k, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  constexpr i64 elements = shape_of<Program>.elements();
  i64 const size = elements * P.leaves_per_part, left = n - k * size;
  int const leaves = left >= size ? P.leaves_per_part : int((left - 1) / elements + 1);
  segment_rows<Program> const rows{all.p, begin};
  auto s = fold_leaves_by_warp<P.rows_in_flight, P.leaves_per_part>(all.p, rows, n, k * P.leaves_per_part, leaves, lane);
  i64 const parts = (n - 1) / size + 1;
  // among segments of several nodes of a level, at most one begins in a stretch of a node's length, and at most one goes on there
  auto const place = [&](int level, i64 node) {
    i64 length = size;
    for (int l = 0; l < level; ++l)
      length *= parts_that_meet;
    return all.cut.levels.begin[level] + 2 * ((begin + node * length) / length) + (node == 0 ? 1 : 0);
  };
  if (meet_parts(all.p, all.room, parts, k, lane, s, place) && lane == 0)
    all.answer(s, n, segment);
}

/// Segments [s, s + count) of a tile, whose begin (of the lane's own segment) and size lanes know.
template <segments_plan P, class All, class Tile>
__device__ __forceinline__ void fold_tile(All const& all, Tile& t, i64 s, int count, i64 begin, int n, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  constexpr int each = P.elements_per_lane, straight = longest_straight<P, Program>;
  i64 const origin = __shfl_sync(0xffffffffu, begin, 0);
  i64 const end = __shfl_sync(0xffffffffu, begin + n, count - 1);
  t.stage(all.p.columns, origin, int(end - origin), lane);
  int const x = int(begin - origin);
  bool const own = lane < count;
  __syncwarp();
#pragma unroll 1
  for (int lanes = 1; lanes * each < 2 * straight; lanes *= 2) {
    bool const of_class = own && n <= straight && n <= lanes * each && (lanes == 1 || n > lanes / 2 * each);
    u32 const members = __ballot_sync(0xffffffffu, of_class);
    int const size = __popc(members);
    if (size == 0)
      continue;
    if (of_class)
      t.order[__popc(members & ((1u << lane) - 1))] = static_cast<unsigned char>(lane);
    __syncwarp();
    int const j = lane & (lanes - 1);
#pragma unroll 1
    for (int q = lane / lanes; q < (size + 32 / lanes - 1) / (32 / lanes) * (32 / lanes); q += 32 / lanes) {
      int const who = t.order[q < size ? q : 0];
      int const elements = __shfl_sync(0xffffffffu, n, who), at = __shfl_sync(0xffffffffu, x, who);
      tile_rows<P, Program> const rows{all.p, t, origin + at, at};
      auto const states = fold_straight<P>(all.p, rows, q < size ? elements : 0, j, lanes);
      if (j == 0 && q < size)
        all.answer(states, elements, s + who);
    }
    __syncwarp();
  }
  u32 longer = __ballot_sync(0xffffffffu, own && n > straight);
#pragma unroll 1
  for (; longer != 0; longer &= longer - 1) {
    int const who = __ffs(int(longer)) - 1;
    int const elements = __shfl_sync(0xffffffffu, n, who), at = __shfl_sync(0xffffffffu, x, who);
    tile_rows<P, Program> const rows{all.p, t, origin + at, at};
    static_assert(P.tile_elements <= shape_of<Program>.elements(), "a segment of a tile is not longer than a leaf");
    auto const states = fold_leaf_by_warp<1, true>(all.p, rows, 0, elements, lane);
    if (lane == 0)
      all.answer(states, elements, s + who);
  }
  __syncwarp(); // before the tile is staged again
}

/// The part of segment c, which begins in front of the share that begins at `cost`, that begins in the share; 0: none. Part k > 0 costs
/// what its first element does, and c + 1 offsets.
template <class All>
__device__ __forceinline__ i64 part_in_share(All const& all, i64 cost, i64 c) {
  i64 const size = all.cut.share, begin = all.offset(c), end = all.offset(c + 1);
  i64 const from = cost - (begin - all.offset(0)) - (c + 1) * cost_of_offset;
  i64 const k = from <= size ? 1 : (from - 1) / size + 1;
  return all.valid(begin, end) && begin + k * size < end && k * size < from + size ? k : 0;
}

/// Segments [s, last) and what of the segment in front of them belongs to the share that begins at `cost`.
template <segments_plan P, class All, class Tile>
__device__ __forceinline__ void fold_share(All const& all, Tile& t, i64 cost, i64 s, i64 last, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  constexpr int straight = longest_straight<P, Program>;
  i64 const segments = all.at.segments();
  i64 part = s > 0 ? part_in_share(all, cost, s - 1) : 0;
  if (part > 0)
    --s; // its part is folded first, as if it were a segment of the share
  auto const asked = [&](i64 from) { return all.offset(from + lane <= segments ? from + lane : segments); };
  i64 begin = s < last ? asked(s) : 0;
#pragma unroll 1
  while (s < last) {
    i64 const end = __shfl_down_sync(0xffffffffu, begin, 1), origin = __shfl_sync(0xffffffffu, begin, 0);
    int const known = last - s < 31 ? int(last - s) : 31;
    bool const fits = lane < known && all.valid(begin, end) && origin >= 0 && end - origin <= P.tile_elements;
    int const fitting = __ffs(int(~__ballot_sync(0xffffffffu, fits))) - 1; // lane 31 never fits
    i64 const first_end = __shfl_sync(0xffffffffu, end, 0);
    i64 const own_begin = begin;
    bool const alone = fitting == 0 || (fitting == 1 && first_end - origin > straight);
    i64 const next = s + (alone ? 1 : fitting);
    if (next < last)
      begin = asked(next); // on its way while this tile is folded
    if (!alone)
      fold_tile<P>(all, t, s, fitting, own_begin, int(end - own_begin), lane);
    else if (all.valid(origin, first_end))
      fold_part<P>(all, s, origin, first_end - origin, part, lane);
    else if (first_end < origin && lane == 0)
      all.report(s + 1);
    part = 0;
    s = next;
  }
}

/// Folds all segments. An offset is wrong that is below the one before it, below 0 at the front, or beyond the extent at the end; then
/// answers are not to be looked at.
template <segments_plan P, class Program, class Nodes, class Offset>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor)
    segments(__grid_constant__ Program const p, __grid_constant__ groups_between_offsets<Offset> const at, __grid_constant__ segments_cut const cut,
             __grid_constant__ Nodes const nodes, __grid_constant__ answer_arrays const to, u32* parts, u32* arrivals, u64* fault) {
  using Tile = tile<P, cuda::std::remove_cvref_t<decltype(p.columns)>>;
  __shared__ alignas(16) unsigned char tiles[P.warps_per_block * sizeof(Tile)];
  segments_of<Program, Nodes, Offset> const all{p, at, cut, nodes, to, {parts, arrivals}, fault};
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  i64 const share = i64(blockIdx.x) * P.warps_per_block + warp;
  i64 const segments = at.segments();
  if (share == 0 && lane == 0) {
    if (all.offset(0) < 0)
      all.report(0);
    if (all.offset(segments) > cut.extent)
      all.report(segments);
  }
  i64 const cost[2] = {share * cut.share, (share + 1) * cut.share};
  bool const is_last = i64(gridDim.x) * P.warps_per_block == share + 1;
  i64 found[2];
  find_segments(all, cost, lane, found);
  fold_share<P>(all, reinterpret_cast<Tile*>(tiles)[warp], cost[0], found[0], is_last ? segments : found[1], lane);
}

} // namespace tally::inline v0::kernel
