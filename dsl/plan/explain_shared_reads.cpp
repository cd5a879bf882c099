// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which domains of a reduction share a read, planned and in words: columns, rows and the whole of a matrix, keys beside a read, and segments
// that take turns; and why others do not. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <tally/run/cpu_segments.hpp>

#include <algorithm>
#include <utility>

namespace tally::v0::words {

namespace {

/// Plans the keyed groupings that another read may fold too.
void plan_keys_beside(grouped_description& d) {
  i64 room = most_bytes_beside;
  for (auto& one : d.domains)
    if (d.head.on_gpu && one.number_beside >= 0 && reads(one)) {
      one.of_beside = make_keys_beside_plan(keys_of(one), room, d.whole.any_exact());
      room -= one.of_beside.joins ? one.of_beside.shared_bytes : 0;
    }
  d.mixed.facts.bytes_beside = most_bytes_beside - room;
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
}

/// A read of a matrix planned where the columns of its domains are.
mixed_planned planned_where_columns_are(grouped_description& d, matrix_read_description& read) {
  facts& f = read.facts.of;
  f.target = d.head.facts.target;
  for (auto const& one : d.domains)
    if (!one.is_let)
      for (int c = 0; c < f.source_count; ++c)
        if (auto const& s = one.of.facts.sources[c]; f.sources[c].bytes_per_element > 0 && s.bytes_per_element > 0) f.sources[c].address_alignment = s.address_alignment;
  return make_mixed_plan(read.facts);
}
/// Whether columns, rows and the whole of a matrix are one read, with or without keys beside.
void plan_matrix(grouped_description& d) {
  if (!d.head.on_gpu || !d.is_matrix || !reads(d.of_matrix())) return;
  bool const any_keys = d.mixed.facts.bytes_beside > 0;
  if (any_keys) {
    d.joined = planned_where_columns_are(d, d.mixed);
    if (d.joined.joins) return;
  }
  auto const alone = planned_where_columns_are(d, d.alone);
  if (any_keys && !alone.joins) return;
  d.joined = alone;
  d.mixed = d.alone;
  if (any_keys) read_keys_apart(d, "its table does not fit beside the tiles of the matrix");
}
/// The domain of the folds of the whole; null where nothing is folded.
domain_description* whole_of(grouped_description& d) {
  auto& last = d.domains.back();
  return last.kind == grouping_kind::whole && reads(last) ? &last : nullptr;
}
/// The domains that take turns where they may: segments, in their order.
std::vector<domain_description*> segments_of(grouped_description& d) {
  std::vector<domain_description*> found;
  for (auto& one : d.domains)
    if (one.number_in_turns >= 0) found.push_back(&one);
  return found;
}
/// Facts of a program over the columns of the head, where these are.
facts placed(grouped_description const& d, facts f) {
  f.target = d.head.facts.target;
  for (std::size_t c = 0; c < d.head.sources.size(); ++c) f.sources[c].address_alignment = d.head.sources[c].address_alignment;
  return f;
}
/// Whether segments take turns with folds of the whole and keys beside them, or with each other.
void plan_turns(grouped_description& d) {
  auto const segments = segments_of(d);
  if (!d.head.on_gpu || segments.empty() || !std::all_of(segments.begin(), segments.end(), [](auto const* one) { return reads(*one); })) return;
  if (segments.size() > max_segments_in_turns) return d.in_turns.why_not.add("the same launch", "a launch has turns for {0} reads by segment", -1, max_segments_in_turns);
  int keys = 0;
  for_each_beside(d, [&](domain_description const&) { ++keys; });
  auto* const whole = whole_of(d);
  turns_facts f{};
  f.any_whole = whole != nullptr || keys > 0;
  f.whole = placed(d, d.whole);
  f.whole.keys_beside = keys > 0;
  for (auto* one : segments) f.segments[f.count++] = {placed(d, one->of.facts), one->groups, one->is_counted};
  d.in_turns = make_turns_plan(f);
  if (!d.in_turns.joins) return;
  for (auto* one : segments) one->takes_turns = true, one->of_segments = d.in_turns.plan.segments[one->number_in_turns];
  if (whole == nullptr) return;
  whole->takes_turns = true;
  whole->has_keys_beside = keys > 0;
  whole->of.facts = f.whole;
  whole->of.facts.threads_in_turns = 32 * d.in_turns.plan.segments[0].warps_per_block;
}
/// Whether the folds of the whole and keys are one read, or keys alone.
void plan_whole(grouped_description& d) {
  int reads_there = 0;
  for_each_beside(d, [&](domain_description const&) { ++reads_there; });
  if (reads_there == 0 || d.joined.joins || d.in_turns.joins) return;
  bool const any_whole = whole_of(d) != nullptr;
  if (!planning::keys_join_the_whole(reads_there, any_whole)) return read_keys_apart(d, "nothing else of this reduction is folded element by element");
  d.whole = placed(d, d.whole);
  d.of_whole = make_plan(d.whole);
  if (!any_whole) return;
  d.domains.back().has_keys_beside = true;
  d.domains.back().of.facts = d.whole; // of the columns of keys too
}

std::string blocks_of_matrix(grouped_description const& d) {
  if (d.joined.cut.bands_of_unit > 0)
    return formatted("{} bands, {} a block = {} of {} threads", d.joined.cut.bands, d.joined.cut.bands_of_unit, several(d.joined.blocks(), "block"), mixed_threads);
  std::string const batch = d.joined.plan.batched ? formatted("{} matrices x ", d.joined.cut.matrices) : "";
  return formatted("{}{} bands x {} parts x {} chunks = {} of {} threads", batch, d.joined.cut.bands, d.joined.cut.splits, d.joined.cut.chunks,
                   several(d.joined.blocks(), "block"), mixed_threads);
}
std::string blocks_of_turns(grouped_description const& d) {
  return formatted("one launch of {} of {} threads", several(d.in_turns.all_blocks, "block"), d.in_turns.plan.segments[0].threads_per_block());
}
/// Segments, and the folds of the whole, that take turns.
void word_turns(grouped_description& d) {
  domain_description* first = nullptr;
  auto const join = [&](domain_description& one, u32 blocks) {
    if (first != nullptr) first->share_read_with(one);
    one.cut = formatted("{}, of which {} {} its own{}", blocks_of_turns(d), blocks, blocks == 1 ? "is" : "are",
                        first == nullptr ? ", in turn with the others: what one walk has read from memory they find in L2" : "");
    for (auto& s : one.of.sources)
      if (one.shares_read && s.bytes_per_element > 0) s.why += ", in L2 where another walk has been";
    if (first == nullptr) first = &one;
  };
  if (!d.in_turns.joins) {
    if (auto const all = segments_of(d); !all.empty()) add_refusals(*all.front(), d.in_turns.why_not);
    return;
  }
  for (auto* one : segments_of(d)) join(*one, d.in_turns.blocks.of[1 + one->number_in_turns]);
  if (auto* const whole = whole_of(d)) join(*whole, d.in_turns.blocks.of[0]);
}

/// Segments and the folds of the whole that the host folds in turn.
void word_turns_on_host(grouped_description& d) {
  auto all = segments_of(d);
  if (auto* const whole = whole_of(d)) all.push_back(whole);
  all.erase(std::remove_if(all.begin(), all.end(), [](auto const* one) { return !reads(*one); }), all.end());
  if (d.head.on_gpu || segments_of(d).empty() || all.size() < 2) return;
  for (auto* one : all) {
    if (one != all.front()) all.front()->share_read_with(*one);
    one->cut = one->shares_read ? "in turn with " + all.front()->name
                                : formatted("a run of {} elements and offsets at a time, in turn with the others while a cache has it, spread over {}", cpu::run_in_turns,
                                            several(d.head.threads, "thread"));
  }
}

/// Keys that are folded in the read of a domain, or in that of the first of them.
void word_keys_beside(grouped_description& d) {
  domain_description* read = d.joined.joins ? &d.of_matrix() : d.domains.back().has_keys_beside ? &d.domains.back() : nullptr;
  for_each_beside(d, [&](domain_description& one) {
    auto const& table = one.of_beside;
    if (auto* const leader = d.in_turns.joins ? segments_of(d).front() : read; leader != nullptr) leader->share_read_with(one);
    one.route = "table beside";
    one.of_keys = {table.plan, 0, table.shared_bytes, {}};
    one.blocks = 0;
    one.shape = formatted("{} in shared memory of every block of {}, {} of {}, which adds the elements that it holds to it, and the table to the others' in the end{}",
                          several(table.plan.replicas, "table"), read != nullptr ? "the read of " + read->name : "one read of the source", bytes(double(table.shared_bytes)),
                          several(one.groups, "slot"), table.plan.gives_in_bulk ? " by the bulk engine" : "");
    one.cut = d.joined.joins     ? blocks_of_matrix(d)
              : d.in_turns.joins ? blocks_of_turns(d)
                                     : formatted("{} of {} threads, {} a warp", several(d.of_whole.blocks, "block"), d.of_whole.plan.threads_per_block,
                                             several(d.of_whole.plan.leaves_per_warp, d.of_whole.plan.leaves_per_warp == 1 ? "leaf" : "leave"));
    one.why_not.clear();
    for (auto& s : one.of.sources) s.load = "with the others of its read", s.why = s.staged ? "after a copy from host memory" : "every element is read once";
    if (read == nullptr && !d.in_turns.joins) one.has_keys_beside = true, read = &one;
  });
  for (auto& one : d.domains)
    if (one.number_beside >= 0 && !one.of_beside.joins) add_refusals(one, one.of_beside.why_not);
}

/// Columns, rows and the whole of a matrix that are one read.
void word_matrix(grouped_description& d) {
  for (int i = 0; i < d.joined.why_not.count; ++i) d.why_not.push_back(in_words(d.joined.why_not.entries[i]));
  if (!d.joined.joins) return;
  auto& first = d.of_matrix();
  auto const join = [&](domain_description& one) {
    if (&one != &first) first.share_read_with(one);
    one.route = "mixed";
    one.shape = one.shares_read ? "folded in the read of " + first.name : "every domain of one read folds the tiles of the matrix";
    one.cut = formatted("{}, {}", blocks_of_matrix(d),
                        d.joined.plan.bytes_per_copy == 0
                            ? formatted("a ring of {} tiles copied ahead in bulk{}", d.joined.plan.stages,
                                        d.joined.plan.few_columns > 0     ? formatted(", of whole rows, each folded by {}", several(few_columns_shape{d.mixed.facts.of.lanes_per_group, d.joined.plan.few_columns}.threads_of_row(), "thread"))
                                        : d.joined.plan.begins_anywhere ? ", in the pieces of 16 B around rows that begin anywhere" : "")
                            : formatted("a ring of {} tiles that threads copy ahead, {} B at once", d.joined.plan.stages, d.joined.plan.bytes_per_copy));
    one.why_not.clear();
    for (std::size_t c = 0; c < one.of.sources.size(); ++c) {
      auto& s = one.of.sources[c];
      bool const down = d.joined.plan.stands_down(int(c)), along = d.joined.plan.stands_along(int(c)), beside = d.joined.plan.stands_beside(int(c));
      s.load = beside ? "beside the tiles in shared memory" : "tiles in shared memory";
      s.why = down ? "the same in every row: once a unit" : along && beside ? "the same all along a row: once a unit" : along ? "the same all along a row: once a row" : "every element is read once";
      if (s.staged) s.why += ", after a copy from host memory";
    }
  };
  join(first);
  if (d.rows >= 0) join(d.domains[std::size_t(d.rows)]);
  if (d.each >= 0 && whole_of(d) != nullptr) d.why_not.push_back({"total in the same read", "it has that of every matrix", d.domains.back().name});
  if (!d.joined.total_joins()) return;
  auto& total = d.each >= 0 ? d.domains[std::size_t(d.each)] : d.domains.back();
  join(total);
  if (d.joined.plan.whole == whole_from::leaves && d.joined.plan.few_columns == 0) total.shape += ", every leaf where it begins: what of it lies behind a tile comes from L2";
}

/// Columns, rows and the whole of a matrix that the host folds in one walk.
void word_walk(grouped_description& d) {
  if (d.head.on_gpu || !d.is_matrix) return;
  d.walk.threads = d.head.threads;
  auto const cut = cut_matrix_walk(d.walk);
  if (!cut.joins) return;
  domain_description* first = nullptr;
  auto const join = [&](domain_description& one) {
    if (first != nullptr) first->share_read_with(one);
    one.cut = first != nullptr ? "in the walk of " + first->name
                               : formatted("one walk, {} at a time folded every way while a cache has them, {} dealt to {}",
                                           several(cut.of_turn, cut.columns ? "lane" : "row"), several(cut.chunks(), "chunk"), several(d.head.threads, "thread"));
    if (first == nullptr) first = &one;
  };
  for (std::size_t i = 0; i < d.domains.size(); ++i)
    if ((int(i) == d.columns && cut.columns) || (int(i) == d.rows && d.walk.folds_rows) || (d.domains[i].kind == grouping_kind::whole && d.walk.folds_whole))
      join(d.domains[i]);
}

} // namespace

void plan_shared_reads(grouped_description& d) {
  plan_keys_beside(d);
  plan_matrix(d);
  plan_turns(d);
  plan_whole(d);
}

void word_shared_reads(grouped_description& d) {
  word_matrix(d);
  word_walk(d);
  word_turns(d);
  word_turns_on_host(d);
  word_keys_beside(d);
}

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
      reason += formatted(", and finds the source in the L2 of {}", bytes(double(d.head.facts.target.l2_bytes)));
    if (std::any_of(one.of.sources.begin(), one.of.sources.end(), [](auto const& s) { return s.staged; }))
      reason += ", and copies what is in host memory again";
    d.why_not.push_back({"one read with " + first->name, reason, one.name});
  }
}

} // namespace tally::v0::words
