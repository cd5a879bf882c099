// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans and their enumerators as text.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>

namespace tally::v0 {

char const* spell(contract c) {
  return c == contract::fast ? "fast" : c == contract::exact ? "exact" : "reproducible";
}

char const* spell(whole_from w) {
  switch (w) {
  case whole_from::nothing: return "nothing";
  case whole_from::rows: return "rows";
  case whole_from::leaves_of_rows: return "leaves_of_rows";
  case whole_from::leaves: return "leaves";
  }
  return "?";
}
char const* spell(combine_order o) {
  return o == combine_order::free ? "free" : o == combine_order::ordered ? "ordered" : "canonical_tree";
}

char const* spell(load_primitive l) {
  switch (l) {
  case load_primitive::vector_ldg: return "vector_ldg";
  case load_primitive::bulk_ring: return "bulk_ring";
  case load_primitive::striped_ldg: return "striped_ldg";
  case load_primitive::computed: return "computed";
  case load_primitive::grid_vector_ldg: return "grid_vector_ldg";
  case load_primitive::grid_same_ldg: return "grid_same_ldg";
  case load_primitive::grid_two_ldg: return "grid_two_ldg";
  case load_primitive::grid_words_ldg: return "grid_words_ldg";
  case load_primitive::grid_ldg: return "grid_ldg";
  }
  return "?";
}

char const* spell(block_algorithm b) {
  switch (b) {
  case block_algorithm::neighbour_tree: return "neighbour_tree";
  case block_algorithm::warp_reductions: return "warp_reductions";
  case block_algorithm::raking: return "raking";
  case block_algorithm::raking_commutative_only: return "raking_commutative_only";
  case block_algorithm::redux: return "redux";
  }
  return "?";
}

char const* spell(cluster_combine c) {
  switch (c) {
  case cluster_combine::no_cluster: return "no_cluster";
  case cluster_combine::red_async: return "red_async";
  case cluster_combine::bulk_copy: return "bulk_copy";
  }
  return "?";
}

char const* spell(axes_route r) {
  return r == axes_route::threads_along_group ? "threads_along_group" : "threads_across_groups";
}

char const* spell(keys_route r) {
  switch (r) {
  case keys_route::in_shared_memory: return "in_shared_memory";
  case keys_route::in_global_memory: return "in_global_memory";
  case keys_route::in_one_cluster: return "in_one_cluster";
  }
  return "";
}

std::string spell(keys_plan const& p) {
  return formatted("tally::v0::keys_plan{{.route = tally::v0::keys_route::{}, .threads_per_block = {}, .blocks_per_multiprocessor = {}, .elements_per_load = {}, "
                     ".loads_in_flight = {}, .replicas = {}, .ranges = {}, .hot_slots = {}, .turns_of_table = {}, .in_order = {}, .on_rows = {}, .standing = {}, .apart = {}, .threads_per_row = {}, "
                     ".copies = {}, .hot_keys = {}, .asks_ahead = {}, .in_place = {}, .gives_in_bulk = {}, .sums_in_windows = {}, .numbers_in_32 = {}, .cluster_blocks = {}, .slots_in_cluster = {}}}",
                     spell(p.route), p.threads_per_block, p.blocks_per_multiprocessor, p.elements_per_load, p.loads_in_flight, p.replicas, p.ranges, p.hot_slots, p.turns_of_table,
                     p.in_order, p.on_rows, p.standing, p.apart, p.threads_per_row, p.copies, p.hot_keys, p.asks_ahead, p.in_place,
                     p.gives_in_bulk, p.sums_in_windows, p.numbers_in_32, p.cluster_blocks, p.slots_in_cluster);
}

std::string spell(find_keys_plan const& p) {
  return formatted("tally::v0::find_keys_plan{{.threads_per_block = {}, .elements_per_load = {}, .loads_in_flight = {}, "
                   ".keys_of_block = {}, .in_order = {}, .on_rows = {}, .standing = {}, .apart = {}}}",
                   p.threads_per_block, p.elements_per_load, p.loads_in_flight, p.keys_of_block, p.in_order, p.on_rows, p.standing, p.apart);
}

std::string spell(axes_plan const& p, int sources) {
  std::string loads;
  for (int i = 0; i < sources; ++i) loads += formatted("{}{}", i ? ", " : "", p.bytes_per_load[i]);
  return formatted("tally::v0::axes_plan{{.route = tally::v0::axes_route::{}, .threads_across = {}, .groups_per_thread = {}, .groups_beside = {}, "
                   ".warps_per_block = {}, .warps_on_lanes = {}, .lanes_in_leaf = {}, .rows_in_leaf = {}, .lanes_at_once = {}, .batches = {}, .warps_per_group = {}, .leaves_in_room = {}, .standing = {}, .lasting = {}, .late = {}, .realigned = {}, .narrow_at_ends = {}, .blocks_per_multiprocessor = {}, .one_leaf = {}, .extent_fits = {}, .rows_apart = {}, .threads_apart = {}, .striped = {}, .blocks_share = {}, .one_leaf_a_warp = {}, .in_windows = {}, "
                   ".one_reduced_axis = {}, .one_kept_axis = {}, .evicts_first = {}, .bytes_per_load = {{{}}}}}",
                   spell(p.route), p.threads_across, p.groups_per_thread, p.groups_beside, p.warps_per_block, p.warps_on_lanes, p.lanes_in_leaf, p.rows_in_leaf,
                   p.lanes_at_once, p.batches, p.warps_per_group, p.leaves_in_room, p.standing, p.lasting, p.late, p.realigned, p.narrow_at_ends, p.blocks_per_multiprocessor, p.one_leaf, p.extent_fits, p.rows_apart, p.threads_apart, p.striped, p.blocks_share, p.one_leaf_a_warp, p.in_windows, p.one_reduced_axis, p.one_kept_axis, p.evicts_first, loads);
}

std::string spell(elements_plan const& p, int sources, int arrays) {
  std::string stores;
  for (int i = 0; i < arrays; ++i) stores += formatted("{}{}", i ? ", " : "", p.bytes_per_store[i]);
  return formatted("tally::v0::elements_plan{{.strip = {}, .turned_axis = {}, .in_bulk = {}, .blocks_per_row = {}, .asks_ahead = {}, .bytes_per_store = {{{}}}}}", spell(p.strip, sources), p.turned_axis, p.in_bulk, p.blocks_per_row, p.asks_ahead, stores);
}

std::string spell(segments_plan const& p) {
  return formatted("tally::v0::segments_plan{{.warps_per_block = {}, .blocks_per_multiprocessor = {}, .tile_elements = {}, "
                     ".elements_per_lane = {}, .rows_in_flight = {}, .leaves_per_part = {}, .counted = {}, "
                     ".segments_per_lane = {}, .in_windows = {}}}",
                     p.warps_per_block, p.blocks_per_multiprocessor, p.tile_elements, p.elements_per_lane, p.rows_in_flight,
                     p.leaves_per_part, p.counted, p.segments_per_lane, p.in_windows);
}

std::string spell(one_segment_plan const& p) {
  return formatted("tally::v0::one_segment_plan{{.warps_per_block = {}, .blocks_per_multiprocessor = {}, .rows_in_flight = {}, .leaves_of_warp = {}, "
                     ".shares_of_block = {}, .overlaps_launch = {}, .reads_ahead = {}}}",
                     p.warps_per_block, p.blocks_per_multiprocessor, p.rows_in_flight, p.leaves_of_warp, p.shares_of_block, p.overlaps_launch, p.reads_ahead);
}

std::string spell(slot_sort_plan const& p) {
  return formatted("tally::v0::slot_sort_plan{{.bits_of_digit = {}, .threads_per_block = {}, .blocks_per_multiprocessor = {}, .elements_per_thread = {}, .wide_numbers = {}, "
                   ".one_reduced_axis = {}, .no_kept_axis = {}}}",
                   p.bits_of_digit, p.threads_per_block, p.blocks_per_multiprocessor, p.elements_per_thread, p.wide_numbers, p.one_reduced_axis, p.no_kept_axis);
}

std::string spell(sorted_keys_plan const& p) {
  return formatted("tally::v0::sorted_keys_plan{{.sort = {}, .folds = {}}}", spell(p.sort), spell(p.folds));
}

std::string spell(sorted_rows_plan const& p) {
  return formatted("tally::v0::sorted_rows_plan{{.sort = {}, .threads_per_block = {}, .blocks_per_multiprocessor = {}, .threads_per_row = {}, "
                   ".elements_per_load = {}, .rows_in_flight = {}, .in_place = {}}}",
                   spell(p.sort), p.threads_per_block, p.blocks_per_multiprocessor, p.threads_per_row, p.elements_per_load, p.rows_in_flight,
                   p.in_place);
}

std::string spell(partitioned_keys_plan const& p) {
  return formatted("tally::v0::partitioned_keys_plan{{.table = {}, .in_runs = {}, .slots_of_partition = {}, .threads_per_block = {}, .elements_per_thread = {}, "
                   ".elements_per_load = {}, .threads_per_run = {}, .tiles_in_flight = {}}}",
                   spell(p.table), spell(p.in_runs), p.slots_of_partition, p.threads_per_block, p.elements_per_thread, p.elements_per_load, p.threads_per_run, p.tiles_in_flight);
}

std::string spell(mixed_plan const& p) {
  return formatted("tally::v0::mixed_plan{{.stages = {}, .blocks_per_multiprocessor = {}, .reads_ahead = {}, .bytes_per_copy = {}, .standing_down = {}, .standing_along = {}, .begins_anywhere = {}, .whole = tally::v0::whole_from::{}, .batched = {}, .whole_of_each = {}, .lanes_of_tile = {}, .shares_of_last_chunk = {}, .few_columns = {}, .rows_of_lane = {}}}", p.stages,
                   p.blocks_per_multiprocessor, p.reads_ahead, p.bytes_per_copy, p.standing_down, p.standing_along, p.begins_anywhere, spell(p.whole), p.batched, p.whole_of_each, p.lanes_of_tile, p.shares_of_last_chunk, p.few_columns, p.rows_of_lane);
}

std::string spell(plan const& p, int sources, int folds) {
  std::string of_sources, of_folds;
  for (int i = 0; i < sources; ++i)
    of_sources += formatted("{}{{.load = tally::v0::load_primitive::{}, .bytes_per_load = {}}}", i ? ", " : "",
                            spell(p.sources[i].load), p.sources[i].bytes_per_load);
  for (int i = 0; i < folds; ++i)
    of_folds += formatted("{}{{.block = tally::v0::block_algorithm::{}, .cluster = tally::v0::cluster_combine::{}}}", i ? ", " : "",
                          spell(p.folds[i].block), spell(p.folds[i].cluster));
  return formatted("tally::v0::plan{{.promise = tally::v0::contract::{}, .order = tally::v0::combine_order::{}, .lanes_per_group = {}, "
                   ".rows_per_leaf = {}, .threads_per_block = {}, .leaves_per_warp = {}, .rows_in_flight = {}, .stages = {}, "
                   ".blocks_per_multiprocessor = {}, .one_cluster = {}, .overlaps_launch = {}, .reads_ahead = {}, .takes_turns = {}, .sources = {{{}}}, .folds = {{{}}}}}",
                   spell(p.promise), spell(p.order), p.lanes_per_group, p.rows_per_leaf, p.threads_per_block,
                   p.leaves_per_warp, p.rows_in_flight, p.stages, p.blocks_per_multiprocessor, p.one_cluster, p.overlaps_launch, p.reads_ahead, p.takes_turns, of_sources, of_folds);
}

} // namespace tally::v0
