// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of folds by key on a GPU that sorts first: elements, whose slots then are segments, or rows, which are folded in chunks.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <algorithm>

namespace tally::v0::words {

namespace {

bool takes(domain_description const& d, any_order_route route) {
  bool const by_key = d.kind == grouping_kind::keys || d.kind == grouping_kind::found_keys;
  return by_key && d.of.on_gpu && !d.is_sorted && choose_any_order(keys_of(d)).route == route;
}

} // namespace

bool sorts(domain_description const& d) { return (d.is_sorted && d.of.on_gpu) || takes(d, any_order_route::sorted_elements); }
bool sorts_rows(domain_description const& d) { return takes(d, any_order_route::sorted_rows); }
slot_sort_planned const& sort_of(domain_description const& d) { return sorts(d) ? d.of_sorted.sort : d.of_sorted_rows.sort; }

namespace {

std::string passes_of_sort(slot_sort_planned const& s) {
  return formatted("{} of {} bits", s.passes == 1 ? "one pass" : formatted("{} passes", s.passes), s.plan.bits_of_digit);
}
std::string cut_of_sort(slot_sort_planned const& s) {
  return formatted("sort: {} of {} threads, {} a thread", several(s.blocks, "block"), s.plan.threads_per_block,
                   several(s.plan.elements_per_thread, "element"));
}

} // namespace

void word_sorted_rows_of_gpu(domain_description& d) {
  d.of_sorted_rows = make_sorted_rows_plan(keys_of(d));
  sorted_rows_planned const& s = d.of_sorted_rows;
  sorted_rows_plan const& p = s.plan;
  d.blocks = s.blocks;
  d.route = "sorted rows";
  d.shape = formatted("the numbers of the rows are sorted by slot in {}, in {} of global memory; {} share {} sorted rows, {} at once, and write a "
                      "slot where it ends; slots whose rows are in several chunks meet {} by atomics",
                      passes_of_sort(s.sort), bytes(double(s.sort.bytes())), several(p.threads_per_row, "thread"),
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

void word_sorted_keys_of_gpu(domain_description& d) {
  keys_facts f = keys_of(d);
  bool const found = d.kind == grouping_kind::found_keys;
  if (found) plan_search_of_gpu(d, f);
  d.of_sorted = make_sorted_keys_plan(f);
  sorted_keys_planned const& s = d.of_sorted;
  d.blocks = s.folds.blocks;
  d.route = found ? "found keys, sorted" : "sorted";
  if (found) d.shape = search_of(d);
  d.shape += formatted("the numbers of the elements are sorted by slot in {}, in {} of global memory; the slots are folded as segments "
                       "of them, each along the tree of its own elements",
                       passes_of_sort(s.sort), bytes(double(s.sort.bytes())));
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

} // namespace tally::v0::words
