// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks over one source that take turns, on a GPU the blocks of one launch and on a CPU tasks: which of them is whose. Layer 3; kernels include it.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// Turn `number` of `of`, of which a walk has n and those behind it the rest, spread evenly: whether it is the walk's, and how many of its were before.
class turn {
  u64 before_, upto_;

public:
  TALLY_HD constexpr turn(u64 number, u64 of, u64 n) : before_(number * n / of), upto_((number + 1) * n / of) {} // both below 2^31
  TALLY_HD constexpr bool is_own() const { return upto_ > before_; }
  TALLY_HD constexpr u32 before() const { return static_cast<u32>(before_); }
};

/// Reads by segment in one launch at most.
inline constexpr int max_segments_in_turns = 4;

/// Blocks of every walk, the folds of the whole first.
struct blocks_in_turns {
  u32 of[1 + max_segments_in_turns];
};

} // namespace tally::v0
