// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of folds by key on a GPU that add elements to tables of slots as they come: where the tables are, and who shares them.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <tally/plan/spell.hpp>

#include <algorithm>

namespace tally::v0::words {

keys_facts keys_of(domain_description const& d) {
  keys_facts f = d.by_key;
  f.of = d.of.facts;
  f.of.extent = d.at.extent;
  f.at = d.at;
  return f;
}

void take_exact_folds(domain_description& d) {
  if (d.exactly.empty() || !d.of.on_gpu) return;
  domain_description other = std::move(d.exactly.front());
  other.of.sources = d.of.sources;
  std::copy_n(d.of.facts.sources, d.of.facts.source_count, other.of.facts.sources);
  other.of.on_gpu = true;
  other.of.place = d.of.place;
  other.of.facts.target = d.of.facts.target;
  other.origins = d.origins;
  other.is_let = d.is_let;
  other.number_beside = d.number_beside;
  keys_facts as_they_are = keys_of(d), exactly = keys_of(other);
  if (d.kind == grouping_kind::found_keys) plan_search_of_gpu(d, as_they_are), plan_search_of_gpu(other, exactly);
  if (are_better_exact(as_they_are, exactly)) d = std::move(other);
  d.exactly.clear();
}

std::string windows_of(keys_plan const& p, keys_facts const& f) {
  if (!p.sums_in_windows) return "";
  return formatted("; of exact sums a block has windows, {} of {} bytes a slot, which most of a sample of {} fit in, and what does not goes to the table of all",
                   f.bytes_in_windows, f.own_cell_bytes, several(sampled_elements, "element"));
}

void word_keys_of_gpu(domain_description& d) {
  keys_facts f = keys_of(d);
  if (d.kind == grouping_kind::found_keys) plan_search_of_gpu(d, f);
  any_order_choice const chosen = choose_any_order(f);
  if (chosen.route == any_order_route::partitions) return word_partitioned_keys(d, f, chosen.partitions);
  d.of_keys = make_keys_plan(f);
  keys_plan const& p = d.of_keys.plan;
  d.blocks = d.of_keys.blocks;
  d.route = spell(p.route);
  if (d.kind == grouping_kind::found_keys) d.route = "found keys, " + d.route, d.shape = search_of(d);
  if (p.route == keys_route::in_shared_memory)
    d.shape += formatted("every block has {} of {} in shared memory, {}, and adds its own to the others' in the end{}", several(p.replicas, "table"),
                         p.ranges > 1 ? formatted("one of {} ranges of slots", p.ranges) : "all slots",
                         bytes(double(d.of_keys.shared_bytes)), p.gives_in_bulk ? " by the bulk engine" : "");
  else if (p.route == keys_route::in_one_cluster)
    d.shape += formatted("in one launch: every block of one cluster has all slots in shared memory, {}, and answers a part of them, of which it reads what the others have", bytes(double(d.of_keys.shared_bytes)));
  else
    d.shape += "elements go to their slots in global memory by atomics";
  if (cells_of_hot_keys(p) > 0) d.shape += formatted("; of at most {} keys, which a sample of {} finds to be hot, every lane has a sum of its own", p.hot_keys, several(sampled_elements, "element"));
  d.shape += windows_of(p, f);
  if (p.hot_slots > 0) d.shape += formatted("; a block keeps the first {} that it meets to itself", several(p.hot_slots, "slot"));
  if (p.slots_in_cluster > 0)
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
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    bool const stands = (p.standing >> c & 1) != 0, apart = (p.apart >> c & 1) != 0;
    s.load = s.bytes_per_element == 0 ? "computed"
                                      : formatted("ldg, {} B per load", std::min<i64>(16, s.bytes_per_element * (stands || apart ? 1 : p.elements_per_load)));
    s.why = s.bytes_per_element == 0                 ? "nothing is read"
            : stands                                 ? "the same for neighbours"
            : apart                                  ? "along rows, one of which may end among neighbours"
            : p.on_rows                              ? "along rows"
            : p.in_order && p.threads_per_row == 0 ? "in the order of the source"
                                                     : "elements lie apart, or groups beside";
    if (s.staged) s.why += ", after a copy from host memory";
  }
  add_refusals(d, d.of_keys.why_not);
  add_refusals(d, chosen.no_partitions);
}

} // namespace tally::v0::words
