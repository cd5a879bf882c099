// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hot keys of a read by key: how a sample tells them, and how they are written down. Layer 1. Atomics on one line of memory wait for
// each other, so a key that many elements have is worth copies of its slots.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// Elements that are looked at. A key is hot that a 128th of them has.
inline constexpr int sampled_elements = 2048, hot_in_sample = 16;
/// Of the table that counts them, and of the list of at most `keys` hot ones: open addresses, so that a search is short.
inline constexpr int sample_places = 2 * sampled_elements;
inline constexpr i64 sample_bytes = (2 * sample_places + 1) * i64(sizeof(u32));
constexpr int hot_places(int keys) {
  return 4 * keys;
}

/// A place of that list: a bin, and its number among the hot ones.
inline constexpr u64 no_hot_key = ~u64(0);
TALLY_INLINE constexpr u64 hot_key(u32 bin, u32 number) {
  return u64(number) << 32 | bin;
}
TALLY_INLINE constexpr int hot_bin(u64 key) {
  return static_cast<int>(static_cast<u32>(key));
}
TALLY_INLINE constexpr int hot_number(u64 key) {
  return static_cast<int>(key >> 32);
}
/// Where the search for a bin begins, before it is taken to the number of places; it also jitters the sample.
TALLY_INLINE constexpr u32 scattered(u32 bin) {
  return bin * 2654435769u >> 12;
}

} // namespace tally::v0
