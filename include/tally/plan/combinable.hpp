// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folds the instructions of a chip combine by themselves: the bridge from a monoid to an operation on a word, and the
// concepts of primitive/reducible.hpp asked of folds. Layer 3. A fold is on this list when combining two of its states is
// one operation of PTX on the bits they have; the least and greatest of floats are not (their order is that of keys), nor
// is anything with a flag or an error term beside it.
#pragma once

#include <tally/fold/bits.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/sum.hpp>
#include <tally/primitive/reducible.hpp>

namespace tally::v0::planning {

/// The operation that combines two states of M; `none` where no instruction does.
template <monoid M>
inline constexpr primitive::operation combined_by = primitive::operation::none;
template <class A>
inline constexpr primitive::operation combined_by<sum_monoid<A>> = primitive::operation::add;
template <>
inline constexpr primitive::operation combined_by<count_monoid> = primitive::operation::add;
template <integer T>
inline constexpr primitive::operation combined_by<extreme_monoid<T, true>> = primitive::operation::min;
template <integer T>
inline constexpr primitive::operation combined_by<extreme_monoid<T, false>> = primitive::operation::max;
template <class T>
inline constexpr primitive::operation combined_by<bit_monoid<T, bit_rule::and_>> = primitive::operation::bit_and;
template <class T>
inline constexpr primitive::operation combined_by<bit_monoid<T, bit_rule::or_>> = primitive::operation::bit_or;
template <class T>
inline constexpr primitive::operation combined_by<bit_monoid<T, bit_rule::xor_>> = primitive::operation::bit_xor;

/// The operation that takes one more element into a state of M, where that is another than combining: the modulus less one
/// is its operand.
template <monoid M>
inline constexpr primitive::operation stepped_by = combined_by<M>;
template <bool Up>
inline constexpr primitive::operation stepped_by<count_modulo_monoid<Up>> =
    Up ? primitive::operation::inc : primitive::operation::dec;

/// The bulk engine combines tiles of states of M into `To`.
template <class M, primitive::space To, primitive::architecture On>
concept bulk_combinable = monoid<M> && combined_by<M>
!= primitive::operation::none&& primitive::bulk_reducible<combined_by<M>, typename M::state, To, On>;

/// One red combines two states of M in `To`.
template <class M, primitive::space To, primitive::architecture On>
concept red_combinable = monoid<M> && combined_by<M>
!= primitive::operation::none&& primitive::scalar_reducible<combined_by<M>, typename M::state, To, On>;

/// One red.async combines a state of M into that of another block.
template <class M, primitive::architecture On>
concept red_async_combinable = monoid<M> && combined_by<M>
!= primitive::operation::none&& primitive::red_async_reducible<combined_by<M>, typename M::state, On>;

/// One redux.sync combines the states of a warp: integers of at most 32 bits, which go in as 32.
template <class M>
concept redux_combinable = monoid<M> && combined_by<M>
!= primitive::operation::none&& integer<typename M::state> && sizeof(typename M::state) <= 4;

} // namespace tally::v0::planning
