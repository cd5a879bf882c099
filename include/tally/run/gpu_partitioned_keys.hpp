// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the route of folds by key that partitions elements by slot on a GPU. Layer 5. Planning, compiling, staging and launching are compiled
// in dsl/gpu/partitioned_keys.cpp.
#pragma once

#include <tally/plan/partitioned_keys.hpp>
#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// What partitions, and what folds.
struct partitioned_kernels {
  kernels_of<partitioned_keys_plan> partitions, folds;
};

/// Queues a read that goes into so many partitions, as planned. Throws the typed errors of compiling and launching.
void enqueue_partitioned(keys_request& r, i64 partitions, partitioned_kernels& kernels, keys_in_flight& flight);
/// The translation units of both kernels of a plan, for explain and for tests.
unit unit_of_partition(keyed_type const& t, partitioned_keys_plan const& p);
unit unit_of_folds(keyed_type const& t, partitioned_keys_plan const& p);

} // namespace tally::v0::gpu
