// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of groups on the host: how each kind of grouping is folded by threads, how it is cut, and how its columns are read.
// Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/domains.hpp"
#include "plan/words.hpp"

#include <tally/run/explain_grouped.hpp>

#include <utility>

namespace tally::words {

namespace {

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
    d.route = d.kind == grouping_kind::keys ? "tables" : "found keys";
    d.shape = d.kind == grouping_kind::keys ? "every thread has a table of all bins, or a range of the bins of one table"
                                            : "one walk finds the keys, a second folds by their number among them";
    d.cut = "elements dealt to " + threads;
    for (auto const& f : d.of.folds)
      if (!f.law.order_free && !f.exact && d.of.facts.promise != contract::fast)
        d.why_not.push_back({"states in tables", "its bits depend on the order, so elements are sorted by bin first", f.name});
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

} // namespace tally::words
