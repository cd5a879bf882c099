// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact oracle of tally/testing.hpp, and equality of bits; needs no doctest. Stands above the layers.
#pragma once

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tally/base/half.hpp>
#include <tally/base/numbers.hpp>

namespace tally::v0::testing {

/// A sum of floats without any rounding: a fixed-point number as wide as all of double.
class exact_accumulator {
public:
  /// Adds one term; the order of terms does not matter.
  void add(double x) {
    only_minus_zeros_ = x == 0 && std::signbit(x) && (only_minus_zeros_ || !any_);
    any_ = true;
    if (!std::isfinite(x)) {
      (std::isnan(x) ? nan_ : x > 0 ? above_ : below_) = true;
      return;
    }
    int exponent = 0;
    auto const size = static_cast<u64>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
    int const place = exponent - 53 + lowest; // of the lowest bit of size
    if (size == 0)
      return;
    int const digit = place / 32, shift = place % 32;
    u64 const low = (size & 0xffffffffu) << shift, high = (size >> 32) << shift;
    i64 const sign = x < 0 ? -1 : 1;
    digits_[digit] += sign * static_cast<i64>(low & 0xffffffffu);
    digits_[digit + 1] += sign * static_cast<i64>((low >> 32) + (high & 0xffffffffu));
    digits_[digit + 2] += sign * static_cast<i64>(high >> 32);
    if (++pending_ == most_pending)
      carry();
  }

  /// The sum, rounded once to nearest even: infinite beyond the range of T, -0 only where every term was.
  template <floating T>
  T rounded() const {
    if (nan_ || (above_ && below_))
      return T(std::numeric_limits<float>::quiet_NaN());
    if (above_ || below_)
      return T(above_ ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity());
    exact_accumulator a = *this;
    a.carry();
    bool const negative = a.digits_[count - 1] < 0;
    if (negative) {
      for (auto& d : a.digits_)
        d = -d;
      a.carry();
    }
    double const size = a.template rounded_size<T>();
    return T(negative || only_minus_zeros_ ? -size : size);
  }

private:
  static constexpr int lowest = 1152; // bit 0 of digit 0 weighs 2^-lowest, below any bit of a double's 53
  static constexpr int count = 72;
  static constexpr int most_pending = 1 << 29;
  i64 digits_[count]{};
  int pending_ = 0;
  bool nan_ = false, above_ = false, below_ = false, any_ = false, only_minus_zeros_ = false;

  /// Brings all digits but the highest into [0, 2^32).
  void carry() {
    for (int k = 0; k + 1 < count; ++k) {
      i64 const over = digits_[k] >> 32;
      digits_[k] -= over * (i64(1) << 32);
      digits_[k + 1] += over;
    }
    pending_ = 0;
  }
  bool bit(int b) const { return ((digits_[b / 32] >> (b % 32)) & 1) != 0; }
  bool any_below(int b) const {
    for (int k = 0; k < b; ++k)
      if (bit(k))
        return true;
    return false;
  }
  /// The size in the precision of T, as a double.
  template <class T>
  double rounded_size() const {
    constexpr bool is_double = std::is_same_v<T, double>, is_float = std::is_same_v<T, float>, is_f16 = std::is_same_v<T, f16>;
    constexpr int precision = is_double ? 53 : is_float ? 24 : is_f16 ? 11 : 8;
    constexpr int smallest = is_double ? -1074 : is_float ? -149 : is_f16 ? -24 : -133;
    constexpr double beyond = is_f16 ? 0x1p16 : 0x1p128; // for double, ldexp overflows by itself
    int top = count * 32 - 1;
    while (top >= 0 && !bit(top))
      --top;
    int const unit = top - (precision - 1) > smallest + lowest ? top - (precision - 1) : smallest + lowest;
    u64 whole = 0;
    for (int b = top; b >= unit; --b)
      whole = 2 * whole + (bit(b) ? 1 : 0);
    if (bit(unit - 1) && (any_below(unit - 1) || (whole & 1) != 0))
      ++whole;
    double const size = std::ldexp(static_cast<double>(whole), unit - lowest);
    return !is_double && size >= beyond ? std::numeric_limits<double>::infinity() : size;
  }
};

/// The exact sum of a range of floats, rounded once to T (void: the type of the elements).
template <class T = void, class Range>
auto exact_sum(Range const& range) {
  using Element = std::remove_cvref_t<decltype(*std::begin(range))>;
  static_assert(floating<Element>, "exact_sum adds floats; sums of integers are exact by themselves");
  exact_accumulator sum_of_all;
  for (auto const& x : range)
    sum_of_all.add(static_cast<double>(x));
  return sum_of_all.rounded<std::conditional_t<std::is_void_v<T>, Element, T>>();
}

/// Whether two answers have the same bits: +0 is not -0, and a NaN is the NaN of the same bits. Tuples, optionals and the
/// library's own answers go value by value, other trivially copyable types byte by byte.
template <class T>
bool same_bits(T const& a, T const& b) {
  if constexpr (requires { std::tuple_size<T>::value; }) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (true && ... && same_bits(std::get<I>(a), std::get<I>(b)));
    }(std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (requires { a.has_value() && (*a, true); }) {
    return a.has_value() == b.has_value() && (!a.has_value() || same_bits(*a, *b));
  } else if constexpr (requires { a.n, a.mean, a.central; }) { // moments_result, which has padding
    return a.n == b.n && same_bits(a.mean, b.mean) && std::memcmp(a.central, b.central, sizeof a.central) == 0;
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "same_bits compares answers");
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  }
}

} // namespace tally::v0::testing

namespace tally {
namespace testing = v0::testing;
} // namespace tally
