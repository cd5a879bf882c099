// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// red: one scalar combined into one place, without an answer. Layer 2. Which operation exists for which type is one table.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::inline v0 {

enum class red_operation { add, and_bits, or_bits, xor_bits, least, greatest };

/// Whether red.global has the form (PTX ISA 9.7.13.6, sm_90): integers of 32 and 64 bits have all, floats add.
template <class T>
constexpr bool red_exists(red_operation o) {
  if constexpr (cuda::std::same_as<T, float> || cuda::std::same_as<T, double>)
    return o == red_operation::add;
  else if constexpr (integer<T>)
    return sizeof(T) == 4 || sizeof(T) == 8;
  else
    return false;
}

} // namespace tally::inline v0
