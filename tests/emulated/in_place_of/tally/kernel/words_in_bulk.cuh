// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/words_in_bulk.cuh as host code: what the bulk engine wants of addresses and sizes is asked.
#pragma once

#include <tally/kernel/cell_word.cuh>

namespace tally::v0::kernel {

inline void show_own_words() {}
template <operation Op, class T>
void fold_words_into(T* all, T* own, unsigned n, unsigned first) {
  auto const at = reinterpret_cast<char*>(own);
  if (at < emulated::shared_begin || at + n * sizeof(T) > emulated::shared_end) FAIL("words of another memory than the block's");
  if ((reinterpret_cast<u64>(all) | reinterpret_cast<u64>(own) | n * sizeof(T) | first * sizeof(T)) % 16 != 0 || first > n)
    FAIL("the bulk engine takes 16 bytes and multiples of them");
  for (unsigned i = 0; i < n; ++i) fold_into<Op, owner::all>(all + i, own[i]);
}
inline void wait_for_words() {}

} // namespace tally::v0::kernel
