// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements partitioned by slot: what a tile of them is in memory, and what the kernels of it are told. Layer 1. A partition is as many slots beside
// each other as a block has room for; a tile is some neighbouring elements of the source, in the order of their partitions.
#pragma once

#include <tally/fold/keys.hpp>
#include <tally/fold/placed_words.hpp>

namespace tally::v0 {

/// A thread of either kernel has one each.
inline constexpr int most_partitions = 1024, threads_of_partitions = most_partitions;

/// Whether what the folds of a program look at can be copied elsewhere: columns of memory, of 1, 2, 4, 8 or 16 bytes an element, and no positions, which is what
/// argmax keeps.
template <class Program>
inline constexpr bool can_travel = false;
template <class... Columns, class... Leaves>
inline constexpr bool can_travel<program<pack<Columns...>, Leaves...>> = [] {
  constexpr u32 folded = columns_folded<program<pack<Columns...>, Leaves...>>;
  constexpr int sizes[] = {(memory_column<Columns> ? int(sizeof(typename Columns::value_type)) : 0)..., 0};
  for (int c = 0; c < int(sizeof...(Columns)); ++c)
    if ((folded >> c & 1) != 0 && (sizes[c] == 0 || (sizes[c] & (sizes[c] - 1)) != 0 || sizes[c] > 16))
      return false;
  return !(false || ... || (detail::keeps_place<typename Leaves::monoid_type> || looks_at_position<decltype(Leaves::values)> || looks_at_position<decltype(Leaves::mask)>));
}();

/// A tile, in bytes from where it begins: where in it every partition begins, and the last one ends; the slots of its elements, from the first of their
/// partition on; then one column after the other.
struct partitioned_tile {
  int partitions;
  int elements;     ///< below 2^16
  int column_bytes; ///< of an element, of all columns
  TALLY_INLINE constexpr i64 slots_at() const { return (2 * i64(partitions + 1) + 15) / 16 * 16; }
  TALLY_INLINE constexpr i64 columns_at() const { return slots_at() + 2 * i64(elements); }
  TALLY_INLINE constexpr i64 bytes() const { return columns_at() + i64(elements) * column_bytes; }
};

/// How often it is looked at whether keys come in runs, and how many elements there are from the first that is looked at to the last: three of four have one slot at both ends
/// if keys do, in runs of 44 or more. Sums of 2^27 sorted f32 by 64-bit keys, in partitions and as they come, us: runs of 268 1244, 746, of 134 1588, 951, of 89 1577, 1167, of 67 1585,
/// 1376, of 34 1618 in partitions (H200, 2026-11-28 20:06 and 20:13, a program of its own).
inline constexpr int probes_of_runs = 1024, elements_of_probe = 12;
/// What the probes met, in the memory of the block that looks.
struct runs_met {
  u32 probes; ///< with an element at both ends that has a slot
  u32 same;   ///< of those, with one slot
  TALLY_INLINE constexpr bool come_in_runs() const { return probes > 0 && 4 * same >= 3 * probes; }
};

/// The elements of one part of a read, and the partitions that they are in, of all or of some neighbouring ones.
struct slot_partitions {
  unsigned char* tiles;
  u32* counts; ///< of elements in every partition; behind them, the number of the next share
  i64 words;   ///< of counts, with those of the parts that come after
  u32* in_runs; ///< whether keys come in runs, so that elements are folded as they come instead
  i64 first;   ///< element of the source, with which the first tile begins
  i64 end;     ///< of the part
  i64 share;   ///< elements of a partition that are folded by one block at once, in whole tiles
  u32 first_slot; ///< of the first partition
  int partitions;
  TALLY_INLINE constexpr bool is_first() const { return first == 0 && first_slot == 0; }
};

/// What a block that folds partitions has in shared memory behind its table.
struct room_of_shares {
  u32 sums[threads_of_partitions / 32];
  u32 next;                        ///< number of what the block takes: whole partitions come first, then shares
  u32 shares;                      ///< of all partitions
  u32 whole_count;                 ///< partitions that a block takes whole
  u16 whole[most_partitions];      ///< which those are
  u32 before[most_partitions + 1]; ///< shares in front of every partition, of those that are shared
  u32 far_count;                   ///< tiles in which a partition has far more than in others
  u16 far[threads_of_partitions];
};

} // namespace tally::v0
