// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files that word domains share. Compiled side, plan.
#pragma once

#include <tally/plan/explain_grouped.hpp>

#include <string>

namespace tally::words {

/// "1 group", "3 groups".
std::string several(i64 n, char const* thing);
/// What a planner refused, each once.
void add_refusals(domain_description& d, why_not_list const& why);
/// How the columns of a grid are loaded by a plan.
void word_grid_loads(domain_description& d, axes_plan const& p, char const* neighbours, planning::loaded_axis loaded);
/// Elements that are written: how they lie on threads, and what was refused.
void word_elements(domain_description& d);
/// Elements and all their lets as one kernel, where a GPU does that.
void join_rows(grouped_description& d);

} // namespace tally::words
