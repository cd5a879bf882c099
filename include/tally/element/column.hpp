// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of a source lie: the column types a kernel can read, as plain values. Layer 1. Ranges turn into
// these in pipeline/from.hpp; a range that cannot stays a host_column and is folded on the CPU.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/base/pack.hpp>

namespace tally::v0 {

/// n elements one after the other in memory.
template <class T>
struct contiguous {
  using value_type = T;
  static constexpr bool lowerable = true;
  T const* data;
  TALLY_INLINE constexpr T at(i64 i) const { return data[i]; }
  constexpr contiguous from(i64 i) const { return {data + i}; }
};

/// Elements that lie stride elements apart; the stride may be negative.
template <class T>
struct strided {
  using value_type = T;
  static constexpr bool lowerable = true;
  T const* data;
  i64 stride;
  TALLY_INLINE constexpr T at(i64 i) const { return data[i * stride]; }
  constexpr strided from(i64 i) const { return {data + i * stride, stride}; }
};

/// start, start + step, start + 2 step, ...: computed, never read. A part keeps the start and counts on from `first`, so
/// that its floats are those of the whole.
template <class T>
struct counting {
  using value_type = T;
  static constexpr bool lowerable = true;
  T start;
  T step;
  i64 first = 0;
  TALLY_INLINE constexpr T at(i64 i) const {
    if constexpr (stl::is_integral_v<T>) // wraps instead of being undefined
      return static_cast<T>(static_cast<u64>(start) + static_cast<u64>(first + i) * static_cast<u64>(step));
    else
      return static_cast<T>(start + static_cast<T>(first + i) * step);
  }
  constexpr counting from(i64 i) const { return {start, step, first + i}; }
};

/// Elements that only host code can produce.
template <class View>
struct host_column {
  using value_type = stl::remove_cvref_t<decltype(stl::declval<View&>()[0])>;
  static constexpr bool lowerable = false;
  View view;
  i64 first = 0;
  constexpr value_type at(i64 i) const { return view[static_cast<decltype(view.size())>(first + i)]; }
  constexpr host_column from(i64 i) const { return {view, first + i}; }
};

template <class T>
concept column = requires(T const& c) {
  typename T::value_type;
  c.at(i64{});
  c.from(i64{});
};
/// A column that is read from memory.
template <class T>
concept memory_column = column<T> && requires(T const& c) { c.data; };

} // namespace tally::v0
