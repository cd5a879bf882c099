// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files that word domains share: one planner or one place has one file. Compiled side, plan.
#pragma once

#include <tally/plan/explain_grouped.hpp>

#include <string>

namespace tally::v0::words {

/// Whether the elements of a domain are looked at.
bool reads(domain_description const& d);
/// Whether a GPU sorts its elements by slot, or its rows; and how, once that is planned.
bool sorts(domain_description const& d);
bool sorts_rows(domain_description const& d);
slot_sort_planned const& sort_of(domain_description const& d);
/// What the planners of keys know of a domain.
keys_facts keys_of(domain_description const& d);
/// What a planner refused, each once.
void add_refusals(domain_description& d, why_not_list const& why);
/// How the columns of a grid are loaded by a plan.
void word_grid_loads(domain_description& d, axes_plan const& p, char const* neighbours, planning::loaded_axis loaded);

/// Plans what a GPU does with a domain, and words it: the route, the shape, the cut, the loads, and what was refused.
void word_axes_of_gpu(domain_description& d);
void word_segments_of_gpu(domain_description& d);
void word_keys_of_gpu(domain_description& d);
void word_sorted_keys_of_gpu(domain_description& d);
void word_sorted_rows_of_gpu(domain_description& d);
/// The same of elements that are partitioned by slot, of which the planners know `f`.
/// What a block has of exact sums, where that is some of their digits.
std::string windows_of(keys_plan const& p, keys_facts const& f);
void word_partitioned_keys(domain_description& d, keys_facts const& f, i64 partitions);
/// Plans the read in front that finds keys, and tells `f` for how many of them folds are planned; then its words.
void plan_search_of_gpu(domain_description& d, keys_facts& f);
std::string search_of(domain_description const& d);
std::string cut_of_search(domain_description const& d);
/// Makes a domain of keys what a GPU takes that folds exactly, where that is better.
void take_exact_folds(domain_description& d);
/// What the host does with a domain, and with its columns.
void word_host_domain(domain_description& d);
void word_host_sources(domain_description& d);
/// Elements that are written: how they lie on threads, and what was refused.
void word_elements(domain_description& d);

/// Decides which domains share a read, before they are worded; says so, after that.
void plan_shared_reads(grouped_description& d);
void word_shared_reads(grouped_description& d);
/// Elements and all their lets as one kernel, where a GPU does that.
void join_rows(grouped_description& d);
/// Why the domains that are left do not share the first one's read.
void refuse_one_read(grouped_description& d);

} // namespace tally::v0::words
