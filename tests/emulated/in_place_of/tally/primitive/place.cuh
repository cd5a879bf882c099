// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// primitive/place.cuh and bulk_bytes.cuh as host code: all memory is one, and sizes are looked at.
#pragma once

#include <doctest/doctest.h>

namespace tally::v0::primitive {

template <class T>
struct in_global {
  T* at;
  explicit in_global(T* p) : at(p) {}
};
template <class T>
struct in_shared {
  T* at;
  explicit in_shared(T* p) : at(p) {}
};
struct bulk_bytes {
  i64 n;
  static bulk_bytes within(i64 n) { return {n / 16 * 16}; }
  static bulk_bytes exactly(i64 n) {
    CHECK(n % 16 == 0);
    return {n};
  }
  template <unsigned N>
  static bulk_bytes of() {
    static_assert(N % 16 == 0);
    return {N};
  }
};

} // namespace tally::v0::primitive
