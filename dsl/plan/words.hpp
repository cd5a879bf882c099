// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as the renderers of explain say them. Compiled side, plan.
#pragma once

#include <tally/plan/explain.hpp>

#include <string>

namespace tally::words {

/// "4 B", "1.5 kB", "8.39 MB".
std::string bytes(double);
/// "4.9 us", "1.2 ms".
std::string seconds(double);
/// "all 5 folds", "sum(_1), max(_1)": the subjects of one refusal made against several.
struct refusal_group {
  std::string choice, reason, subjects;
};
/// Refusals with equal choice and reason become one; `all` is how many folds there are.
std::vector<refusal_group> grouped(description const& d);
/// "tree v1: 8 rows x 128 lanes".
std::string tree(facts const& f);

} // namespace tally::words
