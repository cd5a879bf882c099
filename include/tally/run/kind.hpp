// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kind of a reduction: a hash of everything that two partials must agree in, which is the types of the elements, the
// folds with their expressions, the scalars these captured, and the text of the user's functions. Layer 5.
#pragma once

#include <string>
#include <type_traits>

#include <tally/base/name_of.hpp>
#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/program.hpp>
#include <tally/run/partial_bytes.hpp>

namespace tally::v0 {

namespace detail {

/// The bytes of the run-time values inside expressions and monoids; host callables keep theirs to themselves.
struct captured_values {
  std::string bytes;
  template <class T>
  void add(T const& value) {
    bytes.append(reinterpret_cast<char const*>(&value), sizeof value);
  }
  template <class T>
  void expression(literal<T> const& e) {
    add(e.value);
  }
  template <class Op, class... Args>
  void expression(call<Op, Args...> const& e) {
    unpack([&](auto const&... a) { (expression(a), ...); }, e.args);
  }
  template <class E>
  void expression(E const&) {}
  template <class M>
  void monoid(M const& m) {
    if constexpr (requires { m.modulus; })
      add(m.modulus);
    else if constexpr (requires { m.inner; })
      monoid(m.inner);
    else if constexpr (requires { m.start; })
      add_plain(m.start);
  }
  template <class T>
  void node(answers::number<T> const& n) {
    add_plain(n.held);
  }
  template <class Op, class... Nodes>
  void node(answers::computed<Op, Nodes...> const& n) {
    unpack([&](auto const&... inner) { (node(inner), ...); }, n.nodes);
  }
  template <class Node, class T>
  void node(answers::otherwise<Node, T> const& n) {
    node(n.node);
    add_plain(n.held);
  }
  template <class Node>
  void node(Node const&) {}

private:
  template <class T>
  void add_plain(T const& value) {
    if constexpr (std::has_unique_object_representations_v<T> || floating<T>)
      add(value);
  }
};

/// The text of the user's functions in a type: a changed body is another reduction.
template <class T>
struct bodies_in {
  static void append(std::string& out) {
    if constexpr (requires { T::device_body; })
      out += std::string(T::device_parameters) + T::device_body;
  }
};
template <template <class...> class C, class... Ts>
struct bodies_in<C<Ts...>> {
  static void append(std::string& out) { (bodies_in<Ts>::append(out), ...); }
};

template <class Leaf>
void add_captures(captured_values& captured, Leaf const& leaf) {
  captured.monoid(leaf.monoid);
  unpack([&](auto const&... v) { (captured.expression(v), ...); }, leaf.values);
  captured.expression(leaf.mask);
}

/// The kind of a program over rows of a type.
template <class Row, class Program>
u64 kind_of(Program const& p) {
  captured_values captured;
  unpack([&](auto const&... leaf) { (add_captures(captured, leaf), ...); }, p.leaves);
  bodies_in<Program>::append(captured.bytes);
  return partials::kind_of(name_of<pack<Row, Program>>(), captured.bytes);
}

/// The run-time values of the formulas that make answers of folds.
template <class... Nodes>
std::string formula_of(pack<Nodes...> const& nodes) {
  captured_values captured;
  unpack([&](auto const&... n) { (captured.node(n), ...); }, nodes);
  return captured.bytes;
}

} // namespace detail

} // namespace tally::v0
