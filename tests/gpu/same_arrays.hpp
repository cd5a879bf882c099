// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests: answers of groupings compared bit by bit.
#pragma once

#include <tally/tally.hpp>

#include <cstring>

template <class T, int R>
bool same_arrays(tally::mdarray<T, R> const& a, tally::mdarray<T, R> const& b) {
  return a.size() == b.size() && (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool same_arrays(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class... Ts>
bool same_arrays(std::tuple<Ts...> const& a, std::tuple<Ts...> const& b) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (same_arrays(std::get<I>(a), std::get<I>(b)) && ...);
  }(std::index_sequence_for<Ts...>{});
}
