// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key in any order on a GPU: stage what is in host memory, and go by the route that the planner names.
#include "gpu/keyed_room.hpp"

#include <tally/run/gpu_keys_in_any_order.hpp>

namespace tally::v0::gpu {

void enqueue(keys_request& r, any_order_kernels& kernels, keys_in_flight& flight) {
  stage(r, flight);
  settle_cells(r);
  any_order_choice const chosen = choose_any_order(r.f);
  switch (chosen.route) {
  case any_order_route::sorted_rows: return enqueue_staged(r, kernels.rows, flight);
  case any_order_route::sorted_elements: return enqueue_staged(r, kernels.sorted, flight);
  case any_order_route::partitions: return enqueue_partitioned(r, chosen.partitions, kernels.partitioned, flight);
  case any_order_route::tables: return enqueue_staged(r, kernels.tables, flight);
  }
}

} // namespace tally::v0::gpu
