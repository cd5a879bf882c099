// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the ladder compare with: one operation on two values on the host, and numbers on which no order of
// the operations rounds. Test layer.
#pragma once

#include "gpu/primitive_kernel.hpp"

#include <cstring>
#include <random>

template <class T>
T folded(tally::primitive::operation op, T a, T b) {
  using tally::primitive::operation;
  if constexpr (tally::v0::integer<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case operation::bit_and: return T(a & b);
    case operation::bit_or: return T(a | b);
    case operation::bit_xor: return T(a ^ b);
    case operation::add: return T(U(U(a) + U(b)));
    case operation::inc: return a >= b ? T(0) : T(a + 1);
    case operation::dec: return a == 0 || a > b ? b : T(a - 1);
    default: break;
    }
  }
  if (op == operation::add) {
    if constexpr (tally::v0::small_float<T>)
      return T(float(a) + float(b));
    else if constexpr (tally::v0::floating<T>)
      return a + b;
  }
  return op == operation::min ? (b < a ? b : a) : (a < b ? b : a);
}

/// Small whole numbers, so that no order of additions rounds; one bound for all counters that wrap; for min and max, and
/// integers, anything.
template <class T>
T number(tally::primitive::operation op, std::mt19937& random) {
  using tally::primitive::operation;
  if (op == operation::inc || op == operation::dec) return T(70);
  if constexpr (tally::v0::integer<T>)
    return T(T(random()) * T(0x9e3779b1u) ^ T(random()));
  else if (op == operation::add)
    return T(float(int(random() % 5) - 2));
  else
    return T((float(random() % 4001) - 2000.5f) * 0.25f);
}

template <class T>
bool same_numbers(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
