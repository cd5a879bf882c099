// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// norm<P> and norm_inf of one element expression, composed of sums and maxima. Layer 1.
#pragma once

#include <tally/fold/algebra.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/sum.hpp>

namespace tally::v0 {

namespace op {
/// The P-th root.
template <int P>
struct root {
  static constexpr char const* spelling = P == 1 ? "norm<1>" : (P == 2 ? "norm<2>" : "norm<P>");
  static constexpr bool of_elements = true;
  static constexpr bool exists = P >= 1;
  template <real A>
  static auto apply(A s) {
    if constexpr (P == 1)
      return s;
    else if constexpr (P == 2)
      return math::sqrt(real_argument(s));
    else
      return math::pow(real_argument(s), decltype(real_argument(s))(1) / P);
  }
};
/// |x|^P by repeated multiplication; of integers in doubles from P = 2 on, for few have room for their powers.
template <int P>
struct power {
  static constexpr char const* spelling = P == 1 ? "abs" : (P == 2 ? "squared_abs" : "power_abs");
  template <class A>
    requires requires(A a) { abs::apply(a); }
  TALLY_INLINE static constexpr auto apply(A a) {
    auto const x = abs::apply(base(a));
    auto r = x;
    for (int k = 1; k < P; ++k)
      r = times::apply(r, x);
    return r;
  }

private:
  template <class A>
  TALLY_INLINE static constexpr auto base(A a) {
    if constexpr (P > 1 && integer<A>)
      return static_cast<double>(a);
    else
      return a;
  }
};
} // namespace op

template <int P>
struct norm_fold : folded_call<op::root<P>, decltype(sum(call_of<op::power<P>>(_1)))> {
  template <class E>
  constexpr auto operator()(E e) const {
    return call_of<op::root<P>>(sum(call_of<op::power<P>>(e)));
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<op::root<P>, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
/// The P-norm: the P-th root of the sum of |x|^P; of nothing, zero.
template <int P>
inline constexpr norm_fold<P> norm{};

/// The largest |x|; of nothing, zero.
struct norm_inf_fold : or_else_fold<decltype(max(abs(_1))), int> {
  template <class E>
  constexpr auto operator()(E e) const {
    return max(abs(e)).or_else(0);
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<op::abs, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
inline constexpr norm_inf_fold norm_inf{};

} // namespace tally::v0
