// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns and matrices of device memory at made-up addresses, for plans: nobody reads them.
#pragma once

#include <tally/tally.hpp>

#include <cstdint>

namespace made_up {

/// An address with the given remainder modulo 256.
template <class T>
T const* address(int remainder = 0) {
  return reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000) + std::uintptr_t(remainder));
}
/// n elements there.
template <class T>
auto numbers(tally::i64 n, int remainder = 0) {
  return tally::device(address<T>(remainder), n);
}
template <class T>
auto matrix(tally::i64 rows, tally::i64 columns, int remainder = 0) {
  return tally::shaped(address<T>(remainder), rows, columns);
}

} // namespace made_up
