// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An explanation for people: one word of heading, then columns that line up. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/page.hpp"

#include <tally/plan/spell.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tally::v0::words {

std::string promise_of(contract promise, bool on_every_back_end, std::string const& tree) {
  if (promise == contract::fast) return "fast: IEEE per operation, and the order may be given up";
  if (promise == contract::exact)
    return "exact: sums of floats round once, at the end, so the order cannot be seen; the same bits everywhere";
  auto const* where = on_every_back_end ? "the same bits on the CPU and on every GPU" : "the same bits on any number of threads";
  return formatted("reproducible, nothing lowers it: {}; {}", where, tree);
}

std::string launch_of(description const& d) {
  if (d.facts.extent == 0) return "none: the source is empty, the answers are those of no element";
  if (!d.reads()) return "none: a count of everything is the extent";
  if (!d.on_gpu) {
    auto const tiles = (d.facts.leaves() - 1) / d.leaves_per_tile + 1;
    auto const threads = std::min<i64>(d.threads, tiles);
    return formatted("{} tile{} of up to {} leaves, {} elements each, on {} thread{}", tiles, tiles == 1 ? "" : "s",
                     d.leaves_per_tile, d.leaves_per_tile * d.facts.elements_per_leaf(), threads,
                     threads == 1 ? "" : "s");
  }
  auto const& p = d.planned.plan;
  auto const leaves = d.facts.any_exact() ? std::string("leaves by turns")
                                          : formatted("{} lea{} a warp", p.leaves_per_warp, p.leaves_per_warp == 1 ? "f" : "ves");
  return formatted("route full, one launch: {} block{} of {} threads{}, {}, {} of {} rows in flight{}", d.planned.blocks,
                   d.planned.blocks == 1 ? "" : "s", p.threads_per_block, p.one_cluster ? " in one cluster" : "", leaves,
                   p.rows_in_flight, p.rows_per_leaf, p.overlaps_launch ? ", overlapped" : "");
}

namespace {

std::string read_of(description const& d) {
  if (!d.reads()) return formatted("nothing of {} elements", d.facts.extent);
  auto text = formatted("{} elements, {} in one pass", d.facts.extent, words::bytes(double(d.bytes_read())));
  if (d.bytes_moved() != d.bytes_read()) text += formatted(", {} moved", words::bytes(double(d.bytes_moved())));
  if (d.expected_seconds() > 0)
    text += formatted("; expected {}, {:.0f} % of peak", words::seconds(d.expected_seconds()),
                      100 * d.expected_share_of_peak());
  return text;
}

std::string measured_of(description const& d) {
  std::string beside;
  if (d.expected_seconds() > 0)
    beside = formatted(", {:.2f} x the expected time", d.measured_seconds / d.expected_seconds());
  return formatted("{}, {:.4g} GB/s{}; the whole call {}", words::seconds(d.measured_seconds),
                   double(d.bytes_read()) / d.measured_seconds / 1e9, beside, words::seconds(d.whole_seconds));
}

} // namespace

void put_sources(page& to, description const& d) {
  std::size_t name = 0, load = 0, type = 0;
  for (auto const& s : d.sources) {
    name = std::max(name, std::min<std::size_t>(s.name.size(), 28));
    load = std::max(load, s.load.size());
    type = std::max(type, s.type.size());
  }
  bool leading = true;
  for (auto const& s : d.sources)
    to.put(std::exchange(leading, false) ? "load" : "",
           formatted("{:<{}}  {:<{}}  {:<{}}  {}", s.name, name, s.type, type, s.load, load, s.why));
}

void put_folds(page& to, description const& d) {
  std::size_t name = 0;
  for (auto const& f : d.folds) name = std::max(name, std::min<std::size_t>(f.name.size(), 48));
  bool leading = true;
  for (auto const& f : d.folds)
    to.put(std::exchange(leading, false) ? "fold" : "",
           formatted("{:<{}}  {:>3} B  rounds {}", f.name, name, f.state_bytes, f.rounding));
}

void put_meetings(page& to, description const& d) {
  std::vector<std::pair<std::string, std::string>> ways;
  for (auto const& f : d.folds) {
    auto const way = !d.on_gpu                ? formatted("{} of a leaf, then {}", f.block, f.grid)
                     : d.planned.blocks == 1 ? formatted("{} in the one block", f.block)
                     : d.planned.plan.one_cluster ? formatted("{} in a block, then {} in the cluster", f.block, f.grid)
                                              : formatted("{} in a block, then {} across blocks", f.block, f.grid);
    auto const known = std::find_if(ways.begin(), ways.end(), [&](auto const& w) { return w.first == way; });
    if (known == ways.end())
      ways.emplace_back(way, f.name);
    else
      known->second += ", " + f.name;
  }
  bool leading = true;
  for (auto const& [way, names] : ways)
    to.put(std::exchange(leading, false) ? "combine" : "", way + (ways.size() > 1 ? ": " + names : ""));
}

void put_refusals(page& to, description const& d) {
  bool leading = true;
  for (auto const& g : grouped(d))
    to.put(std::exchange(leading, false) ? "why not" : "",
           g.choice + (g.subjects.empty() ? "" : " for " + g.subjects) + ": " + g.reason);
}

} // namespace tally::v0::words

namespace tally::v0 {

std::string explanation::text() const {
  using namespace words;
  auto const& d = about_;
  page to;
  to.text = d.pipeline + "\n";
  to.put("on", d.place);
  to.put("promise", promise_of(d.facts.promise, d.ptx_of != nullptr, words::tree(d.facts)));
  to.put("read", read_of(d));
  put_sources(to, d);
  put_folds(to, d);
  if (d.reads()) put_meetings(to, d);
  to.put("launch", launch_of(d));
  if (d.measured_seconds > 0)
    to.put("measured", measured_of(d));
  put_refusals(to, d);
  return to.text;
}

} // namespace tally::v0
