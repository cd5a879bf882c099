// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answer nodes: how the states of finished leaves become an answer. Layer 1. The same nodes run on the host for one answer and
// in a kernel for an array of them, so their arithmetic is the same on every back end.
#pragma once

#include <tally/fold/min_max.hpp>
#include <tally/fold/moments.hpp>
#include <tally/fold/program.hpp>

namespace tally::v0::answers {

/// What a node sees: the leaves, their states, and the summary of the read.
template <class Leaves, class States>
struct outcome {
  Leaves const& leaves;
  States const& states;
  summary of;
};

/// An answer with the one quiet, positive NaN in place of any: processors differ in the NaN they make. A struct of the
/// user's own is left as it is.
template <class T>
constexpr T with_one_nan(T x) {
  if constexpr (floating<T>)
    return x == x ? x : static_cast<T>(stl::numeric_limits<float>::quiet_NaN());
  else if constexpr (requires { x.real() + x.imag(); })
    return T(with_one_nan(x.real()), with_one_nan(x.imag()));
  else
    return x;
}
template <class T>
constexpr extent_of_values<T> with_one_nan(extent_of_values<T> const& x) {
  return {with_one_nan(x.min), with_one_nan(x.max)};
}
template <class A, int K>
constexpr moments_result<A, K> with_one_nan(moments_result<A, K> x) {
  x.mean = with_one_nan(x.mean);
  for (A& c : x.central)
    c = with_one_nan(c);
  return x;
}
/// Whether any state has left the range of its accumulator.
template <class Leaves, class States>
constexpr bool any_overflowed(Leaves const& leaves, States const& states) {
  bool found = false;
  for_each_index<Leaves::size>([&](auto i) {
    auto const& m = get<i>(leaves).monoid;
    auto const& s = get<i>(states); // a get<i> in the requirement itself is never satisfied for clang 14
    if constexpr (requires { m.overflowed(s); })
      found = found || m.overflowed(s);
  });
  return found;
}
/// The same as an answer beside the others, where a kernel makes them.
struct overflow_flag {
  template <class Outcome>
  constexpr u8 value(Outcome const& o) const {
    return any_overflowed(o.leaves, o.states) ? 1 : 0;
  }
};

/// Whether a node has no answer; those without empty() always have one.
template <class Node, class Outcome>
constexpr bool is_empty(Node const& n, Outcome const& o) {
  if constexpr (requires { n.empty(o); })
    return n.empty(o);
  else
    return false;
}
/// The answer of leaf I.
template <int I>
struct leaf {
  static constexpr int index = I;
  template <class Outcome>
  constexpr bool empty(Outcome const& o) const {
    auto const& m = get<I>(o.leaves).monoid;
    if constexpr (partial_monoid<stl::remove_cvref_t<decltype(m)>>)
      return m.empty(get<I>(o.states), o.of);
    else
      return false;
  }
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    return get<I>(o.leaves).monoid.lower(get<I>(o.states), o.of);
  }
};

/// A count without a mask: the extent, which nobody needs to count.
struct extent {
  template <class Outcome>
  constexpr i64 value(Outcome const& o) const {
    return o.of.extent;
  }
};

template <class T>
struct number {
  T held;
  template <class Outcome>
  constexpr T value(Outcome const&) const {
    return held;
  }
};

template <class Op, class... Nodes>
struct computed {
  pack<Nodes...> nodes;
  template <class Outcome>
  constexpr bool empty(Outcome const& o) const {
    return unpack([&](auto const&... n) { return (false || ... || is_empty(n, o)); }, nodes);
  }
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    return unpack([&](auto const&... n) { return Op::apply(n.value(o)...); }, nodes);
  }
};

template <class Node, class T>
struct otherwise {
  Node node;
  T held;
  template <class Outcome>
  constexpr auto value(Outcome const& o) const {
    using Value = decltype(node.value(o));
    return is_empty(node, o) ? static_cast<Value>(held) : node.value(o);
  }
};

} // namespace tally::v0::answers
