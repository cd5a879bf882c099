// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key, as a contents page: where elements meet, how they are loaded, how many blocks there are. Layer 3.
#pragma once

#include <tally/fold/hot_keys.hpp>
#include <tally/plan/axes.hpp>
#include <tally/plan/keys_plan.hpp>

namespace tally::v0 {

/// Everything about one keyed read; `of` has the sources, folds and target, `at` where elements are.
struct keys_facts {
  facts of;
  axes_layout at;
  i64 slots;          ///< bins by the groups of `at`
  int own_cell_bytes; ///< of all folds of one slot, in a block's own table, numbers in 32 bits where they fit; 0: some fold cannot be kept there
  bool rows_have_one_key;
  /// Of what one `red` takes several at once, in every fold, none with a mask: sums of floats of 16 or 32 bits, least and greatest numbers of
  /// 16; else 0.
  int bytes_of_neighbour;
  bool gives_cells;    ///< answers are those neighbours as they are
  bool only_counts;    ///< no fold but counts
  bool counts;         ///< some fold is a count
  bool gives_words;    ///< some fold but counts has cells that are words, folded each by itself
  bool integers;       ///< every fold has words that `red` of integers folds
  bool meet_in_clusters; ///< every fold has such words, or one float to which is added
  bool looks_keys_up;  ///< a key is its number in a table of global memory, found first
  u32 travelling = 0;  ///< a bit for each column that folds look at
  bool can_travel = false; ///< those are all that folds look at, and in memory: neither positions nor what is computed
  int atomics_of_element = 0; ///< that all folds take for one element in global memory
  bool short_atomics = false; ///< every fold is of integers, or of a value and its place: an atomic or two in a block's table
  bool places = false;      ///< some fold keeps a place beside a value
  bool swaps_pairs = false; ///< some fold swaps two words at once
  bool swaps_floats = false; ///< some fold adds floats, in a block's table by comparing and swapping until nobody comes between
  int bytes_in_windows = 0;  ///< own_cell_bytes where exact sums have windows; 0: there are none, or one has none
  bool gives_words_beside_windows = false; ///< gives_words, but for exact sums
  constexpr bool folds_neighbours() const { return bytes_of_neighbour > 0; }
  /// Whether atomics fold every element into a table.
  constexpr bool in_tables() const { return own_cell_bytes > 0 && (!swaps_pairs || of.target.compute_major >= 9); }
};

struct keys_planned {
  keys_plan plan;
  i64 blocks;
  i64 shared_bytes; ///< of a block
  why_not_list why_not;
};

/// Whether counts and positions of so many elements have 32 bits.
constexpr bool fits_numbers_in_32(i64 elements) { return elements < i64(1) << 32; }

namespace planning {

/// Room for a block's own table, leaving some for the system: of the 227 KiB of an H200.
constexpr i64 shared_bytes_for_table(facts const& f) { return f.target.shared_bytes_per_block - 2048; }
/// Whether exact sums have windows in a block's own table: where whole ones have no room in one. docs/decisions/sums_have_windows.md.
constexpr bool sums_in_windows(keys_facts const& f) {
  return f.bytes_in_windows > 0 && f.at.groups == 1 && !f.rows_have_one_key && f.slots * f.own_cell_bytes > shared_bytes_for_table(f.of);
}
/// Of all folds of one slot, in a block's own table as it is kept; 0: some fold cannot be.
constexpr int own_bytes(keys_facts const& f) { return sums_in_windows(f) ? f.bytes_in_windows : f.own_cell_bytes; }
/// Hot keys that are told apart, at most. Those of elements have a cell for every lane where floats are added as they come, elements are enough, cells
/// small and replicas few: docs/decisions/lanes_have_their_own_sums.md.
inline constexpr int most_hot_keys = 32, most_bytes_of_hot_cell = 16, replicas_instead_of_hot_cells = 4;
inline constexpr i64 elements_worth_hot_cells = i64(1) << 20;
constexpr bool has_hot_cells(keys_facts const& f) {
  return f.swaps_floats && !f.rows_have_one_key && f.at.groups == 1 && own_bytes(f) <= most_bytes_of_hot_cell && f.at.extent >= elements_worth_hot_cells;
}
constexpr i64 bytes_of_hot_cells(keys_facts const& f) {
  return has_hot_cells(f) ? i64(most_hot_keys) * 32 * own_bytes(f) + (hot_places(most_hot_keys) + 1) * i64(sizeof(u64)) : 0;
}
/// Room for slots in a block's own table.
constexpr i64 shared_bytes_for_slots(keys_facts const& f) { return shared_bytes_for_table(f.of) - bytes_of_hot_cells(f); }

/// Replicas keep lanes that add to one slot apart: of rows where four blocks of a multiprocessor have room, of elements where a block has, and meets
/// an element a cell at least. A multiprocessor adds to one row of 128 bytes at a time, and lanes that count in one word at once: counts have none.
/// H200, 2026-11-23, tests/bench/keyed.py --only counts --bins 256, u32, by one, four and eight replicas: 268, 282, 337 us.
/// Floats that are added as they come, 2^24 f32 by 1000 keys, by eight and 32: 176, 60 us (H100, 2026-11-27, build/bench/many_keys 24 1000).
inline constexpr i64 bytes_for_replicas = 32 * 1024;
inline constexpr int most_replicas = 8, most_replicas_of_floats = 32;
constexpr int choose_replicas(keys_facts const& f, i64 slots_of_block) {
  if (f.only_counts)
    return 1;
  i64 const bytes = slots_of_block * own_bytes(f), room = f.rows_have_one_key ? bytes_for_replicas : shared_bytes_for_slots(f);
  i64 const elements_of_multiprocessor = f.at.extent * f.at.groups / f.of.target.multiprocessors;
  int const most = f.swaps_floats && !f.rows_have_one_key ? most_replicas_of_floats : most_replicas;
  int replicas = 1;
  while (replicas < most && 2 * replicas * bytes <= room && 2 * replicas * slots_of_block <= elements_of_multiprocessor)
    replicas *= 2;
  return replicas;
}
/// Blocks of a multiprocessor that are resident, so that registers leave it 1024 threads.
inline constexpr int resident_blocks_of_512 = 2;

/// Cells up to here take few instructions, so that many elements are worth being in flight: one exact sum of floats has 112 bytes.
inline constexpr int light_cell_bytes = 256;

/// Of a read that folds by keys, or finds them.
template <class Facts>
constexpr bool elements_in_order(Facts const& f) {
  if (f.at.groups != 1 || f.at.reduced_axes != 1 || f.at.reduced[0].position_step != 1)
    return false;
  for (int c = 0; c < f.of.source_count; ++c)
    if (f.of.sources[c].bytes_per_element > 0 && f.at.reduced[0].steps[c] != 1)
      return false;
  return true;
}
/// Whether so many neighbours of every column come in whole loads, of 16 bytes or of all of them.
constexpr bool aligned_for(facts const& f, int elements) {
  for (int c = 0; c < f.source_count; ++c) {
    i64 const all = i64(f.sources[c].bytes_per_element) * elements, bytes = least_of(16, all);
    if (all > 0 && ((bytes & (bytes - 1)) != 0 || all % bytes != 0 || f.sources[c].address_alignment % bytes != 0))
      return false;
  }
  return true;
}
/// Whether elements lie along one axis or two, whatever their steps.
template <class Facts>
constexpr bool elements_on_rows(Facts const& f) {
  return f.at.groups == 1 && (f.at.reduced_axes == 1 || f.at.reduced_axes == 2) && !elements_in_order(f);
}
/// Neighbours that a walk loads together, if that is worth it.
inline constexpr int neighbours_of_walk = 4;
/// How a walk along rows loads neighbours of its columns: together where they are whole loads, wherever a row ends.
template <class Facts, class Plan>
constexpr void choose_loads_on_rows(Facts const& f, Plan& p) {
  grid_axis const &inner = f.at.reduced[f.at.reduced_axes - 1], &outer = f.at.reduced[0];
  bool const on_one_row = inner.extent % neighbours_of_walk == 0;
  bool any_together = false;
  for (int c = 0; c < f.of.source_count; ++c) {
    facts alone{};
    alone.source_count = 1;
    alone.sources[0] = f.of.sources[c];
    bool const follows = f.at.reduced_axes == 1 || outer.steps[c] == inner.extent * inner.steps[c]; // one row follows the other
    bool const begins_whole = follows || (on_one_row && outer.steps[c] % neighbours_of_walk == 0);
    if (f.of.sources[c].bytes_per_element == 0)
      continue;
    if (inner.steps[c] == 1 && begins_whole && aligned_for(alone, neighbours_of_walk))
      any_together = true;
    else if (inner.steps[c] == 0 && (follows || on_one_row))
      p.standing |= 1 << c;
    else
      p.apart |= 1 << c;
  }
  p.elements_per_load = any_together && inner.extent >= neighbours_of_walk ? neighbours_of_walk : 1;
  if (p.elements_per_load == 1)
    p.standing = p.apart = 0;
}
/// How a walk takes elements: in the order of the source or along rows, if they lie so.
template <class Facts, class Plan>
constexpr void choose_walk(Facts const& f, Plan& p, bool by_neighbours) {
  p.on_rows = elements_on_rows(f);
  p.in_order = p.on_rows || elements_in_order(f);
  p.elements_per_load = p.in_order && by_neighbours && aligned_for(f.of, neighbours_of_walk) ? neighbours_of_walk : 1;
  if (p.on_rows && by_neighbours)
    choose_loads_on_rows(f, p);
}

/// Rows of slots that are better added to in global memory, two columns at once at the most, than kept in shared memory, where floats are
/// added by comparing and swapping: H200, 2026-11-20, 2^24 rows of 16 floats and 1000 keys took 1.8 ms in shared memory.
inline constexpr i64 slots_of_rows = 2048;
/// Reads of all elements that are cheaper than atomics in global memory on every one: 2^28 sums of floats by 10^5 keys took 3.7 ms
/// there, one read of keys and floats takes 0.7. H200, 2026-11-20, tests/bench/keyed.py. A key that is looked up
/// costs more than its atomic: 10^5 keys in four ranges 24.3 ms, in global memory 13.0. H200, 2026-11-24, --only groups.
inline constexpr i64 most_ranges = 4;

/// Neighbours in a row of slots that a thread loads at once, up to a power of two, in one load where they are more than four.
constexpr int choose_row_load(keys_facts const& f, int most) {
  for (int v = most; v > 1; v /= 2) {
    bool fits = f.at.groups % v == 0;
    for (int c = 0; c < f.of.source_count && fits; ++c) {
      i64 const bytes = f.of.sources[c].bytes_per_element * v;
      if (f.at.kept[0].steps[c] == 1 && v > 4 && bytes > 16)
        fits = false;
      else if (f.at.kept[0].steps[c] == 1)
        fits = bytes == 0 || ((bytes & (bytes - 1)) == 0 && alignment_in_grid({f.of, f.at}, c, loaded_axis::kept) >= least_of(16, bytes));
    }
    if (fits)
      return v;
  }
  return 1;
}

/// What one `red` takes at once, so that neighbours of a warp lie side by side: 16 bytes of cells. Eight bf16 added to floats, which are two,
/// took 739 us for 64 columns by 1000 keys where four take 578: H200, 2026-11-22, tests/bench/keyed.py.
constexpr int most_neighbours_of_red(keys_facts const& f) { return 16 / f.bytes_of_neighbour; }

/// Neighbours of a row that a thread adds at once; sums of 16 bits come one by one, into floats, where no red takes eight.
constexpr int choose_neighbours(keys_facts const& f) {
  bool const at_once = f.folds_neighbours() && (f.bytes_of_neighbour == 4 || f.of.target.compute_major >= 9);
  return at_once ? choose_row_load(f, most_neighbours_of_red(f)) : 1;
}

/// In how many ranges the slots fit into blocks; 0: they do not.
constexpr i64 choose_ranges(keys_facts const& f, why_not_list& why) {
  if (!f.in_tables()) {
    why.add("table of a block", "a fold has a state that no atomic combines");
    return 0;
  }
  if (f.rows_have_one_key && f.folds_neighbours() && f.at.groups >= 4 && (f.slots > slots_of_rows || choose_neighbours(f) >= 4))
    return 0;
  i64 const room = shared_bytes_for_slots(f) / own_bytes(f);
  i64 const ranges = f.slots == 0 ? 1 : (f.slots - 1) / room + 1;
  bool const are_few = f.at.groups == 1 && ranges <= most_ranges;
  if (ranges == 1 || (are_few && !f.looks_keys_up))
    return ranges;
  if (are_few)
    why.add("ranges of slots", "each of {0} would look all keys up", -1, ranges);
  why.add("table of a block", "{0} slots of {1} bytes do not fit", -1, f.slots, own_bytes(f));
  return 0;
}
/// Copies of all slots while one is so small that its few lines are what reds wait for; of hot keys else, found by a sample, so many that
/// they stay in L2. One line takes 1.7 G reds a second and all of L2 110 G: H200, 2026-11-20, tests/bench/keyed.py, one hot key.
inline constexpr i64 bytes_that_are_few = 64 * 1024, bytes_of_copies = 512 * 1024, bytes_of_hot_copies = 8 << 20;
inline constexpr int most_copies = 64;
inline constexpr i64 rows_worth_a_sample = 32 * sampled_elements;
constexpr void choose_copies(keys_facts const& f, keys_plan& p) {
  i64 const bytes = slots_of_copy(f.slots) * f.own_cell_bytes, of_key = f.at.groups * f.own_cell_bytes;
  if (f.own_cell_bytes == 0 || f.at.extent < rows_worth_a_sample)
    return;
  p.hot_keys = bytes <= bytes_that_are_few ? 0 : most_hot_keys;
  i64 const room = p.hot_keys == 0 ? bytes_of_copies / bytes : bytes_of_hot_copies / (most_hot_keys * of_key);
  while (2 * p.copies <= least_of(room, most_copies))
    p.copies *= 2;
  if (p.copies == 1)
    p.hot_keys = 0;
}
/// Blocks of a multiprocessor that add rows of floats, all of them at once: 64 and 256 bf16 by 1000 keys took 465 and 446 us with five, 509
/// and 470 with four, 551 and 519 with eight, of which five fit at once: H200, 2026-11-22, tests/bench/keyed.py.
inline constexpr int blocks_of_float_rows = 5;
/// Tables larger than L2, of rows of a line at least: 4 columns by 10^6 keys, 16 MB, took 1.5 ms with it and 1.1 without, 64 by 10^5, 26 MB, 0.71
/// and 0.64: H200, 2026-11-22, tests/bench/keyed.py.
constexpr bool asks_ahead(keys_facts const& f) {
  return f.folds_neighbours() && f.at.groups >= 32 && f.slots * f.of.fold_count * f.bytes_of_neighbour > f.of.target.l2_bytes;
}

/// Tables of blocks from which the bulk engine pays.
inline constexpr i64 bytes_worth_the_bulk_engine = 16 * 1024;
/// Whether it folds tables of so many slots into that of all: replicas of a slot are not beside each other.
constexpr bool gives_in_bulk(keys_facts const& f, keys_plan const& p, i64 slots_of_block) {
  i64 const bytes = slots_given_in_bulk(slots_of_block) * own_bytes(f);
  bool const any = (sums_in_windows(f) ? f.gives_words_beside_windows : f.gives_words) || (f.counts && p.numbers_in_32);
  return any && p.replicas == 1 && f.of.target.compute_major >= 9 && bytes >= bytes_worth_the_bulk_engine && bytes <= shared_bytes_for_table(f.of);
}

/// Blocks of a cluster keep some slots together in their shared memory and leave the others to L2, so that both are at work. us of 2^28 u32 counted by
/// 300 000 and 10^6 uniform keys, L2 alone and with a third, a half, two thirds and all that there is room for in clusters: 3222, 2358, 1856, 2203, 3209
/// and 3163, 2255, 2223, 2213, 2097; by 3 10^6, where there is room for 13 %, 3149 and 2847. H100, 2026-11-25 10:10 and 10:14, tests/bench/keyed.py, this
/// constant changed. A float is read and swapped there, which is two requests: sums of f32 by 300 000 uniform keys, L2 alone, a fifth, 30 %, 40 % and a
/// half 3606, 3269, 3175, 2962 and 3386; 14:23, the same.
inline constexpr i64 blocks_of_cluster = 8, most_bytes_in_cluster = 16, least_percent_in_cluster = 12, most_percent_in_cluster = 50, most_percent_of_floats = 40;
/// Reads that are longer than it takes to empty and give what clusters keep.
inline constexpr i64 elements_worth_a_cluster = i64(1) << 24;
constexpr void choose_slots_of_cluster(keys_facts const& f, keys_planned& out) {
  bool const long_enough = f.at.extent * f.at.groups >= elements_worth_a_cluster;
  bool const resides = f.of.target.max_cluster_blocks >= blocks_of_cluster && f.of.target.multiprocessors >= blocks_of_cluster;
  bool const counts_too_far = f.counts && !out.plan.numbers_in_32; // a cell of a cluster has 32 bits
  if (!resides || !f.meet_in_clusters || f.looks_keys_up || own_bytes(f) > most_bytes_in_cluster || !long_enough || counts_too_far)
    return;
  i64 const room = blocks_of_cluster * ((shared_bytes_for_table(f.of) - out.shared_bytes) / own_bytes(f));
  i64 const wanted = f.slots / 100 * (f.integers ? most_percent_in_cluster : most_percent_of_floats);
  i64 const of_block = least_of(room, wanted) / (blocks_of_cluster * slots_of_page) * slots_of_page, all = blocks_of_cluster * of_block;
  if (all < f.slots / 100 * least_percent_in_cluster)
    return out.why_not.add("slots in a cluster", "its blocks have room for {0} of {1}", -1, all, f.slots);
  out.plan.cluster_blocks = int(blocks_of_cluster);
  out.plan.slots_in_cluster = int(of_block);
  out.plan.gives_in_bulk = true;
  out.shared_bytes += of_block * own_bytes(f);
}

/// Reads so short that one launch of one cluster ends sooner than three of a grid: that many atomics on integers, of few bytes a slot. us of a call of
/// enqueue by 100 keys, three launches and one: counts of 2^10, 2^16 and 2^18 10.1 and 5.7, 15.7 and 5.8, 18.9 and 6.3; argmax of 2^16 12.4 and 8.6. H100,
/// 2026-11-27 04:40; the table and what it is not for: docs/decisions/few_elements_in_one_launch.md.
inline constexpr i64 atomics_of_one_cluster = i64(1) << 18, bytes_of_slot_in_one_cluster = 16, blocks_of_one_cluster = 8;
constexpr bool goes_in_one_cluster(keys_facts const& f) {
  i64 const atomics = f.at.extent * f.at.groups * f.atomics_of_element;
  return f.short_atomics && own_bytes(f) <= bytes_of_slot_in_one_cluster && atomics <= atomics_of_one_cluster && f.of.target.compute_major >= 9 &&
         f.of.target.max_cluster_blocks >= blocks_of_one_cluster;
}

/// Bytes of loads in flight that leave registers for sums of a warp, of the 64 that each of 1024 threads has: four loads of floats and
/// 64-bit keys spill, two do not.
inline constexpr i64 bytes_in_flight_of_thread = 160;
constexpr int choose_loads_of_elements(keys_facts const& f, keys_plan const& p) {
  i64 const bytes = 4 * p.elements_per_load * f.of.bytes_per_row();
  return own_bytes(f) > 16 || (p.route == keys_route::in_shared_memory && !f.only_counts && bytes > bytes_in_flight_of_thread) ? 2 : 4;
}

} // namespace planning

/// Plans one keyed read of at least one element and one slot.
constexpr keys_planned make_keys_plan(keys_facts const& f) {
  keys_planned out{};
  keys_plan& p = out.plan;
  int const own_bytes = planning::own_bytes(f);
  bool const light = own_bytes > 0 && own_bytes <= planning::light_cell_bytes;
  i64 const ranges = planning::choose_ranges(f, out.why_not), multiprocessors = f.of.target.multiprocessors;
  p.route = ranges > 0 ? keys_route::in_shared_memory : keys_route::in_global_memory;
  planning::choose_walk(f, p, light);
  p.loads_in_flight = !p.in_order || !light ? 1 : planning::choose_loads_of_elements(f, p);
  p.replicas = p.ranges = p.copies = p.blocks_per_multiprocessor = p.cluster_blocks = 1;
  i64 elements = f.at.extent * f.at.groups;
  p.numbers_in_32 = (f.counts || f.places) && fits_numbers_in_32(elements);
  p.sums_in_windows = planning::sums_in_windows(f);
  i64 resident = 4;
  if (ranges == 1 && planning::goes_in_one_cluster(f)) {
    p.route = keys_route::in_one_cluster;
    p.cluster_blocks = int(planning::blocks_of_one_cluster);
    out.shared_bytes = told_behind(f.slots * own_bytes) + bytes_told;
    resident = 1;
  } else if (p.route == keys_route::in_shared_memory) {
    p.ranges = int(ranges);
    i64 const slots_of_block = (f.slots - 1) / ranges + 1;
    p.replicas = planning::choose_replicas(f, slots_of_block);
    p.gives_in_bulk = planning::gives_in_bulk(f, p, slots_of_block);
    p.hot_keys = planning::has_hot_cells(f) && p.replicas < planning::replicas_instead_of_hot_cells ? planning::most_hot_keys : 0;
    out.shared_bytes = p.replicas * (p.gives_in_bulk ? slots_given_in_bulk(slots_of_block) : slots_of_block) * own_bytes + (p.hot_keys > 0 ? planning::bytes_of_hot_cells(f) : 0);
    while (resident > 1 && resident * (out.shared_bytes + 2048) > f.of.target.shared_bytes_per_block)
      resident /= 2;
  } else if (light && !f.rows_have_one_key) {
    p.hot_slots = 4096;
    while (p.hot_slots * (own_bytes + 4) > 48 * 1024)
      p.hot_slots /= 2;
    out.shared_bytes = i64(p.hot_slots) * (own_bytes + 4);
    planning::choose_slots_of_cluster(f, out);
    if (p.cluster_blocks > 1)
      resident = 1;
  }
  p.threads_per_block = resident == 4 ? 512 : 1024;
  p.blocks_per_multiprocessor = p.route == keys_route::in_shared_memory && light && resident == 4 ? planning::resident_blocks_of_512 : 1;
  out.blocks = multiprocessors * resident;
  if (f.rows_have_one_key) {
    p.elements_per_load = planning::choose_neighbours(f); // atomics of neighbouring threads meet in one line
    p.threads_per_row = 1;
    while (p.threads_per_row < 32 && i64(p.threads_per_row) * p.elements_per_load < f.at.groups)
      p.threads_per_row *= 2;
    p.in_order = f.at.reduced_axes == 1;
    p.on_rows = false;
    p.standing = p.apart = 0;
    elements = f.at.extent * p.threads_per_row;
    p.loads_in_flight = light ? 4 : 1;
    if (p.route == keys_route::in_global_memory) {
      p.threads_per_block = 256;
      p.blocks_per_multiprocessor = f.folds_neighbours() ? planning::blocks_of_float_rows : 1;
      out.blocks = multiprocessors * (f.folds_neighbours() ? planning::blocks_of_float_rows : 8);
      planning::choose_copies(f, p);
      p.asks_ahead = planning::asks_ahead(f);
      if (p.hot_keys > 0)
        out.shared_bytes = hot_places(p.hot_keys) * i64(sizeof(u64));
    }
  }
  p.in_place = p.route == keys_route::in_global_memory && p.cluster_blocks == 1 && f.gives_cells && (f.bytes_of_neighbour == 4 || p.folds_neighbours());
  i64 const of_block = i64(p.threads_per_block) * (p.threads_per_row > 0 ? 1 : p.elements_per_load);
  out.blocks = planning::least_of(out.blocks, ((elements - 1) / of_block + 1) * p.ranges);
  out.blocks -= out.blocks % (p.ranges * p.cluster_blocks);
  if (p.route == keys_route::in_one_cluster)
    out.blocks = p.cluster_blocks;
  return out;
}

} // namespace tally::v0
