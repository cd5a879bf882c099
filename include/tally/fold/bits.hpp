// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bit_and, bit_or, bit_xor of integers, in the element's own type. Layer 1.
#pragma once

#include <tally/fold/fold.hpp>

namespace tally::v0 {

enum class bit_rule { and_, or_, xor_ };

template <class T, bit_rule Rule>
struct bit_monoid {
  using state = T;
  static constexpr laws law = any_order;
  TALLY_INLINE constexpr T identity() const { return Rule == bit_rule::and_ ? static_cast<T>(~T(0)) : T(0); }
  TALLY_INLINE constexpr T lift(i64, T v) const { return v; }
  TALLY_INLINE constexpr T combine(T a, T b) const {
    return static_cast<T>(Rule == bit_rule::and_ ? a & b : (Rule == bit_rule::or_ ? a | b : a ^ b));
  }
  constexpr T lower(T s, summary) const { return s; }
};

template <bit_rule Rule>
struct bit_operation : fold_operation<bit_operation<Rule>> {
  static constexpr char const* spelling =
      Rule == bit_rule::and_ ? "bit_and" : (Rule == bit_rule::or_ ? "bit_or" : "bit_xor");
  template <class... Vs>
  static constexpr bool accepts = sizeof...(Vs) == 1 && (integer<Vs> && ...);
  template <class V>
  static constexpr auto bind() {
    return bit_monoid<V, Rule>{};
  }
};

/// The bits set in every element; of nothing, all bits.
inline constexpr fold_of_one<bit_operation<bit_rule::and_>> bit_and{};
/// The bits set in any element; of nothing, none.
inline constexpr fold_of_one<bit_operation<bit_rule::or_>> bit_or{};
/// The bits set in an odd number of elements; of nothing, none.
inline constexpr fold_of_one<bit_operation<bit_rule::xor_>> bit_xor{};

} // namespace tally::v0
