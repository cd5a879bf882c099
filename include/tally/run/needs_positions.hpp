// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a program looks at the positions of its elements, which are other ones in a copy or in a part of the source. Layer 5, host
// only.
#pragma once

#include <tally/element/placeholder.hpp>
#include <tally/fold/program.hpp>

namespace tally::v0::cpu::detail {

template <class Program>
inline constexpr bool needs_positions = false;
template <class Columns, class... Leaves>
inline constexpr bool needs_positions<program<Columns, Leaves...>> =
    (false || ... || (looks_at_position<decltype(Leaves::values)> || looks_at_position<decltype(Leaves::mask)>));

} // namespace tally::v0::cpu::detail
