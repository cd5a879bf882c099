// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/epoch_words.cuh as host code: blocks run one after the other, so a word that is awaited has come, or never will.
#pragma once

#include <doctest/doctest.h>

#include <tally/base/numbers.hpp>

#include <stdexcept>

namespace tally::v0::kernel {

inline void store_word(u64* to, u32 word, u32 epoch) { *to = (u64(epoch) << 32) | word; }
inline u64 peek_word(u64 const* from) { return *from; }
inline u32 await_word(u64 const* from, u64, u32 epoch) {
  for (int turns = 0; u32(*from >> 32) != epoch; ++turns) {
    if (turns == 1'000'000) FAIL("a block waits for one behind it");
    emulated::block::running()->let_others_run();
  }
  return u32(*from);
}

} // namespace tally::v0::kernel
