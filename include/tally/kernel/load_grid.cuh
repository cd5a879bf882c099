// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns with axes of their own beside others that are counted through: operands that are seen alike along an axis, slices, what is transposed. Layer 4.
// A thread finds the place of its first element by divisions, and that of every other by additions.
#pragma once

#include <tally/kernel/load.cuh>

namespace tally::inline v0::kernel {

/// As many elements further on, row by row: how far along every axis.
template <int Rank>
struct grid_steps {
  i64 along[Rank];
  template <class Column>
  __device__ __forceinline__ grid_steps(Column const& c, u32 elements) {
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
    }
    along[0] = elements;
  }
};

/// Where an element of a column with axes is: its index along each.
template <int Rank>
struct grid_walk {
  i64 index[Rank];
  template <class Column>
  __device__ __forceinline__ grid_walk(Column const& c, i64 i) {
    i64 left = c.first + i;
#pragma unroll
    for (int k = Rank - 1; k > 0; --k) {
      i64 const above = left / c.extents[k];
      index[k] = left - above * c.extents[k];
      left = above;
    }
    index[0] = left;
  }
  template <class Column>
  __device__ __forceinline__ void move(Column const& c, grid_steps<Rank> const& by) {
#pragma unroll
    for (int k = Rank - 1; k > 0; --k) {
      index[k] += by.along[k];
      bool const ends = index[k] >= c.extents[k];
      index[k] -= ends ? c.extents[k] : 0;
      index[k - 1] += ends;
    }
    index[0] += by.along[0];
  }
  template <class Column>
  __device__ __forceinline__ auto const* address(Column const& c) const {
    i64 offset = 0;
#pragma unroll
    for (int k = 0; k < Rank; ++k)
      offset += index[k] * c.strides[k];
    return c.data + offset;
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
  requires(finds_its_row(Choice.load))
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
        if (c.extents[Column::rank - 1] - walk.index[Column::rank - 1] >= group) { // most groups lie on one row
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
