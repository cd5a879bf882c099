// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route of folds by key that sorts rows by slot on a GPU. Layer 5. Planning, compiling, staging and launching are compiled
// in dsl/gpu/sorted_rows.cpp.
#pragma once

#include <tally/plan/sorted_rows.hpp>
#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// Queues the read of rows that have one key each, whose columns are staged. Throws the typed errors of planning, compiling and launching. There is at
/// least one slot and row.
void enqueue_staged(keys_request& r, sorted_kernels<sorted_rows_plan>& kernels, keys_in_flight& flight);

/// The translation unit of the folds of a plan, for explain and for tests.
unit unit_of_folds(keyed_type const& t, sorted_rows_plan const& p);

} // namespace tally::v0::gpu
