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
/// Every third time another thread was quicker.
inline bool add_unless_taken(float* at, float value) {
  static unsigned turn = 0;
  auto const place = reinterpret_cast<char*>(at);
  if (!(place >= emulated::shared_begin && place < emulated::shared_end) && !emulated::cluster().keeps(place)) FAIL("a float of another memory than a cluster's");
  if (++turn % 3 == 0) return false;
  *at += value;
  return true;
}
inline void meet_cluster() { emulated::block::running()->meet_cluster(); }

} // namespace tally::inline v0::kernel
