// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bad input is refused before anything runs: lengths, null pointers, strides, numbers that a fold holds. Layer 5.
#pragma once

#include <string>

#include <tally/base/error.hpp>
#include <tally/pipeline/answer.hpp>
#include <tally/run/on.hpp>

namespace tally::inline v0 {

namespace detail {
template <class Column>
void check_column(Column const& c, i64 extent, int number) {
  std::string const who = "column _" + std::to_string(number);
  if (extent < 0)
    throw extent_mismatch(who + " has a negative extent, " + std::to_string(extent) + ".");
  if constexpr (memory_column<Column>) {
    if (c.data == nullptr && extent > 0)
      throw null_column(who + " is a null pointer with " + std::to_string(extent) + " elements.");
    if constexpr (requires { c.stride; })
      if (c.stride == 0 && extent > 1)
        throw zero_stride(who + " has a stride of 0 over " + std::to_string(extent) + " elements.");
  }
}
} // namespace detail

/// Throws extent_mismatch, null_column or zero_stride, naming the column and both numbers.
template <class... Columns>
void check_source(source<Columns...> const& s) {
  for_each_index<int(sizeof...(Columns))>([&](auto i) {
    detail::check_column(get<i>(s.columns), s.extents[i], i + 1);
    if (s.extents[i] != s.extents[0])
      throw extent_mismatch("column _" + std::to_string(i + 1) + " has " + std::to_string(s.extents[i]) +
                            " elements, column _1 has " + std::to_string(s.extents[0]) + ".");
  });
}

/// The same for columns with axes: every column has the extents of the source along the axes it has.
template <int Rank, class... Columns>
void check_source(grid<Rank, Columns...> const& s) {
  for_each_index<int(sizeof...(Columns))>([&](auto i) {
    std::string const who = "column _" + std::to_string(i + 1);
    i64 own = 1;
    bool broadcast = false;
    for (int k = 0; k < Rank; ++k) {
      i64 const has = s.axes[i][k];
      if (has == any_extent) {
        broadcast = true;
        continue;
      }
      if (has < 0)
        throw extent_mismatch(who + " has a negative extent along axis " + std::to_string(k) + ", " + std::to_string(has) + ".");
      if (has != s.extent_along(k))
        throw extent_mismatch(who + " has " + std::to_string(has) + " elements along axis " + std::to_string(k) +
                              ", the source has " + std::to_string(s.extent_along(k)) + ".");
      if (__builtin_mul_overflow(own, has, &own))
        throw too_large(who + " has more elements than 63 bits count.");
    }
    detail::check_column(get<i>(s.columns), s.extents[i], i + 1);
    if (!broadcast && s.extents[i] != own)
      throw extent_mismatch(who + " has " + std::to_string(s.extents[i]) + " elements, its axes take " + std::to_string(own) + ".");
  });
}

/// Throws zero_modulus where a fold counts modulo 0.
template <class... Leaves>
void check_folds(pack<Leaves...> const& leaves) {
  for_each_index<int(sizeof...(Leaves))>([&](auto i) {
    auto const& m = get<i>(leaves).monoid; // a get<i> in the requirement itself is never satisfied for clang 14
    if constexpr (requires { m.modulus; })
      if (m.modulus == 0)
        throw zero_modulus("a fold counts modulo 0.");
  });
}

namespace detail {
template <class... Options>
inline constexpr bool asks_exact = (false || ... || std::same_as<Options, exact_contract>);
/// A reduction bound to its types as the options of a call ask for.
template <class... Options, class R>
constexpr auto bind_for(R const& r) {
  if constexpr (asks_exact<Options...>)
    return bind_exactly(r);
  else
    return tally::bind(r);
}
} // namespace detail

/// A reduction bound to its types, when nothing is wrong with its columns and folds. Throws what check_source and check_folds
/// throw.
template <class... Options, class R>
auto bind_checked(R const& r) {
  check_source(r.pipe.source);
  auto b = detail::bind_for<Options...>(r);
  check_folds(b.program.leaves);
  return b;
}

} // namespace tally::inline v0
