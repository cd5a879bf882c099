// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns of a source an expression names. Layer 1.
#pragma once

#include <tally/element/placeholder.hpp>

namespace tally::v0 {

/// The columns that an expression names, a bit each; all where it is not known what the expression is made of.
template <class E>
inline constexpr u32 columns_named = expression<E> && !stl::is_base_of_v<leaf_expression<E>, E> ? ~u32(0) : u32(0);
template <int I>
inline constexpr u32 columns_named<placeholder<I>> = u32(1) << I;
template <template <class...> class Node, class... Parts>
inline constexpr u32 columns_named<Node<Parts...>> = (u32(0) | ... | columns_named<Parts>);

} // namespace tally::v0
