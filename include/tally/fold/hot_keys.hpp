// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hot keys of a read by key: how a sample tells them, and how they are written down. Layer 1. Atomics on one line of memory wait for
// each other, so a key that many elements have is worth copies of its slots.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::inline v0 {

/// Elements that are looked at.
inline constexpr int sampled_elements = 4096;
/// How many of them have a hot key: about a thousandth, and four times as many as if all keys had as many.
TALLY_INLINE constexpr u32 hot_in_sample(i64 bins) {
  return 5 + static_cast<u32>(4 * i64(sampled_elements) / (bins < 1 ? 1 : bins));
}
/// The table that counts them has open addresses, and room for twice as many, so that a search is short.
inline constexpr int sample_places = 2 * sampled_elements;
inline constexpr i64 sample_bytes = 2 * sample_places * i64(sizeof(u32));

/// At most Keys hot keys, in memory: their bins by number, and the same as a table of open addresses, a quarter of it taken.
template <int Keys>
struct hot_key_list {
  static constexpr int places = 4 * Keys;
  static constexpr u64 nothing = ~u64(0);
  u32 number; ///< how many were met; the list has the first Keys of them
  i32 bin[Keys];
  u64 place[places]; ///< a bin, and above it its number

  TALLY_INLINE constexpr int size() const { return number < u32(Keys) ? static_cast<int>(number) : Keys; }
  TALLY_INLINE static constexpr u64 entry(u32 bin, u32 number) { return u64(number) << 32 | bin; }
  TALLY_INLINE static constexpr i32 bin_of(u64 entry) { return static_cast<i32>(static_cast<u32>(entry)); }
  TALLY_INLINE static constexpr int number_of(u64 entry) { return static_cast<int>(entry >> 32); }
};

/// Where the search for a bin begins, before it is taken to the number of places; it also jitters the sample.
TALLY_INLINE constexpr u32 scattered(u32 bin) {
  return bin * 2654435769u >> 12;
}

} // namespace tally::inline v0
