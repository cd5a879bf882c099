// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/arrivals.cuh as host code: threads of a block meet as they do, and blocks run one after the other.
#pragma once

#include <tally/plan/mixed_plan.hpp>

namespace tally::v0::kernel {

inline void folding_threads_meet() {
  static emulated::meeting folding{unsigned(mixed_folding_threads)};
  emulated::block::running()->meet(folding);
}
inline void fence_device() {}
inline u32 count_around(u32* counter, u32 most) {
  u32 const before = *counter;
  *counter = before >= most ? 0 : before + 1;
  return before;
}

} // namespace tally::v0::kernel
