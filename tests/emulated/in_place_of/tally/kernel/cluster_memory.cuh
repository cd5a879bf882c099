// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/cluster_memory.cuh as host code: blocks of a cluster take turns, and while one runs the others' memory is kept aside.
#pragma once

#include <tally/kernel/cell_word.cuh>

namespace tally::inline v0::kernel {

inline unsigned rank_in_cluster() { return emulated::cluster().rank; }
inline char* memory_of_block(unsigned rank, char* own) {
  return rank == rank_in_cluster() ? own : emulated::cluster().kept[rank].data() + (own - emulated::shared_begin);
}
inline void meet_cluster() { emulated::block::running()->meet_cluster(); }

} // namespace tally::inline v0::kernel
