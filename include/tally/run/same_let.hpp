// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two lets of one type are the same fold of the same elements, so that it is run once. Layer 5. False when that cannot be
// told: then it is run twice.
#pragma once

#include <cstring>

#include <tally/pipeline/let.hpp>

namespace tally::v0::detail {

template <class T>
bool same_bytes(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class E>
bool same_part(E const& a, E const& b);
template <class... Es>
bool same_parts(pack<Es...> const& a, pack<Es...> const& b) {
  return [&]<int... I>(index_list<I...>) { return (true && ... && same_part(get<I>(a), get<I>(b))); }(indices_up_to<int(sizeof...(Es))>{});
}
template <class... Columns>
bool same_columns(pack<Columns...> const& a, pack<Columns...> const& b) {
  return [&]<int... I>(index_list<I...>) {
    return (true && ... && (Columns::lowerable && std::is_trivially_copyable_v<Columns> && same_bytes(get<I>(a), get<I>(b))));
  }(indices_up_to<int(sizeof...(Columns))>{});
}
template <class... Columns>
bool same_source(source<Columns...> const& a, source<Columns...> const& b) {
  return same_columns(a.columns, b.columns) && same_bytes(a.extents, b.extents);
}
template <int Rank, class... Columns>
bool same_source(grid<Rank, Columns...> const& a, grid<Rank, Columns...> const& b) {
  return same_columns(a.columns, b.columns) && same_bytes(a.extents, b.extents) && same_bytes(a.axes, b.axes);
}
/// Whether two groupings of one type have the same groups.
template <class Axes, class Fold>
bool same_groups(folded_over<Axes, Fold> const&, folded_over<Axes, Fold> const&) {
  return true;
}
template <class Offset, class Fold>
bool same_groups(folded_by_segment<Offset, Fold> const& a, folded_by_segment<Offset, Fold> const& b) {
  return a.where.offsets == b.where.offsets && a.where.entries == b.where.entries && a.where.count == b.where.count;
}
template <class Axes, int Dims, bool DropsStrays, class Key, class Fold>
bool same_groups(folded_by_key<Axes, Dims, DropsStrays, Key, Fold> const& a, folded_by_key<Axes, Dims, DropsStrays, Key, Fold> const& b) {
  return same_bytes(a.extents, b.extents); // the key is one of the parts
}
template <class Pipe, class Item>
bool same_let(let_answer<Pipe, Item> const& a, let_answer<Pipe, Item> const& b) {
  return same_source(a.pipe.source, b.pipe.source) && same_parts(a.pipe.values, b.pipe.values) && same_part(a.pipe.mask, b.pipe.mask) &&
         same_groups(a.item, b.item) && same_parts(a.item.parts(), b.item.parts());
}
template <class T>
inline constexpr bool is_let = false;
template <class Pipe, class Item>
inline constexpr bool is_let<let_answer<Pipe, Item>> = true;

template <class Op, class Values, class Mask>
bool same_fold(folding<Op, Values, Mask> const& a, folding<Op, Values, Mask> const& b) {
  return sizeof(Op) == 1 && same_parts(a.values, b.values) && same_part(a.mask, b.mask);
}
template <class Op, class... Args>
bool same_fold(folded_call<Op, Args...> const& a, folded_call<Op, Args...> const& b) {
  return same_parts(a.args, b.args);
}
template <class Fold, class T>
bool same_fold(or_else_fold<Fold, T> const& a, or_else_fold<Fold, T> const& b) {
  return same_part(a.fold, b.fold) && same_bytes(a.value, b.value);
}
template <class Fold>
bool same_fold(maybe_fold<Fold> const& a, maybe_fold<Fold> const& b) {
  return same_part(a.fold, b.fold);
}
template <class E>
bool same_part(E const& a, E const& b) {
  if constexpr (is_let<E>)
    return same_let(a, b);
  else if constexpr (fold_like<E>)
    return same_fold(static_cast<typename E::tally_fold const&>(a), static_cast<typename E::tally_fold const&>(b));
  else if constexpr (!E::captures)
    return true;
  else if constexpr (requires { a.value; })
    return same_bytes(a.value, b.value);
  else if constexpr (requires { a.args; } && !requires { a.function; })
    return same_parts(a.args, b.args);
  else
    return false;
}

} // namespace tally::v0::detail
