// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a program becomes facts: the one place where the planner's numbers are read off types and pointers. Layer 3.
#pragma once

#include <tally/element/spread.hpp>
#include <tally/fold/exact.hpp>
#include <tally/fold/tree.hpp>
#include <tally/plan/block.hpp>
#include <tally/plan/combinable.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/load.hpp>

namespace tally::v0 {

/// The largest power of two, at most 16, that divides an address.
inline int alignment_of(void const* address) {
  auto const a = reinterpret_cast<u64>(address);
  return a == 0 ? 16 : static_cast<int>((a & -a) < 16 ? (a & -a) : 16);
}

/// The same of a column with axes.
template <column C>
source_facts facts_of_grid_column(C const& c) {
  i64 const size = sizeof(typename C::value_type);
  bool const begins_a_group = c.first % 16 == 0;
  source_facts f{size, c.strides[C::rank - 1], alignment_of(c.data), planning::load_of<C>(), begins_a_group ? c.extents[C::rank - 1] : 1};
  i64 elements = 1;
  bool alike = false;
  for (int k = 0; k < C::rank; ++k) {
    elements *= c.strides[k] == 0 ? 1 : c.extents[k];
    alike = alike || (c.strides[k] == 0 && c.extents[k] > 1);
    while (k < C::rank - 1 && c.strides[k] * size % f.steps_alignment != 0)
      f.steps_alignment /= 2;
  }
  f.elements = alike ? elements : 0;
  return f;
}

template <column C>
source_facts facts_of_column(C const& c) {
  if constexpr (!memory_column<C>)
    return {0, 1, 16, planning::load_of<C>(), 0, 16, 0, is_unread<C>};
  else if constexpr (axes_of_column<C> > 0)
    return facts_of_grid_column(c);
  else if constexpr (requires { c.stride; })
    return c.stride == 1 // neighbours after all
               ? facts_of_column(contiguous<typename C::value_type>{c.data})
               : source_facts{sizeof(typename C::value_type), c.stride, alignment_of(c.data), planning::load_of<C>()};
  else
    return {sizeof(typename C::value_type), 1, alignment_of(c.data), planning::load_of<C>()};
}

template <monoid M>
constexpr fold_facts facts_of_fold() {
  return {int(sizeof(typename M::state)), M::law.commutative, M::law.order_free, planning::block_of<M>(),
          planning::red_async_combinable<M, primitive::sm_90a>, exact_monoid<M>, planning::redux_combinable<M>,
          planning::cheap_to_combine<M>};
}

/// Whether an operation has a name, as functions of the library and of the user have; operators are signs.
constexpr bool is_named(char const* spelling) {
  char const c = *spelling;
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
/// Whether an expression calls a function.
template <class E>
inline constexpr bool calls_function = false;
template <class Op, class... Args>
inline constexpr bool calls_function<call<Op, Args...>> = is_named(Op::spelling) || (false || ... || calls_function<Args>);
template <class... Es>
inline constexpr bool calls_function<pack<Es...>> = (false || ... || calls_function<Es>);

/// The facts of one full reduction on a target under a contract.
template <class... Columns, class... Leaves>
facts facts_of(program<pack<Columns...>, Leaves...> const& p, target const& t, contract c) {
  using Program = program<pack<Columns...>, Leaves...>;
  static_assert(sizeof...(Columns) <= max_sources, "a source has at most 8 columns");
  static_assert(sizeof...(Leaves) <= max_folds, "one read folds at most 16 different leaves");
  facts f{};
  f.extent = p.extent;
  f.promise = c;
  f.lanes_per_group = shape_of<Program>.group;
  f.rows_per_leaf = shape_of<Program>.rows;
  f.source_count = sizeof...(Columns);
  f.fold_count = sizeof...(Leaves);
  f.target = t;
  f.calls_functions = (false || ... || (calls_function<decltype(Leaves::values)> || calls_function<decltype(Leaves::mask)>));
  for_each_index<int(sizeof...(Columns))>([&](auto i) { f.sources[i] = facts_of_column(get<i>(p.columns)); });
  [[maybe_unused]] int i = 0;
  ((f.folds[i++] = facts_of_fold<typename Leaves::monoid_type>()), ...);
  return f;
}

} // namespace tally::v0
