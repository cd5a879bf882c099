// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bad input is refused before anything runs: lengths, null pointers, strides, numbers that a fold holds. Layer 5.
#pragma once

#include <string>

#include <tally/base/error.hpp>
#include <tally/pipeline/answer.hpp>
#include <tally/run/on.hpp>

namespace tally::v0 {

namespace detail {
/// Throws bad_bounds: of an axis of a histogram.
[[noreturn]] void throw_bad_bounds(int axis, double low, double high);
/// What can be wrong with a column.
struct column_to_check {
  bool is_null;
  bool stride_is_zero;
};
template <class Column>
column_to_check to_check(Column const& c) {
  column_to_check out{};
  if constexpr (memory_column<Column>) {
    out.is_null = c.data == nullptr;
    if constexpr (requires { c.stride; })
      out.stride_is_zero = c.stride == 0;
  }
  return out;
}
/// Compiled in dsl/run/check.cpp.
void check_columns(column_to_check const* columns, i64 const* extents, int count);
void check_columns(column_to_check const* columns, i64 const* extents, int count, int rank, i64 const* axes, i64 const* common);
} // namespace detail

/// Throws extent_mismatch, null_column or zero_stride, naming the column and both numbers.
template <class... Columns>
void check_source(source<Columns...> const& s) {
  unpack(
      [&](auto const&... c) {
        detail::column_to_check const columns[] = {detail::to_check(c)...};
        detail::check_columns(columns, s.extents, int(sizeof...(Columns)));
      },
      s.columns);
}

/// The same for columns with axes: every column has the extents of the source along the axes it has.
template <int Rank, class... Columns>
void check_source(grid<Rank, Columns...> const& s) {
  i64 common[Rank];
  for (int k = 0; k < Rank; ++k)
    common[k] = s.extent_along(k);
  unpack(
      [&](auto const&... c) {
        detail::column_to_check const columns[] = {detail::to_check(c)...};
        detail::check_columns(columns, s.extents, int(sizeof...(Columns)), Rank, &s.axes[0][0], common);
      },
      s.columns);
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
    return tally::v0::bind(r);
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

} // namespace tally::v0
