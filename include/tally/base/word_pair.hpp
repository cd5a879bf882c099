// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two words that are read and swapped together. Layer 0.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::inline v0 {

struct alignas(16) word_pair {
  u64 first, second;
  friend constexpr bool operator==(word_pair const&, word_pair const&) = default;
};

} // namespace tally::inline v0
