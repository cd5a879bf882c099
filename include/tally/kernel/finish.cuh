// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers in device memory of one group: by the kernel that has its states, and of groups of nothing. Layer 4.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/leaving.cuh>

namespace tally::v0::kernel {

template <class Nodes>
struct leaving<answers_at<Nodes>> {
  template <class Program>
  __device__ __forceinline__ static void leave(Program const& p, typename Program::states const& s, answers_at<Nodes> const& a, i64 which = 0) {
    write_answers(p, a.nodes, s, p.extent, a.to, which);
  }
};

/// Writes the answers of groups of p.extent elements that nothing is folded of.
template <class Program, class Nodes>
__global__ void finish(__grid_constant__ Program const p, __grid_constant__ Nodes const nodes, i64 groups, answer_arrays const to) {
  auto const s = p.identity();
  for (i64 g = i64(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += i64(blockDim.x) * gridDim.x)
    write_answers(p, nodes, s, p.extent, to, g);
}

} // namespace tally::v0::kernel
