// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The why-not list: every better-looking choice that was refused, and the fact that refused it. Layer 3.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// One refused choice. The reason is a sentence in which {0} and {1} stand for the numbers.
struct refusal {
  char const* choice;
  char const* reason;
  int subject; ///< index of the source or fold it is about, -1 for the whole plan
  i64 numbers[2];
};

/// Refusals in the order of the decisions.
struct why_not_list {
  static constexpr int capacity = 48;
  refusal entries[capacity]{};
  int count = 0;
  constexpr void add(char const* choice, char const* reason, int subject = -1, i64 number_0 = 0, i64 number_1 = 0) {
    if (count < capacity)
      entries[count++] = {choice, reason, subject, {number_0, number_1}};
  }
};

} // namespace tally::v0
