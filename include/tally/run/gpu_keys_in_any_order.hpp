// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to folds by key whose elements may come in any order on a GPU: in tables, of sorted rows or elements, or of partitioned elements. Layer 5.
// Which of them it is, is compiled in dsl/gpu/keys_in_any_order.cpp.
#pragma once

#include <tally/plan/keys_in_any_order.hpp>
#include <tally/run/gpu_partitioned_keys.hpp>
#include <tally/run/gpu_sorted_keys.hpp>
#include <tally/run/gpu_sorted_rows.hpp>

namespace tally::v0::gpu {

struct any_order_kernels {
  kernels_of<keys_plan> tables;
  sorted_kernels<sorted_rows_plan> rows;
  sorted_kernels<sorted_keys_plan> sorted;
  partitioned_kernels partitioned;
};
/// Queues the read by one route or another. Throws the typed errors of planning, compiling, staging and launching. There is at least one slot and
/// element.
void enqueue(keys_request& r, any_order_kernels& kernels, keys_in_flight& flight);

} // namespace tally::v0::gpu
