// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/cluster_memory.cuh as host code: blocks of a cluster take turns, and while one runs the others' memory is kept aside.
#pragma once

#include <tally/kernel/cell_word.cuh>

namespace tally::v0::kernel {

inline unsigned rank_in_cluster() { return emulated::cluster().rank; }
inline char* memory_of_block(unsigned rank, char* own) {
  return emulated::cluster().as_of(rank, own);
}
template <class T, int N>
T* array_of_block(unsigned rank, T (&own)[N]) {
  char* const begin = reinterpret_cast<char*>(own);
  emulated::cluster().share(begin, begin + sizeof own);
  return reinterpret_cast<T*>(memory_of_block(rank, begin));
}
/// Every third time another thread was quicker.
inline bool add_unless_taken(float* at, float value) {
  static unsigned turn = 0;
  auto const place = reinterpret_cast<char*>(at);
  if (!emulated::cluster().keeps(place)) FAIL("a float of another memory than a cluster's");
  if (++turn % 3 == 0) return false;
  *at += value;
  return true;
}
inline void meet_cluster() { emulated::block::running()->meet_cluster(); }
inline void arrive_in_cluster() {}
inline void wait_for_cluster() { meet_cluster(); }

} // namespace tally::v0::kernel
