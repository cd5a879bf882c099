// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the elements of a leaf reach registers, one loader per load primitive. Layer 4. A thread holds `group` lanes of
// every row: neighbours where a group is loaded at once, every 32nd where neighbouring threads load neighbours.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/plan/plan.hpp>

namespace tally::v0::kernel {

/// What one access of Bytes bytes, a power of two up to 16, moves.
template <int Bytes>
struct moved_at_once;
template <>
struct moved_at_once<1> {
  using type = unsigned char;
};
template <>
struct moved_at_once<2> {
  using type = unsigned short;
};
template <>
struct moved_at_once<4> {
  using type = unsigned;
};
template <>
struct moved_at_once<8> {
  using type = uint2;
};
template <>
struct moved_at_once<16> {
  using type = uint4;
};
template <int Bytes>
using at_once_t = typename moved_at_once<Bytes>::type;

/// One load of Bytes bytes that are read once: evicted first.
template <int Bytes>
__device__ __forceinline__ void load_streaming(void* to, void const* from) {
  auto const v = __ldcs(static_cast<at_once_t<Bytes> const*>(from));
  memcpy(to, &v, Bytes);
}
/// One load of Bytes bytes that nobody writes.
template <int Bytes>
__device__ __forceinline__ void load_read_only(void* to, void const* from) {
  auto const v = __ldg(static_cast<at_once_t<Bytes> const*>(from));
  memcpy(to, &v, Bytes);
}

/// 16 bytes of neighbours `step` apart, what is behind `present` of them from the last: in few registers and instructions, for where
/// it is rare.
template <class T>
__device__ __forceinline__ void load_one_by_one(void* to, T const* from, i64 step, int present) {
  constexpr int bits = 8 * int(sizeof(T));
  u64 low = 0, high = 0;
#pragma unroll 1
  for (int v = int(16 / sizeof(T)) - 1; v >= 0; --v) {
    u64 one = 0;
    memcpy(&one, from + (v < present ? v : present - 1) * step, sizeof(T));
    high = high << bits | low >> (64 - bits);
    low = low << bits | one;
  }
  memcpy(to, &low, 8);
  memcpy(static_cast<unsigned char*>(to) + 8, &high, 8);
}

/// One load of Bytes bytes from shared memory.
template <int Bytes>
__device__ __forceinline__ void load_shared(void* to, void const* from) {
  auto const v = *static_cast<at_once_t<Bytes> const*>(from);
  memcpy(to, &v, Bytes);
}

/// Where lane k of this thread stands in a row of 32 * group lanes.
template <plan P>
__device__ __forceinline__ constexpr int lane_in_row(int thread, int k) {
  return P.sources_are_striped() ? k * 32 + thread : thread * P.lanes_per_group + k;
}

/// Rows x group elements of one column in the registers of one thread.
template <plan P, int Rows, class T>
struct registers {
  alignas(16) unsigned char bytes[Rows][P.lanes_per_group * sizeof(T)];

  template <class Column>
  __device__ __forceinline__ T at(Column const&, i64, int r, int k, int) const {
    T v;
    memcpy(&v, bytes[r] + k * sizeof(T), sizeof(T));
    return v;
  }
};

/// How one column comes into registers, or is computed.
template <plan P, int Rows, class Column, source_choice Choice>
struct loaded;

/// Groups at once: from memory, or from a stage of a ring in shared memory.
template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(Choice.load == load_primitive::vector_ldg || Choice.load == load_primitive::bulk_ring)
struct loaded<P, Rows, Column, Choice> : registers<P, Rows, typename Column::value_type> {
  using T = typename Column::value_type;
  static constexpr int group = P.lanes_per_group;
  static constexpr int per_load = Choice.bytes_per_load / int(sizeof(T));

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    T const* const from = c.data + first + thread * group;
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int k = 0; k < group; k += per_load)
        if constexpr (Choice.load == load_primitive::bulk_ring)
          load_shared<Choice.bytes_per_load>(this->bytes[r] + k * sizeof(T), from + r * 32 * group + k);
        else if constexpr (P.takes_turns)
          load_read_only<Choice.bytes_per_load>(this->bytes[r] + k * sizeof(T), from + r * 32 * group + k);
        else
          load_streaming<Choice.bytes_per_load>(this->bytes[r] + k * sizeof(T), from + r * 32 * group + k);
  }
};

template <plan P, int Rows, memory_column Column, source_choice Choice>
  requires(Choice.load == load_primitive::striped_ldg && axes_of_column<Column> == 0)
struct loaded<P, Rows, Column, Choice> : registers<P, Rows, typename Column::value_type> {
  using T = typename Column::value_type;

  __device__ __forceinline__ void load(Column const& c, i64 first, int thread) {
    auto const from = c.from(first + thread);
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int k = 0; k < P.lanes_per_group; ++k) {
        T const v = from.at(r * 32 * P.lanes_per_group + k * 32);
        memcpy(this->bytes[r] + k * sizeof(T), &v, sizeof(T));
      }
  }
};

template <plan P, int Rows, class Column, source_choice Choice>
  requires(Choice.load == load_primitive::computed)
struct loaded<P, Rows, Column, Choice> {
  __device__ __forceinline__ void load(Column const&, i64, int) {}
  __device__ __forceinline__ auto at(Column const& c, i64 first, int r, int k, int thread) const {
    return c.at(first + r * 32 * P.lanes_per_group + lane_in_row<P>(thread, k));
  }
};

} // namespace tally::v0::kernel
