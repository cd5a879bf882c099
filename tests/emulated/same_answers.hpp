// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For emulated kernels: the arrays of answers that they wrote, beside those of the CPU.
#pragma once

#include <tally/base/numbers.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <tuple>
#include <vector>

template <class Right>
void same_answers(Right const& right, std::vector<std::vector<tally::v0::u64>> const& by_kernel) {
  std::size_t next = 0;
  auto const check_one = [&](auto const& one) { CHECK(std::memcmp(one.data(), by_kernel[next++].data(), one.size() * sizeof(*one.data())) == 0); };
  if constexpr (requires { right.data(); })
    check_one(right);
  else
    std::apply([&](auto const&... all_of_them) { (check_one(all_of_them), ...); }, right);
}
