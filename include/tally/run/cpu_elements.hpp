// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a pipeline, written on the CPU: runs along the innermost axis, spread over cores, in vectors where columns lie
// together; tile by tile where memory follows another axis. Layer 5, host only.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/answer_nodes.hpp>
#include <tally/plan/turned_axis.hpp>
#include <tally/run/cpu_gather.hpp>
#include <tally/run/cpu_groups.hpp>
#include <tally/run/cpu_values.hpp>

namespace tally::v0::cpu {

/// Elements that a core writes before it asks for more.
inline constexpr i64 elements_of_run = 8192;
/// Rows, and elements of each, that a core writes together where memory follows the rows' axis. It brings them to its stack first, row by row of memory:
/// lines a power of two apart would drive each other out of the cache before all of them was needed.
inline constexpr i64 rows_of_tile = 128, elements_of_tile_row = 64;
/// Bytes of one element of all columns in memory, up to which their tiles are brought.
inline constexpr i64 most_bytes_of_tiles = 32;

namespace detail {

/// Elements [0, n) of one expression.
template <class Columns, class E, class T>
TALLY_INLINE void write_values(Columns columns, E const& of, i64 position, i64 n, T* to) {
  auto const value = [&](i64 e) TALLY_INLINE_LAMBDA {
    return answers::with_one_nan(static_cast<T>(unpack(
        [&](auto const&... c) TALLY_INLINE_LAMBDA {
          return of.eval(row<typename std::remove_cvref_t<decltype(c)>::value_type...>{make_pack(c.at(e)...), position + e});
        },
        columns)));
  };
  if constexpr (E::lowerable && fits_a_buffer<T>)
    write_in_loops(to, n, value);
  else // host functions are called once an element
    for (i64 e = 0; e < n; ++e)
      to[e] = value(e);
}
template <class Columns, class... Es, class... Ts>
TALLY_INLINE void write_all(Columns const& columns, pack<Es...> const& values, i64 position, i64 n, pack<Ts*...> const& to) {
  for_each_index<int(sizeof...(Es))>([&](auto i) TALLY_INLINE_LAMBDA {
    write_values(columns, get<i>(values), position, n, get<i>(to));
  });
}

/// A column as it is seen along a run: neighbours, but for answers that stand still.
template <bool AnswersStand, class Column>
auto beside(Column const& c, i64 offset) {
  if constexpr (AnswersStand && answer_column<Column>)
    return repeated<typename Column::value_type>{c.data[offset]};
  else if constexpr (memory_column<Column>)
    return contiguous<typename Column::value_type>{c.data + offset};
  else
    return c;
}
/// A column with any step.
template <class Column>
auto apart(Column const& c, i64 offset, i64 step) {
  if constexpr (memory_column<Column>)
    return strided<typename Column::value_type>{c.data + offset, step};
  else
    return c;
}
/// Columns that are computed begin at a position, and go on in steps of one.
template <class Column>
auto begun_at(Column const& c, i64 position) {
  if constexpr (memory_column<Column> || requires { c.value; })
    return c;
  else
    return c.from(position);
}

/// The same of a run of n elements; those that are found by a search are found once.
template <class Column>
struct run_of_column {
  auto begun(Column const& c, i64 position, i64) { return begun_at(c, position); }
};
template <class Column>
  requires is_searched<Column>
struct run_of_column<Column> {
  gathered<Column> room;
  auto begun(Column const& c, i64 position, i64 n) {
    room.reserve(n);
    return room.from(c, position, n);
  }
};

/// Whether rows follow one another without a gap in every column but those of answers.
template <class... Columns>
bool are_dense(axes_layout const& at) {
  i64 const extent = at.kept[1].extent;
  bool dense = at.kept[0].position_step == extent && at.kept[1].position_step == 1;
  int c = 0;
  ((dense = dense && (!memory_column<Columns> || answer_column<Columns> || at.kept[0].steps[c] == extent), ++c), ...);
  return dense;
}
/// Writes `rows` short rows as one run, beside answers that are repeated for every element.
template <class... Columns, class... Es, class... Ts>
void write_short_rows(pack<Columns...> const& columns, axes_layout const& at, i64 first_row, i64 rows, pack<Es...> const& values, pack<Ts*...> const& to) {
  i64 const extent = at.kept[1].extent;
  grid_place<int(sizeof...(Columns))> place{};
  place.move(at.kept[0], first_row);
  pack<heap_array<typename Columns::value_type>...> room;
  auto const begun = [&](auto c) {
    auto const& column = get<c>(columns);
    if constexpr (answer_column<std::remove_cvref_t<decltype(column)>>)
      return repeat_each(column, place.offset[c], at.kept[0].steps[c], extent, rows, get<c>(room));
    else
      return begun_at(beside<false>(column, place.offset[c]), place.position);
  };
  auto const out = unpack([&](auto... t) { return make_pack(t + first_row * extent...); }, to);
  [&]<int... I>(index_list<I...>) {
    auto const all = make_pack(begun(index_constant<I>{})...);
    with_or_without_registers([&]() TALLY_INLINE_LAMBDA { write_all(all, values, place.position, rows * extent, out); });
  }(indices_up_to<int(sizeof...(Columns))>{});
}
/// Whether tiles of all columns have room on the stack.
template <class... Columns>
inline constexpr bool fits_tiles = (i64(0) + ... + (memory_column<Columns> ? i64(sizeof(typename Columns::value_type)) : 0)) <= most_bytes_of_tiles;
/// A tile of a column, by rows; of one that is computed, nothing.
template <class Column>
struct tile_of {
  using T = typename Column::value_type;
  alignas(64) unsigned char bytes[memory_column<Column> ? sizeof(T) * rows_of_tile * elements_of_tile_row : 1];
  T* row(i64 k) { return reinterpret_cast<T*>(bytes) + k * elements_of_tile_row; }
  TALLY_INLINE void bring(T const* from, i64 rows, i64 rows_apart, i64 n, i64 apart) {
    for (i64 e = 0; e < n; ++e)
      for (i64 k = 0; k < rows; ++k)
        std::memcpy(row(k) + e, from + k * rows_apart + e * apart, sizeof(T));
  }
};
/// Writes `rows` rows of n elements that are neighbours along a kept axis, from row `first` on, `apart` rows each.
template <class... Columns, class... Es, class... Ts>
void write_tile(pack<Columns...> const& columns, axes_layout const& at, int axis, i64 first, i64 apart, i64 rows, i64 begin, i64 n, pack<Es...> const& values,
                pack<Ts*...> const& to) {
  grid_axis const &inner = at.kept[at.kept_axes - 1], &along = at.kept[axis];
  grid_place<int(sizeof...(Columns))> place{};
  move_along(place, at.kept, at.kept_axes - 1, first);
  place.move(inner, begin);
  pack<tile_of<Columns>...> room;
  [&]<int... I>(index_list<I...>) {
    auto const bring = [&]<class Column, int C>(Column const& c, index_constant<C>) {
      if constexpr (memory_column<Column>)
        if (inner.steps[C] != 1)
          get<C>(room).bring(c.data + place.offset[C], rows, along.steps[C], n, inner.steps[C]);
    };
    auto const seen = [&]<class Column, int C>(Column const& c, i64 k, index_constant<C>) {
      if constexpr (memory_column<Column>)
        return contiguous<typename Column::value_type>{inner.steps[C] != 1 ? get<C>(room).row(k) : c.data + place.offset[C]};
      else
        return begun_at(c, place.position);
    };
    (bring(get<I>(columns), index_constant<I>{}), ...);
    for (i64 k = 0; k < rows; ++k, place.move(along, 1)) {
      auto const row = make_pack(seen(get<I>(columns), k, index_constant<I>{})...);
      auto const out = unpack([&](auto... t) { return make_pack(t + (first + k * apart) * inner.extent + begin...); }, to);
      with_or_without_registers([&]() TALLY_INLINE_LAMBDA { write_all(row, values, place.position, n, out); });
    }
  }(indices_up_to<int(sizeof...(Columns))>{});
}
/// Writes all elements by tiles along a kept axis.
template <class Columns, class Values, class To>
void write_tiles(Columns const& columns, axes_layout const& at, int axis, Values const& values, To const& to, int threads) {
  i64 const inner = at.kept[at.kept_axes - 1].extent, along = at.kept[axis].extent;
  i64 apart = 1; // rows between neighbours along the axis
  for (int k = axis + 1; k < at.kept_axes - 1; ++k)
    apart *= at.kept[k].extent;
  i64 const of_row = (inner - 1) / elements_of_tile_row + 1, of_axis = (along - 1) / rows_of_tile + 1;
  auto const least = [](i64 a, i64 b) { return a < b ? a : b; };
  spread_over_cores(at.groups / inner / along * of_axis * of_row, threads, [&](i64 task) {
    i64 const begin = task / of_axis % of_row * elements_of_tile_row, k = task % of_axis * rows_of_tile, others = task / of_axis / of_row;
    write_tile(columns, at, axis, others / apart * apart * along + k * apart + others % apart, apart, least(along - k, rows_of_tile), begin,
               least(inner - begin, elements_of_tile_row), values, to);
  });
}
} // namespace detail

/// Writes the elements of columns laid out as `at` (all axes kept) in row-major order; there is at least one.
template <class... Columns, class... Es, class... Ts>
void write_elements(pack<Columns...> const& columns, axes_layout const& at, pack<Es...> const& values, pack<Ts*...> const& to, int threads) {
  constexpr int count = int(sizeof...(Columns));
  grid_axis const inner = at.kept_axes > 0 ? at.kept[at.kept_axes - 1] : grid_axis{1, 1, {}};
  i64 const rows = at.groups / inner.extent, runs_of_row = (inner.extent - 1) / elements_of_run + 1;
  bool stands = true, together = true;
  int c = 0;
  ((stands = stands && (!memory_column<Columns> || inner.steps[c] == (answer_column<Columns> ? 0 : 1)),
    together = together && (memory_column<Columns> ? inner.steps[c] == 1 : true), ++c),
   ...);
  bool const repeats = at.kept_axes == 2 && stands && inner.extent <= detail::repeated_extent && detail::are_dense<Columns...>(at);
  bool const in_memory[] = {memory_column<Columns>...};
  if constexpr (detail::fits_tiles<Columns...>)
    if (int const axis = planning::choose_turned_axis(at, count, [&](int k) { return in_memory[k]; }); axis >= 0)
      return detail::write_tiles(columns, at, axis, values, to, threads);
  auto const write_run = [&](i64 r, i64 begin, i64 n) {
    grid_place<count> place{};
    move_along(place, at.kept, at.kept_axes - 1, r);
    place.move(inner, begin);
    auto const write = [&](auto const& seen) {
      auto const out = unpack([&](auto... t) { return make_pack(t + r * inner.extent + begin...); }, to);
      [&]<int... I>(index_list<I...>) {
        pack<detail::run_of_column<std::remove_cvref_t<decltype(seen(get<I>(columns), i64(0), i64(0)))>>...> runs;
        auto const begun = make_pack(get<I>(runs).begun(seen(get<I>(columns), place.offset[I], inner.steps[I]), place.position, n)...);
        detail::with_or_without_registers([&]() TALLY_INLINE_LAMBDA { detail::write_all(begun, values, place.position, n, out); });
      }(indices_up_to<count>{});
    };
    if constexpr ((answer_column<Columns> || ...))
      if (stands)
        return write([](auto const& one, i64 offset, i64) { return detail::beside<true>(one, offset); });
    if (together)
      write([](auto const& one, i64 offset, i64) { return detail::beside<false>(one, offset); });
    else
      write([](auto const& one, i64 offset, i64 step) { return detail::apart(one, offset, step); });
  };
  i64 const rows_of_task = runs_of_row > 1 ? 1 : (elements_of_run - 1) / inner.extent + 1;
  i64 const tasks = ((rows - 1) / rows_of_task + 1) * runs_of_row;
  detail::spread_over_cores(tasks, threads, [&](i64 task) {
    i64 const first_row = task / runs_of_row * rows_of_task, begin = task % runs_of_row * elements_of_run;
    i64 const n = inner.extent - begin < elements_of_run ? inner.extent - begin : elements_of_run;
    i64 const last_row = first_row + rows_of_task < rows ? first_row + rows_of_task : rows;
    if constexpr ((answer_column<Columns> || ...))
      if (repeats)
        return detail::write_short_rows(columns, at, first_row, last_row - first_row, values, to);
    for (i64 r = first_row; r < last_row; ++r)
      write_run(r, begin, n);
  });
}

} // namespace tally::v0::cpu
