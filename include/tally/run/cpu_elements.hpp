// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elements of a pipeline, written on the CPU: runs along the innermost axis, spread over cores, in vectors where columns lie
// together. Layer 5, host only.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/answer_nodes.hpp>
#include <tally/run/cpu_groups.hpp>
#include <tally/run/cpu_values.hpp>

namespace tally::inline v0::cpu {

/// Elements that a core writes before it asks for more.
inline constexpr i64 elements_of_run = 8192;

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
  i64 const rows_of_task = runs_of_row > 1 ? 1 : (elements_of_run - 1) / inner.extent + 1;
  i64 const tasks = ((rows - 1) / rows_of_task + 1) * runs_of_row;
  detail::spread_over_cores(tasks, threads, [&](i64 task) {
    i64 const first_row = task / runs_of_row * rows_of_task, begin = task % runs_of_row * elements_of_run;
    i64 const n = inner.extent - begin < elements_of_run ? inner.extent - begin : elements_of_run;
    auto const write_row = [&](i64 r) {
      grid_place<count> place{};
      move_along(place, at.kept, at.kept_axes - 1, r);
      place.move(inner, begin);
      auto const write = [&](auto const& seen) {
        auto const out = unpack([&](auto... t) { return make_pack(t + r * inner.extent + begin...); }, to);
        [&]<int... I>(index_list<I...>) {
          auto const begun = make_pack(detail::begun_at(seen(get<I>(columns), place.offset[I], inner.steps[I]), place.position)...);
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
    i64 const last_row = first_row + rows_of_task < rows ? first_row + rows_of_task : rows;
    if constexpr ((answer_column<Columns> || ...))
      if (repeats)
        return detail::write_short_rows(columns, at, first_row, last_row - first_row, values, to);
    for (i64 r = first_row; r < last_row; ++r)
      write_row(r);
  });
}

} // namespace tally::inline v0::cpu
