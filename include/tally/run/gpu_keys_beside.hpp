// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to folds by key beside the other folds of a read on a GPU: what is done to all slots before and after it, and what its kernel is
// told of them. Layer 5. Compiled in dsl/gpu/keys_beside.cpp.
#pragma once

#include <tally/plan/keys_beside.hpp>
#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// One keyed grouping, planned, whose elements another kernel adds to tables.
struct keys_beside_request {
  keys_request keys;
  kernels_of<keys_plan>* kernels; ///< of what is done to all slots
  keys_beside_planned planned;
  void* argument; ///< what fold/keyed_cells.hpp calls keys_beside
  std::size_t argument_bytes;
  keyed_memory* memory; ///< in there
  u32* shared_offset;   ///< in there
  keys_in_flight flight;
};

/// Those that join one read, each in the place that it has among all keyed groupings of the reduction; the others are null.
struct keys_of_read {
  keys_beside_request* of[max_keys_beside];
  bool any() const {
    for (auto const* one : of)
      if (one != nullptr)
        return true;
    return false;
  }
  i64 shared_bytes() const {
    i64 bytes = 0;
    for (auto const* one : of)
      bytes += one != nullptr ? one->planned.shared_bytes : 0;
    return bytes;
  }
};

/// Plans those that may join one read, of exact sums or not, one after the other, while its blocks have room; those that do are its keys. The target is that of
/// a device.
keys_of_read plan_beside_each_other(keys_beside_request* const (&all)[max_keys_beside], int ordinal, bool beside_exact);
/// Empties all slots, on the stream of the read and before it; the columns are those of the read, staged. `first_byte`: where tables begin in the
/// shared memory of a block.
void open(keys_of_read const&, column_place const* columns, i64 first_byte);
/// Makes the answers, behind the read.
void close(keys_of_read const&);
/// Adds what a kernel knows of them to its unit, whose name ends with its template arguments.
void add_keys(unit&, keys_of_read const&);
/// Writes the arguments of a launch that are theirs.
void add_arguments(void** to, keys_of_read const&);
/// Queues a program with keys beside it; the definitions are of all of them. Throws what a program alone does.
queued_run enqueue(full_request& r, keys_of_read const& keys, kernels_of<plan_beside<tally::v0::plan>>& kernels, std::string (*definitions)());
/// The translation unit of that, for a plan.
unit unit_of(program_type const& t, tally::v0::plan const& p, facts const& f, keys_of_read const& keys, std::string (*definitions)());
/// A plan and theirs.
template <class Plan>
plan_beside<Plan> with_keys(Plan const& p, keys_of_read const* keys) {
  plan_beside<Plan> out{p, {}};
  if (keys != nullptr)
    for (int i = 0; i < max_keys_beside; ++i)
      if (keys->of[i] != nullptr)
        out.keys[i] = keys->of[i]->planned.plan;
  return out;
}

} // namespace tally::v0::gpu
