// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers and refusals as explanations say them, and the words that those of all kinds share. Compiled side, plan.
#pragma once

#include <tally/plan/explain.hpp>
#include <tally/plan/why_not.hpp>

#include <string>

namespace tally::v0::words {

/// "4 B", "1.5 kB", "8.39 MB".
std::string bytes(double);
/// "4.9 us", "1.2 ms".
std::string seconds(double);
/// "1 group", "3 groups".
std::string several(i64 n, char const* thing);
/// What a chip moves at least, however few bytes of it are wanted.
inline constexpr i64 bytes_per_sector = 32;
/// What a planner refused, with its numbers in its sentence; subject: the column or fold that it is about.
refused_choice in_words(refusal const& r, std::string subject = {});
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
/// Says of a column that nothing names that it is not read.
void word_unnamed(source_description& s);
/// Text inside a quoted Mermaid label.
std::string label(std::string const& text);
/// Plans a full reduction whose place is known, and words it.
void plan_full(description& d);
/// Whether TALLY_DUMP=plan:DIR asks for texts, and where one goes.
bool keeps();
void keep(std::string const& page);

} // namespace tally::v0::words
