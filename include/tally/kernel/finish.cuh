// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From states in device memory to answers in device memory, behind a kernel that leaves states. Layer 4.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/folds.hpp>
#include <tally/kernel/answers.cuh>

namespace tally::inline v0::kernel {

/// Writes the answers of groups of p.extent elements that have the same states, or those of the identity where there are none.
template <class Program, class Nodes>
__global__ void finish(__grid_constant__ Program const p, __grid_constant__ Nodes const nodes, typename Program::states const* states, i64 groups,
                       answer_arrays const to) {
  auto const s = states != nullptr ? *states : p.identity();
  for (i64 g = i64(blockIdx.x) * blockDim.x + threadIdx.x; g < groups; g += i64(blockDim.x) * gridDim.x)
    write_answers(p, nodes, s, p.extent, to, g);
}

} // namespace tally::inline v0::kernel
