// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two words that are read and swapped together. Layer 0.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::v0 {

struct alignas(16) word_pair {
  u64 first, second;
  TALLY_HD friend constexpr bool operator==(word_pair const& a, word_pair const& b) { return a.first == b.first && a.second == b.second; }
};

} // namespace tally::v0
