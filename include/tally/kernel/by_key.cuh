// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of folds by key as elements come: a launch for each phase, or one where the blocks are one cluster. Layer 4.
#pragma once

#include <tally/kernel/keyed_read.cuh>
#include <tally/kernel/keys_in_one_cluster.cuh>

namespace tally::v0::kernel {

template <keys_plan P, class Where, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    by_key(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at,
           __grid_constant__ Nodes const nodes, __grid_constant__ keyed_memory const to, answer_arrays const out, keyed_phase phase) {
  extern __shared__ __align__(16) char table[];
  if constexpr (P.route == keys_route::in_one_cluster)
    return answer_in_one_cluster<P>(where, p, at, nodes, to.stray, out, table);
  keyed_read<P, Where, Program> read{where, p, at, to, table};
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x, threads = i64(blockDim.x) * gridDim.x;
  if (phase == keyed_phase::open)
    read.open(thread, threads);
  else if (phase == keyed_phase::fold)
    read.fold();
  else if (phase == keyed_phase::meet)
    read.meet(thread, threads);
  else
    read.close(thread, threads, nodes, out);
}

} // namespace tally::v0::kernel
