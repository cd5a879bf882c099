// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a program looks at the positions of its elements, which are other ones in a copy or in a part of the source. Layer 5, host
// only.
#pragma once

#include <tally/element/placeholder.hpp>
#include <tally/fold/program.hpp>

namespace tally::inline v0::cpu::detail {

/// Whether an expression looks at the position of its row.
template <class E>
inline constexpr bool mentions_position = false;
template <>
inline constexpr bool mentions_position<position> = true;
template <template <class...> class Node, class... Parts>
inline constexpr bool mentions_position<Node<Parts...>> = (false || ... || mentions_position<Parts>);

template <class Leaf>
inline constexpr bool leaf_mentions_position = mentions_position<decltype(Leaf::values)> || mentions_position<decltype(Leaf::mask)>;
template <class Program>
inline constexpr bool needs_positions = false;
template <class Columns, class... Leaves>
inline constexpr bool needs_positions<program<Columns, Leaves...>> = (false || ... || leaf_mentions_position<Leaves>);

} // namespace tally::inline v0::cpu::detail
