// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strip: neighbours along one axis of a grid in the registers of one thread, for all columns of a program. Layer 4. Neighbours
// that lie together in memory come in loads of up to 16 bytes, others one by one, wherever they are.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/kernel/load.cuh>
#include <tally/plan/axes_plan.hpp>

namespace tally::v0::kernel {

/// Which columns of groups are loaded: those that change along a group, those that last all along it, or all.
enum class loaded_columns { passing, lasting, all };

/// Values of one column: Count times V neighbours, or one for all that are the same.
template <axes_plan P, int I, class Column, int Count, int V>
struct strip_values {
  using T = typename Column::value_type;
  static constexpr bool realigned = (P.realigned >> I & 1) != 0, held = memory_column<Column> && (P.late >> I & 1) == 0;
  static constexpr bool lasts = (P.lasting >> I & 1) != 0, one_for_all = (P.standing >> I & 1) != 0 && !P.threads_apart;
  alignas(16) unsigned char bytes[held ? lasts ? 1 : Count + realigned : 1][held ? (one_for_all ? 1 : V) * sizeof(T) : 1];
  __device__ __forceinline__ static constexpr bool is(loaded_columns which) {
    return which == loaded_columns::all || (which == loaded_columns::lasting) == lasts;
  }

  /// One load of Bytes bytes.
  template <int Bytes>
  __device__ __forceinline__ static void load_together(void* to, void const* from) {
    if constexpr (P.evicts_first)
      load_streaming<Bytes>(to, from);
    else
      load_read_only<Bytes>(to, from);
  }
  /// Neighbours `step` elements apart from `offset` on; what is behind `present` of them, which may be none or fewer, is read from the last.
  /// All loads are made, so that they are in flight together: what does not exist is left out when it is folded. Whole: none of them is behind.
  template <bool Whole>
  __device__ __forceinline__ void load(Column const& c, i64 offset, int k, i64 step, int present) {
    if constexpr (held) {
      T const* const from = c.data + offset;
      k = lasts ? 0 : k;
      if constexpr (one_for_all) {
        T const one = *from;
        memcpy(bytes[k], &one, sizeof(T));
      } else if constexpr (realigned) {
        load_one_by_one(bytes[k], from, step, present);
      } else if constexpr (P.bytes_per_load[I] > int(sizeof(T)) && (Whole || (P.narrow_at_ends >> I & 1) == 0)) {
        constexpr int at_once = P.bytes_per_load[I];
        int const there = present * int(sizeof(T));
#pragma unroll
        for (int b = 0; b < int(V * sizeof(T)); b += at_once)
          load_together<at_once>(bytes[k] + b, reinterpret_cast<unsigned char const*>(from) + (b < there ? b : there - at_once));
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          T const one = from[(v < present ? v : present - 1) * step];
          memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
        }
      }
    }
  }
  /// The groups of a thread, the first at `offset`.
  __device__ __forceinline__ void load_groups(Column const& c, i64 offset, int k, i64 step) {
    if constexpr (held && (P.in_stripes() || V == 1) && !one_for_all) {
      constexpr int beside = P.groups_beside;
      k = lasts ? 0 : k;
#pragma unroll
      for (int v = 0; v < V; v += beside) {
        T const* const from = c.data + offset + P.group_in_strip(0, v);
        if constexpr (beside > 1 || (alignof(T) == sizeof(T) && sizeof(T) <= 16)) {
          load_together<beside * int(sizeof(T))>(bytes[k] + v * sizeof(T), from);
        } else {
          T const one = *from;
          memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
        }
      }
    } else {
      load<false>(c, offset, k, step, V);
    }
  }
  /// Neighbours from `offset` on, of which the first `here` lie on a run and the others `jump` elements further on; what is not among the first `there` is
  /// read from the first. A load does not reach beyond a run.
  __device__ __forceinline__ void load_across_runs(Column const& c, i64 offset, int k, i64 step, int here, i64 jump, int there) {
    if constexpr (held) {
      constexpr int at_once = P.bytes_per_load[I] > int(sizeof(T)) ? P.bytes_per_load[I] / int(sizeof(T)) : 1;
#pragma unroll
      for (int v = 0; v < V; v += at_once) {
        T const* const from = c.data + offset + (v < there ? v * step + (v < here ? 0 : jump) : 0);
        if constexpr (at_once == 1) {
          T const one = *from;
          memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
        } else {
          load_together<at_once * int(sizeof(T))>(bytes[k] + v * sizeof(T), from);
        }
      }
    }
  }
  /// Every 32nd element from `offset` on, `here` of the elements up to the end of its run of `run`, which is 32 at least, the others `jump` elements further on for
  /// every run that ends before them; what is not among the first `there` is read from the first.
  __device__ __forceinline__ void load_striped(Column const& c, i64 offset, int k, int here, int run, i64 jump, int there) {
    if constexpr (held) {
      T const* const first = c.data + offset;
      T const* from = first;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        if (v > 0 && v * 32 >= here)
          from += jump, here += run;
        T const one = *(v * 32 < there ? from + ((P.standing >> I & 1) != 0 ? 0 : v * 32) : first);
        memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
      }
    }
  }
  /// Elements of a realigned column from the start of a piece to an offset.
  __device__ __forceinline__ static int turn(Column const& c, i64 offset) {
    if constexpr (realigned)
      return int(reinterpret_cast<u64>(c.data + offset) % 16 / sizeof(T));
    return 0;
  }
  /// The piece that is k rows of `of_row` elements behind the one that holds the element at `start`, but not behind the one that holds the
  /// element at `last`; Whole: the row ends no later. Of a column that is not realigned, which stands, the same as ever.
  template <bool Whole>
  __device__ __forceinline__ void load_piece_of(Column const& c, i64 start, i64 last, int k, int of_row) {
    if constexpr (realigned) {
      auto const piece_of = [&](i64 offset) { return reinterpret_cast<uint4 const*>(reinterpret_cast<u64>(c.data + offset) & ~u64(15)); };
      uint4 const* piece = piece_of(start) + k * of_row / V;
      if constexpr (!Whole)
        piece = piece < piece_of(last) ? piece : piece_of(last);
      uint4 const v = __ldg(piece);
      memcpy(bytes[k], &v, 16);
    } else {
      load<true>(c, start, k < Count ? k : 0, 0, 1);
    }
  }
  /// The first thread of a warp has what is in front of its rows in place of what is behind their ends, `turn` elements in its first piece:
  /// it takes them from the row behind each of the `present` ones.
  __device__ __forceinline__ void take_ends(int turn, int present) {
    if constexpr (realigned) {
      int const front = threadIdx.x % 32 == 0 ? turn * int(sizeof(T)) : 0;
      unsigned own[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        own[i] = __funnelshift_lc(0u, ~0u, front > 4 * i ? unsigned(front - 4 * i) * 8 : 0u); // a shift of 32 leaves nothing
#pragma unroll
      for (int k = 0; k < Count; ++k) {
        unsigned row[4], behind[4], last[4];
        memcpy(row, bytes[k], 16);
        memcpy(behind, bytes[k + 1], 16);
        memcpy(last, bytes[Count], 16);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          row[i] = (row[i] & own[i]) | ((k + 1 < present ? behind[i] : last[i]) & ~own[i]);
        memcpy(bytes[k], row, 16);
      }
    }
  }
  __device__ __forceinline__ T at(Column const& c, int k, int v, i64 position) const {
    if constexpr (memory_column<Column> && !held) {
      return T{}; // nobody looks at it
    } else if constexpr (memory_column<Column>) {
      T one;
      if constexpr (realigned) { // by words, as they were loaded, so that they stay whole where ways to load them meet
        unsigned word;
        memcpy(&word, bytes[k] + v * sizeof(T) / 4 * 4, 4);
        word >>= v * sizeof(T) % 4 * 8;
        memcpy(&one, &word, sizeof(T));
      } else {
        memcpy(&one, bytes[lasts ? 0 : k] + (one_for_all ? 0 : v) * sizeof(T), sizeof(T));
      }
      return one;
    } else {
      return c.at(position);
    }
  }
};

/// The values of all columns.
template <axes_plan P, int I, int Count, int V, class... Columns>
struct strip_rows;
template <axes_plan P, int I, int Count, int V>
struct strip_rows<P, I, Count, V> {
  template <bool Whole = false, class Place>
  __device__ __forceinline__ void load(pack<> const&, Place const&, int, grid_axis const&, int) {}
  template <loaded_columns Which = loaded_columns::all, class Place>
  __device__ __forceinline__ void load_groups(pack<> const&, Place const&, int, grid_axis const&) {}
  template <class Place>
  __device__ __forceinline__ void load_across_runs(pack<> const&, Place const&, int, grid_axis const&, grid_axis const&, int, int) {}
  template <class Place>
  __device__ __forceinline__ void load_striped(pack<> const&, Place const&, int, grid_axis const&, grid_axis const&, int, int) {}
  template <class Place>
  __device__ __forceinline__ int turn(pack<> const&, Place const&) const {
    return 0;
  }
  template <bool Whole, class Place>
  __device__ __forceinline__ void load_piece_of(pack<> const&, Place const&, Place const&, int, int) {}
  __device__ __forceinline__ void take_ends(int, int) {}
  template <class Late, class... Ts>
  __device__ __forceinline__ auto row_beside(pack<> const&, int, int, Late const&, int, int, i64 position, i64 element, Ts... values) const {
    return group_row<Ts...>{make_pack(values...), position, element};
  }
};
template <axes_plan P, int I, int Count, int V, class Column, class... Columns>
struct strip_rows<P, I, Count, V, Column, Columns...> {
  strip_values<P, I, Column, Count, V> here;
  strip_rows<P, I + 1, Count, V, Columns...> rest;
  /// Fills slot k with `present` neighbours along an axis, the first at a place; Whole: they are all present.
  template <bool Whole = false, class Place>
  __device__ __forceinline__ void load(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& along, int present) {
    here.template load<Whole>(c.first, at.offset[I], k, along.steps[I], present);
    rest.template load<Whole>(c.rest, at, k, along, present);
  }
  /// Fills slot k with the groups of a thread, the first at a place, along the innermost axis kept.
  template <loaded_columns Which = loaded_columns::all, class Place>
  __device__ __forceinline__ void load_groups(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& kept) {
    if constexpr (decltype(here)::is(Which))
      here.load_groups(c.first, at.offset[I], k, kept.steps[I]);
    rest.template load_groups<Which>(c.rest, at, k, kept);
  }
  /// Fills slot k with neighbours along an axis, of which the first `here` lie on its run and the others on the next one of `outer`.
  template <class Place>
  __device__ __forceinline__ void load_across_runs(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& along, grid_axis const& outer,
                                                   int here, int there) {
    this->here.load_across_runs(c.first, at.offset[I], k, along.steps[I], here, outer.steps[I] - along.extent * along.steps[I], there);
    rest.load_across_runs(c.rest, at, k, along, outer, here, there);
  }
  /// The same of every 32nd neighbour, over as many runs as it takes.
  template <class Place>
  __device__ __forceinline__ void load_striped(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& along, grid_axis const& outer, int here,
                                               int there) {
    this->here.load_striped(c.first, at.offset[I], k, here, int(along.extent), outer.steps[I] - along.extent * along.steps[I], there);
    rest.load_striped(c.rest, at, k, along, outer, here, there);
  }
  /// Realigned columns, as in strip_values; they all begin as far behind a piece.
  template <class Place>
  __device__ __forceinline__ int turn(pack<Column, Columns...> const& c, Place const& first) const {
    return here.realigned ? here.turn(c.first, first.offset[I]) : rest.turn(c.rest, first);
  }
  template <bool Whole, class Place>
  __device__ __forceinline__ void load_piece_of(pack<Column, Columns...> const& c, Place const& start, Place const& last, int k, int of_row) {
    here.template load_piece_of<Whole>(c.first, start.offset[I], last.offset[I], k, of_row);
    rest.template load_piece_of<Whole>(c.rest, start, last, k, of_row);
  }
  __device__ __forceinline__ void take_ends(int turn, int present) {
    here.take_ends(turn, present);
    rest.take_ends(turn, present);
  }
  /// Neighbour v of slot k as a row.
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, int k, int v, i64 position, i64 element) const {
    return row_beside(c, k, v, *this, k, v, position, element);
  }
  /// The same with the columns that come late, of neighbour late_v of slot late_k of another strip.
  template <class Late, class... Ts>
  __device__ __forceinline__ auto row_beside(pack<Column, Columns...> const& c, int k, int v, Late const& late, int late_k, int late_v, i64 position, i64 element,
                                             Ts... values) const {
    auto const one = [&] {
      if constexpr (P.late >> I & 1)
        return late.here.at(c.first, late_k, late_v, position);
      else
        return here.at(c.first, k, v, position);
    }();
    return rest.row_beside(c.rest, k, v, late.rest, late_k, late_v, position, element, values..., one);
  }
};

/// An empty strip for the columns of a program.
template <axes_plan P, int Count, int V, class... Columns>
__device__ __forceinline__ strip_rows<P, 0, Count, V, Columns...> strip_of(pack<Columns...> const&) {
  return {};
}

} // namespace tally::v0::kernel
