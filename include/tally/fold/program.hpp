// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program: the columns of a source and the monoids to fold over them in one read, bound to types, as one value that the
// CPU runs and that travels to a kernel by value. Layer 1.
#pragma once

#include <tally/element/column.hpp>
#include <tally/fold/monoid.hpp>

namespace tally::v0 {

template <class M>
inline constexpr bool monoid_is_lowerable = true;
template <class M>
  requires requires { M::lowerable; }
inline constexpr bool monoid_is_lowerable<M> = M::lowerable;
template <class... Values>
constexpr bool all_lowerable(pack<Values...> const*) {
  return (true && ... && Values::lowerable);
}
template <class... Values>
constexpr bool any_calls_users_code(pack<Values...> const*) {
  return (false || ... || Values::calls_users_code);
}

/// What a fold calls the position of a row: its position in the source, or in its group where it has one.
template <class Row>
TALLY_INLINE constexpr i64 place_in_fold(Row const& r) {
  if constexpr (requires { r.element; })
    return r.element;
  else
    return r.position;
}

/// One monoid, the expressions it folds, and the mask that lets elements in.
template <class Monoid, class Values, class Mask>
struct bound {
  using monoid_type = Monoid;
  using state = typename Monoid::state;
  static constexpr bool masked = !stl::same_as<Mask, always>;
  /// False as soon as a part exists as host code only.
  static constexpr bool lowerable = monoid_is_lowerable<Monoid> && all_lowerable(static_cast<Values const*>(nullptr)) &&
                                    Mask::lowerable;
  /// Whether values may be computed for elements that do not pass the mask: not by the user's functions.
  static constexpr bool computes_all = lowerable && !(masked && any_calls_users_code(static_cast<Values const*>(nullptr)));
  Monoid monoid;
  Values values;
  Mask mask;

  /// Feeds the element of a row to lane j; a row with on = false is never looked at.
  template <class Lanes, class Row>
  TALLY_INLINE constexpr void step(Lanes& lanes, int j, bool on, Row const& r) const {
    unpack([&](auto const&... v) TALLY_INLINE_LAMBDA { lanes.step(monoid, j, on && mask.eval(r), place_in_fold(r), v.eval(r)...); }, values);
  }
};

/// Leaves (bound monoids) over columns of extent elements, the first of which has position first.
template <class Columns, class... Leaves>
struct program {
  using columns_type = Columns;
  using states = pack<typename Leaves::state...>;
  static constexpr int leaf_count = sizeof...(Leaves);
  static constexpr bool lowerable =
      all_lowerable(static_cast<Columns const*>(nullptr)) && (true && ... && Leaves::lowerable);
  Columns columns;
  i64 extent;
  i64 first;
  pack<Leaves...> leaves;

  /// Element e of every column, as a row.
  TALLY_INLINE constexpr auto row_at(i64 e) const {
    return unpack(
        [&](auto const&... c) TALLY_INLINE_LAMBDA {
          return row<typename stl::remove_cvref_t<decltype(c)>::value_type...>{make_pack(c.at(e)...), first + e};
        },
        columns);
  }
  /// The same program over n elements that start at element e.
  constexpr program part(i64 e, i64 n) const {
    program p = *this;
    p.columns = unpack([&](auto const&... c) { return make_pack(c.from(e)...); }, columns);
    p.extent = n;
    p.first = first + e;
    return p;
  }
  TALLY_HD constexpr states identity() const {
    return unpack([](auto const&... l) { return make_pack(l.monoid.identity()...); }, leaves);
  }
  TALLY_HD constexpr states combine(states const& a, states const& b) const {
    states s = a;
    for_each_index<leaf_count>([&](auto i) { get<i>(s) = get<i>(leaves).monoid.combine(get<i>(a), get<i>(b)); });
    return s;
  }
};

} // namespace tally::v0
