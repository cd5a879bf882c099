// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the last let over a row computes of an element and the elements that are written need again: a kernel keeps it where the element
// was, so that softmax has one exponential an element. Layer 5.
#pragma once

#include <tally/element/columns_named.hpp>
#include <tally/element/shared_part.hpp>
#include <tally/fold/program.hpp>
#include <tally/run/same_let.hpp>

namespace tally::v0::detail {

template <class Found>
struct type_in {
  using type = void;
};
template <class Part>
struct type_in<reason<Part>> {
  using type = Part;
};
/// The part to keep, of the expressions that the last let folds, Folded, and of those that are written; they are of rows of Row, whose
/// columns in memory are InMemory, a bit for each. It takes the registers of the columns that it reads: they must be as large, and nothing
/// else may read them. One operation is not worth it: a kernel of layer norm that keeps differences has as many instructions as one that
/// computes them again.
template <class Row, u32 InMemory, class Folded, class Written>
struct kept_part;
template <class... Ts, u32 InMemory, class... Fs, class... Ws>
struct kept_part<row<Ts...>, InMemory, pack<Fs...>, pack<Ws...>> {
  static constexpr int element = sizeof...(Ts); ///< its number in a row that it is put beside

  template <class Part>
  static constexpr bool pays() {
    if constexpr (operations_in<Part> < 2 || !(false || ... || stands_in<Part, Ws>)) {
      return false;
    } else {
      constexpr u32 freed = columns_named<Part> & InMemory;
      constexpr u32 others = (u32(0) | ... | columns_named<decltype(with_element<Part, element>(std::declval<Fs const&>()))>) |
                             (u32(0) | ... | columns_named<decltype(with_element<Part, element>(std::declval<Ws const&>()))>);
      int bytes = 0, c = 0;
      ((bytes += freed >> c++ & 1 ? int(sizeof(Ts)) : 0), ...);
      return (freed & others) == 0 && int(sizeof(decltype(std::declval<Part const&>().eval(std::declval<row<Ts...> const&>())))) <= bytes;
    }
  }
  static constexpr auto first_of(pack<> const*) { return pack<>{}; }
  /// The type of the first of expressions and their parts that pays, the larger before the smaller; empty where none does.
  template <class E, class... Es>
  static constexpr auto first_of(pack<E, Es...> const*) {
    if constexpr (pays<E>())
      return reason<E>{};
    else if constexpr (requires { &E::args; })
      return first_of(static_cast<decltype(join(std::declval<decltype(E::args) const&>(), std::declval<pack<Es...> const&>())) const*>(nullptr));
    else
      return first_of(static_cast<pack<Es...> const*>(nullptr));
  }
  using found = decltype(first_of(static_cast<pack<Fs...> const*>(nullptr)));
  static constexpr bool exists = !std::same_as<found, pack<>>;
  using part = typename type_in<found>::type;
};

/// All expressions of the leaves of a program.
constexpr auto expressions_of(pack<> const&) { return pack<>{}; }
template <class Leaf, class... Leaves>
constexpr auto expressions_of(pack<Leaf, Leaves...> const& leaves) {
  return join(join(leaves.first.values, make_pack(leaves.first.mask)), expressions_of(leaves.rest));
}
/// Expressions, or the leaves of a program, with element I where a part stands.
template <class Part, int I, class... Es>
constexpr auto all_with_element(pack<Es...> const& es) {
  return unpack([](auto const&... e) { return make_pack(with_element<Part, I>(e)...); }, es);
}
template <class Part, int I, class M, class Values, class Mask>
constexpr auto leaf_with_element(bound<M, Values, Mask> const& l) {
  auto values = all_with_element<Part, I>(l.values);
  auto mask = with_element<Part, I>(l.mask);
  return bound<M, decltype(values), decltype(mask)>{l.monoid, values, mask};
}
template <class Part, int I, class... Leaves>
constexpr auto program_with_element(program<pack<>, Leaves...> const& p) {
  return unpack(
      [](auto const&... l) {
        return program<pack<>, decltype(leaf_with_element<Part, I>(l))...>{{}, 0, 0, make_pack(leaf_with_element<Part, I>(l)...)};
      },
      p.leaves);
}
/// Whether parts of one type, some of which hold numbers of run time, are equal wherever they stand; one is the first.
template <class Part, class... Es>
bool equal_everywhere(Part const& one, pack<Es...> const& es) {
  bool equal = true;
  unpack([&](auto const&... e) { (for_each_part<Part>(e, [&](Part const& p) { equal = equal && same_part(one, p); }), ...); }, es);
  return equal;
}

} // namespace tally::v0::detail
