// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a reduction with groupings is planned for: one place for all domains, which every one of them is told, and why not elsewhere.
// Compiled side, plan.
#include "plan/places.hpp"
#include "plan/words.hpp"

#include <tally/plan/targets.hpp>
#include <tally/run/explain_grouped.hpp>

#include <algorithm>
#include <utility>

namespace tally::v0::detail {

namespace {

/// Columns of one domain alone: a GPU at hand copies those in host memory, a target has them in its own.
void place_apart(domain_description& d, bool copies) {
  for (std::size_t c = 0; c < d.origins.size(); ++c) {
    auto& s = d.of.sources[c];
    if (d.origins[c].home != column_home::apart) continue;
    s.staged = s.staged && copies;
    if (s.staged) s.address_alignment = d.of.facts.sources[c].address_alignment = 16;
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
    d.head.place = "host, " + words::several(d.head.threads, "thread");
  }
  if (!d.head.on_gpu) d.head.why_not.insert(d.head.why_not.end(), no_kernel.begin(), no_kernel.end());
  for (auto& one : d.domains) place_apart(one, d.head.on_gpu && asked.what != kind::target);
  return grouped_explanation(std::move(d));
}

} // namespace tally::v0::detail
