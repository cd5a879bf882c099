// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the domains of a reduction with groupings to their words: where each is folded, how it is cut, how its columns are loaded, and
// what was refused. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/page.hpp"
#include "plan/places.hpp"

#include <tally/base/error.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>
#include <tally/run/explain_grouped.hpp>

#include <algorithm>
#include <ostream>
#include <utility>

namespace tally::words {

std::string several(i64 n, char const* thing) { return formatted("{} {}{}", n, thing, n == 1 ? "" : "s"); }

void add_refusals(domain_description& d, why_not_list const& why) {
  for (int i = 0; i < why.count; ++i) {
    refusal const& r = why.entries[i];
    refused_choice said{r.choice, formatted(fmt::runtime(r.reason), r.numbers[0], r.numbers[1]),
                        r.subject >= 0 ? d.of.sources.at(std::size_t(r.subject)).name : ""};
    if (std::none_of(d.why_not.begin(), d.why_not.end(), [&](auto const& o) {
          return o.choice == said.choice && o.reason == said.reason && o.subject == said.subject;
        }))
      d.why_not.push_back(std::move(said));
  }
}

void word_grid_loads(domain_description& d, axes_plan const& p, char const* neighbours, planning::loaded_axis loaded) {
  axes_facts const facts{d.of.facts, d.at};
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    s.load = s.bytes_per_element == 0                         ? "computed"
             : (p.realigned >> c & 1) != 0               ? "ldg, aligned pieces of 16 B, whose lanes are turned once they are folded"
             : p.bytes_per_load[c] > s.bytes_per_element ? formatted("vector_ldg, {} B per load", p.bytes_per_load[c])
                                                         : formatted("ldg, {} B per load", s.bytes_per_element);
    i64 const step = loaded == planning::loaded_axis::reduced ? facts.element_step(int(c)) : facts.group_step(int(c));
    s.why = s.bytes_per_element == 0 ? "nothing is read" : step == 0 ? formatted("the same for {}", neighbours) : neighbours;
    if (s.bytes_per_element > 0) s.why += formatted(", rows aligned to {} B", planning::alignment_in_grid(facts, int(c), loaded));
    if (s.staged) s.why += ", after a copy from host memory";
  }
}

} // namespace tally::words

namespace tally::inline v0 {
namespace {

using words::add_refusals, words::several;

constexpr i64 bytes_per_sector = 32;

/// Calls f(elements, closest step) for column c: how many of its elements are read, and how far apart they are at least.
template <class F>
i64 of_column(domain_description const& d, std::size_t c, F const& f) {
  i64 elements = 1, closest = 0, total = 1;
  auto const walk = [&](grid_axis const* axes, int count) {
    for (int k = 0; k < count; ++k) {
      i64 const step = axes[k].steps[c] < 0 ? -axes[k].steps[c] : axes[k].steps[c];
      total *= axes[k].extent;
      if (step != 0) elements *= axes[k].extent;
      if (step != 0 && (closest == 0 || step < closest)) closest = step;
    }
  };
  walk(d.at.kept, d.at.kept_axes);
  walk(d.at.reduced, d.at.reduced_axes);
  return d.of.sources[c].host_only ? f(total, i64(1)) : f(elements, closest == 0 ? i64(1) : closest);
}

/// What the planners of keys know of a domain.
keys_facts keys_of(domain_description const& d) {
  keys_facts f = d.by_key;
  f.of = d.of.facts;
  f.of.extent = d.at.extent;
  f.at = d.at;
  return f;
}

bool sorts(domain_description const& d) { return d.is_sorted && d.of.on_gpu; }
bool sorts_rows(domain_description const& d) {
  return d.kind == grouping_kind::keys && d.of.on_gpu && !d.is_sorted && planning::sorts_rows(keys_of(d));
}
/// Keys that are found take a walk of their own, and so do slots by which elements or rows are sorted.
i64 passes_of(domain_description const& d) { return d.shares_read ? 0 : 1 + (d.kind == grouping_kind::found_keys) + (sorts(d) || sorts_rows(d)); }
slot_sort_planned const& sort_of(domain_description const& d) { return sorts(d) ? d.of_sorted.sort : d.of_sorted_rows.sort; }
i64 launches_of(domain_description const& d) { return passes_of(d) + (sorts(d) || sorts_rows(d) ? 3 * sort_of(d).passes + 1 : 0); }
/// Columns of keys that are found first are read for that, and for the folds.
i64 times_read(domain_description const& d, std::size_t c) { return (d.columns_of_key >> c & 1) != 0 ? 2 : 1; }

bool reads(domain_description const& d) { return (d.kind == grouping_kind::elements || d.of.reads()) && d.groups != 0; }

/// What neighbouring elements, or groups, are in all columns: 1 where they are neighbours in memory.
template <class Step>
bool neighbours(domain_description const& d, Step const& step) {
  for (std::size_t c = 0; c < d.of.sources.size(); ++c)
    if (d.of.sources[c].bytes_per_element > 0 && !d.of.sources[c].host_only && step(c) != 1) return false;
  return true;
}
bool elements_are_neighbours(domain_description const& d) {
  return d.at.reduced_axes == 1 && d.at.reduced[0].position_step == 1 &&
         neighbours(d, [&](std::size_t c) { return d.at.reduced[0].steps[c]; });
}
bool groups_are_neighbours(domain_description const& d) {
  return d.at.kept_axes > 0 && neighbours(d, [&](std::size_t c) { return d.at.kept[d.at.kept_axes - 1].steps[c]; });
}

void word_axes_of_host(domain_description& d) {
  i64 const threads = d.of.threads;
  if (d.in_rows) {
    d.route = "rows";
    d.shape = "as many groups at once as a register has lanes, each as it lies, then their nodes together";
    d.cut = several(d.groups, "group") + " dealt to " + several(threads, "thread");
    return;
  }
  if (d.in_columns) {
    d.route = "columns";
    d.shape = "neighbouring groups side by side, one a vector lane, along their own trees";
    d.cut = formatted("slices of up to {} KiB of a row, leaf after leaf, dealt to {}", cpu::bytes_of_slice / 1024, several(threads, "thread"));
    if (!elements_are_neighbours(d)) d.why_not.push_back({"rows", "elements of a group are not neighbours in memory", ""});
    return;
  }
  if (d.at.extent >= cpu::long_group && d.in_turn) {
    bool const side_by_side = d.groups >= 4 * threads || d.of.facts.leaves() <= cpu::leaves_per_tile;
    d.route = "tile loop";
    d.shape = "a group after another, each in the vector registers of the tile loop";
    d.cut = side_by_side ? several(d.groups, "group") + " dealt to " + several(threads, "thread")
                         : "each group in tiles, dealt to " + several(threads, "thread");
    return;
  }
  if (d.at.extent >= cpu::copied_group && d.at.groups < cpu::few_groups && !groups_are_neighbours(d) && !elements_are_neighbours(d)) {
    d.route = "strips of groups";
    d.shape = "few long groups that lie apart: side by side, or copied piece by piece to where the tile loop can take them";
    d.cut = several(d.groups, "group") + " on " + several(threads, "thread");
    return;
  }
  i64 const row = d.at.kept_axes > 0 ? d.at.kept[d.at.kept_axes - 1].extent : 1;
  i64 const strips = d.at.groups / row * ((row - 1) / cpu::groups_in_strip + 1);
  d.route = "strips of groups";
  d.shape = formatted("{} neighbouring groups side by side, one a vector lane, along their own trees", cpu::groups_in_strip);
  d.cut = formatted("{}, up to {} of them walked together, on {}", several(strips, "strip"), cpu::most_strips, several(threads, "thread"));
  auto const refuse = [&](std::string reason) { d.why_not.push_back({"tile loop", std::move(reason), ""}); };
  if (d.at.extent < cpu::long_group)
    refuse(formatted("groups of {} elements are shorter than {}", d.at.extent, cpu::long_group));
  else if (d.looks_at_positions)
    refuse("an expression looks at positions");
  else
    refuse("elements of a group are not neighbours in memory");
  if (!groups_are_neighbours(d))
    d.why_not.push_back({"whole strips loaded at once", "neighbouring groups are not neighbours in every column", ""});
}

void word_host_domain(domain_description& d) {
  auto const threads = several(d.of.threads, "thread");
  switch (d.kind) {
  case grouping_kind::whole:
    d.route = "tile loop";
    d.shape = "the tile loop of a full reduction";
    d.cut = formatted("{} of {} leaves, dealt to {}", several((d.of.facts.leaves() - 1) / d.of.leaves_per_tile + 1, "tile"),
                      d.of.leaves_per_tile, threads);
    break;
  case grouping_kind::axes: word_axes_of_host(d); break;
  case grouping_kind::segments:
    d.route = "runs of segments";
    d.shape = formatted("segments in order, leaf by leaf; those above {} elements are shared by all threads", cpu::giant_segment);
    d.cut = formatted("runs of equal cost, elements and {} for each segment, dealt to {}", cpu::cost_of_segment, threads);
    break;
  default:
    d.route = d.kind == grouping_kind::keys ? "tables" : "found keys";
    d.shape = d.kind == grouping_kind::keys ? "every thread has a table of all bins, or a range of the bins of one table"
                                            : "one walk finds the keys, a second folds by their number among them";
    d.cut = "elements dealt to " + threads;
    for (auto const& f : d.of.folds)
      if (!f.law.order_free && !f.exact && d.of.facts.promise != contract::fast)
        d.why_not.push_back({"states in tables", "its bits depend on the order, so elements are sorted by bin first", f.name});
  }
}

/// Columns of a domain on the host.
void word_host_sources(domain_description& d) {
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    words::word_host_source(s);
    if (d.kind != grouping_kind::axes || s.host_only || s.bytes_per_element == 0) continue;
    i64 const along = d.at.reduced_axes > 0 ? d.at.reduced[d.at.reduced_axes - 1].steps[c] : 0;
    i64 const beside = d.at.kept_axes > 0 ? d.at.kept[d.at.kept_axes - 1].steps[c] : 0;
    bool const near = along == 1 || beside == 1;
    s.load = near ? "read in place" : "gathered";
    s.why = along == 1 ? "elements of a group are neighbours"
            : along == 0 ? "the same for all elements of a group"
            : beside == 1 ? formatted("groups are neighbours, their elements lie {} apart", along)
                          : formatted("elements of a group lie {} apart, groups {}", along, beside);
  }
}

void word_axes_of_gpu(domain_description& d) {
  d.planned = make_axes_plan({d.of.facts, d.at});
  axes_plan const& p = d.planned.plan;
  axes_cut const& cut = d.planned.cut;
  bool const along = p.route == axes_route::threads_along_group;
  d.route = spell(p.route);
  d.route = d.route.substr(d.route.rfind(':') + 1);
  if (!along)
    d.shape = formatted("neighbouring threads hold neighbouring groups: {} of a warp across, {} along each, {} a thread; {} a block{}",
                        several(p.threads_across, "thread"), p.threads_along(), several(p.groups_per_thread, "group"),
                        several(p.warps_per_block, "warp"),
                        p.warps_on_lanes > 1 ? formatted(", {} of them share the lanes of a leaf", p.warps_on_lanes) : "");
  else if (p.one_leaf)
    d.shape = formatted("neighbouring threads hold neighbouring elements of a group: {} in a warp, the loads of {} in flight together",
                        several(p.threads_across, "group"), several(p.batches, "group"));
  else {
    i64 const of_warp = (std::min(cut.leaves, cut.leaves_of_chunk) - 1) / p.warps_per_group + 1;
    d.shape = formatted("neighbouring threads hold neighbouring elements of a group: {} of a block share it, {}{} each",
                        several(p.warps_per_group, "warp"), of_warp > 1 ? "up to " : "", several(of_warp, of_warp == 1 ? "leaf" : "leave"));
  }
  d.cut = formatted("one launch: {} x {} = {} of {} threads", formatted("{} of {}", several(cut.sets, "set"), along ? "groups" : "strips"),
                    several(cut.chunks, "chunk"), several(d.planned.blocks(), "block"), p.threads_per_block());
  if (cut.chunks > 1) d.cut += formatted(", a chunk is {} of {} leaves; chunks meet in ordered partials", cut.leaves_of_chunk, cut.leaves);
  d.blocks = d.planned.blocks();
  words::word_grid_loads(d, p, along ? "neighbours along a group" : "neighbouring groups",
                         along ? planning::loaded_axis::reduced : planning::loaded_axis::kept);
  add_refusals(d, d.planned.why_not);
}

void word_segments_of_gpu(domain_description& d) {
  d.of_segments = make_segments_plan(d.of.facts, d.groups);
  segments_plan const& p = d.of_segments;
  auto const launch = cut_segments(d.of.facts, p, d.of.facts.extent, d.groups, 0);
  d.blocks = launch.blocks;
  d.route = "segments";
  if (p.segments_per_lane > 0)
    d.shape = formatted("a lane reads {} of at most {} elements where they lie, as long as a warp meets no longer ones; else ",
                        several(p.segments_per_lane, "segment"), p.elements_per_lane);
  d.shape += formatted("a warp stages {} elements in shared memory and folds whole segments of them, {} a lane; long segments are cut in "
                       "parts of {} leaves",
                       p.tile_elements, p.elements_per_lane, p.leaves_per_part);
  d.cut = formatted("one launch: {} of {} threads, a share of a warp is {} elements and offsets, an offset counts as {}; parts meet {} by {}",
                    several(d.blocks, "block"), p.threads_per_block(), launch.cut.share, cost_of_offset, parts_that_meet, parts_that_meet);
  for (auto& s : d.of.sources) {
    s.load = s.bytes_per_element == 0 ? "computed" : p.segments_per_lane > 0 ? "by the lane of its segment" : "through shared memory";
    s.why = s.bytes_per_element == 0 ? "nothing is read" : p.segments_per_lane > 0 ? "segments are short on average" : "segments begin anywhere";
    if (s.staged) s.why += ", after a copy from host memory";
  }
}

/// What the read in front does that finds the keys; their number is known only then, so the folds are planned for most keys of its table.
void word_search_of_gpu(domain_description& d, keys_facts& f) {
  d.of_search = make_find_keys_plan({f.of, f.at, d.key_bytes});
  f.slots = d.of_search.slots / 2;
}
std::string search_of(domain_description const& d) {
  auto const& search = d.of_search;
  return formatted("one read puts the keys into a table of {} slots of {} B in global memory, again into {} times as many while more than half "
                   "are taken; the keys are sorted there; a second read folds by the number of a key among them, here for {} keys: ",
                   search.slots, d.key_bytes == 8 ? 16 : 8, planning::more_key_slots, search.slots / 2);
}

std::string cut_of_search(domain_description const& d) {
  auto const& search = d.of_search;
  return formatted("search: {} of {} threads, {} a load, {} in flight", several(search.blocks, "block"), search.plan.threads_per_block,
                     several(search.plan.elements_per_load, "element"), several(search.plan.loads_in_flight, "load"));
}

std::string passes_of_sort(slot_sort_planned const& s) {
  return formatted("{} of {} bits", s.passes == 1 ? "one pass" : formatted("{} passes", s.passes), s.plan.bits_of_digit);
}
std::string cut_of_sort(slot_sort_planned const& s) {
  return formatted("sort: {} of {} threads, {} a thread", several(s.blocks, "block"), s.plan.threads_per_block,
                   several(s.plan.elements_per_thread, "element"));
}

void word_keys_of_gpu(domain_description& d) {
  keys_facts f = keys_of(d);
  if (d.kind == grouping_kind::found_keys) word_search_of_gpu(d, f);
  d.of_keys = make_keys_plan(f);
  keys_plan const& p = d.of_keys.plan;
  d.blocks = d.of_keys.blocks;
  d.route = spell(p.route);
  if (d.kind == grouping_kind::found_keys) d.route = "found keys, " + d.route, d.shape = search_of(d);
  if (p.route == keys_route::in_shared_memory)
    d.shape += formatted("every block has {} of {} in shared memory, {}, and adds its own to the others' in the end{}", several(p.replicas, "table"),
                          p.ranges > 1 ? formatted("one of {} ranges of slots", p.ranges) : "all slots",
                          words::bytes(double(d.of_keys.shared_bytes)), p.gives_in_bulk ? " by the bulk engine" : "");
  else
    d.shape += "elements go to their slots in global memory by atomics";
  if (p.hot_slots > 0) d.shape += formatted("; a block keeps the first {} that it meets to itself", several(p.hot_slots, "slot"));
  if (p.cluster_blocks > 1)
    d.shape += formatted("; clusters of {} keep {} a block in shared memory, of {}", several(p.cluster_blocks, "block"), several(p.slots_in_cluster, "slot"), f.slots);
  if (p.threads_per_row > 0) d.shape += formatted("; {} share a row of slots", several(p.threads_per_row, "thread"));
  if (p.copies > 1)
    d.shape += p.hot_keys == 0 ? formatted("; blocks add to {} copies of the table in turn, which meet afterwards", p.copies)
                               : formatted("; of at most {} keys, which a sample of {} rows finds to be hot, there are {} copies that meet afterwards",
                                             p.hot_keys, sampled_elements, p.copies);
  if (p.asks_ahead) d.shape += "; slots are asked for while the rows before come";
  if (p.in_place) d.shape += "; sums are made where the answers go";
  d.cut = formatted("{} of {} threads, {} a load, {} in flight", several(d.blocks, "block"), p.threads_per_block,
                      several(p.elements_per_load, "element"), several(p.loads_in_flight, "load"));
  if (d.kind == grouping_kind::found_keys) d.cut = formatted("{}; folds: {}", cut_of_search(d), d.cut);
  for (auto& s : d.of.sources) {
    s.load = s.bytes_per_element == 0 ? "computed"
                                      : formatted("ldg, {} B per load", std::min<i64>(16, s.bytes_per_element * p.elements_per_load));
    s.why = s.bytes_per_element == 0 ? "nothing is read" : p.in_order && p.threads_per_row == 0 ? "in the order of the source" : "elements lie apart, or groups beside";
    if (s.staged) s.why += ", after a copy from host memory";
  }
  add_refusals(d, d.of_keys.why_not);
}

/// Rows are sorted by slot, and folded chunk by chunk.
void word_sorted_rows_of_gpu(domain_description& d) {
  d.of_sorted_rows = make_sorted_rows_plan(keys_of(d));
  sorted_rows_planned const& s = d.of_sorted_rows;
  sorted_rows_plan const& p = s.plan;
  d.blocks = s.blocks;
  d.route = "sorted rows";
  d.shape = formatted("the numbers of the rows are sorted by slot in {}, in {} of global memory; {} share {} sorted rows, {} at once, and write a "
                      "slot where it ends; slots whose rows are in several chunks meet {} by atomics",
                      passes_of_sort(s.sort), words::bytes(double(s.sort.bytes())), several(p.threads_per_row, "thread"),
                      s.cut.chunk_rows, p.rows_in_flight, p.in_place ? "where the answers go" : "in a cell for each chunk");
  d.cut = formatted("{}; folds: {} of {} threads, {} by {}, {} a load", cut_of_sort(s.sort), several(d.blocks, "block"), p.threads_per_block,
                    several(s.cut.chunks, "chunk"), several(s.cut.strips, "strip"), several(p.elements_per_load, "element"));
  for (std::size_t k = 0; k < d.of.sources.size(); ++k) {
    auto& c = d.of.sources[k];
    bool const of_rows = d.at.kept[0].steps[k] != 0;
    c.load = c.bytes_per_element == 0 ? "computed" : formatted("ldg, {} B per load", std::min<i64>(16, c.bytes_per_element * (of_rows ? p.elements_per_load : 1)));
    c.why = c.bytes_per_element == 0 ? "nothing is read" : of_rows ? "rows of a slot lie apart" : "the sort reads it";
    if (c.staged) c.why += ", after a copy from host memory";
  }
  add_refusals(d, s.why_not);
}

/// Elements are sorted by slot, and the slots folded as segments of them.
void word_sorted_keys_of_gpu(domain_description& d) {
  keys_facts f = keys_of(d);
  bool const found = d.kind == grouping_kind::found_keys;
  if (found) word_search_of_gpu(d, f);
  d.of_sorted = make_sorted_keys_plan(f);
  sorted_keys_planned const& s = d.of_sorted;
  d.blocks = s.folds.blocks;
  d.route = found ? "found keys, sorted" : "sorted";
  if (found) d.shape = search_of(d);
  d.shape += formatted("the numbers of the elements are sorted by slot in {}, in {} of global memory; the slots are folded as segments "
                         "of them, each along the tree of its own elements",
                         passes_of_sort(s.sort), words::bytes(double(s.sort.bytes())));
  d.cut = formatted("{}; folds: {} of {} threads, a share of a warp is {} elements and slots, a slot counts as {}; parts meet {} by {}",
                      cut_of_sort(s.sort), several(s.folds.blocks, "block"), s.plan.folds.threads_per_block(), s.folds.cut.share, cost_of_offset, parts_that_meet,
                      parts_that_meet);
  if (found) d.cut = formatted("{}; {}", cut_of_search(d), d.cut);
  for (auto& c : d.of.sources) {
    c.load = c.bytes_per_element == 0 ? "computed" : formatted("ldg, {} B per load", c.bytes_per_element);
    c.why = c.bytes_per_element == 0 ? "nothing is read" : "elements of a slot lie apart";
    if (c.staged) c.why += ", after a copy from host memory";
  }
  add_refusals(d, s.why_not);
}

void word_gpu_folds(domain_description& d) {
  for (auto& f : d.of.folds) {
    f.block = f.exact ? "digits" : spell(block_algorithm::neighbour_tree);
    f.grid = d.planned.cut.chunks > 1 || d.kind == grouping_kind::segments || sorts(d) ? "ordered_partials" : "none";
  }
}

void word_domain(domain_description& d) {
  if (!reads(d)) {
    d.route = "none";
    bool const counts = d.of.folds.empty() && d.kind != grouping_kind::elements;
    d.shape = counts ? "a count of everything is the extent" : "there is nothing to read";
    for (auto& s : d.of.sources) s.load = "not read", s.why = counts ? "no fold looks at its elements" : "it is empty";
  } else if (d.kind == grouping_kind::elements) {
    words::word_elements(d);
    return;
  } else if (d.kind == grouping_kind::whole) {
    words::plan_full(d.of);
    std::swap(d.why_not, d.of.why_not);
    d.route = "full";
    d.shape = "one tree over the whole source";
    if (d.of.on_gpu)
      d.cut = words::launch_of(d.of).substr(std::string_view("route full, ").size());
    else
      word_host_domain(d);
    return;
  } else if (d.of.on_gpu && d.kind == grouping_kind::axes) {
    word_axes_of_gpu(d);
    word_gpu_folds(d);
  } else if (d.of.on_gpu && d.kind == grouping_kind::segments) {
    word_segments_of_gpu(d);
    word_gpu_folds(d);
  } else if (sorts(d)) {
    word_sorted_keys_of_gpu(d);
    word_gpu_folds(d);
  } else if (sorts_rows(d)) {
    word_sorted_rows_of_gpu(d);
    for (auto& f : d.of.folds) f.block = "none", f.grid = "atomics";
  } else if (d.of.on_gpu) {
    word_keys_of_gpu(d);
    for (auto& f : d.of.folds) f.block = f.grid = "atomics";
  } else {
    word_host_domain(d);
    word_host_sources(d);
    for (auto& f : d.of.folds) words::word_host_fold(f);
  }
  bool const keyed = d.kind == grouping_kind::keys || d.kind == grouping_kind::found_keys;
  auto const order = keyed && !sorts(d) && d.of.facts.promise == contract::fast ? combine_order::free : combine_order::canonical_tree;
  for (auto& f : d.of.folds) f.rounding = words::rounding(f, d.of.facts, order, reads(d));
}

/// What the head knows of the place, and of where columns lie, goes to every domain.
void place_domain(domain_description& d, description const& head) {
  d.of.on_gpu = head.on_gpu;
  d.of.place = head.place;
  d.of.threads = head.threads;
  d.of.facts.target = head.facts.target;
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto const origin = d.origins.empty() ? column_origin{column_home::head, int(c)} : d.origins[c];
    if (origin.home != column_home::head) continue;
    auto const& of_head = head.sources[std::size_t(origin.index)];
    d.of.sources[c].staged = of_head.staged;
    d.of.sources[c].address_alignment = d.of.facts.sources[c].address_alignment = of_head.address_alignment;
  }
}

/// Columns of one domain alone: a GPU at hand copies those in host memory, a target has them in its own.
void place_apart(domain_description& d, bool copies) {
  for (std::size_t c = 0; c < d.origins.size(); ++c) {
    auto& s = d.of.sources[c];
    if (d.origins[c].home != column_home::apart) continue;
    s.staged = s.staged && copies;
    if (s.staged) s.address_alignment = d.of.facts.sources[c].address_alignment = 16;
  }
}

/// Plans the keyed groupings that another read may fold too.
void plan_keys_beside(grouped_description& d) {
  i64 room = most_bytes_beside;
  for (auto& one : d.domains)
    if (d.head.on_gpu && one.number_beside >= 0 && reads(one)) {
      one.of_beside = make_keys_beside_plan(keys_of(one), room);
      room -= one.of_beside.joins ? one.of_beside.shared_bytes : 0;
    }
  d.mixed.bytes_beside = most_bytes_beside - room;
}
/// The domains of keys that join a read.
template <class F>
void for_each_beside(grouped_description& d, F const& f) {
  for (auto& one : d.domains)
    if (one.of_beside.joins) f(one);
}
void read_keys_apart(grouped_description& d, char const* reason) {
  for_each_beside(d, [&](domain_description& one) {
    one.of_beside.joins = false;
    one.of_beside.why_not.add("the same read", reason);
  });
  d.mixed.bytes_beside = 0;
}

/// Whether columns, rows and the whole of a matrix are one read, with or without keys beside.
void plan_matrix(grouped_description& d) {
  if (!d.head.on_gpu || !d.is_matrix || !reads(d.of_matrix())) return;
  d.mixed.of.target = d.head.facts.target;
  for (std::size_t c = 0; c < d.head.sources.size(); ++c) d.mixed.of.sources[c].address_alignment = d.of_matrix().of.facts.sources[c].address_alignment;
  d.joined = make_mixed_plan(d.mixed);
  if (d.joined.joins || d.mixed.bytes_beside == 0) return;
  mixed_facts alone = d.mixed;
  alone.bytes_beside = 0;
  if (auto const apart = make_mixed_plan(alone); apart.joins) {
    d.joined = apart;
    read_keys_apart(d, "its table does not fit beside the tiles of the matrix");
  }
}
/// Whether the folds of the whole and keys are one read, or keys alone.
void plan_whole(grouped_description& d) {
  int reads_there = 0;
  bool exact = false;
  for_each_beside(d, [&](domain_description const&) { ++reads_there; });
  if (reads_there == 0 || d.joined.joins) return;
  for (int i = 0; i < d.whole.fold_count; ++i) exact = exact || d.whole.folds[i].exact;
  auto& last = d.domains.back();
  bool const any_whole = last.kind == grouping_kind::whole && reads(last);
  if (!planning::keys_join_the_whole(reads_there, any_whole, exact)) {
    read_keys_apart(d, exact ? "exact sums of the whole are folded by windows, not row by row" : "nothing else of this reduction is folded element by element");
    return;
  }
  d.whole.target = d.head.facts.target;
  for (std::size_t c = 0; c < d.head.sources.size(); ++c) d.whole.sources[c].address_alignment = d.head.sources[c].address_alignment;
  d.of_whole = make_plan(d.whole);
  if (any_whole) last.has_keys_beside = last.of.facts.keys_beside = true;
}

std::string blocks_of_matrix(grouped_description const& d) {
  return formatted("{} bands x {} parts x {} chunks = {} of {} threads", d.joined.cut.bands, d.joined.cut.splits, d.joined.cut.chunks,
                   several(d.joined.blocks(), "block"), mixed_threads);
}
/// Keys that are folded in the read of a domain, or in that of the first of them.
void word_keys_beside(grouped_description& d) {
  domain_description* read = d.joined.joins ? &d.of_matrix() : d.domains.back().has_keys_beside ? &d.domains.back() : nullptr;
  for_each_beside(d, [&](domain_description& one) {
    auto const& table = one.of_beside;
    one.shares_read = read != nullptr;
    one.route = "table beside";
    one.of_keys = {table.plan, 0, table.shared_bytes, {}};
    one.blocks = 0;
    one.shape = formatted("{} in shared memory of every block of {}, {} of {}, which adds the elements that it holds to it, and the table to the others' in the end{}",
                          several(table.plan.replicas, "table"), read != nullptr ? "the read of " + read->name : "one read of the source", words::bytes(double(table.shared_bytes)),
                          several(one.groups, "slot"), table.plan.gives_in_bulk ? " by the bulk engine" : "");
    one.cut = d.joined.joins ? blocks_of_matrix(d)
                             : formatted("{} of {} threads, {} a warp", several(d.of_whole.blocks, "block"), d.of_whole.plan.threads_per_block,
                                         several(d.of_whole.plan.leaves_per_warp, d.of_whole.plan.leaves_per_warp == 1 ? "leaf" : "leave"));
    one.why_not.clear();
    for (auto& s : one.of.sources) s.load = "with the others of its read", s.why = s.staged ? "after a copy from host memory" : "every element is read once";
    if (read == nullptr) one.has_keys_beside = true, read = &one;
  });
  for (auto& one : d.domains)
    if (one.number_beside >= 0 && !one.of_beside.joins) add_refusals(one, one.of_beside.why_not);
}

/// Columns, rows and the whole of a matrix that are one read.
void word_matrix(grouped_description& d) {
  for (int i = 0; i < d.joined.why_not.count; ++i) {
    refusal const& r = d.joined.why_not.entries[i];
    d.why_not.push_back({r.choice, formatted(fmt::runtime(r.reason), r.numbers[0], r.numbers[1]), ""});
  }
  if (!d.joined.joins) return;
  auto& first = d.of_matrix();
  auto const join = [&](domain_description& one) {
    one.shares_read = &one != &first;
    one.route = "mixed";
    one.shape = one.shares_read ? "folded in the read of " + first.name : "every domain of one read folds the tiles of the matrix";
    one.cut = formatted("{}, {}", blocks_of_matrix(d),
                        d.joined.plan.stages > 0 ? formatted("a ring of {} tiles copied ahead in bulk", d.joined.plan.stages)
                                                   : std::string("a tile that threads fill"));
    one.why_not.clear();
    for (auto& s : one.of.sources) s.load = "tiles in shared memory", s.why = s.staged ? "after a copy from host memory" : "every element is read once";
  };
  join(first);
  if (d.rows >= 0) join(d.domains[std::size_t(d.rows)]);
  if (d.joined.total_joins()) join(d.domains.back());
}

/// Columns, rows and the whole of a matrix that the host folds in one walk.
void word_walk(grouped_description& d) {
  if (d.head.on_gpu || !d.is_matrix) return;
  d.walk.threads = d.head.threads;
  auto const cut = cut_matrix_walk(d.walk);
  if (!cut.joins) return;
  domain_description* first = nullptr;
  auto const join = [&](domain_description& one) {
    one.shares_read = first != nullptr;
    one.cut = first != nullptr ? "in the walk of " + first->name
                               : formatted("one walk, {} at a time folded every way while a cache has them, {} dealt to {}",
                                           several(cut.of_turn, cut.columns ? "lane" : "row"), several(cut.chunks(), "chunk"), several(d.head.threads, "thread"));
    if (first == nullptr) first = &one;
  };
  for (std::size_t i = 0; i < d.domains.size(); ++i)
    if ((int(i) == d.columns && cut.columns) || (int(i) == d.rows && d.walk.folds_rows) || (d.domains[i].kind == grouping_kind::whole && d.walk.folds_whole))
      join(d.domains[i]);
}

/// Every read after the first is one that a kernel for all of them would not make.
void refuse_one_read(grouped_description& d) {
  domain_description const* first = nullptr;
  for (auto const& one : d.domains) {
    if (!reads(one) || one.shares_read || one.kind == grouping_kind::elements) continue; // those have said what joins them to their lets
    if (first == nullptr) {
      first = &one;
      continue;
    }
    if (std::any_of(one.origins.begin(), one.origins.end(), [](auto const& o) { return o.home == column_home::answers; })) {
      d.why_not.push_back({"one read with " + first->name, "answers of a let must all be there before they are looked at", one.name});
      continue;
    }
    std::string reason = d.head.on_gpu ? "each has a launch of its own" : "each has a walk of its own";
    if (d.head.on_gpu && one.bytes_read() <= d.head.facts.target.l2_bytes)
      reason += formatted(", and finds the source in the L2 of {}", words::bytes(double(d.head.facts.target.l2_bytes)));
    if (std::any_of(one.of.sources.begin(), one.of.sources.end(), [](auto const& s) { return s.staged; }))
      reason += ", and copies what is in host memory again";
    d.why_not.push_back({"one read with " + first->name, reason, one.name});
  }
}

/// Every fold once, so that the place can be settled: some hold the reduction on the host.
void gather_folds(grouped_description& d) {
  auto& total = d.head.folds;
  for (auto const& one : d.domains)
    for (auto const& f : one.of.folds)
      if (std::none_of(total.begin(), total.end(), [&](auto const& known) { return known.name == f.name; })) total.push_back(f);
}

} // namespace

i64 domain_description::bytes_read() const {
  i64 total = 0;
  if (reads(*this))
    for (std::size_t c = 0; c < of.sources.size(); ++c)
      total += of_column(*this, c, [&](i64 n, i64) { return n * of.sources[c].bytes_per_element * times_read(*this, c); });
  return total + (reads(*this) ? bytes_beside : 0);
}

i64 domain_description::bytes_moved() const {
  i64 total = 0;
  if (reads(*this))
    for (std::size_t c = 0; c < of.sources.size(); ++c)
      total += of_column(*this, c, [&](i64 n, i64 step) {
        i64 const size = of.sources[c].bytes_per_element;
        i64 const apart = sorts(*this) ? bytes_per_sector : std::min(step * size, bytes_per_sector);
        return n * std::max(size, size == 0 ? 0 : apart) * times_read(*this, c);
      });
  if ((sorts(*this) || sorts_rows(*this)) && reads(*this)) total += (1 + 2 * sort_of(*this).passes) * (sort_of(*this).bytes() / 2);
  return total + (reads(*this) ? bytes_beside : 0);
}

i64 domain_description::bytes_written() const { return groups < 0 ? 0 : groups * bytes_of_answers; }

i64 grouped_description::bytes_read() const {
  i64 total = 0;
  for (auto const& d : domains) total += d.shares_read ? 0 : d.bytes_read();
  return total;
}

i64 grouped_description::passes() const {
  i64 total = 0;
  for (auto const& d : domains) total += passes_of(d);
  return total;
}

i64 grouped_description::bytes_written() const {
  i64 total = 0;
  for (auto const& d : domains) total += d.bytes_written();
  return total;
}

double grouped_description::expected_seconds() const {
  double const rate = head.facts.target.read_bytes_per_second;
  double total = 0;
  for (auto const& d : domains)
    if (reads(d) && rate > 0)
      total += double(launches_of(d)) * head.facts.target.launch_seconds + (d.shares_read ? 0 : double(d.bytes_moved()) / rate) + double(d.bytes_written()) / rate;
  return total;
}

domain_description::domain_description() = default;
domain_description::domain_description(domain_description const&) = default;
domain_description::domain_description(domain_description&&) noexcept = default;
domain_description& domain_description::operator=(domain_description const&) = default;
domain_description::~domain_description() = default;
void domain_description::add_origin(column_home home, int at_index) { origins.push_back({home, at_index}); }
void domain_description::refuse_rows(std::string reason, std::string subject) {
  no_rows.push_back({"one kernel for rows", std::move(reason), std::move(subject)});
}

grouped_description::grouped_description() = default;
grouped_description::grouped_description(grouped_description const&) = default;
grouped_description::grouped_description(grouped_description&&) noexcept = default;
grouped_description& grouped_description::operator=(grouped_description const&) = default;
grouped_description::~grouped_description() = default;
void grouped_description::add(domain_description d) { domains.push_back(std::move(d)); }

grouped_explanation::grouped_explanation(grouped_description facts_and_names) : about_(std::move(facts_and_names)) {
  for (auto& d : about_.domains) place_domain(d, about_.head);
  plan_keys_beside(about_);
  plan_matrix(about_);
  plan_whole(about_);
  for (auto& d : about_.domains) word_domain(d);
  word_matrix(about_);
  word_walk(about_);
  word_keys_beside(about_);
  words::join_rows(about_);
  refuse_one_read(about_);
  if (words::keeps()) words::keep(text());
}

std::string grouped_explanation::ptx() const {
  if (!about_.head.on_gpu)
    throw no_gpu("this plan is for the host, which runs no PTX: explain(pipeline, targets::h200).ptx() names a chip.");
  std::string total;
  for (auto const& d : about_.domains) {
    if (!reads(d) || (d.shares_read && !d.of_beside.joins)) continue;
    if (d.has_keys_beside) total += "// " + d.name + ", and keys beside\n" + about_.ptx_of_whole(about_) + "\n";
    if (d.has_keys_beside && d.kind == grouping_kind::whole) continue;
    std::string const own = d.route == "mixed"              ? about_.ptx_of(about_)
                            : d.kind == grouping_kind::whole ? d.of.ptx_of(d.of.planned.plan, d.of.facts)
                            : d.ptx_of != nullptr          ? d.ptx_of(d)
                                                           : std::string();
    total += "// " + d.name + "\n" + own + "\n";
  }
  return total;
}

std::ostream& operator<<(std::ostream& out, grouped_explanation const& e) { return out << e.text(); }

namespace detail {
grouped_explanation explain_at(grouped_description d, column_places const& places, asked_place const& asked) {
  using kind = asked_place::kind;
  gather_folds(d);
  std::vector<refused_choice> no_kernel;
  for (auto const& one : d.domains)
    if (!one.no_kernel.empty()) no_kernel.push_back({"a GPU", one.no_kernel, one.name});
  asked_place possible = asked;
  if (asked.what == kind::target && !no_kernel.empty()) possible.chip = targets::host;
  settle(d.head, places, possible);
  if (!(possible.chip == asked.chip)) d.head.why_not.clear();
  if (!d.head.on_gpu && d.head.threads == 1 && asked.what != kind::cpu) { // groupings do not count what one core is worth
    d.head.threads = cpu::core_count();
    d.head.place = "host, " + several(d.head.threads, "thread");
  }
  if (!d.head.on_gpu) d.head.why_not.insert(d.head.why_not.end(), no_kernel.begin(), no_kernel.end());
  for (auto& one : d.domains) place_apart(one, d.head.on_gpu && asked.what != kind::target);
  return grouped_explanation(std::move(d));
}
} // namespace detail

} // namespace tally::inline v0
