// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner of folds by key whose elements are partitioned by slot first: when that is worth it, how large partitions and tiles are, and how they are
// folded. Layer 3.
#pragma once

#include <tally/fold/partitions.hpp>
#include <tally/plan/keys.hpp>
#include <tally/plan/partitioned_keys_plan.hpp>

namespace tally::v0 {

struct partitioned_keys_planned {
  partitioned_keys_plan plan;
  i64 partitions;
  i64 passes;     ///< each of which reads all elements, and takes those of its partitions
  i64 of_pass;    ///< partitions of a pass
  i64 part;  ///< elements that are partitioned, then folded, at once; the read has as many parts as it takes
  i64 parts;
  i64 share;          ///< elements of a partition that a block folds at once
  i64 tile_bytes;     ///< in memory, of a whole part
  i64 blocks;         ///< that partition
  i64 shared_bytes;   ///< of one of them
  i64 fold_blocks;
  i64 fold_shared_bytes;
  why_not_list why_not;
};

namespace planning {

/// Elements that are partitioned at once, so that their copy has no more than some GB.
inline constexpr i64 most_elements_of_part = i64(1) << 27;
/// Reads that are longer than its launches take.
inline constexpr i64 elements_worth_partitions = i64(1) << 21;
/// Passes up to which another one takes less than atomics do.
inline constexpr i64 most_passes = 4;
/// Elements a slot, so that tables are emptied and given for less than it takes to fold what is in them.
inline constexpr i64 elements_of_partitioned_slot = 4;
/// Shares that a block takes one after the other, so that blocks end together.
inline constexpr i64 shares_of_block = 8;

/// What the block that partitions has beside a tile: counts of two, and a word for each warp.
constexpr i64 bytes_beside_tile(i64 partitions) { return 16 + (2 * partitions + threads_of_partitions / 32) * i64(sizeof(u32)); }

/// Bytes of an element that travel.
constexpr int travelling_bytes(keys_facts const& f) {
  int bytes = 0;
  for (int c = 0; c < f.of.source_count; ++c)
    bytes += (f.travelling >> c & 1) != 0 ? int(f.of.sources[c].bytes_per_element) : 0;
  return bytes;
}
/// Ranges of slots, each of which reads all elements, up to which there are no partitions; one more where cells are small and elements either added as they
/// come or long to copy. 2^27 f32, or 2^26 f64, by keys of Zipf's law, us in two, three and four ranges and as many partitions: exact sums 738, 1056, 1394 and 1337 to
/// 1369; sums of f64 408, 578, 750 and 984 to 1043; variances 1300, 1845, 2494 and 1971 to 2087 (H200, 2026-11-28). Sums and counts as they come by 10^5 keys, in
/// four ranges, 924, and 1340; greatest numbers 643, and 1164 (H100, 2026-11-27).
inline constexpr i64 ranges_before_partitions = 3, most_bytes_in_more_ranges = 16, bytes_long_to_copy = 8;
constexpr bool stays_in_ranges(keys_facts const& f) {
  why_not_list of_tables{};
  i64 const ranges = choose_ranges(f, of_tables);
  bool const one_more = own_bytes(f) <= most_bytes_in_more_ranges && (!sums_in_windows(f) || travelling_bytes(f) >= bytes_long_to_copy);
  return ranges > 0 && ranges <= ranges_before_partitions + (one_more ? 1 : 0);
}
/// Slots that a block which folds has room for.
constexpr i64 room_of_partition(keys_facts const& f) {
  return own_bytes(f) == 0 ? 0 : least_of((shared_bytes_for_table(f.of) - i64(sizeof(room_of_shares))) / own_bytes(f), 65532) / 4 * 4;
}
/// Partitions for each block that folds, so that few blocks give a slot what they have of it; but slots enough that lanes seldom meet.
inline constexpr i64 partitions_of_block = 2, least_slots_of_partition = 256;
constexpr i64 slots_of_partition(keys_facts const& f) {
  i64 const shared = (f.slots - 1) / (partitions_of_block * f.of.target.multiprocessors) + 1, enough = shared > least_slots_of_partition ? shared : least_slots_of_partition;
  return least_of(room_of_partition(f), (enough + 3) / 4 * 4);
}

/// Elements of a thread: what travels stays in its registers from the load to the tile, and a block has room for a tile.
constexpr int partitioned_of_thread(keys_facts const& f) {
  int const bytes = travelling_bytes(f);
  int elements = bytes <= 4 ? 16 : 8;
  while (elements > 0 && partitioned_tile{most_partitions, threads_of_partitions * elements, bytes}.bytes() + bytes_beside_tile(most_partitions) > shared_bytes_for_table(f.of))
    elements = elements > 4 ? elements / 2 : 0;
  return elements;
}

/// In how many partitions elements are to be brought before they are folded; 0: they are not, for the reason that is added.
constexpr i64 choose_partitions(keys_facts const& f, why_not_list& why) {
  i64 const elements = f.at.extent, of_partition = slots_of_partition(f);
  if (f.rows_have_one_key || own_bytes(f) == 0 || f.atomics_of_element < 2 || f.at.groups != 1 || stays_in_ranges(f))
    return 0;
  auto const refuse = [&](char const* reason, i64 number_0 = 0, i64 number_1 = 0) {
    why.add("partitions of slots", reason, -1, number_0, number_1);
    return i64(0);
  };
  if (f.of.target.compute_major < 9)
    return refuse("tiles are written by the bulk engine, which is of sm_90");
  if (!f.can_travel)
    return refuse("a fold looks at positions, or at what is computed");
  if (!elements_in_order(f))
    return refuse("elements do not follow each other in every column");
  if (elements < elements_worth_partitions || elements < f.slots * elements_of_partitioned_slot)
    return refuse("{0} elements by {1} slots are too few", elements, f.slots);
  i64 const partitions = of_partition == 0 ? 0 : (f.slots - 1) / of_partition + 1;
  if (partitions == 0 || partitions > most_passes * most_partitions)
    return refuse("{0} slots are more than 4096 times {1}", f.slots, of_partition);
  if (partitioned_of_thread(f) == 0)
    return refuse("a tile of elements of {0} bytes does not fit", i64(travelling_bytes(f)));
  return partitions;
}

/// Threads that read what a partition has in one tile: it has two elements for each, so that few of them have one less than the others.
constexpr int threads_of_run(i64 elements_of_tile, i64 partitions) {
  int threads = 32;
  while (threads > 8 && 2 * threads * partitions > elements_of_tile)
    threads /= 2;
  return threads;
}
/// Slots of a block that it keeps to itself while keys come in runs: a power of two, in the room of a partition, with a word that says whose they are.
constexpr int slots_kept_in_runs(keys_facts const& f) {
  int slots = 4096;
  while (slots * i64(own_bytes(f) + 4) > room_of_partition(f) * own_bytes(f))
    slots /= 2;
  return slots;
}
/// Turns of neighbours that a block folds in one such table: as many elements as its slots have where runs are just worth it, and so many that emptying and giving
/// the table is little beside them.
constexpr int turns_of_table(keys_plan const& in_runs) {
  constexpr int elements_of_run = 64, least = 1 << 17;
  int const elements = in_runs.hot_slots * elements_of_run;
  return (elements < least ? least : elements) / in_runs.elements_of_turn();
}

} // namespace planning

/// Plans one read of which choose_partitions said into how many partitions it goes.
constexpr partitioned_keys_planned make_partitioned_keys_plan(keys_facts const& f, i64 partitions) {
  partitioned_keys_planned out{};
  partitioned_keys_plan& p = out.plan;
  i64 const multiprocessors = f.of.target.multiprocessors;
  int const bytes = planning::travelling_bytes(f);
  p.table.route = keys_route::in_shared_memory;
  p.table.threads_per_block = p.threads_per_block = threads_of_partitions;
  p.table.blocks_per_multiprocessor = p.table.replicas = p.table.ranges = p.table.copies = p.table.cluster_blocks = 1;
  p.table.elements_per_load = p.table.loads_in_flight = 1;
  p.table.in_order = true;
  p.table.sums_in_windows = planning::sums_in_windows(f);
  p.table.numbers_in_32 = f.counts && fits_numbers_in_32(f.at.extent);
  p.in_runs = p.table;
  p.in_runs.route = keys_route::in_global_memory;
  p.in_runs.hot_slots = planning::slots_kept_in_runs(f);
  p.in_runs.elements_per_load = planning::aligned_for(f.of, planning::neighbours_of_walk) ? planning::neighbours_of_walk : 1;
  p.in_runs.loads_in_flight = 2;
  p.in_runs.turns_of_table = planning::turns_of_table(p.in_runs);
  p.slots_of_partition = int(planning::slots_of_partition(f));
  p.elements_per_thread = planning::partitioned_of_thread(f);
  p.elements_per_load = p.in_runs.elements_per_load;
  p.threads_per_run = planning::threads_of_run(p.elements_of_tile(), partitions);
  p.tiles_in_flight = 4;
  out.partitions = partitions;
  out.passes = (partitions - 1) / most_partitions + 1;
  out.of_pass = (partitions - 1) / out.passes + 1;
  i64 const whole = f.at.extent - f.at.extent % p.elements_per_load, of_tile = p.elements_of_tile();
  out.part = planning::least_of(whole, planning::most_elements_of_part);
  out.parts = (whole - 1) / out.part + 1;
  i64 const tiles = (out.part - 1) / of_tile + 1;
  partitioned_tile const tile{int(out.of_pass), int(of_tile), bytes};
  out.tile_bytes = tiles * tile.bytes();
  out.blocks = planning::least_of(tiles, multiprocessors);
  out.shared_bytes = tile.bytes() + planning::bytes_beside_tile(out.of_pass);
  i64 const share = out.part / (multiprocessors * planning::shares_of_block * out.passes);
  out.share = share > of_tile ? share : of_tile;
  out.fold_blocks = multiprocessors;
  i64 const slot_bytes = planning::own_bytes(f), of_table = p.slots_of_partition * slot_bytes + i64(sizeof(room_of_shares)), of_runs = p.in_runs.hot_slots * (slot_bytes + i64(sizeof(u32)));
  out.fold_shared_bytes = of_table > of_runs ? of_table : of_runs;
  out.why_not.add("tables of slots", "a copy of the elements in the order of {1} partitions takes less than {0} atomics an element in global memory", -1, i64(f.atomics_of_element), partitions);
  return out;
}

} // namespace tally::v0
