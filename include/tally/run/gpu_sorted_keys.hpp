// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route of folds by key that sorts elements by slot on a GPU. Layer 5. Planning, compiling, staging and launching are
// compiled in dsl/gpu/sorted_keys.cpp.
#pragma once

#include <tally/plan/sorted_keys.hpp>
#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// Queues the read. Throws the typed errors of planning, compiling, staging and launching. There is at least one slot and element.
void enqueue(keys_request& r, sorted_kernels<sorted_keys_plan>& kernels, keys_in_flight& flight);
/// The same of a request whose columns are staged.
void enqueue_staged(keys_request& r, sorted_kernels<sorted_keys_plan>& kernels, keys_in_flight& flight);
/// The translation unit of the folds of a plan, for explain and for tests.
unit unit_of_folds(keyed_type const& t, sorted_keys_plan const& p);

} // namespace tally::v0::gpu
