// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mean = sum / count, as one composed fold that shares its sum and its count with any other in the same read. Layer 1.
// The mean of integers is a double; of nothing, NaN.
#pragma once

#include <tally/fold/count.hpp>
#include <tally/fold/sum.hpp>

namespace tally::v0 {

namespace op {
struct mean {
  static constexpr char const* spelling = "mean";
  static constexpr bool of_elements = true;
  template <class S>
    requires real<S> || requires(S s) { s / static_cast<typename S::value_type>(1); }
  static constexpr auto apply(S s, i64 n) {
    if constexpr (integer<S>)
      return static_cast<double>(s) / static_cast<double>(n);
    else if constexpr (floating<S>)
      return s / static_cast<S>(n);
    else
      return s / static_cast<typename S::value_type>(n);
  }
};
} // namespace op

/// mean and its call with an element expression.
struct mean_fold : folded_call<op::mean, decltype(sum(_1)), fold_of_none<count_operation>> {
  template <class E>
  constexpr auto operator()(E e) const {
    return call_of<op::mean>(sum(e), count);
  }
  template <class... Es>
    requires(sizeof...(Es) != 1)
  auto operator()(Es...) const
      -> because::the_fold_takes_another_number_of_elements<op::mean, because::there_are<int(sizeof...(Es))>> {
    return {};
  }
};
/// The arithmetic mean.
inline constexpr mean_fold mean{};

} // namespace tally::v0
