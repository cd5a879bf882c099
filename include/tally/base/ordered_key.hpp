// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as integers that compare in the order of IEEE 754-2019 minimum and maximum. Layer 0. A comparison of keys is one
// instruction and knows that -0 is less than +0; NaN becomes the key that wins.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0 {

namespace detail {
template <class T>
struct key {
  using type = T;
};
template <>
struct key<bool> {
  using type = u8;
};
template <>
struct key<double> {
  using type = i64;
};
template <>
struct key<float> {
  using type = i32;
};
template <small_float T>
struct key<T> {
  using type = i32;
};
} // namespace detail

/// The integer type whose order stands for that of T.
template <class T>
using ordered_key_t = typename detail::key<T>::type;

/// The key of a value; a NaN gets the key that is least (Least) or greatest of all.
template <bool Least, class T>
TALLY_INLINE constexpr ordered_key_t<T> ordered_key(T v) {
  using K = ordered_key_t<T>;
  if constexpr (floating<T>) {
    auto const x = widen(v);
    constexpr int sign_at = int(sizeof(K)) * 8 - 1;
    constexpr K magnitude = stl::numeric_limits<K>::max();
    K const bits = bits_as<K>(x);
    K const k = bits ^ ((bits >> sign_at) & magnitude);
    return x == x ? k : Least ? stl::numeric_limits<K>::min() : magnitude;
  } else {
    return static_cast<K>(v);
  }
}

} // namespace tally::v0
