// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns with axes of their own beside others that are counted through: operands that are seen alike along an axis, slices, what is transposed. Layer 4.
// A thread finds the place of its first element by divisions, and that of every other by additions.
#pragma once

#include <tally/kernel/load.cuh>

namespace tally::v0::kernel {

/// As many elements further on, row by row: how far along every axis, and in memory.
template <memory_column Column>
struct grid_steps {
  static constexpr int rank = Column::rank;
  int in_row;
  i64 along[rank]; ///< but the innermost axis
  i64 offset;
  __device__ __forceinline__ grid_steps(Column const& c, u32 elements) : offset(0) {
    u32 of_axis[rank];
#pragma unroll
    for (int k = rank - 1; k > 0; --k) {
      if (c.extents[k] > i64(elements)) {
        of_axis[k] = elements;
        elements = 0;
      } else {
        u32 const extent = u32(c.extents[k]);
        of_axis[k] = elements % extent;
        elements /= extent;
      }
    }
    of_axis[0] = elements;
    in_row = int(of_axis[rank - 1]);
#pragma unroll
    for (int k = 0; k < rank; ++k) {
      along[k] = of_axis[k];
      offset += along[k] * c.strides[k];
    }
  }
};

/// Where an element of a column with axes is: in memory, in its row and along the other axes. It goes no further than a leaf reaches, so that 32 bits say what is
/// left of a row; along the outermost axis there is no end.
template <memory_column Column>
struct grid_walk {
  static constexpr int rank = Column::rank;
  using T = typename Column::value_type;
  T const* at;
  int left; ///< elements from it to the end of its row, if it ends within a leaf
  i64 index[rank]; ///< but along the innermost axis

  __device__ __forceinline__ static int within_leaf(i64 elements) { return int(elements < 1 << 30 ? elements : 1 << 30); }
  __device__ __forceinline__ grid_walk(Column const& c, i64 i) : at(c.data) {
    i64 above = c.first + i;
#pragma unroll
    for (int k = rank - 1; k > 0; --k) {
      i64 const here = above;
      above /= c.extents[k];
      index[k] = here - above * c.extents[k];
      at += index[k] * c.strides[k];
    }
    index[0] = above;
    at += above * c.strides[0];
    left = within_leaf(c.extents[rank - 1] - index[rank - 1]);
  }
  __device__ __forceinline__ void move(Column const& c, grid_steps<Column> const& by) {
    at += by.offset;
    left -= by.in_row;
    if constexpr (rank > 1) {
      bool ends = left <= 0;
      left += ends ? within_leaf(c.extents[rank - 1]) : 0;
      at += ends ? next_but_extent(c, rank - 1) : 0;
#pragma unroll
      for (int k = rank - 2; k > 0; --k) {
        index[k] += by.along[k] + ends;
        ends = index[k] >= c.extents[k];
        index[k] -= ends ? c.extents[k] : 0;
        at += ends ? next_but_extent(c, k) : 0;
      }
    }
  }

private:
  /// From behind the end of axis k to the next index along the axis above.
  __device__ __forceinline__ static i64 next_but_extent(Column const& c, int k) { return c.strides[k - 1] - c.extents[k] * c.strides[k]; }
};

/// Copies one element: by a load of its type, where memcpy would not know how memory is aligned.
template <class T>
__device__ __forceinline__ void load_element(unsigned char* to, T const* from) {
  T const one = *from;
  memcpy(to, &one, sizeof(T));
}

/// Groups: at once, or lane by lane where a row may end within one.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(finds_its_row(Choice.load) && Choice.load != load_primitive::grid_two_ldg && Choice.load != load_primitive::grid_words_ldg)
struct loaded<P, Rows, Column, Choice> : registers<P, Rows, typename Column::value_type> {
  using T = typename Column::value_type;
  static constexpr int group = P.lanes_per_group, size = int(sizeof(T));

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    grid_walk<Column> walk(c, first + thread * group);
    grid_steps<Column> const row(c, 32 * group), lane(c, 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if constexpr (Choice.load == load_primitive::grid_same_ldg) {
        T const one = *walk.at;
#pragma unroll
        for (int k = 0; k < group; ++k)
          memcpy(this->bytes[r] + k * size, &one, size);
      } else if constexpr (Choice.load == load_primitive::grid_vector_ldg) {
#pragma unroll
        for (int k = 0; k < group; k += Choice.bytes_per_load / size)
          if constexpr (Choice.bytes_per_load > size)
            load_read_only<Choice.bytes_per_load>(this->bytes[r] + k * size, walk.at + k);
          else
            load_element(this->bytes[r] + k * size, walk.at + k);
      } else {
        if (walk.left >= group) { // most groups lie on one row, whose elements are neighbours, or there is no room for a group on any
#pragma unroll
          for (int k = 0; k < group; ++k)
            load_element(this->bytes[r] + k * size, walk.at + k);
        } else {
          auto each = walk;
#pragma unroll
          for (int k = 0; k < group; ++k) {
            load_element(this->bytes[r] + k * size, each.at);
            each.move(c, lane);
          }
        }
      }
      walk.move(c, row);
    }
  }
};

/// The words of 4 bytes around a group, from which its lanes are picked when they are folded, so that nothing waits for what is loaded. A group on two rows, and
/// one whose words may begin or end outside of the column, comes lane by lane.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(Choice.load == load_primitive::grid_words_ldg)
struct loaded<P, Rows, Column, Choice> {
  using T = typename Column::value_type;
  static constexpr int group = P.lanes_per_group, per_word = 4 / int(sizeof(T)), words = group / per_word;
  alignas(16) u32 around[Rows][words + 1];
  int front[Rows]; ///< bytes of the first word that are in front of the group

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    grid_walk<Column> walk(c, first + thread * group);
    grid_steps<Column> const row(c, 32 * group), last_lane(c, group - 1);
    constexpr int beyond = group + per_word; ///< behind the end of words that begin with the group
    u32 const inside = u32(c.extents[Column::rank - 1]) - (beyond + per_word - 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      if (u32(walk.left - beyond) <= inside) {
        u64 const at = reinterpret_cast<u64>(walk.at);
        front[r] = int(at % 4);
#pragma unroll
        for (int i = 0; i < words + 1; ++i)
          around[r][i] = __ldg(reinterpret_cast<u32 const*>(at - at % 4) + i);
      } else {
        front[r] = 0;
        around[r][words] = 0;
        auto last = walk;
        last.move(c, last_lane);
        T const* const of_next = last.at - (group - 1);
#pragma unroll
        for (int k = 0; k < group; ++k)
          load_element(reinterpret_cast<unsigned char*>(around[r]) + k * sizeof(T), (k < walk.left ? walk.at : of_next) + k);
      }
      walk.move(c, row);
    }
  }
  __device__ __forceinline__ T at(Column const&, i64, int r, int k, int) const {
    u32 const word = __byte_perm(around[r][k / per_word], around[r][k / per_word + 1], 0x3210 + 0x1111 * front[r]);
    T v;
    memcpy(&v, reinterpret_cast<unsigned char const*>(&word) + k % per_word * sizeof(T), sizeof(T));
    return v;
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
    grid_walk<Column> walk(c, first + thread * P.lanes_per_group);
    grid_steps<Column> const row(c, 32 * P.lanes_per_group), last_lane(c, P.lanes_per_group - 1);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      in_row[r] = walk.left < P.lanes_per_group ? walk.left : P.lanes_per_group;
      auto end = walk;
      end.move(c, last_lane);
      of_row[r] = *walk.at;
      of_next[r] = *end.at;
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
    grid_walk<Column> walk(c, first + thread);
    grid_steps<Column> const warp(c, 32);
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int k = 0; k < P.lanes_per_group; ++k) {
        load_element(this->bytes[r] + k * sizeof(T), walk.at);
        walk.move(c, warp);
      }
  }
};

} // namespace tally::v0::kernel
