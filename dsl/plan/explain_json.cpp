// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An explanation for programs. Fields are only ever added; docs/reference/explain.md lists them. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/json_parts.hpp"

#include <tally/fold/tree.hpp>
#include <tally/plan/spell.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tally::v0::words {

json number_or_null(double x) { return x > 0 ? json(x) : json(); }

json target_of(description const& d) {
  if (!d.on_gpu) return {{"name", d.place}, {"threads", d.threads}};
  auto const& t = d.facts.target;
  return {{"name", d.place},
          {"architecture", formatted("sm_{}{}", t.compute_major, t.compute_minor)},
          {"multiprocessors", t.multiprocessors},
          {"read_bytes_per_second", t.read_bytes_per_second},
          {"launch_seconds", t.launch_seconds}};
}

json launch_of_plan(description const& d) {
  if (!d.reads()) return json::object();
  if (!d.on_gpu) {
    auto const tiles = (d.facts.leaves() - 1) / d.leaves_per_tile + 1;
    return {{"tiles", tiles}, {"leaves_per_tile", d.leaves_per_tile}, {"threads", std::min<i64>(d.threads, tiles)}};
  }
  auto const& p = d.planned.plan;
  return {{"blocks", d.planned.blocks},
          {"threads_per_block", p.threads_per_block},
          {"leaves_per_warp", p.leaves_per_warp},
          {"one_cluster", p.one_cluster},
          {"rows_in_flight", p.rows_in_flight},
          {"blocks_per_multiprocessor", p.blocks_per_multiprocessor},
          {"overlaps_launch", p.overlaps_launch},
          {"reads_ahead", p.reads_ahead}};
}

json sources_of(description const& d) {
  json all = json::array();
  for (auto const& s : d.sources)
    all.push_back({{"name", s.name},
                   {"type", s.type},
                   {"bytes_per_element", s.bytes_per_element},
                   {"stride", s.stride},
                   {"staged", s.staged},
                   {"load", s.load},
                   {"why", s.why}});
  return all;
}

json folds_of(description const& d) {
  json all = json::array();
  for (auto const& f : d.folds)
    all.push_back({{"name", f.name},
                   {"state_bytes", f.state_bytes},
                   {"commutative", f.law.commutative},
                   {"order_free", f.law.order_free},
                   {"block", f.block},
                   {"grid", f.grid},
                   {"rounding", f.rounding}});
  return all;
}

json why_not_of(std::vector<refused_choice> const& why_not) {
  json all = json::array();
  for (auto const& r : why_not) all.push_back({{"choice", r.choice}, {"reason", r.reason}, {"subject", r.subject}});
  return all;
}

} // namespace tally::v0::words

namespace tally::v0 {

std::string explanation::json() const {
  using namespace words;
  auto const& d = about_;
  bool const plans = d.on_gpu && d.reads();
  nlohmann::ordered_json out = {
      {"pipeline", d.pipeline},
      {"answers", d.answers},
      {"back_end", d.on_gpu ? "gpu" : "cpu"},
      {"route", d.reads() ? "full" : "none"},
      {"target", target_of(d)},
      {"contract", spell(d.facts.promise)},
      {"contract_reached", spell(d.facts.promise)},
      {"lowered_by", nlohmann::ordered_json::array()},
      {"tree",
       {{"id", words::tree(d.facts)},
        {"version", tree_version},
        {"rows_per_leaf", d.facts.rows_per_leaf},
        {"lanes_per_leaf", 32 * d.facts.lanes_per_group},
        {"leaves", d.facts.leaves()},
        {"order", plans ? spell(d.planned.plan.order) : spell(combine_order::canonical_tree)}}},
      {"extent", d.facts.extent},
      {"bytes_read", d.bytes_read()},
      {"bytes_moved", d.bytes_moved()},
      {"expected_seconds", number_or_null(d.expected_seconds())},
      {"expected_share_of_peak", number_or_null(d.expected_share_of_peak())},
      {"sources", sources_of(d)},
      {"folds", folds_of(d)},
      {"launch", launch_of_plan(d)},
      {"plan", plans ? spell(d.planned.plan, d.facts.source_count, d.facts.fold_count) : ""},
      {"why_not", why_not_of(d.why_not)}};
  if (d.measured_seconds > 0)
    out["measured"] = {{"seconds", d.measured_seconds},
                       {"whole_seconds", d.whole_seconds},
                       {"gigabytes_per_second", double(d.bytes_read()) / d.measured_seconds / 1e9}};
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

} // namespace tally::v0
