// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A strip: neighbours along one axis of a grid in the registers of one thread, for all columns of a program. Layer 4. Neighbours
// that lie together in memory come in loads of up to 16 bytes, others one by one, wherever they are.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/groups.hpp>
#include <tally/kernel/load.cuh>
#include <tally/plan/axes_plan.hpp>

namespace tally::inline v0::kernel {

/// Values of one column: Count times V neighbours.
template <axes_plan P, int I, class Column, int Count, int V>
struct strip_values {
  using T = typename Column::value_type;
  alignas(16) unsigned char bytes[memory_column<Column> ? Count : 1][memory_column<Column> ? V * sizeof(T) : 1];

  /// Neighbours `step` elements apart from `offset` on; what is behind `present` of them is read from the last. All loads are
  /// made, so that they are in flight together: what does not exist is left out when it is folded. Inside: so are the aligned pieces
  /// around the neighbours, of the column.
  template <bool Inside>
  __device__ __forceinline__ void load(Column const& c, i64 offset, int k, i64 step, int present) {
    if constexpr (memory_column<Column>) {
      if constexpr ((P.realigned >> I & 1) != 0) {
        if constexpr (Inside)
          load_realigned<int(sizeof(T))>(bytes[k], c.data + offset);
        else
          load_one_by_one(bytes[k], c.data + offset, step, present);
      } else if constexpr (P.bytes_per_load[I] > int(sizeof(T))) {
#pragma unroll
        for (int b = 0; b < int(V * sizeof(T)); b += P.bytes_per_load[I])
          load_streaming<P.bytes_per_load[I]>(bytes[k] + b, reinterpret_cast<unsigned char const*>(c.data + offset) + (b < present * int(sizeof(T)) ? b : 0));
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          T const one = c.data[offset + (v < present ? v : present - 1) * step];
          memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
        }
      }
    }
  }
  __device__ __forceinline__ T at(Column const& c, int k, int v, i64 position) const {
    if constexpr (memory_column<Column>) {
      T one;
      memcpy(&one, bytes[k] + v * sizeof(T), sizeof(T));
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
  template <bool Inside, class Place>
  __device__ __forceinline__ void load(pack<> const&, Place const&, int, grid_axis const&, int) {}
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<> const&, int, int, i64 position, i64 element, Ts... values) const {
    return group_row<Ts...>{make_pack(values...), position, element};
  }
};
template <axes_plan P, int I, int Count, int V, class Column, class... Columns>
struct strip_rows<P, I, Count, V, Column, Columns...> {
  strip_values<P, I, Column, Count, V> here;
  strip_rows<P, I + 1, Count, V, Columns...> rest;
  /// Fills slot k with `present` neighbours along an axis, the first at a place.
  template <bool Inside = true, class Place>
  __device__ __forceinline__ void load(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& along, int present) {
    here.template load<Inside>(c.first, at.offset[I], k, along.steps[I], present);
    rest.template load<Inside>(c.rest, at, k, along, present);
  }
  /// Neighbour v of slot k as a row.
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, int k, int v, i64 position, i64 element, Ts... values) const {
    return rest.row_at(c.rest, k, v, position, element, values..., here.at(c.first, k, v, position));
  }
};

/// An empty strip for the columns of a program.
template <axes_plan P, int Count, int V, class... Columns>
__device__ __forceinline__ strip_rows<P, 0, Count, V, Columns...> strip_of(pack<Columns...> const&) {
  return {};
}

} // namespace tally::inline v0::kernel
