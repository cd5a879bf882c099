// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the domains of a reduction with groupings to their words: each kind of domain is worded in a file of its own, and here they are
// told apart and put together. Compiled side, plan.
#include "plan/domains.hpp"
#include "plan/page.hpp"
#include "plan/places.hpp"

#include <tally/base/error.hpp>
#include <tally/plan/spell.hpp>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

namespace tally::v0::words {

void add_refusals(domain_description& d, why_not_list const& why) {
  for (int i = 0; i < why.count; ++i) {
    refusal const& r = why.entries[i];
    refused_choice said = in_words(r, r.subject >= 0 ? d.of.sources.at(std::size_t(r.subject)).name : "");
    if (std::none_of(d.why_not.begin(), d.why_not.end(), [&](auto const& o) {
          return o.choice == said.choice && o.reason == said.reason && o.subject == said.subject;
        }))
      d.why_not.push_back(std::move(said));
  }
}

namespace {

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
    word_elements(d);
    return;
  } else if (d.kind == grouping_kind::whole) {
    plan_full(d.of);
    std::swap(d.why_not, d.of.why_not);
    d.route = "full";
    d.shape = "one tree over the whole source";
    if (d.of.on_gpu)
      d.cut = launch_of(d.of).substr(std::string_view("route full, ").size());
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
    for (auto& f : d.of.folds) word_host_fold(f);
    word_host_domain(d);
    word_host_sources(d);
  }
  bool const keyed = d.kind == grouping_kind::keys || d.kind == grouping_kind::found_keys;
  auto const order = keyed && !sorts(d) && d.of.facts.promise == contract::fast ? combine_order::free : combine_order::canonical_tree;
  for (auto& f : d.of.folds) f.rounding = rounding(f, d.of.facts, order, reads(d));
}

/// The answers of segments and by key, whatever folds them again.
void word_looked_up(domain_description& d) {
  for (auto& s : d.of.sources)
    if (s.looked_up && reads(d)) s.load = "looked up", s.why = "by the segment or the key of the element";
}

} // namespace
} // namespace tally::v0::words

namespace tally::v0 {

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
  for (auto& d : about_.domains) {
    detail::place_domain(d, about_.head);
    if (d.by_key.own_cell_bytes == 0) words::take_exact_folds(d); // they may have a part in the read of others
  }
  words::plan_shared_reads(about_);
  for (auto& d : about_.domains)
    if (!d.of_beside.joins) words::take_exact_folds(d);
  for (auto& d : about_.domains) {
    words::word_domain(d);
    words::word_looked_up(d);
  }
  words::word_shared_reads(about_);
  words::join_rows(about_);
  for (auto& d : about_.domains)
    for (auto& s : d.of.sources) words::word_unnamed(s);
  words::refuse_one_read(about_);
  if (words::keeps()) words::keep(text());
}

std::string grouped_explanation::ptx() const {
  if (!about_.head.on_gpu)
    throw no_gpu("this plan is for the host, which runs no PTX: explain(pipeline, targets::h200).ptx() names a chip.");
  std::string total;
  if (about_.in_turns.joins) total += "// walks that take turns\n" + about_.ptx_of_turns(about_) + "\n";
  for (auto const& d : about_.domains) {
    if (d.takes_turns) continue;
    if (!words::reads(d) || (d.shares_read && !d.of_beside.joins)) continue;
    if (d.has_keys_beside) total += "// " + d.name + ", and keys beside\n" + about_.ptx_of_whole(about_) + "\n";
    if (d.has_keys_beside && d.kind == grouping_kind::whole) continue;
    std::string const own = d.route == "mixed"              ? about_.mixed.ptx_of(about_)
                            : d.kind == grouping_kind::whole ? d.of.ptx_of(d.of.planned.plan, d.of.facts)
                            : d.ptx_of != nullptr          ? d.ptx_of(d)
                                                           : std::string();
    total += "// " + d.name + "\n" + own + "\n";
  }
  return total;
}

std::ostream& operator<<(std::ostream& out, grouped_explanation const& e) { return out << e.text(); }

} // namespace tally::v0
