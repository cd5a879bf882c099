// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups whose elements are neighbours in memory, several at once on every core: numbers where they lie, or computed, some rows at a
// time, from columns that lie like them. Layer 5, host only.
#pragma once

#include <vector>

#include <tally/element/earlier.hpp>
#include <tally/run/cpu_row_folder.hpp>

namespace tally::v0::cpu {

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
    for_each_index<tally::v0::detail::log2_of(n)>([&](auto log2) TALLY_INLINE_LAMBDA {
      if (elements == 1 << log2.value) {
        i64 const done = folder::template dense_groups<1 << log2.value>(x, count, out);
        x += done * step, count -= done, out += done;
      }
    });
  auto const short_ones = [&](auto blocks) TALLY_INLINE_LAMBDA {
    constexpr int of = 1 << decltype(blocks)::value;
    if (elements == of * n)
      folder::template short_groups<of, false>(x, step, end, int(elements), count, out);
    else
      folder::template short_groups<of, true>(x, step, end, int(elements), count, out);
  };
  bool done = false;
  for_each_index<1 + tally::v0::detail::log2_of(folder::blocks)>([&](auto log2) TALLY_INLINE_LAMBDA {
    if (!done && elements <= (n << log2.value)) done = true, short_ones(log2);
  });
}

/// The same, not inlined, and one for all layouts and expressions.
template <leaf_shape Shape, class M, class Number>
void fold_groups_of_rows(M const& m, Number const* x, i64 step, Number const* end, i64 elements, i64 count, typename M::state* out) {
  with_registers([&]() TALLY_INLINE_LAMBDA {
    fold_neighbouring_rows<Shape, bound<M, pack<placeholder<0>>, always>>(m, x, step, end, elements, count, out);
  });
}

/// How many groups a core folds before it hands out their states, which then are in its nearest cache.
inline constexpr i64 groups_of_task = 2048, elements_of_task = i64(1) << 16;

/// Whether the numbers of a leaf can be computed row by row.
template <class Program, class Leaf>
inline constexpr bool computes_rows = false;
template <class... Columns, class... Leaves, has_group_form M, class E>
inline constexpr bool computes_rows<program<pack<Columns...>, Leaves...>, bound<M, pack<E>, always>> =
    ((is_contiguous<Columns> || answer_column<Columns> || is_unread<Columns>) && ...) && !looks_at_position<E> && M::law.commutative &&
    (strip_form<M, false>::width == 4 || strip_form<M, false>::width == 8);
/// Whether all folds of a program can be folded in rows, if its groups lie so.
template <class Program>
inline constexpr bool folds_in_rows = false;
template <class Columns, class... Leaves>
inline constexpr bool folds_in_rows<program<Columns, Leaves...>> =
    sizeof...(Leaves) > 0 && (true && ... && (folds_in_place<Columns, Leaves> || computes_rows<program<Columns, Leaves...>, Leaves>));

/// How the elements of all columns lie, for groups that are computed: one group behind the other without a gap; each by itself; or
/// otherwise. Answers stand along a group, and are repeated for every element of short ones.
enum class computed_lie { one_behind_another, each_by_itself, otherwise };
template <class... Columns>
computed_lie lie_of(pack<Columns...> const*, axes_layout const& at) {
  constexpr bool beside_answers = (answer_column<Columns> || ...);
  bool dense = at.kept_axes == 1 && (!beside_answers || at.extent <= repeated_extent), rows = at.extent > repeated_extent && at.reduced_axes == 1;
  int c = 0;
  auto const meet = [&](bool answers, bool unread) {
    i64 const step = at.reduced_axes == 0 ? 1 : at.reduced[0].steps[c];
    bool const lies = answers ? at.reduced_axes == 1 && step == 0 : step == 1;
    dense = dense && (unread || (lies && (answers || at.kept[0].steps[c] == at.extent)));
    rows = rows && (unread || lies);
    ++c;
  };
  (meet(answer_column<Columns>, is_unread<Columns>), ...);
  return dense ? computed_lie::one_behind_another : rows ? computed_lie::each_by_itself : computed_lie::otherwise;
}
/// Whether groups of a program can be folded by fold_rows.
template <class... Columns, class... Leaves>
bool are_rows(program<pack<Columns...>, Leaves...> const&, axes_layout const& at) {
  constexpr leaf_shape shape = shape_of<program<pack<Columns...>, Leaves...>>;
  constexpr i64 longest = (row_folder<shape, Leaves>::long_too && ...) ? leaves_of_row * shape.elements() : shape.lanes();
  auto const neighbours = [&](int c) { return at.reduced_axes == 0 || at.reduced[0].steps[c] == 1; };
  bool together = at.extent <= longest && at.reduced_axes <= 1;
  auto const lie_well = [&](int of_leaf) {
    return of_leaf >= 0 ? neighbours(of_leaf) : lie_of(static_cast<pack<Columns...> const*>(nullptr), at) != computed_lie::otherwise;
  };
  ((together = together && lie_well(read_in_place<pack<Columns...>, Leaves>::column)), ...);
  return together && (at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1) >= register_bytes / 4;
}

/// Bytes of numbers that are computed at a time: with twice as many, sums of squares of rows of 32 to 1000 f32 ran at 0.65 of a plain
/// read instead of 0.97. EPYC 9004, one core, 2026-11-22, g++ -O2, build/bench/cpu_axes 64 5.
inline constexpr i64 bytes_computed = 8192;

/// The numbers of one leaf for groups [g, g + count) of at most as many as asked for.
template <class Program, class Leaf>
class numbers_of_rows;
template <class... Columns, class... Leaves, class Leaf>
class numbers_of_rows<program<pack<Columns...>, Leaves...>, Leaf> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  using number = typename vector_form<typename Leaf::monoid_type>::number;
  number const *x, *end; ///< of the first group, and behind what may be read
  i64 step, count;       ///< from a group to the next; groups

  numbers_of_rows(program_type const& p, Leaf const& leaf, axes_layout const& at)
      : p_(p), leaf_(leaf), at_(at), room_(static_cast<std::size_t>(column < 0 ? room_for(at.extent) + behind : 0)) {}
  void move_to(i64 g, i64 most) {
    grid_axis const& inner = at_.kept[at_.kept_axes - 1];
    i64 const left = inner.extent - g % inner.extent;
    count = most < left ? most : left;
    if constexpr (column >= 0) {
      auto const* const data = get<column>(p_.columns).data;
      x = reinterpret_cast<number const*>(data + group_origin<int(sizeof...(Columns))>(at_, g).offset[column]);
      end = reinterpret_cast<number const*>(data + at_.last[column] + 1);
      step = inner.steps[column];
    } else {
      step = at_.extent;
      constexpr i64 at_once = strip_form<typename Leaf::monoid_type, false>::width; // what is left of these is folded slowly
      if (i64 const room = room_for(step) / step; count > room) count = room > at_once ? room / at_once * at_once : room;
      with_registers([&]() TALLY_INLINE_LAMBDA { compute(room_.data(), g); });
      x = room_.data(), end = x + count * step + behind;
    }
  }

private:
  static constexpr int column = read_in_place<pack<Columns...>, Leaf>::column;
  static constexpr i64 elements_at_once = bytes_computed / i64(sizeof(number));
  static constexpr int behind = shape_of<program_type>.lanes(); ///< numbers that are read and not used
  program_type const& p_;
  Leaf const& leaf_;
  axes_layout const& at_;
  computed_lie lie_ = lie_of(static_cast<pack<Columns...> const*>(nullptr), at_);
  std::vector<number> room_;

  static i64 room_for(i64 extent) { return extent > elements_at_once ? extent : elements_at_once; }
  using expression_type = std::remove_cvref_t<decltype(std::declval<Leaf const&>().values.first)>;
  /// The values of a run of elements that begins at an offset of every column: f(e) is that of element e.
  template <class... Begun>
  struct element_of_run {
    pack<Begun...> columns;
    copied<expression_type> of;
    TALLY_INLINE auto operator()(i64 e) const {
      return of.eval(row<typename Begun::value_type...>{unpack([&](auto const&... c) TALLY_INLINE_LAMBDA { return make_pack(c.at(e)...); }, columns), 0});
    }
  };
  /// Writes the numbers of n elements from a place on; answers_at(c, column) is what stands for a column of answers.
  template <class AnswersAt>
  TALLY_INLINE void compute_run(number* to, grid_place<int(sizeof...(Columns))> const& place, i64 n, AnswersAt const& answers_at) const {
    auto const begun_at = [&](auto c, auto const& of) TALLY_INLINE_LAMBDA {
      if constexpr (answer_column<std::remove_cvref_t<decltype(of)>>)
        return answers_at(c, of);
      else if constexpr (is_unread<std::remove_cvref_t<decltype(of)>>)
        return of;
      else
        return contiguous<typename std::remove_cvref_t<decltype(of)>::value_type>{of.data + place.offset[c]};
    };
    [&]<int... I>(index_list<I...>) TALLY_INLINE_LAMBDA {
      element_of_run<decltype(begun_at(index_constant<I>{}, get<I>(p_.columns)))...> const value{
          make_pack(begun_at(index_constant<I>{}, get<I>(p_.columns))...), leaf_.values.first};
      compute_values<!expression_type::lowerable>(to, n, value);
    }(indices_up_to<int(sizeof...(Columns))>{});
  }
  /// The numbers of groups [g, g + count).
  TALLY_INLINE void compute(number* to, i64 g) const {
    auto place = group_origin<int(sizeof...(Columns))>(at_, g);
    if (lie_ == computed_lie::one_behind_another) {
      pack<heap_array<typename Columns::value_type>...> room;
      compute_run(to, place, count * step, [&](auto c, auto const& answers) {
        return repeat_each(answers, place.offset[c], at_.kept[0].steps[c], step, count, get<c>(room));
      });
    } else {
      for (i64 k = 0; k < count; ++k, place.move(at_.kept[at_.kept_axes - 1], 1), to += step)
        compute_run(to, place, step, [&](auto c, auto const& answers) TALLY_INLINE_LAMBDA {
          return repeated<typename std::remove_cvref_t<decltype(answers)>::value_type>{answers.data[place.offset[c]]};
        });
    }
  }
};
/// Folds groups [first, end) into emit(first, n, states).
template <class... Columns, class... Leaves, class Emit>
void fold_some_rows(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at, i64 first, i64 end, Emit const& emit) {
  using Program = program<pack<Columns...>, Leaves...>;
  states_apart<typename Leaves::state...> const states(end - first);
  for_each_index<int(sizeof...(Leaves))>([&](auto i) {
    auto const& leaf = get<i>(p.leaves);
    numbers_of_rows<Program, nth_t<i, Leaves...>> rows(p, leaf, at);
    for (i64 g = first; g < end; g += rows.count) {
      rows.move_to(g, end - g);
      fold_groups_of_rows<shape_of<Program>>(leaf.monoid, rows.x, rows.step, rows.end, at.extent, rows.count, states.template of<i>() + (g - first));
    }
  });
  emit(first, end - first, states);
}
/// Folds every group into emit(g, n, states).
template <class Program, class Emit>
void fold_rows(Program const& p, axes_layout const& at, int threads, Emit const& emit) {
  int const cores = threads > 0 ? threads : core_count();
  i64 const fair = at.groups / (4 * cores), most = elements_of_task / at.extent < groups_of_task ? elements_of_task / at.extent : groups_of_task;
  i64 const least = most < 16 ? 1 : 16, in_task = fair > most ? most : fair < least ? least : fair, tasks = (at.groups - 1) / in_task + 1;
  spread_over_cores(tasks, threads, [&](i64 task) {
    fold_some_rows(p, at, task * in_task, at.groups < (task + 1) * in_task ? at.groups : (task + 1) * in_task, emit);
  });
}

} // namespace detail

} // namespace tally::v0::cpu
