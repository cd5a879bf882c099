// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns of a source a read needs: those that its folds name, and those that say which group an element is of. Layer 1.
#pragma once

#include <tally/element/columns_named.hpp>
#include <tally/fold/tree.hpp>

namespace tally::v0 {

/// The columns that the folds of a program look at, a bit each.
template <class Program>
inline constexpr u32 columns_folded = 0;
template <class Columns, class... Leaves>
inline constexpr u32 columns_folded<program<Columns, Leaves...>> =
    (u32(0) | ... | (columns_named<decltype(Leaves::values)> | columns_named<decltype(Leaves::mask)>));

/// The columns that say which group an element is of, a bit each: those of a key and of the mask beside it.
template <class Where>
inline constexpr u32 columns_of_key = 0;
template <class Where>
  requires requires(Where const& w) { w.key, w.mask; }
inline constexpr u32 columns_of_key<Where> = columns_named<decltype(Where::key)> | columns_named<decltype(Where::mask)>;

namespace detail {
template <bool Named, class Column>
constexpr auto column_read(Column const& c) {
  using T = typename Column::value_type;
  if constexpr (Named)
    return c;
  else if constexpr (bytes_in_memory<Column>() > 0)
    return unread<contiguous<T>>{};
  else
    return unread<repeated<T>>{};
}
} // namespace detail

/// The columns of Named, a bit each, and nothing to read in place of all others.
template <u32 Named, class... Columns>
constexpr auto columns_read(pack<Columns...> const& columns) {
  return [&]<int... I>(index_list<I...>) {
    return make_pack(detail::column_read<(Named >> I & 1) != 0>(get<I>(columns))...);
  }(indices_up_to<int(sizeof...(Columns))>{});
}

/// The same program over the columns of Named.
template <u32 Named, class Columns, class... Leaves>
constexpr auto program_reading(program<Columns, Leaves...> const& p) {
  auto const columns = columns_read<Named>(p.columns);
  return program<stl::remove_const_t<decltype(columns)>, Leaves...>{columns, p.extent, p.first, p.leaves};
}

} // namespace tally::v0
