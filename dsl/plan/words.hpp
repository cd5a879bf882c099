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
/// The rounding points of a fold whose states meet in an order.
std::string rounding(fold_description const& fold, facts const& f, combine_order order, bool reads);
/// How the host takes a column, or a fold.
void word_host_source(source_description& s);
void word_host_fold(fold_description& f);
/// Text inside a quoted Mermaid label.
std::string label(std::string const& text);
/// Plans a full reduction whose place is known, and words it.
void plan_full(description& d);
/// Whether TALLY_DUMP=plan:DIR asks for texts, and where one goes.
bool keeps();
void keep(std::string const& page);

} // namespace tally::words
