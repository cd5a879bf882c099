// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named functions of element expressions, and of folds: abs(_1), select(_1 > 0, _1, 0), cast<float>(_1), sqrt(variance).
// Layer 1.
#pragma once

#include <tally/element/function_operations.hpp>

namespace tally::v0 {

template <class A>
  requires operands<A>
TALLY_HD constexpr auto sqrt(A a) {
  return call_of<op::sqrt>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto exp(A a) {
  return call_of<op::exp>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto exp2(A a) {
  return call_of<op::exp2>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto expm1(A a) {
  return call_of<op::expm1>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto log(A a) {
  return call_of<op::log>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto log2(A a) {
  return call_of<op::log2>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto log10(A a) {
  return call_of<op::log10>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto log1p(A a) {
  return call_of<op::log1p>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto sin(A a) {
  return call_of<op::sin>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto cos(A a) {
  return call_of<op::cos>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto tan(A a) {
  return call_of<op::tan>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto asin(A a) {
  return call_of<op::asin>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto acos(A a) {
  return call_of<op::acos>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto atan(A a) {
  return call_of<op::atan>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto sinh(A a) {
  return call_of<op::sinh>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto cosh(A a) {
  return call_of<op::cosh>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto tanh(A a) {
  return call_of<op::tanh>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto cbrt(A a) {
  return call_of<op::cbrt>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto erf(A a) {
  return call_of<op::erf>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto floor(A a) {
  return call_of<op::floor>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto ceil(A a) {
  return call_of<op::ceil>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto trunc(A a) {
  return call_of<op::trunc>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto sigmoid(A a) {
  return call_of<op::sigmoid>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto nearest(A a) {
  return call_of<op::nearest>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto round(A a) {
  return call_of<op::round>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto abs(A a) {
  return call_of<op::abs>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto is_nan(A a) {
  return call_of<op::is_nan>(a);
}
template <class A>
  requires operands<A>
TALLY_HD constexpr auto squared(A a) {
  return call_of<op::squared>(a);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto pow(A a, B b) {
  return call_of<op::pow>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto atan2(A a, B b) {
  return call_of<op::atan2>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto hypot(A a, B b) {
  return call_of<op::hypot>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto fmod(A a, B b) {
  return call_of<op::fmod>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto copysign(A a, B b) {
  return call_of<op::copysign>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto least(A a, B b) {
  return call_of<op::least>(a, b);
}
template <class A, class B>
  requires operands<A, B>
TALLY_HD constexpr auto most(A a, B b) {
  return call_of<op::most>(a, b);
}
template <class A, class B, class C>
  requires operands<A, B, C>
TALLY_HD constexpr auto fma(A a, B b, C c) {
  return call_of<op::fma>(a, b, c);
}
template <class A, class B, class C>
  requires operands<A, B, C>
TALLY_HD constexpr auto select(A condition, B a, C b) {
  return call_of<op::select>(condition, a, b);
}
/// The value converted to T: to a float as static_cast does; to an integer cut off, taken into the range of T, NaN to 0.
template <class T, class A>
  requires operands<A>
TALLY_HD constexpr auto cast(A a) {
  return call_of<op::cast<T>>(a);
}

} // namespace tally::v0
