// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An oracle for exact sums that shares no idea with the library: unlimited integers as sign and digits, and rounding by
// looking among all floats for the two neighbours of a value, not by taking bits. tests/exact/oracle.cpp checks it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace oracle {

/// An integer of any size: digits of base 2^32, least significant first, none of them for zero.
class integer {
public:
  integer() = default;
  explicit integer(std::int64_t x) : negative_(x < 0) {
    for (auto size = negative_ ? ~static_cast<std::uint64_t>(x) + 1 : static_cast<std::uint64_t>(x); size != 0; size >>= 32)
      digits_.push_back(static_cast<std::uint32_t>(size));
  }
  friend integer operator-(integer a) {
    a.negative_ = !a.negative_ && !a.digits_.empty();
    return a;
  }
  friend integer operator+(integer const& a, integer const& b) {
    integer sum;
    if (a.negative_ == b.negative_) {
      sum = added(a, b);
      sum.negative_ = a.negative_ && !sum.digits_.empty();
    } else {
      bool const first = compare_sizes(a, b) >= 0;
      sum = first ? subtracted(a, b) : subtracted(b, a);
      sum.negative_ = (first ? a : b).negative_ && !sum.digits_.empty();
    }
    return sum;
  }
  friend integer operator-(integer const& a, integer const& b) { return a + -b; }
  friend integer operator*(integer const& a, integer const& b) {
    integer product;
    product.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < b.digits_.size() || carry != 0; ++j) {
        carry += product.digits_[i + j] + (j < b.digits_.size() ? std::uint64_t(a.digits_[i]) * b.digits_[j] : 0);
        product.digits_[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
    }
    product.trim();
    product.negative_ = a.negative_ != b.negative_ && !product.digits_.empty();
    return product;
  }
  /// Times 2^n.
  integer times_two_to(int n) const {
    integer r;
    r.negative_ = negative_;
    if (digits_.empty()) return r;
    r.digits_.assign(static_cast<std::size_t>(n / 32), 0);
    std::uint64_t carry = 0;
    for (std::uint32_t d : digits_) {
      carry |= std::uint64_t(d) << (n % 32);
      r.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    r.digits_.push_back(static_cast<std::uint32_t>(carry));
    r.trim();
    return r;
  }
  /// Negative, zero or positive as a is less than, equal to or greater than b.
  friend int compare(integer const& a, integer const& b) {
    if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
    return a.negative_ ? compare_sizes(b, a) : compare_sizes(a, b);
  }
  bool zero() const { return digits_.empty(); }
  bool negative() const { return negative_; }

private:
  std::vector<std::uint32_t> digits_;
  bool negative_ = false;

  void trim() {
    while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
  }
  static int compare_sizes(integer const& a, integer const& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() < b.digits_.size() ? -1 : 1;
    for (std::size_t i = a.digits_.size(); i-- > 0;)
      if (a.digits_[i] != b.digits_[i]) return a.digits_[i] < b.digits_[i] ? -1 : 1;
    return 0;
  }
  static integer added(integer const& a, integer const& b) {
    integer r;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < a.digits_.size() || i < b.digits_.size() || carry != 0; ++i) {
      carry += (i < a.digits_.size() ? a.digits_[i] : 0u);
      carry += (i < b.digits_.size() ? b.digits_[i] : 0u);
      r.digits_.push_back(static_cast<std::uint32_t>(carry));
      carry >>= 32;
    }
    return r;
  }
  static integer subtracted(integer const& a, integer const& b) {
    integer r;
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i < a.digits_.size(); ++i) {
      borrow += std::int64_t(a.digits_[i]) - (i < b.digits_.size() ? std::int64_t(b.digits_[i]) : 0);
      r.digits_.push_back(static_cast<std::uint32_t>(borrow & 0xffffffff));
      borrow >>= 32;
    }
    r.trim();
    return r;
  }
};

/// A finite float or double times 2^scale, which must make it whole.
template <class T>
integer scaled(T x, int scale) {
  int exponent = 0;
  double const fraction = std::frexp(static_cast<double>(x), &exponent);
  auto whole = static_cast<std::int64_t>(std::ldexp(fraction, 53)); // x = whole * 2^(exponent - 53)
  int shift = exponent - 53 + scale;
  for (; shift < 0; ++shift) whole /= 2;
  return integer(whole).times_two_to(shift);
}

/// Bits behind the point that hold any product of two numbers of T.
template <class T>
inline constexpr int scale_of = std::is_same_v<T, float> ? 2 * 149 : 2 * 1074;

/// The finite number of T with the k-th place in their order, 0 for +0 and -0; one beyond the largest is the power of two
/// that would follow, times 2^scale.
template <class T>
integer number_at(std::int64_t k, int scale) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto const size = static_cast<bits>(k < 0 ? -k : k);
  integer const n = size == std::bit_cast<bits>(std::numeric_limits<T>::infinity())
                        ? integer(1).times_two_to(std::numeric_limits<T>::max_exponent + scale)
                        : scaled(std::bit_cast<T>(size), scale);
  return k < 0 ? -n : n;
}

/// x / (n * 2^scale) in T, rounded to nearest even; n > 0, and 2^scale must make every number of T whole. Exact zero is +0; what rounds to zero keeps its sign.
template <class T>
T nearest(integer const& x, int scale, integer const& n) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  auto const infinity = static_cast<std::int64_t>(std::bit_cast<bits>(std::numeric_limits<T>::infinity()));
  auto const at = [&](std::int64_t k) { return number_at<T>(k, scale) * n; };
  std::int64_t below = -infinity, above = infinity; // at(below) <= x < at(above), with room for what is larger
  if (compare(x, at(below)) <= 0) return -std::numeric_limits<T>::infinity();
  if (compare(x, at(above)) >= 0) return std::numeric_limits<T>::infinity();
  while (above > below + 1) {
    std::int64_t const middle = (below & above) + ((below ^ above) >> 1);
    (compare(at(middle), x) <= 0 ? below : above) = middle;
  }
  int const nearer = compare(x + x, at(below) + at(above)); // on which side of the middle
  std::int64_t const k = nearer < 0 || (nearer == 0 && below % 2 == 0) ? below : above;
  T const size = std::bit_cast<T>(static_cast<bits>(k < 0 ? -k : k));
  return k < 0 || (k == 0 && x.negative()) ? -size : size;
}

template <class T>
T nearest(integer const& x, int scale, std::int64_t n = 1) {
  return nearest<T>(x, scale, integer(n));
}

/// The K-th central moment of finite numbers of T, by its definition: the sum of (n x - total)^K over n^(K + 1), rounded once to To.
template <class To, class T>
To central_moment(std::vector<T> const& x, int order) {
  constexpr int scale = scale_of<T> / 2;
  integer const n(static_cast<std::int64_t>(x.size()));
  integer total, above, divisor = n;
  for (T v : x) total = total + scaled(v, scale);
  for (T v : x) {
    integer const deviation = n * scaled(v, scale) - total;
    integer power = deviation;
    for (int k = 1; k < order; ++k) power = power * deviation;
    above = above + power;
  }
  for (int k = 0; k < order; ++k) divisor = divisor * n;
  int const whole = std::max(order * scale, -std::numeric_limits<To>::min_exponent + std::numeric_limits<To>::digits);
  return nearest<To>(above.times_two_to(whole - order * scale), whole, divisor);
}

/// Exact sums of numbers of T and of their products.
template <class T>
class accumulator {
public:
  void add(T x) { finite(x) ? void(sum_ = sum_ + scaled(x, scale_of<T>)) : special(x); }
  void add(T x, T y) {
    if (finite(x) && finite(y))
      sum_ = sum_ + scaled(x, scale_of<T> / 2) * scaled(y, scale_of<T> / 2);
    else
      special(x * y);
  }
  /// The sum over n, rounded once to To.
  template <class To = T>
  To over(std::int64_t n) const {
    if (nan_ || (above_ && below_)) return std::numeric_limits<To>::quiet_NaN();
    if (above_ || below_) return above_ ? std::numeric_limits<To>::infinity() : -std::numeric_limits<To>::infinity();
    return nearest<To>(sum_, scale_of<T>, n);
  }
  integer const& sum() const { return sum_; }

private:
  integer sum_;
  bool nan_ = false, above_ = false, below_ = false;
  static bool finite(T x) { return std::isfinite(x); }
  void special(T x) { (std::isnan(x) ? nan_ : x > 0 ? above_ : below_) = true; }
};

} // namespace oracle
