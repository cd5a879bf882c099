// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table of the keys that a read meets, which any number of threads fill at once: open addressing with two hashes. Layer 1. A word
// changes once, from nobody's to a key's, so a look that is out of date is only a claim too many; numbers are written when all keys
// are there, and read after that.
#pragma once

#include <tally/element/expression.hpp>

namespace tally::v0 {

/// What a key is kept as: 32 bits at least.
template <class K>
using key_word = stl::conditional_t<sizeof(K) == 8, u64, u32>;

template <class Word>
struct alignas(2 * sizeof(Word)) key_entry {
  Word key;
  u32 number;
};

template <class Word>
struct key_table {
  key_entry<Word>* entries; ///< a power of two, at most 2^32, and one behind them for the key that looks like nobody's
  u64 mask;                 ///< that power of two, less one

  static constexpr Word nobody = static_cast<Word>(0xb5ad4eceda1ce2a9u);
  static constexpr u32 no_number = ~u32(0);

  TALLY_INLINE constexpr u64 entry_count() const { return mask + 2; }
  /// More keys than this make the way to one long.
  TALLY_INLINE constexpr u64 most_keys() const { return (mask + 1) / 2; }
  /// What an entry holds before it has a key.
  TALLY_INLINE constexpr Word empty(u64 at) const { return at <= mask ? nobody : static_cast<Word>(~nobody); }

  /// The same for equal keys, and like random bits for others: every bit depends on all of the key's.
  TALLY_INLINE static constexpr Word mixed(Word k) {
    if constexpr (sizeof(Word) == 8) {
      k = (k ^ (k >> 32)) * 0xd6e8feb86659fd93u;
      k = (k ^ (k >> 32)) * 0xd6e8feb86659fd93u;
      return k ^ (k >> 32);
    } else {
      k = (k ^ (k >> 16)) * 0x7feb352du;
      k = (k ^ (k >> 15)) * 0x846ca68bu;
      return k ^ (k >> 16);
    }
  }
  /// The entries where a key may be, one after the other; the stride is odd, so that all are on the way.
  struct way {
    Word at, stride, mask;
    TALLY_INLINE constexpr void go_on() { at = (at + stride) & mask; }
  };
  TALLY_INLINE constexpr way way_of(Word key) const {
    Word const hash = mixed(key), of_table = static_cast<Word>(mask);
    return {static_cast<Word>(hash & of_table), static_cast<Word>(hash >> (4 * sizeof(Word)) | 1), of_table};
  }

  /// Puts a key in that may be new. Cells look at the key of an entry, claim an entry as compare-and-swap does and give what it held
  /// before, count what is new, and say whether there are too many. False: there are, and this one may be missing.
  template <class Cells>
  TALLY_INLINE constexpr bool put(Word key, Cells const& cells) const {
    if (key == nobody) {
      if (cells.look(mask + 1) != key && cells.claim(mask + 1, empty(mask + 1), key) != key)
        cells.count();
      return true;
    }
    way w = way_of(key);
    Word tries = 0;
    do {
      Word held = cells.look(w.at);
      if (held == nobody) {
        held = cells.claim(w.at, nobody, key);
        if (held == nobody) {
          cells.count();
          return true;
        }
      }
      if (held == key)
        return true;
      w.go_on();
      if (tries % 16 == 15 && cells.too_many())
        return false;
    } while (tries++ != w.mask);
    return false;
  }

  /// An entry and what it says, in one load; null where a key was not put.
  struct place {
    key_entry<Word>* entry;
    u32 number;
  };
  /// Where a key is, when all keys were put.
  TALLY_INLINE constexpr place find(Word key) const {
    way w = way_of(key);
    Word tries = 0;
    if (key == nobody) {
      key_entry<Word> const e = entries[mask + 1];
      return e.key == key ? place{entries + (mask + 1), e.number} : place{nullptr, no_number};
    }
    do {
      key_entry<Word> const e = entries[w.at];
      if (e.key == key)
        return {entries + w.at, e.number};
      if (e.key == nobody)
        break;
      w.go_on();
    } while (tries++ != w.mask);
    return {nullptr, no_number};
  }
};

/// What the kernel of a search is asked for, one a launch.
enum class search_phase : int {
  clear,       ///< the table
  put,         ///< every key of every element in
  list,        ///< all keys, in no order
  sort_chunks, ///< of the list
  merge_far,   ///< at one stride
  merge_near,  ///< at the strides within a chunk
  number       ///< every key by its place in the list
};

/// What it is told beside that.
struct key_search {
  void* entries;
  u64 mask;
  u64* counts; ///< of the keys that were met, and of those in the list
  void* list;  ///< of all keys, as words
  u64 keys;    ///< in the list
  u64 places;  ///< of the list: a power of two
  u64 chunk;   ///< of them fit into a block
  u64 run, stride; ///< of one step of a merge
};

namespace op {
/// The number of a key among those of a table.
struct number_among {
  static constexpr char const* spelling = "number_among";
  template <class K, class Word>
  TALLY_INLINE static constexpr u32 apply(K key, key_table<Word> const& keys) {
    return keys.find(static_cast<Word>(key)).number;
  }
};
} // namespace op

} // namespace tally::v0
