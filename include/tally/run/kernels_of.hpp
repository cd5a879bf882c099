// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loaded kernels of a route, one for each plan. Layer 5.
#pragma once

#include <tally/run/device.hpp>
#include <tally/run/shared_word.hpp>

namespace tally::v0::gpu {

/// One loaded kernel per plan; grows, never shrinks, and is read without a lock.
template <class Plan>
class kernels_of {
public:
  /// The kernel of a plan on a device; make() returns its unit when it has to be compiled or loaded.
  template <class Make>
  kernel const& get(Plan const& plan, int ordinal, Make const& make) {
    auto* first = head_.load();
    for (auto* k = first; k != nullptr; k = k->next)
      if (k->plan == plan)
        return k->cell.get(ordinal, make);
    auto* made = new entry{plan, {}, first}; // two threads may add the same plan; the second is only found later
    while (!head_.replace(made->next, made)) {}
    return made->cell.get(ordinal, make);
  }

private:
  struct entry {
    Plan plan;
    kernel_cell cell;
    entry* next;
  };
  shared_word<entry*> head_;
};

} // namespace tally::v0::gpu
