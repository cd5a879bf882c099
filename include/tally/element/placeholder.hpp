// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the elements of a row: _1, _2, ... and index. Layer 1.
#pragma once

#include <tally/element/expression.hpp>

namespace tally::v0 {

/// The element of column I (0-based; _1 is placeholder<0>).
template <int I>
struct placeholder : expression_node<placeholder<I>> {
  static constexpr int arity = I + 1;
  static constexpr bool lowerable = true;
  static constexpr bool captures = false;
  template <class Row>
  TALLY_INLINE constexpr auto eval(Row const& r) const {
    return get<I>(r.values);
  }
  template <class... Es>
  constexpr auto substitute(pack<Es...> const& with) const {
    return get<I>(with);
  }
  template <class Out>
  void print(Out& out) const {
    out.text("_").number(I + 1);
  }
};

/// Base of expressions without operands: they need no element by its number, and stay what they are where elements are replaced.
template <class Self>
struct leaf_expression : expression_node<Self> {
  static constexpr int arity = 0;
  static constexpr bool lowerable = true;
  static constexpr bool captures = false;
  template <class... Es>
  constexpr Self substitute(pack<Es...> const&) const {
    return static_cast<Self const&>(*this);
  }
};

/// The position of the element in its source, an i64 that starts at 0.
struct position : leaf_expression<position> {
  template <class Row>
  TALLY_INLINE constexpr i64 eval(Row const& r) const {
    return r.position;
  }
  template <class Out>
  void print(Out& out) const {
    out.text("index");
  }
};
/// Whether an expression looks at the position of its row.
template <class E>
inline constexpr bool looks_at_position = false;
template <>
inline constexpr bool looks_at_position<position> = true;
template <template <class...> class Node, class... Parts>
inline constexpr bool looks_at_position<Node<Parts...>> = (false || ... || looks_at_position<Parts>);

/// The condition that every element meets; what a pipeline without a filter has.
struct always : leaf_expression<always> {
  template <class Row>
  TALLY_INLINE constexpr bool eval(Row const&) const {
    return true;
  }
  template <class Out>
  void print(Out& out) const {
    out.text("true");
  }
};

inline constexpr placeholder<0> _1{};
inline constexpr placeholder<1> _2{};
inline constexpr placeholder<2> _3{};
inline constexpr placeholder<3> _4{};
inline constexpr placeholder<4> _5{};
inline constexpr placeholder<5> _6{};
inline constexpr placeholder<6> _7{};
inline constexpr placeholder<7> _8{};
inline constexpr position index{};

} // namespace tally::v0
