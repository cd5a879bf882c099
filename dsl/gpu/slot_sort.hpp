// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sort of elements by slot as a part of a read by key: the memory that it needs, and its launches. Compiled side, gpu.
#pragma once

#include "gpu/tables.hpp"

#include <tally/plan/slot_sort.hpp>
#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// What a sort keeps in memory, and where the stray is written down.
struct slot_sort_memory {
  void *stray, *moved[2], *counts, *begins;
  void add_to(tables&, slot_sort_planned const&);
  /// What its kernel is told of them, once there is room for the tables.
  slot_sort of(slot_sort_planned const&, i64 groups) const;
};

/// Queues all launches of a sort of what lies at `at`, by the keys of a request; after it `s` knows where its results are.
void enqueue_sort(keys_request const& r, axes_layout at, kernel const&, slot_sort_planned const&, slot_sort& s);

} // namespace tally::v0::gpu
