// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan as the C++ that rebuilds it: the name expression that NVRTC compiles, the cache key, and the text in explain.
// Layer 3, host only. Compiled in dsl/plan/spell.cpp.
#pragma once

#include <string>

#include <tally/plan/axes_plan.hpp>
#include <tally/plan/elements_plan.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/keys_plan.hpp>
#include <tally/plan/mixed_plan.hpp>
#include <tally/plan/one_segment_plan.hpp>
#include <tally/plan/partitioned_keys_plan.hpp>
#include <tally/plan/segments_plan.hpp>
#include <tally/plan/sorted_keys_plan.hpp>
#include <tally/plan/sorted_rows_plan.hpp>

namespace tally::v0 {

/// "tally::v0::plan{.promise = tally::v0::contract::reproducible, ...}", with the first sources and folds only.
std::string spell(plan const& p, int sources, int folds);
/// "tally::axes_plan{.route = ...}", with the first sources only.
std::string spell(axes_plan const& p, int sources);
/// "tally::elements_plan{.strip = ...}", with the first sources and arrays only.
std::string spell(elements_plan const& p, int sources, int arrays);
/// "tally::keys_plan{.route = ...}".
std::string spell(keys_plan const& p);
/// "tally::find_keys_plan{.threads_per_block = ...}".
std::string spell(find_keys_plan const& p);

/// "tally::segments_plan{.warps_per_block = ...}".
std::string spell(segments_plan const& p);
/// "tally::one_segment_plan{.warps_per_block = ...}".
std::string spell(one_segment_plan const& p);
/// "tally::slot_sort_plan{.threads_per_block = ...}".
std::string spell(slot_sort_plan const& p);
/// "tally::sorted_keys_plan{.sort = ...}".
std::string spell(sorted_keys_plan const& p);
/// "tally::sorted_rows_plan{.sort = ...}".
std::string spell(sorted_rows_plan const& p);
/// "tally::partitioned_keys_plan{.table = ...}".
std::string spell(partitioned_keys_plan const& p);
/// "tally::mixed_plan{.stages = ...}".
std::string spell(mixed_plan const& p);

char const* spell(contract);
char const* spell(axes_route);
char const* spell(keys_route);
char const* spell(combine_order);
char const* spell(whole_from);
char const* spell(load_primitive);
char const* spell(block_algorithm);
char const* spell(cluster_combine);

} // namespace tally::v0
