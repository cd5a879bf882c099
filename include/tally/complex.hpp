// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complex numbers as elements: columns of std::complex and cuda::std::complex, and functions of them. Stands above the
// layers, because only programs that fold complex numbers should pay for <complex>; kernels of such programs include it
// too. Sums and products are those of cuda::std::complex; abs and arg are those of tally::math, the same bits everywhere.
#pragma once

#include <cuda/std/complex>

#include <tally/element/functions.hpp>

#if !defined(__CUDACC_RTC__)
#include <complex>

#include <tally/base/name_of.hpp>
#include <tally/pipeline/source.hpp>
#endif

namespace tally::v0 {

/// The complex numbers that kernels know; T is float or double.
template <class T>
using complex = cuda::std::complex<T>;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<cuda::std::complex<T>> = true;
template <class T>
concept complex_number = is_complex<T>;

/// A complex number may stand beside an element: _1 * tally::complex<float>(0, 1).
template <class T>
inline constexpr bool is_scalar<cuda::std::complex<T>> = true;

namespace op {
template <class T>
struct magnitude<cuda::std::complex<T>> {
  TALLY_HD static constexpr T of(cuda::std::complex<T> const& z) { return math::hypot(z.real(), z.imag()); }
};
struct real_part {
  static constexpr char const* spelling = "real_part";
  template <complex_number A>
  TALLY_INLINE static constexpr auto apply(A const& z) {
    return z.real();
  }
};
struct imag_part {
  static constexpr char const* spelling = "imag_part";
  template <complex_number A>
  TALLY_INLINE static constexpr auto apply(A const& z) {
    return z.imag();
  }
};
struct conj {
  static constexpr char const* spelling = "conj";
  template <complex_number A>
  TALLY_INLINE static constexpr A apply(A const& z) {
    return A(z.real(), -z.imag());
  }
};
struct squared_abs {
  static constexpr char const* spelling = "squared_abs";
  template <complex_number A>
  TALLY_INLINE static constexpr auto apply(A const& z) {
    return z.real() * z.real() + z.imag() * z.imag();
  }
};
struct arg {
  static constexpr char const* spelling = "arg";
  template <complex_number A>
  TALLY_INLINE static constexpr auto apply(A const& z) {
    return math::atan2(z.imag(), z.real());
  }
};
struct as_complex {
  static constexpr char const* spelling = "as_complex";
  template <floating T>
  TALLY_INLINE static constexpr auto apply(T re, T im) {
    using F = decltype(real_argument(re));
    return cuda::std::complex<F>(real_argument(re), real_argument(im));
  }
};
} // namespace op

/// The real part of an element.
template <class A>
  requires operands<A>
TALLY_HD constexpr auto real_part(A a) {
  return call_of<op::real_part>(a);
}
/// The imaginary part of an element.
template <class A>
  requires operands<A>
TALLY_HD constexpr auto imag_part(A a) {
  return call_of<op::imag_part>(a);
}
/// The conjugate of an element.
template <class A>
  requires operands<A>
TALLY_HD constexpr auto conj(A a) {
  return call_of<op::conj>(a);
}
/// |z|^2, what std::norm computes; norm itself is a fold.
template <class A>
  requires operands<A>
TALLY_HD constexpr auto squared_abs(A a) {
  return call_of<op::squared_abs>(a);
}
/// The angle of an element, in (-pi, pi].
template <class A>
  requires operands<A>
TALLY_HD constexpr auto arg(A a) {
  return call_of<op::arg>(a);
}
/// The complex number with two floats of one type as its parts.
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto as_complex(A re, B im) {
  return call_of<op::as_complex>(re, im);
}

#if !defined(__CUDACC_RTC__)
/// A range of std::complex is read in place: the layout is the same.
template <class T>
struct element_of_storage<std::complex<T>> {
  using type = cuda::std::complex<T>;
};

namespace detail {
/// Without the version namespace that libcu++ hides inside the name.
template <class T>
inline constexpr type_spelling spelling<cuda::std::complex<T>>{"[T = cuda::std::complex<>]", spellings<T>, 1};
} // namespace detail
#endif

} // namespace tally::v0

namespace tally {
using v0::arg, v0::as_complex, v0::complex, v0::conj, v0::imag_part, v0::real_part, v0::squared_abs;
} // namespace tally
