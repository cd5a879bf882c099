// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the named functions of element expressions compute, as operations. Layer 1. The arithmetic is in math.hpp, one
// source for every back end, so the bits agree everywhere.
#pragma once

#include <tally/element/expression.hpp>
#include <tally/element/math.hpp>
#include <tally/element/operators.hpp>

namespace tally::v0 {

namespace op {

/// In what a function of real numbers is computed: float and double in themselves, small floats in float, the rest double.
template <class T>
TALLY_HD constexpr auto real_argument(T x) {
  if constexpr (stl::same_as<T, double> || stl::same_as<T, float>)
    return x;
  else if constexpr (small_float<T>)
    return static_cast<float>(x);
  else
    return static_cast<double>(x);
}

struct sqrt {
  static constexpr char const* spelling = "sqrt";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::sqrt(real_argument(a));
  }
};
struct exp {
  static constexpr char const* spelling = "exp";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::exp(real_argument(a));
  }
};
struct exp2 {
  static constexpr char const* spelling = "exp2";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::exp2(real_argument(a));
  }
};
struct expm1 {
  static constexpr char const* spelling = "expm1";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::expm1(real_argument(a));
  }
};
struct log {
  static constexpr char const* spelling = "log";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::log(real_argument(a));
  }
};
struct log2 {
  static constexpr char const* spelling = "log2";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::log2(real_argument(a));
  }
};
struct log10 {
  static constexpr char const* spelling = "log10";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::log10(real_argument(a));
  }
};
struct log1p {
  static constexpr char const* spelling = "log1p";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::log1p(real_argument(a));
  }
};
struct sin {
  static constexpr char const* spelling = "sin";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::sin(real_argument(a));
  }
};
struct cos {
  static constexpr char const* spelling = "cos";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::cos(real_argument(a));
  }
};
struct tan {
  static constexpr char const* spelling = "tan";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::tan(real_argument(a));
  }
};
struct asin {
  static constexpr char const* spelling = "asin";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::asin(real_argument(a));
  }
};
struct acos {
  static constexpr char const* spelling = "acos";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::acos(real_argument(a));
  }
};
struct atan {
  static constexpr char const* spelling = "atan";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::atan(real_argument(a));
  }
};
struct sinh {
  static constexpr char const* spelling = "sinh";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::sinh(real_argument(a));
  }
};
struct cosh {
  static constexpr char const* spelling = "cosh";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::cosh(real_argument(a));
  }
};
struct tanh {
  static constexpr char const* spelling = "tanh";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::tanh(real_argument(a));
  }
};
struct cbrt {
  static constexpr char const* spelling = "cbrt";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::cbrt(real_argument(a));
  }
};
struct erf {
  static constexpr char const* spelling = "erf";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::erf(real_argument(a));
  }
};
struct floor {
  static constexpr char const* spelling = "floor";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::floor(real_argument(a));
  }
};
struct ceil {
  static constexpr char const* spelling = "ceil";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::ceil(real_argument(a));
  }
};
struct trunc {
  static constexpr char const* spelling = "trunc";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::trunc(real_argument(a));
  }
};
struct sigmoid {
  static constexpr char const* spelling = "sigmoid";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::sigmoid(real_argument(a));
  }
};
struct nearest {
  static constexpr char const* spelling = "nearest";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::nearest(real_argument(a));
  }
};
struct round {
  static constexpr char const* spelling = "round";
  template <real A>
  TALLY_INLINE static auto apply(A a) {
    return math::round(real_argument(a));
  }
};
struct pow {
  static constexpr char const* spelling = "pow";
  template <real A, real B>
  TALLY_INLINE static auto apply(A a, B b) {
    using T = decltype(real_argument(a) + real_argument(b));
    return math::pow(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)));
  }
};
struct atan2 {
  static constexpr char const* spelling = "atan2";
  template <real A, real B>
  TALLY_INLINE static auto apply(A a, B b) {
    using T = decltype(real_argument(a) + real_argument(b));
    return math::atan2(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)));
  }
};
struct hypot {
  static constexpr char const* spelling = "hypot";
  template <real A, real B>
  TALLY_INLINE static auto apply(A a, B b) {
    using T = decltype(real_argument(a) + real_argument(b));
    return math::hypot(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)));
  }
};
struct fmod {
  static constexpr char const* spelling = "fmod";
  template <real A, real B>
  TALLY_INLINE static auto apply(A a, B b) {
    using T = decltype(real_argument(a) + real_argument(b));
    return math::fmod(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)));
  }
};
struct copysign {
  static constexpr char const* spelling = "copysign";
  template <real A, real B>
  TALLY_INLINE static auto apply(A a, B b) {
    using T = decltype(real_argument(a) + real_argument(b));
    return math::copysign(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)));
  }
};

/// a * b + c with one rounding.
struct fma {
  static constexpr char const* spelling = "fma";
  template <real A, real B, real C>
  TALLY_INLINE static auto apply(A a, B b, C c) {
    using T = decltype(real_argument(a) + real_argument(b) + real_argument(c));
    return math::fma(static_cast<T>(real_argument(a)), static_cast<T>(real_argument(b)), static_cast<T>(real_argument(c)));
  }
};

/// Opens abs to another number-like type: magnitude<T>::of(x) (tally/complex.hpp does it for complex numbers).
template <class T>
struct magnitude;

struct abs {
  static constexpr char const* spelling = "abs";
  template <real A>
  TALLY_INLINE static constexpr auto apply(A a) {
    if constexpr (integer<A>)
      return a < A(0) ? wrapping::subtract(accumulator_t<A>(0), widen(a)) : widen(a);
    else if constexpr (stl::same_as<A, double>)
      return bits_as<double>(bits_as<u64>(a) & 0x7fffffffffffffffull);
    else
      return bits_as<float>(bits_as<u32>(static_cast<float>(a)) & 0x7fffffffu);
  }
  template <class A>
    requires requires(A a) { magnitude<A>::of(a); }
  TALLY_INLINE static constexpr auto apply(A a) {
    return magnitude<A>::of(a);
  }
};

/// The smaller (larger) of two numbers; NaN if either is NaN, and -0 is less than +0.
template <bool Least>
struct extreme {
  static constexpr char const* spelling = Least ? "least" : "most";
  template <real A, real B>
  TALLY_INLINE static constexpr auto apply(A a, B b) {
    using T = common_t<A, B>;
    auto const x = static_cast<T>(a), y = static_cast<T>(b);
    if constexpr (floating<T>) {
      // all are computed and one is chosen, so that loops over it become vectors
      T const not_a_number = (x == x ? y : x) + T(0);
      T const tie = sign_of(x) == Least ? x : y; // equal, or zeros of either sign
      T const other = (x < y) == Least ? x : y;
      return x != x || y != y ? not_a_number : x == y ? tie : other;
    } else {
      return (x < y) == Least ? x : y;
    }
  }
};
using least = extreme<true>;
using most = extreme<false>;

struct is_nan {
  static constexpr char const* spelling = "is_nan";
  template <class A>
  TALLY_INLINE static constexpr bool apply(A a) {
    if constexpr (floating<A>)
      return widen(a) != widen(a);
    else
      return false;
  }
};

/// a when the condition holds, else b; both are computed.
struct select {
  static constexpr char const* spelling = "select";
  template <class A, class B>
    requires stl::same_as<A, B> || reals<A, B>
  TALLY_INLINE static constexpr auto apply(bool condition, A a, B b) {
    if constexpr (stl::same_as<A, B>)
      return condition ? a : b;
    else
      return condition ? static_cast<common_t<A, B>>(a) : static_cast<common_t<A, B>>(b);
  }
};

/// static_cast, but a real number outside the range of an integer type saturates and NaN gives 0: the hardware's own
/// answers differ from one back end to the next.
template <class T>
struct cast {
  static constexpr char const* spelling = "cast";
  template <class A>
    requires requires(A a) { static_cast<T>(a); }
  TALLY_INLINE static constexpr T apply(A a) {
    if constexpr (floating<A> && integer<T>) {
      using limits = stl::numeric_limits<T>;
      auto const x = static_cast<double>(widen(a));
      if (!(x == x))
        return T(0);
      if (x <= static_cast<double>(limits::min()))
        return limits::min();
      return x >= static_cast<double>(limits::max()) ? limits::max() : static_cast<T>(x);
    } else {
      return static_cast<T>(a);
    }
  }
};

struct squared {
  static constexpr char const* spelling = "squared";
  template <class A>
    requires requires(A a) { times::apply(a, a); }
  TALLY_INLINE static constexpr auto apply(A a) {
    return times::apply(a, a);
  }
};

} // namespace op

} // namespace tally::v0
