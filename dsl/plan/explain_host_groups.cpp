// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of groups on the host: how each kind of grouping is folded by threads, how it is cut, and how its columns are read.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <tally/plan/host_axes.hpp>
#include <tally/run/cpu_groups.hpp>
#include <tally/run/cpu_segments.hpp>

#include <algorithm>
#include <utility>

namespace tally::v0::words {

namespace {

/// Groups along the innermost axis that is kept.
i64 row_of_groups(domain_description const& d) { return d.at.kept_axes > 0 ? d.at.kept[d.at.kept_axes - 1].extent : 1; }

void word_strips(domain_description& d) {
  host_axes_facts const& f = d.on_host;
  bool const together = f.lie == strip_lie::groups_together;
  i64 const row = planning::groups_of_strips(d.at, f.lie);
  d.route = "strips of groups";
  d.shape = formatted("{} neighbouring groups side by side, one a vector lane, along their own trees", planning::groups_in_strip);
  d.cut = several(d.at.groups / row * planning::strips_of(row), "strip");
  if (together) d.cut += formatted(", up to {} of them walked together,", cpu::most_strips);
  d.cut += " on " + several(d.of.threads, "thread");
  auto const refuse = [&](char const* choice, std::string reason) { d.why_not.push_back({choice, std::move(reason), ""}); };
  if (f.extent < planning::long_group)
    refuse("tile loop", formatted("groups of {} elements are shorter than {}", f.extent, planning::long_group));
  else if (f.looks_at_positions)
    refuse("tile loop", "an expression looks at positions");
  else
    refuse("tile loop", "elements of a group are not neighbours in memory");
  if (!together)
    refuse("whole strips loaded at once", row_of_groups(d) < planning::groups_in_strip
                                              ? formatted("rows of {} are shorter than a strip of {}", several(row_of_groups(d), "group"), planning::groups_in_strip)
                                              : std::string("neighbouring groups are not neighbours in every column"));
  if (planning::are_few_and_apart(f))
    refuse("copied groups", f.looks_at_positions ? "an expression looks at positions" : "a column is computed, asked one by one, or made of answers");
}

void word_axes_of_host(domain_description& d) {
  auto const groups = several(d.groups, "group"), threads = several(d.of.threads, "thread");
  switch (choose_host_route(d.on_host)) {
  case host_axes_route::rows:
    d.route = "rows";
    d.shape = "as many groups at once as a register has lanes, each as it lies, then their nodes together";
    d.cut = groups + " dealt to " + threads;
    break;
  case host_axes_route::columns:
    d.route = "columns";
    d.shape = "neighbouring groups side by side, one a vector lane, along their own trees";
    d.cut = formatted("slices of up to {} KiB of a row, leaf after leaf, dealt to {}", cpu::bytes_of_slice / 1024, threads);
    if (!d.on_host.elements_together) d.why_not.push_back({"rows", "elements of a group are not neighbours in memory", ""});
    break;
  case host_axes_route::in_turn:
    d.route = "tile loop";
    d.shape = "a group after another, each in the vector registers of the tile loop";
    d.cut = (cpu::shares_each_group(d.groups, d.of.facts.leaves(), d.of.threads) ? "each group in tiles," : groups) + " dealt to " + threads;
    break;
  case host_axes_route::element_by_element:
    d.route = "element by element";
    d.shape = "a group after another, without vector loops, to the same bits";
    d.cut = groups + " dealt to " + threads;
    d.why_not.push_back({"vector loops", "this processor lacks the registers that they are compiled for", ""});
    for (auto& f : d.of.folds) f.block = "element by element";
    break;
  case host_axes_route::copied:
    d.route = "copied groups";
    d.shape = "few long groups whose elements lie apart: each is copied, piece by piece, to where the tile loop can take it";
    d.cut = formatted("{} of every group, dealt to {}", several((d.of.facts.leaves() - 1) / cpu::leaves_per_tile + 1, "tile"), threads);
    break;
  case host_axes_route::strips: word_strips(d);
  }
}

void word_keys_of_host(domain_description& d) {
  auto const needs_order = [&](auto const& f) { return !f.law.order_free && !f.exact && d.of.facts.promise != contract::fast; };
  d.cut = "elements dealt to " + several(d.of.threads, "thread");
  if (d.kind != grouping_kind::keys) {
    d.route = "found keys";
    d.shape = "one walk finds the keys, a second folds by their number among them";
  } else if (std::all_of(d.of.folds.begin(), d.of.folds.end(), needs_order)) {
    d.route = "sorted elements";
    d.shape = "elements are sorted by bin, and those of a bin are folded along their own tree";
  } else {
    d.route = "tables";
    d.shape = "every thread has a table of all bins, or a range of the bins of one table";
  }
  for (auto const& f : d.of.folds)
    if (needs_order(f)) d.why_not.push_back({"states in tables", "its bits depend on the order, so elements are sorted by bin first", f.name});
}

} // namespace

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
    word_keys_of_host(d);
  }
}

void word_host_sources(domain_description& d) {
  for (std::size_t c = 0; c < d.of.sources.size(); ++c) {
    auto& s = d.of.sources[c];
    word_host_source(s);
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

} // namespace tally::v0::words
