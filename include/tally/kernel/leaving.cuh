// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of the states over everything in the thread that has them: they go to memory as they are, or what is made of them does.
// Layer 4.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::kernel {

/// leave(program, states, where, which), of which there are several where answers are. kernel/finish.cuh makes answers.
template <class Result>
struct leaving;
template <class States>
struct leaving<States*> {
  template <class Program>
  __device__ __forceinline__ static void leave(Program const&, States const& s, States* at, i64 which = 0) {
    at[which] = s;
  }
};

} // namespace tally::v0::kernel
