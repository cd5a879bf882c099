// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plans of a read that folds by key, and of one that finds the keys: every decision about a kernel as one structural value.
// Layer 3; kernels include it.
#pragma once

#include <tally/plan/plan.hpp>

namespace tally::v0 {

/// Where elements meet.
enum class keys_route {
  in_shared_memory, ///< every block has slots to itself, and adds them to the others' in the end
  in_global_memory, ///< elements go to their slots by atomics
  in_one_cluster    ///< as in shared memory, but the blocks are one cluster, and each answers a part of the slots in the same launch
};

/// All decisions about the kernel of one keyed read.
struct keys_plan {
  keys_route route;
  int threads_per_block;
  int blocks_per_multiprocessor; ///< that registers have room for at least
  int elements_per_load;         ///< neighbours that a thread loads at once
  int loads_in_flight;
  int replicas;          ///< shared: tables of a block, that neighbouring threads take in turn
  int ranges;            ///< shared: a block has this part of the slots, and passes over the others
  int hot_slots;         ///< global: slots that a block keeps to itself, those it meets first; a power of two, or 0
  int turns_of_table;    ///< neighbouring turns, at most, that a block folds in one table of its own, before it takes the next; 0: blocks take turns one after the other
  bool in_order;         ///< elements are neighbours in every column, or on rows; of rows of slots: they lie along one axis
  bool on_rows;          ///< along one axis or two, whatever their steps: a walk reckons the next place from the last
  int standing;          ///< on rows: bit c is set where column c is the same for the neighbours of a load
  int apart;             ///< on rows: bit c is set where they are loaded one by one, for a row of column c may end among them
  int threads_per_row;   ///< that share a row of slots, whose elements have one key; 0: elements have keys of their own
  int copies;            ///< global, rows: of slots, which blocks take in turn and which meet in the end; 1: none
  int hot_keys;          ///< at most so many, which a sample finds. With copies: of those keys alone; 0: of all. Shared: every lane of a warp has a cell of each
  bool asks_ahead;       ///< rows: slots are asked for while the rows before are folded
  bool in_place;         ///< cells are the answers: sums of floats, added as they come
  bool gives_in_bulk;    ///< shared or in a cluster: the bulk engine folds a block's table into that of all, where a fold has words for it
  bool sums_in_windows;  ///< a block has an integer of a few limbs of exact sums, from a bit on that a sample finds; what does not fit goes to the table of all
  bool numbers_in_32;    ///< no count or position of all elements needs 64 bits
  int cluster_blocks;    ///< global: that keep some of the slots together, in their shared memory, 1: none; in one cluster: its blocks
  int slots_in_cluster;  ///< of each of them; whole pages
  /// Elements that a block loads before it folds them.
  constexpr int elements_of_turn() const { return threads_per_block * elements_per_load * loads_in_flight; }
  /// Whether one red adds neighbours, which are kept in the floats that they are.
  constexpr bool folds_neighbours() const { return route == keys_route::in_global_memory && threads_per_row > 0 && elements_per_load > 1; }
  friend constexpr bool operator==(keys_plan const&, keys_plan const&) = default;
};

/// Cells that a block has for hot keys, one a lane; and the plan of its read where a sample finds none.
constexpr int cells_of_hot_keys(keys_plan const& p) {
  return p.route == keys_route::in_shared_memory ? p.hot_keys * 32 : 0;
}
constexpr keys_plan without_hot_keys(keys_plan p) {
  p.hot_keys = 0;
  return p;
}

/// Slots that lie together in a block of a cluster, and are given to those of all at once.
inline constexpr int slots_of_page = 128;

/// Slots between two words of a cell: the bulk engine takes four at once.
constexpr i64 slots_given_in_bulk(i64 slots) {
  return (slots + 3) / 4 * 4;
}
/// Where a block of one cluster says what it met, in bytes from where its table begins; and how many bytes those are.
constexpr i64 told_behind(i64 table_bytes) {
  return (table_bytes + 15) / 16 * 16;
}
inline constexpr i64 bytes_told = 256;
/// Slots between two copies of all: neighbours of one slot do not share a line.
constexpr i64 slots_of_copy(i64 slots) {
  return (slots + 31) / 32 * 32;
}
/// Slots of all copies.
constexpr i64 copied_slots(keys_plan const& p, i64 slots, i64 groups) {
  return p.copies * (p.hot_keys > 0 ? p.hot_keys * groups : slots_of_copy(slots));
}

/// All decisions about the kernel that finds the keys of a read.
struct find_keys_plan {
  int threads_per_block;
  int elements_per_load; ///< neighbours that a thread loads at once
  int loads_in_flight;
  int keys_of_block;     ///< of those that a block has met, it knows this many without a look at the table; a power of two
  bool in_order;         ///< elements are neighbours in every column, or on rows
  bool on_rows;          ///< as in keys_plan
  int standing, apart;   ///< as in keys_plan
  friend constexpr bool operator==(find_keys_plan const&, find_keys_plan const&) = default;
};

} // namespace tally::v0
