// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folds a red computes: their combination is one of its operations, and their identity is zero bits, so that a
// clean workspace is their identity. Layer 3.
#pragma once

#include <tally/fold/bits.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/sum.hpp>
#include <tally/primitive/red.hpp>

namespace tally::inline v0 {

template <class M>
struct red_of; // no red

template <class Acc>
struct red_of<sum_monoid<Acc>> {
  static constexpr red_operation operation = red_operation::add;
};
template <>
struct red_of<count_monoid> {
  static constexpr red_operation operation = red_operation::add;
};
template <class T>
struct red_of<bit_monoid<T, bit_rule::or_>> {
  static constexpr red_operation operation = red_operation::or_bits;
};
template <class T>
struct red_of<bit_monoid<T, bit_rule::xor_>> {
  static constexpr red_operation operation = red_operation::xor_bits;
};

/// A monoid whose combination is one red from a zeroed place.
template <class M>
concept red_reducible = requires { red_of<M>::operation; } && red_exists<typename M::state>(red_of<M>::operation);

} // namespace tally::inline v0
