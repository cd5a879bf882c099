// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns with axes of their own on the CPU: their elements are laid one after the other, a few leaves at a time, and folded as any others.
// Layer 5, host only.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/run/cpu_tile.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::inline v0::cpu {

namespace detail {

/// A column whose elements are neighbours, of the same kind as one that may have axes.
template <class Column>
struct laid_out {
  using type = Column;
};
template <class T, int Rank>
struct laid_out<spread<T, Rank>> {
  using type = contiguous<T>;
};
template <class T, int Rank>
struct laid_out<earlier_along<T, Rank>> {
  using type = earlier<T>;
};

/// Lays elements [e, e + n) of a column with axes one after the other.
template <class Column>
void gather(Column const& c, i64 e, i64 n, typename Column::value_type* to) {
  constexpr int rank = Column::rank;
  i64 index[rank], left = c.first + e;
  for (int k = rank - 1; k > 0; --k) {
    index[k] = left % c.extents[k];
    left /= c.extents[k];
  }
  index[0] = left;
  i64 const step = c.strides[rank - 1];
  while (n > 0) {
    auto const* from = c.data;
    for (int k = 0; k < rank; ++k) from += index[k] * c.strides[k];
    i64 const in_row = c.extents[rank - 1] - index[rank - 1], here = n < in_row ? n : in_row;
    if (step == 1)
      for (i64 i = 0; i < here; ++i) to[i] = from[i];
    else if (step == 0)
      for (i64 i = 0; i < here; ++i) to[i] = *from;
    else
      for (i64 i = 0; i < here; ++i) to[i] = from[i * step];
    to += here;
    n -= here;
    index[rank - 1] += here;
    for (int k = rank - 1; k > 0 && index[k] == c.extents[k]; --k) {
      index[k] = 0;
      ++index[k - 1];
    }
  }
}

/// Room for the elements of a column, where it needs some.
template <class Column, bool HasAxes = (axes_of_column<Column> > 0)>
struct gathered {
  void reserve(i64) {}
  Column from(Column const& c, i64 e, i64) { return c.from(e); }
};
template <class Column>
struct gathered<Column, true> {
  heap_array<typename Column::value_type> room;
  void reserve(i64 elements) { room = heap_array<typename Column::value_type>(static_cast<std::size_t>(elements)); }
  typename laid_out<Column>::type from(Column const& c, i64 e, i64 n) {
    gather(c, e, n, room.data());
    return {room.data()};
  }
};

template <class... Columns>
constexpr bool any_has_axes(pack<Columns...> const*) {
  return (false || ... || (axes_of_column<Columns> > 0));
}
template <class Program>
inline constexpr bool has_grid_columns = any_has_axes(static_cast<typename Program::columns_type const*>(nullptr));

template <class... Columns, class... Leaves>
auto fold_gathered(program<pack<Columns...>, Leaves...> const& p, i64 leaf, i64 count) {
  using States = pack<typename Leaves::state...>;
  using Laid = program<pack<typename laid_out<Columns>::type...>, Leaves...>;
  constexpr i64 elements = shape_of<Laid>.elements(), at_once = 8; // leaves that the nearest cache keeps
  static_assert(shape_of<Laid> == shape_of<program<pack<Columns...>, Leaves...>>);
  pack<gathered<Columns>...> rooms;
  for_each_index<int(sizeof...(Columns))>([&](auto i) { get<i>(rooms).reserve((count < at_once ? count : at_once) * elements); });
  neighbour_stack<States, 40> stack;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  for (i64 k = 0; k < count; k += at_once) {
    i64 const e = (leaf + k) * elements, here = count - k < at_once ? count - k : at_once;
    i64 const n = p.extent - e < here * elements ? p.extent - e : here * elements;
    Laid const laid{[&]<int... I>(index_list<I...>) { return make_pack(get<I>(rooms).from(get<I>(p.columns), e, n)...); }(indices_up_to<int(sizeof...(Columns))>{}),
                    n, p.first + e, p.leaves};
    stack.push(combine, cpu::fold_subtree(laid, 0, here));
  }
  return stack.root(combine);
}

} // namespace detail

/// The subtree over `count` leaves (at least 1) that start at `leaf`, of a program with columns that have axes.
template <class Program>
  requires detail::has_grid_columns<Program>
typename Program::states fold_subtree(Program const& p, i64 leaf, i64 count) {
  return detail::fold_gathered(p, leaf, count);
}

} // namespace tally::inline v0::cpu
