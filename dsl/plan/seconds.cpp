// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock of run_timed. Compiled side, plan.
#include <tally/run/run_timed.hpp>

#include <chrono>

namespace tally::v0::detail {

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace tally::v0::detail
