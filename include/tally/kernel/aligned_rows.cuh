// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a segment whose columns all begin at a multiple of what a thread loads at once: it holds neighbouring lanes. Layer 4.
#pragma once

#include <tally/fold/segments.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/load.cuh>

namespace tally::v0::kernel {

/// Elements [first, first + Group) of a column.
template <int Group, class Column>
struct group_of_elements {
  Column const& c;
  i64 first;
  __device__ __forceinline__ group_of_elements(Column const& column, i64 at) : c(column), first(at) {}
  __device__ __forceinline__ auto operator[](int k) const { return c.at(first + k); }
};
template <int Group, class T>
struct group_of_elements<Group, contiguous<T>> {
  static constexpr int bytes = Group * int(sizeof(T)), bytes_per_load = bytes < 16 ? bytes : 16;
  alignas(16) unsigned char held[bytes];
  __device__ __forceinline__ group_of_elements(contiguous<T> const& c, i64 first) {
#pragma unroll
    for (int b = 0; b < bytes; b += bytes_per_load)
      load_streaming<bytes_per_load>(held + b, reinterpret_cast<unsigned char const*>(c.data + first) + b);
  }
  __device__ __forceinline__ T operator[](int k) const {
    T v;
    memcpy(&v, held + k * sizeof(T), sizeof(T));
    return v;
  }
};

template <class Program>
struct aligned_rows : segment_rows<Program> {
  static constexpr int group = shape_of<Program>.group;

  /// Rows e to e + group - 1; e is a multiple of group.
  template <class Row>
  __device__ __forceinline__ void load(Row (&to)[group], i64 e) const {
    unpack(
        [&](auto const&... c) {
          auto const groups = make_pack(group_of_elements<group, cuda::std::remove_cvref_t<decltype(c)>>(c, this->begin + e)...);
#pragma unroll
          for (int k = 0; k < group; ++k)
            unpack([&](auto const&... g) { to[k] = Row{make_pack(g[k]...), this->p.first + this->begin + e + k, e + k}; }, groups);
        },
        this->p.columns);
  }
};

/// Whether elements of a column lie so, and whether there are any to be loaded.
template <class Column>
inline constexpr bool may_be_aligned = !memory_column<Column>;
template <class T>
inline constexpr bool may_be_aligned<contiguous<T>> = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0;
template <class Program, class Columns>
inline constexpr bool has_aligned_rows = false;
template <class Program, class... Columns>
inline constexpr bool has_aligned_rows<Program, pack<Columns...>> =
    shape_of<Program>.group > 1 && (true && ... && may_be_aligned<Columns>) && (false || ... || memory_column<Columns>);

/// Whether the rows from `begin` on are.
template <class Program>
__device__ __forceinline__ bool are_aligned(Program const& p, i64 begin) {
  bool aligned = true;
  unpack(
      [&](auto const&... c) {
        auto const look = [&](auto const& column) {
          using Column = cuda::std::remove_cvref_t<decltype(column)>;
          if constexpr (memory_column<Column>) {
            using groups = group_of_elements<shape_of<Program>.group, Column>;
            aligned = aligned && reinterpret_cast<u64>(column.data + begin) % groups::bytes_per_load == 0;
          }
        };
        (look(c), ...);
      },
      p.columns);
  return aligned;
}

} // namespace tally::v0::kernel
