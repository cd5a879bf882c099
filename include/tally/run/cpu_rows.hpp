// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups whose elements are neighbours in memory, several at once on every core. Layer 5, host only.
#pragma once

#include <tally/run/cpu_row_folder.hpp>

namespace tally::inline v0::cpu {

namespace detail {

/// Groups [0, count) of `elements` each, `step` numbers apart.
template <leaf_shape Shape, class Leaf, class Number>
TALLY_INLINE void fold_neighbouring_rows(typename Leaf::monoid_type const& m, Number const* x, i64 step, Number const* end, i64 elements, i64 count,
                                         typename Leaf::state* out) {
  using folder = row_folder<Shape, Leaf>;
  constexpr int n = folder::n;
  if constexpr (folder::long_too)
    if (elements > folder::lanes) return folder::long_groups(m, x, step, end, elements, count, out);
  if (step == elements)
    for_each_index<tally::detail::log2_of(n)>([&](auto log2) __attribute__((always_inline)) {
      if (elements == 1 << log2.value) {
        i64 const done = folder::template dense_groups<1 << log2.value>(x, count, out);
        x += done * step, count -= done, out += done;
      }
    });
  auto const short_ones = [&](auto blocks) __attribute__((always_inline)) {
    constexpr int of = 1 << decltype(blocks)::value;
    if (elements == of * n)
      folder::template short_groups<of, false>(x, step, end, int(elements), count, out);
    else
      folder::template short_groups<of, true>(x, step, end, int(elements), count, out);
  };
  bool done = false;
  for_each_index<1 + tally::detail::log2_of(folder::blocks)>([&](auto log2) __attribute__((always_inline)) {
    if (!done && elements <= (n << log2.value)) done = true, short_ones(log2);
  });
}

/// The same, not inlined, and one for all layouts.
template <leaf_shape Shape, class Leaf, class Number>
void fold_groups_of_rows(typename Leaf::monoid_type const& m, Number const* x, i64 step, Number const* end, i64 elements, i64 count,
                         typename Leaf::state* out) {
  with_registers([&]() TALLY_INLINE_LAMBDA { fold_neighbouring_rows<Shape, Leaf>(m, x, step, end, elements, count, out); });
}

/// How many groups a core folds before it hands out their states, which then are in its nearest cache.
inline constexpr i64 groups_of_task = 2048, elements_of_task = i64(1) << 16;

/// Whether groups of a program can be folded by fold_rows.
template <class... Columns, class... Leaves>
bool are_rows(program<pack<Columns...>, Leaves...> const&, axes_layout const& at) {
  constexpr leaf_shape shape = shape_of<program<pack<Columns...>, Leaves...>>;
  constexpr i64 longest = (row_folder<shape, Leaves>::long_too && ...) ? leaves_of_row * shape.elements() : shape.lanes();
  bool together = at.extent <= longest && at.reduced_axes <= 1;
  ((together = together && (at.reduced_axes == 0 || at.reduced[0].steps[read_in_place<pack<Columns...>, Leaves>::column] == 1)), ...);
  return together && (at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1) >= register_bytes / 4;
}
/// Folds every group into emit(g, n, states).
template <class... Columns, class... Leaves, class Emit>
void fold_rows(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at, int threads, Emit const& emit) {
  using Program = program<pack<Columns...>, Leaves...>;
  constexpr leaf_shape shape = shape_of<Program>;
  int const cores = threads > 0 ? threads : core_count();
  grid_axis const inner = at.kept[at.kept_axes - 1];
  i64 const fair = at.groups / (4 * cores), most = elements_of_task / at.extent < groups_of_task ? elements_of_task / at.extent : groups_of_task;
  i64 const least = most < 16 ? 1 : 16, in_task = fair > most ? most : fair < least ? least : fair, tasks = (at.groups - 1) / in_task + 1;
  spread_over_cores(tasks, threads, [&](i64 task) {
    i64 const first = task * in_task, end = at.groups < first + in_task ? at.groups : first + in_task;
    states_apart<typename Leaves::state...> const states(end - first);
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      using Leaf = nth_t<i, Leaves...>;
      constexpr int c = read_in_place<pack<Columns...>, Leaf>::column;
      using number = typename vector_form<typename Leaf::monoid_type>::number;
      auto const* const data = get<c>(p.columns).data;
      i64 const last = at.last[c];
      for (i64 g = first; g < end;) {
        i64 const left = inner.extent - g % inner.extent, count = end - g < left ? end - g : left;
        auto const* const x = reinterpret_cast<number const*>(data + group_origin<int(sizeof...(Columns))>(at, g).offset[c]);
        fold_groups_of_rows<shape, Leaf>(get<i>(p.leaves).monoid, x, inner.steps[c], reinterpret_cast<number const*>(data + last + 1), at.extent, count,
                                         states.template of<i>() + (g - first));
        g += count;
      }
    });
    emit(first, end - first, states);
  });
}

} // namespace detail

} // namespace tally::inline v0::cpu
