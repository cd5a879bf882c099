// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "segments": an answer for what lies between each two neighbouring offsets, in one launch. Layer 4. Every warp has an
// equal share of elements and offsets, which it finds by a search over the offsets. Neighbouring segments that fit a tile are staged
// in shared memory together and folded by as many lanes each as they are long; a longer one is read by the whole warp; one that is
// longer than a share is cut into parts of a share each, which belong to the warps whose shares they begin in and meet at the end.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/fold/segments.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/grid_share.cuh>
#include <tally/kernel/part_meeting.cuh>
#include <tally/kernel/short_segments.cuh>
#include <tally/kernel/warp_leaf.cuh>
#include <tally/plan/segments_read.hpp>

namespace tally::v0::kernel {

/// A column's part of a tile. Between groups of eight elements there is a gap, so that lanes that read eight each meet different banks.
template <segments_plan P, class Column>
struct tile_column {
  __device__ __forceinline__ void stage(Column const&, i64, int, int) {}
  __device__ __forceinline__ typename Column::value_type at(Column const& c, int, i64 position) const {
    return c.at(position);
  }
};
template <segments_plan P, memory_column Column>
struct tile_column<P, Column> {
  using T = typename Column::value_type;
  static constexpr int gap = sizeof(T) >= 4 ? 1 : int(4 / sizeof(T));
  static constexpr int in_flight = sizeof(T) <= 4 ? 16 : sizeof(T) <= 8 ? 8 : 4;
  T elements[P.tile_elements + 8 + (P.tile_elements + 8) / 8 * gap]; ///< a lane may read, and not look at, seven behind the last

  __device__ __forceinline__ static constexpr int place(int x) { return x + (x >> 3) * gap; }
  /// Elements x0 + lane, x0 + lane + 32, ..., all asked for before the first is stored; some may be at or beyond count.
  template <int Count, bool Whole>
  __device__ __forceinline__ void stage_some(Column const& here, int x0, int count, int lane) {
    T held[Count];
#pragma unroll
    for (int u = 0; u < Count; ++u) {
      int const x = x0 + 32 * u;
      held[u] = here.at(Whole || x + lane < count ? x : count - 1 - lane);
    }
    T* const to = elements + place(x0 + lane);
#pragma unroll
    for (int u = 0; u < Count; ++u)
      if (Whole || x0 + 32 * u + lane < count)
        to[u * place(32)] = held[u];
  }
  __device__ __forceinline__ void stage(Column const& c, i64 from, int count, int lane) {
    auto const here = c.from(from + lane);
    int x0 = 0;
#pragma unroll 1
    for (; x0 + 32 * in_flight <= count; x0 += 32 * in_flight)
      stage_some<in_flight, true>(here, x0, count, lane);
    if (count - x0 > 16 * in_flight)
      stage_some<in_flight, false>(here, x0, count, lane);
    else if (count - x0 > 8 * in_flight)
      stage_some<in_flight / 2, false>(here, x0, count, lane);
    else if (count > x0)
      stage_some<in_flight / 4, false>(here, x0, count, lane);
  }
  __device__ __forceinline__ T at(Column const&, int place_of_element, i64) const { return elements[place_of_element]; }
};

/// The tile of one warp.
template <segments_plan P, class Program>
struct tile;
template <segments_plan P, class... Columns, class... Leaves>
struct tile<P, program<pack<Columns...>, Leaves...>> {
  pack<tile_column<P, Columns>...> columns;
  unsigned char order[32]; ///< segments of one size class, by their number in the tile

  __device__ __forceinline__ void stage(pack<Columns...> const& from, i64 begin, int count, int lane) {
    for_each_index<int(sizeof...(Columns))>([&](auto i) { get<i>(columns).stage(get<i>(from), begin, count, lane); });
  }
};

/// Segment s of those between offsets, whose own answer of an earlier fold of the same segments nobody has to search for.
template <class Offsets>
struct own_segment {
  Offsets offsets;
  i64 s;
  template <class Column, class Else>
  __device__ __forceinline__ typename Column::value_type value(Column const& c, Else const& otherwise) const {
    if constexpr (requires { c.of_milestone; })
      if constexpr (cuda::std::is_same_v<decltype(c.offsets), Offsets>)
        if (c.offsets == offsets)
          return c.of_segment(s);
    return otherwise();
  }
};
/// Rows of a segment that looks at answers of segments.
template <class Program, class Offsets>
struct rows_of_own_segment;
template <class... Columns, class... Leaves, class Offsets>
struct rows_of_own_segment<program<pack<Columns...>, Leaves...>, Offsets> {
  program<pack<Columns...>, Leaves...> const& p;
  i64 begin;
  own_segment<Offsets> own;
  __device__ __forceinline__ group_row<typename Columns::value_type...> row_at(i64 e) const {
    return {unpack([&](auto const&... c) { return make_pack(own.value(c, [&] { return c.at(begin + e); })...); }, p.columns), p.first + begin + e, e};
  }
  __device__ __forceinline__ bool reaches(i64 e) const { return begin + e <= p.extent; }
};
template <class... Columns>
constexpr bool any_searched(pack<Columns...> const*) {
  return (false || ... || is_searched<Columns>);
}

/// Rows of a segment whose first element is element x of the tile and element `begin` of the source.
template <segments_plan P, class Program, class Offsets>
struct tile_rows;
template <segments_plan P, class... Columns, class... Leaves, class Offsets>
struct tile_rows<P, program<pack<Columns...>, Leaves...>, Offsets> {
  program<pack<Columns...>, Leaves...> const& p;
  tile<P, program<pack<Columns...>, Leaves...>> const& t;
  i64 begin;
  int x;
  own_segment<Offsets> own;
  __device__ __forceinline__ auto row_at(i64 e) const {
    return row(e, [&](auto const& column) { return column_place(column, x + int(e)); }, indices_up_to<int(sizeof...(Columns))>{});
  }
  /// Row e + k, 0 <= k < 8: a constant away from row e, or a constant and a gap.
  __device__ __forceinline__ auto row_near(int e, int k) const {
    int const from = x + e;
    return row(e + k, [&](auto const& column) { return column_place(column, from) + k + ((from & 7) + k >= 8 ? column_gap(column) : 0); },
               indices_up_to<int(sizeof...(Columns))>{});
  }

private:
  template <class Column>
  __device__ __forceinline__ static int column_place(Column const& c, int at) {
    if constexpr (requires { c.gap; })
      return c.place(at);
    else
      return at;
  }
  template <class Column>
  __device__ __forceinline__ static constexpr int column_gap(Column const& c) {
    if constexpr (requires { c.gap; })
      return Column::gap;
    else
      return 0;
  }
  template <class PlaceOf, int... I>
  __device__ __forceinline__ group_row<typename Columns::value_type...> row(i64 e, PlaceOf const& place_of, index_list<I...>) const {
    return {make_pack(own.value(get<I>(p.columns), [&] { return get<I>(t.columns).at(get<I>(p.columns), place_of(get<I>(t.columns)), begin + e); })...),
            p.first + begin + e, e};
  }
};

/// What all warps of a launch know. Other ways to read elements and to answer stand in front of these in what derives from it.
template <class Program, class Nodes, class Offset>
struct segments_of {
  Program const& p;
  groups_between_offsets<Offset> const& at;
  segments_cut const& cut;
  Nodes const& nodes;
  answer_arrays const& to;
  meeting_room<Program> room;
  u64* fault; ///< as segments_memory has it

  __device__ __forceinline__ i64 offset(i64 s) const { return static_cast<i64>(at.offsets[s]) - cut.base; }
  __device__ __forceinline__ void report(i64 number) const { atomicMax(reinterpret_cast<unsigned long long*>(fault), ~static_cast<unsigned long long>(number)); }
  __device__ __forceinline__ bool valid(i64 begin, i64 end) const { return 0 <= begin && begin <= end && end <= cut.extent; }
  /// The rows of a segment that begins at an element, and of one that begins at element x of a tile and has n elements.
  __device__ __forceinline__ auto rows_from([[maybe_unused]] i64 s, i64 begin) const {
    if constexpr (any_searched(static_cast<typename Program::columns_type const*>(nullptr)))
      return rows_of_own_segment<Program, decltype(at.offsets)>{p, begin, {at.offsets, s}};
    else
      return segment_rows<Program>{p, begin};
  }
  template <segments_plan P>
  using tile = kernel::tile<P, Program>;
  template <class Tile>
  __device__ __forceinline__ void stage(Tile& t, i64 begin, int count, int lane) const {
    t.stage(p.columns, begin, count, lane);
  }
  template <segments_plan P>
  __device__ __forceinline__ auto rows_in(tile<P> const& t, i64 s, i64 begin, int x, int) const {
    return tile_rows<P, Program, decltype(at.offsets)>{p, t, begin, x, {at.offsets, s}};
  }
  template <class States>
  __device__ __forceinline__ void answer(States const& s, i64 n, i64 segment) const {
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

/// The elements of a part, which are also what a share costs; a power of two.
template <segments_plan P, class Program>
inline constexpr i64 elements_of_part = i64(shape_of<Program>.elements()) * P.leaves_per_part;

/// How a warp folds a part, and its lanes the segments of a tile, in windows: kernel/exact_segments.cuh.
template <segments_plan P, class Program>
struct windows_of;

/// The longest segment of a tile that is not folded by the whole warp.
template <segments_plan P, class All, class Program = cuda::std::remove_cvref_t<decltype(All::p)>>
__device__ constexpr int longest_in_tile() {
  if constexpr (P.in_windows)
    return windows_of<P, Program>::template longest_in_tile<All>;
  else
    return longest_straight<P, Program>;
}

/// Part k of a segment of n elements, by the whole warp: answered at once where it is the only one.
template <segments_plan P, class All>
__device__ __forceinline__ void fold_part(All const& all, i64 segment, i64 begin, i64 n, i64 k, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  constexpr i64 elements = shape_of<Program>.elements();
  constexpr i64 size = elements_of_part<P, Program>;
  if constexpr (P.in_windows)
    if (windows_of<P, Program>::fold_near(all, segment, begin, n, lane))
      return;
  i64 const left = n - k * size;
  int const leaves = left >= size ? P.leaves_per_part : int((left - 1) / elements + 1);
  auto s = [&] {
    if constexpr (P.in_windows)
      return windows_of<P, Program>::fold(all.p, begin, n, k * P.leaves_per_part, leaves, lane);
    else
      return fold_leaves_by_warp<P.rows_in_flight, P.leaves_per_part>(all.p, all.rows_from(segment, begin), n, k * P.leaves_per_part, leaves, lane);
  }();
  i64 const parts = (n - 1) / size + 1;
  // among segments of several nodes of a level, at most one begins in a stretch of a node's length, and at most one goes on there
  auto const place = [&](int level, i64 node) {
    int const log_length = levels_of(int(size)) + level * levels_of(parts_that_meet);
    return all.cut.levels.begin[level] + 2 * ((begin + (node << log_length)) >> log_length) + (node == 0 ? 1 : 0);
  };
  if (meet_parts(all.p, all.room, parts, k, lane, s, place) && lane == 0)
    all.answer(s, n, segment);
}

/// Segments [s, s + count), `total` elements from element `origin` on, fit a tile; the lane's own segment begins at element x of it and
/// has n elements.
template <segments_plan P, class All, class Tile>
__device__ __forceinline__ void fold_tile(All const& all, Tile& t, i64 s, int count, i64 origin, int total, int x, int n, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  if constexpr (P.in_windows) {
    windows_of<P, Program>::fold_tile(all, t, s, count, origin, total, x, n, lane);
    return;
  }
  constexpr int each = P.elements_per_lane, straight = longest_straight<P, Program>;
  static_assert((each & (each - 1)) == 0 && each <= 8, "a lane's elements cross at most one gap");
  bool const own = lane < count, is_straight = own && n <= straight;
  if (__all_sync(0xffffffffu, !own || n <= each))
    return fold_tiny<P>(all, s + lane, own, origin, total, x, n);
  int const size_class = n <= each ? 0 : 32 - __clz((n - 1) / each); // 2^size_class lanes take it
  u32 classes = __reduce_or_sync(0xffffffffu, is_straight ? 1u << size_class : 0u);
  all.stage(t, origin, total, lane);
  __syncwarp();
#pragma unroll 1
  for (; classes != 0; classes &= classes - 1) {
    int const log_lanes = __ffs(int(classes)) - 1, lanes = 1 << log_lanes, together = 32 >> log_lanes;
    bool const of_class = is_straight && size_class == log_lanes;
    u32 const members = __ballot_sync(0xffffffffu, of_class);
    int const size = __popc(members);
    if (of_class)
      t.order[__popc(members & ((1u << lane) - 1))] = static_cast<unsigned char>(lane);
    __syncwarp();
    int const j = lane & (lanes - 1);
#pragma unroll 1
    for (int done = 0; done < size; done += together) {
      int const q = done + (lane >> log_lanes);
      int const who = t.order[q < size ? q : 0];
      int const elements = __shfl_sync(0xffffffffu, n, who), at = __shfl_sync(0xffffffffu, x, who);
      auto const rows = all.template rows_in<P>(t, s + who, origin + at, at, elements);
      int const mine = q < size ? elements - j * each : 0;
      int const from = mine > 0 ? j * each : -at; // a lane without an element reads what is there and looks at nothing
      decltype(rows.row_near(0, 0)) held[each];
#pragma unroll
      for (int k = 0; k < each; ++k)
        held[k] = rows.row_near(from, k);
      auto const states = fold_straight<P>(all.p, held, mine, lanes);
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
    auto const rows = all.template rows_in<P>(t, s + who, origin + at, at, elements);
    static_assert(P.tile_elements <= shape_of<Program>.elements(), "a segment of a tile is not longer than a leaf");
    auto const states = fold_leaf_by_warp<1, true>(all.p, rows, 0, elements, lane);
    if (lane == 0)
      all.answer(states, elements, s + who);
  }
  __syncwarp(); // before the tile is staged again
}

/// The part of segment c, which begins in front of the share that begins at `cost`, that begins in the share; 0: none. Part k > 0 costs
/// what its first element does, and c + 1 offsets.
template <segments_plan P, class All>
__device__ __forceinline__ i64 part_in_share(All const& all, i64 cost, i64 c) {
  constexpr i64 size = elements_of_part<P, cuda::std::remove_cvref_t<decltype(all.p)>>;
  i64 const begin = all.offset(c), end = all.offset(c + 1);
  i64 const from = cost - (begin - all.offset(0)) - (c + 1) * cost_of_offset;
  i64 const k = from <= size ? 1 : (from - 1) / size + 1;
  return all.valid(begin, end) && begin + k * size < end && k * size < from + size ? k : 0;
}

/// Segments [s, s + count), the first of which may be part `part` of one that began earlier.
template <segments_plan P, class All, class Tile>
__device__ __forceinline__ void fold_run(All const& all, Tile& t, i64 s, int count, i64 part, int lane) {
  using Program = cuda::std::remove_cvref_t<decltype(all.p)>;
  using Offset = cuda::std::remove_cvref_t<decltype(all.at.offsets[0])>;
  constexpr int straight = longest_in_tile<P, All>(), tile = P.tile_elements;
  auto const offsets = all.at.offsets + s;
  i64 const behind = all.at.segments() - s;
  int const last = behind < count + 32 ? int(behind) : count + 32; // offsets up to this one may be read
  auto const asked = [&](int i) { return offsets[i + lane < last ? i + lane : last]; };
  Offset offset = asked(0);
#pragma unroll 1
  for (int i = 0; i < count;) {
    if constexpr (P.segments_per_lane > 0)
      if (part == 0) {
        int const done = fold_short_run<P>(all, s, i, count, lane);
        if (done == count)
          return;
        if (done > i)
          offset = asked(i = done);
      }
    Offset const first = __shfl_sync(0xffffffffu, offset, 0), second = __shfl_sync(0xffffffffu, offset, 1);
    i64 const origin = static_cast<i64>(first) - all.cut.base;
    // where the lane's own segment begins and ends in a tile that begins at the first; beyond it: tile + 1
    u64 const away = static_cast<u64>(static_cast<i64>(offset) - static_cast<i64>(first));
    int const x = away <= u64(tile) ? int(away) : tile + 1, end = __shfl_down_sync(0xffffffffu, x, 1);
    i64 const left = all.cut.extent - origin;
    int const room = origin < 0 || left < 0 ? -1 : left < tile ? int(left) : tile;
    bool fits = lane < 31 && i + lane < count && x <= end && end <= room && (!P.in_windows || end - x <= straight);
    if constexpr (P.in_windows && straight > tile / 4) { // all get as many lanes, which a long one among short ones would be short of
      int longest = end - x;
#pragma unroll
      for (int h = 1; h < 32; h *= 2) {
        int const before = __shfl_up_sync(0xffffffffu, longest, h);
        longest = longest < before ? before : longest;
      }
      fits = fits && (longest <= tile / 4 || longest * (lane + 1) <= tile);
    }
    int const fitting = __ffs(int(~__ballot_sync(0xffffffffu, fits))) - 1;
    bool const alone = fitting == 0 || (fitting == 1 && __shfl_sync(0xffffffffu, end, 0) > straight);
    int const next = i + (alone ? 1 : fitting);
    if (next < count)
      offset = asked(next); // on its way while this tile is folded
    if (!alone) {
      fold_tile<P>(all, t, s + i, fitting, origin, __shfl_sync(0xffffffffu, end, fitting - 1), x, end - x, lane);
    } else {
      i64 const n = static_cast<i64>(second) - static_cast<i64>(first);
      if (all.valid(origin, origin + n))
        fold_part<P>(all, s + i, origin, n, part, lane);
      else if (n < 0 && lane == 0)
        all.report(s + i + 1);
    }
    part = 0;
    i = next;
  }
}

/// Segments [s, end) and what of the segment in front of them belongs to the share that begins at `cost`.
template <segments_plan P, class All, class Tile>
__device__ __forceinline__ void fold_share(All const& all, Tile& t, i64 cost, i64 s, i64 end, int lane) {
  i64 part = s > 0 ? part_in_share<P>(all, cost, s - 1) : 0;
  if (part > 0)
    --s; // its part is folded first, as if it were a segment of the share
#pragma unroll 1
  for (constexpr int most = 1 << 30; s < end; s += most, part = 0) // more than one turn only where offsets are wrong
    fold_run<P>(all, t, s, end - s < most ? int(end - s) : most, part, lane);
}

/// The offsets as far as there are segments.
template <segments_plan P, class Groups>
__device__ __forceinline__ decltype(auto) groups_there(Groups const& at) {
  if constexpr (P.counted)
    return at.with(static_cast<i64>(*at.count));
  else
    return (at);
}

/// Folds all segments: every warp its share.
template <segments_plan P, class Grid, class All, class Tile>
__device__ __forceinline__ void fold_segments(Grid const& grid, All const& all, Tile* tiles) {
  int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
  i64 const share = i64(grid.block()) * P.warps_per_block + warp;
  i64 const cost[2] = {share * all.cut.share, (share + 1) * all.cut.share};
  bool const is_last = i64(grid.blocks()) * P.warps_per_block == share + 1;
  i64 found[2];
  find_segments(all, cost, lane, found);
  fold_share<P>(all, tiles[warp], cost[0], found[0], is_last ? all.at.segments() : found[1], lane);
}

/// The tile of a warp of one read by segment.
template <segments_plan P, class Read>
struct tile_of_read;
template <segments_plan P, class Program, class Nodes, class Offset>
struct tile_of_read<P, segments_read<Program, Nodes, Offset>> {
  using all = segments_of<Program, Nodes, Offset>;
  using type = typename all::template tile<P>;
};

/// Folds all segments of a read by the blocks of a grid, or of a share of one. An offset is wrong that is below the one before it, below 0 at the
/// front, or beyond the extent at the end; then answers are not to be looked at. The room of a block has the tiles of its warps.
template <segments_plan P, class Grid, class Read>
__device__ __forceinline__ void read_segments(Grid const& grid, Read const& r, unsigned char* room) {
  using Of = tile_of_read<P, Read>;
  auto const& there = groups_there<P>(r.at);
  auto const& memory = r.memory;
  typename Of::all const all{r.program, there, memory.cut, r.nodes, memory.to, {memory.parts, memory.arrivals}, memory.fault};
  i64 const segments = there.segments();
  if (grid.block() == 0 && threadIdx.x == 0) {
    if (all.offset(0) < 0)
      all.report(0);
    if (all.offset(segments) > memory.cut.extent)
      all.report(segments);
  }
  fold_segments<P>(grid, all, reinterpret_cast<typename Of::type*>(room));
}

template <segments_plan P, class Read>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor) segments(__grid_constant__ Read const r) {
  alignas(16) __shared__ unsigned char tiles[P.warps_per_block * sizeof(typename tile_of_read<P, Read>::type)];
  read_segments<P>(whole_grid{}, r, tiles);
}

} // namespace tally::v0::kernel
