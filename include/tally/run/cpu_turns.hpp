// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over one source that take turns on the CPU: a core folds what one walk has brought into its cache by the others before it goes on. Layer 5,
// host only.
#pragma once

#include <tally/plan/turns_plan.hpp>
#include <tally/run/cpu_fold.hpp>

namespace tally::v0::cpu {

namespace detail {
inline void take_turn(i64, i64) {}
/// Turn `number` of `of`, of a walk or of those behind it.
template <class Walk, class... Walks>
void take_turn(i64 number, i64 of, Walk& walk, Walks&... walks) {
  turn const own(static_cast<u64>(number), static_cast<u64>(of), static_cast<u64>(walk.tasks()));
  if (own.is_own())
    walk(i64(own.before()));
  else
    take_turn(number - i64(own.before()), of - walk.tasks(), walks...);
}
} // namespace detail

/// Does the tasks of all walks, spread over the cores; neighbouring tasks of all of them follow each other on one core.
template <class... Walks>
void take_turns(int threads, Walks&... walks) {
  i64 const of = (i64(0) + ... + walks.tasks());
  if (of > 0)
    detail::spread_over_cores(of, threads, [&](i64 number) { detail::take_turn(number, of, walks...); });
}

} // namespace tally::v0::cpu
