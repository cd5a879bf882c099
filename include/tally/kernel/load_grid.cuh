// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns with axes of their own beside others that are counted through: operands that are seen alike along an axis, slices, what is transposed. Layer 4.
// A thread finds the place of its first element by divisions, and that of every other by additions.
#pragma once

#include <tally/kernel/load.cuh>

namespace tally::inline v0::kernel {

/// As many elements further on, row by row: how far along every axis, and in memory.
template <int Rank>
struct grid_steps {
  i64 along[Rank], offset;
  template <class Column>
  __device__ __forceinline__ grid_steps(Column const& c, u32 elements) : offset(0) {
#pragma unroll
    for (int k = Rank - 1; k > 0; --k) {
      if (c.extents[k] > i64(elements)) {
        along[k] = elements;
        elements = 0;
      } else {
        u32 const extent = u32(c.extents[k]);
        along[k] = elements % extent;
        elements /= extent;
      }
      offset += along[k] * c.strides[k];
    }
    along[0] = elements;
    offset += along[0] * c.strides[0];
  }
};

/// Where an element of a column with axes is: its index along each, and how far in memory.
template <int Rank>
struct grid_walk {
  i64 index[Rank], offset;
  template <class Column>
  __device__ __forceinline__ grid_walk(Column const& c, i64 i) : offset(0) {
    i64 left = c.first + i;
#pragma unroll
    for (int k = Rank - 1; k > 0; --k) {
      i64 const above = left / c.extents[k];
      index[k] = left - above * c.extents[k];
      offset += index[k] * c.strides[k];
      left = above;
    }
    index[0] = left;
    offset += left * c.strides[0];
  }
  template <class Column>
  __device__ __forceinline__ void move(Column const& c, grid_steps<Rank> const& by) {
    offset += by.offset;
    i64 carried = 0;
#pragma unroll
    for (int k = Rank - 1; k > 0; --k) {
      index[k] += by.along[k] + carried;
      bool const ends = index[k] >= c.extents[k];
      carried = ends;
      index[k] -= ends ? c.extents[k] : 0;
      offset += ends ? c.strides[k - 1] - c.extents[k] * c.strides[k] : 0;
    }
    index[0] += by.along[0] + carried;
  }
  template <class Column>
  __device__ __forceinline__ auto const* address(Column const& c) const {
    return c.data + offset;
  }
  /// Elements from it to the end of its row.
  template <class Column>
  __device__ __forceinline__ i64 left_of_row(Column const& c) const {
    return c.extents[Rank - 1] - index[Rank - 1];
  }
};

/// Copies one element: by a load of its type, where memcpy would not know how memory is aligned.
template <class T>
__device__ __forceinline__ void load_element(unsigned char* to, T const* from) {
  T const one = *from;
  memcpy(to, &one, sizeof(T));
}

/// Groups: at once, or lane by lane where a row may end within one.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(finds_its_row(Choice.load) && Choice.load != load_primitive::grid_two_ldg)
struct loaded<P, Rows, Column, Choice> : registers<P, Rows, typename Column::value_type> {
  using T = typename Column::value_type;
  static constexpr int group = P.lanes_per_group, size = int(sizeof(T));

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    grid_walk<Column::rank> walk(c, first + thread * group);
    grid_steps<Column::rank> const row(c, 32 * group), lane(c, 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if constexpr (Choice.load == load_primitive::grid_same_ldg) {
        T const one = *walk.address(c);
#pragma unroll
        for (int k = 0; k < group; ++k)
          memcpy(this->bytes[r] + k * size, &one, size);
      } else if constexpr (Choice.load == load_primitive::grid_vector_ldg) {
        auto const* const from = walk.address(c);
#pragma unroll
        for (int k = 0; k < group; k += Choice.bytes_per_load / size)
          if constexpr (Choice.bytes_per_load > size)
            load_read_only<Choice.bytes_per_load>(this->bytes[r] + k * size, from + k);
          else
            load_element(this->bytes[r] + k * size, from + k);
      } else {
        auto const* const from = walk.address(c);
        if (walk.left_of_row(c) >= group) { // most groups lie on one row
#pragma unroll
          for (int k = 0; k < group; ++k)
            load_element(this->bytes[r] + k * size, from + k * c.strides[Column::rank - 1]);
        } else {
          auto each = walk;
#pragma unroll
          for (int k = 0; k < group; ++k) {
            load_element(this->bytes[r] + k * size, each.address(c));
            each.move(c, lane);
          }
        }
      }
      walk.move(c, row);
    }
  }
};

/// Two elements for a group, of the rows that begin and end it.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(Choice.load == load_primitive::grid_two_ldg)
struct loaded<P, Rows, Column, Choice> {
  using T = typename Column::value_type;
  T of_row[Rows], of_next[Rows];
  int in_row[Rows]; ///< lanes of the group that lie on the first

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    grid_walk<Column::rank> walk(c, first + thread * P.lanes_per_group);
    grid_steps<Column::rank> const row(c, 32 * P.lanes_per_group), last_lane(c, P.lanes_per_group - 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      i64 const here = walk.left_of_row(c);
      in_row[r] = here < P.lanes_per_group ? int(here) : P.lanes_per_group;
      auto end = walk;
      end.move(c, last_lane);
      of_row[r] = *walk.address(c);
      of_next[r] = *end.address(c);
      walk.move(c, row);
    }
  }
  __device__ __forceinline__ T at(Column const&, i64, int r, int k, int) const { return k < in_row[r] ? of_row[r] : of_next[r]; }
};

/// Striped.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(Choice.load == load_primitive::striped_ldg && axes_of_column<Column> > 0)
struct loaded<P, Rows, Column, Choice> : registers<P, Rows, typename Column::value_type> {
  using T = typename Column::value_type;

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    grid_walk<Column::rank> walk(c, first + thread);
    grid_steps<Column::rank> const warp(c, 32);
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int k = 0; k < P.lanes_per_group; ++k) {
        load_element(this->bytes[r] + k * sizeof(T), walk.address(c));
        walk.move(c, warp);
      }
  }
};

} // namespace tally::inline v0::kernel
