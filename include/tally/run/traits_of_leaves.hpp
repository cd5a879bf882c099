// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of all leaves of a program at once. Layer 5.
#pragma once

#include <tally/fold/program.hpp>

namespace tally::v0::detail {

/// A leaf whose states can leave their range; a real number has none to leave.
template <class Leaf>
concept checked_leaf = requires(typename Leaf::monoid_type const& m, typename Leaf::state const& s) {
  m.overflowed(s);
  requires !floating<decltype(m.lower(s, summary{}))>;
};
template <class... Leaves>
constexpr bool any_checked(pack<Leaves...> const*) {
  return (false || ... || checked_leaf<Leaves>);
}
/// Whether a fold divides by how many elements it has seen, which is a number where all leaves are whole.
template <class... Leaves>
constexpr bool any_counts(pack<Leaves...> const*) {
  return (false || ... || (even_monoid<typename Leaves::monoid_type> && !Leaves::masked));
}
template <class... Leaves>
constexpr bool all_commutative(pack<Leaves...> const*) {
  return (true && ... && Leaves::monoid_type::law.commutative);
}
template <class... Leaves>
constexpr bool all_free_of_order(pack<Leaves...> const*) {
  return (true && ... && Leaves::monoid_type::law.order_free);
}
/// The leaves of a program, to ask about.
template <class Program>
inline constexpr decltype(Program::leaves) const* leaves_of = nullptr;

} // namespace tally::v0::detail
