// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An explanation of a reduction with groupings as text, JSON and a Mermaid chart. Compiled side, plan.
#include "plan/domains.hpp"
#include "plan/json_parts.hpp"
#include "plan/page.hpp"

#include <tally/fold/tree.hpp>
#include <tally/plan/explain_grouped.hpp>
#include <tally/plan/spell.hpp>

#include <utility>

namespace tally::v0 {
namespace {

char const* spell_kind(grouping_kind k) {
  switch (k) {
  case grouping_kind::whole: return "whole";
  case grouping_kind::axes: return "axes";
  case grouping_kind::segments: return "segments";
  case grouping_kind::keys: return "keys";
  case grouping_kind::elements: return "elements";
  default: return "found_keys";
  }
}

std::string groups_of(domain_description const& d) {
  using words::several;
  switch (d.kind) {
  case grouping_kind::whole: return several(d.at.extent, "element");
  case grouping_kind::axes: return formatted("{} of {}", several(d.groups, "group"), several(d.at.extent, "element"));
  case grouping_kind::segments: return formatted("{} in {}", several(d.groups, "segment"), several(d.at.extent, "element"));
  case grouping_kind::keys:
    return formatted("{} for {}", several(d.groups, d.at.groups > 1 ? "slot" : "bin"), several(d.at.extent * d.at.groups, "element"));
  case grouping_kind::elements: return several(d.groups, "element") + " written";
  default: return formatted("as many bins as there are keys, for {}", several(d.at.extent, "element"));
  }
}

std::string read_of(grouped_description const& d) {
  auto text = formatted("{}: {} read, {} written", d.passes() == 1 ? "one pass" : formatted("{} passes", d.passes()),
                          words::bytes(double(d.bytes_read())), words::bytes(double(d.bytes_written())));
  if (d.expected_seconds() > 0) text += formatted("; expected {}", words::seconds(d.expected_seconds()));
  return text;
}

void put_domain(words::page& to, domain_description const& d) {
  to.put("domain", formatted("{}: {}, {} read", d.name, groups_of(d), words::bytes(double(d.bytes_read()))));
  to.put("route", d.route + ": " + d.shape);
  words::put_sources(to, d.of);
  words::put_folds(to, d.of);
  if (d.kind == grouping_kind::whole && d.route != "none" && d.route != "mixed") words::put_meetings(to, d.of);
  if (!d.cut.empty()) to.put("cut", d.cut);
  description refused; // words group equal refusals
  refused.folds = d.of.folds;
  refused.why_not = d.why_not;
  words::put_refusals(to, refused);
}

words::json domain_of(domain_description const& d) {
  auto launch = words::json::object();
  if (d.kind == grouping_kind::whole && d.route != "none") launch = words::launch_of_plan(d.of);
  if (d.kind == grouping_kind::axes && d.planned.cut.sets > 0)
    launch = {{"blocks", d.planned.blocks()},
              {"threads_per_block", d.planned.plan.threads_per_block()},
              {"sets", d.planned.cut.sets},
              {"chunks", d.planned.cut.chunks},
              {"leaves_of_chunk", d.planned.cut.leaves_of_chunk}};
  if ((d.kind == grouping_kind::segments || d.route == "segments") && d.blocks > 0)
    launch = {{"blocks", d.blocks}, {"threads_per_block", d.of_segments.threads_per_block()}};
  if (d.route == "mixed" || (d.is_let && d.shares_read)) launch = words::json::object();
  bool const elements = d.kind == grouping_kind::elements && d.blocks > 0;
  auto const& written = d.of_rows.possible ? d.of_rows.plan : d.of_elements.plan;
  if (elements)
    launch = {{"blocks", d.blocks}, {"threads_per_block", written.strip.threads_per_block()}};
  bool const found = d.kind == grouping_kind::found_keys && d.blocks > 0, keys = d.kind == grouping_kind::keys && d.blocks > 0;
  bool const sorted = (keys || found) && d.of_sorted.folds.blocks > 0, sorted_rows = keys && d.of_sorted_rows.blocks > 0;
  if (sorted || sorted_rows) {
    auto const& sort = sorted ? d.of_sorted.sort : d.of_sorted_rows.sort;
    launch = {{"blocks", d.blocks},
              {"threads_per_block", sorted ? d.of_sorted.plan.folds.threads_per_block() : d.of_sorted_rows.plan.threads_per_block},
              {"sort",
               {{"blocks", sort.blocks}, {"threads_per_block", sort.plan.threads_per_block}, {"passes", sort.passes}, {"bytes", sort.bytes()}}}};
  } else if (auto const& partitioned = d.of_partitions; partitioned.blocks > 0) {
    launch = {{"blocks", d.blocks},
              {"threads_per_block", partitioned.plan.table.threads_per_block},
              {"shared_bytes", partitioned.fold_shared_bytes},
              {"partition",
               {{"blocks", partitioned.blocks}, {"threads_per_block", partitioned.plan.threads_per_block}, {"partitions", partitioned.partitions}, {"passes", partitioned.passes},
                {"parts", partitioned.parts}, {"bytes", partitioned.tile_bytes}}}};
  } else if (keys || found) {
    launch = {{"blocks", d.blocks}, {"threads_per_block", d.of_keys.plan.threads_per_block}, {"shared_bytes", d.of_keys.shared_bytes}};
  }
  if (found)
    launch["search"] = {{"blocks", d.of_search.blocks}, {"threads_per_block", d.of_search.plan.threads_per_block}, {"slots", d.of_search.slots}};
  std::string const folds_of_keys = sorted        ? spell(d.of_sorted.plan)
                                    : sorted_rows ? spell(d.of_sorted_rows.plan)
                                    : d.of_partitions.blocks > 0 ? spell(d.of_partitions.plan)
                                                                 : spell(d.of_keys.plan);
  bool const planned_axes = d.planned.cut.sets > 0;
  return {{"name", d.name},
          {"kind", spell_kind(d.kind)},
          {"answers", d.of.answers},
          {"groups", d.groups >= 0 ? words::json(d.groups) : words::json()},
          {"elements", d.at.groups * d.at.extent},
          {"elements_per_group", d.kind == grouping_kind::axes || d.kind == grouping_kind::whole ? words::json(d.at.extent) : words::json()},
          {"bytes_read", d.bytes_read()},
          {"bytes_moved", d.bytes_moved()},
          {"bytes_written", d.bytes_written()},
          {"shares_read", d.shares_read},
          {"route", d.route},
          {"shape", d.shape},
          {"cut", d.cut},
          {"tree", words::tree(d.of.facts)},
          {"sources", words::sources_of(d.of)},
          {"folds", words::folds_of(d.of)},
          {"launch", launch},
          {"plan", d.is_let && d.shares_read ? ""
                   : d.of_beside.joins ? spell(d.of_beside.plan)
                   : elements ? spell(written, int(d.of.sources.size()), d.arrays)
                   : keys                                                        ? folds_of_keys
                   : found                                                       ? spell(d.of_search.plan) + ", " + folds_of_keys
                   : (d.kind == grouping_kind::segments || d.route == "segments") && d.blocks > 0           ? spell(d.of_segments)
                   : planned_axes                                                ? spell(d.planned.plan, d.of.facts.source_count)
                   : d.kind == grouping_kind::whole && d.of.on_gpu && d.of.reads() ? spell(d.of.planned.plan, d.of.facts.source_count, d.of.facts.fold_count)
                                                                               : ""},
          {"why_not", words::why_not_of(d.why_not)}};
}

} // namespace

std::string grouped_explanation::text() const {
  auto const& d = about_;
  words::page to;
  to.text = d.pipeline + "\n";
  to.put("on", d.head.place);
  bool every = true;
  for (auto const& one : d.domains)
    for (auto const& f : one.of.folds) every = every && !f.host_only;
  to.put("promise", words::promise_of(d.head.facts.promise, every, "a group's bits depend on its own elements alone"));
  to.put("read", read_of(d));
  description refused;
  refused.why_not = d.head.why_not;
  refused.why_not.insert(refused.why_not.end(), d.why_not.begin(), d.why_not.end());
  words::put_refusals(to, refused);
  for (auto const& one : d.domains) put_domain(to, one);
  return to.text;
}

std::string grouped_explanation::json() const {
  auto const& d = about_;
  auto domains = words::json::array();
  for (auto const& one : d.domains) domains.push_back(domain_of(one));
  auto why_not = words::why_not_of(d.head.why_not);
  for (auto const& r : words::why_not_of(d.why_not)) why_not.push_back(r);
  words::json const out = {{"pipeline", d.pipeline},
                           {"back_end", d.head.on_gpu ? "gpu" : "cpu"},
                           {"route", "grouped"},
                           {"target", words::target_of(d.head)},
                           {"contract", spell(d.head.facts.promise)},
                           {"contract_reached", spell(d.head.facts.promise)},
                           {"lowered_by", words::json::array()},
                           {"tree", {{"version", tree_version}}},
                           {"bytes_read", d.bytes_read()},
                           {"bytes_written", d.bytes_written()},
                           {"expected_seconds", words::number_or_null(d.expected_seconds())},
                           {"domains", domains},
                           {"why_not", why_not}};
  return out.dump(2, ' ', false, words::json::error_handler_t::replace);
}

std::string grouped_explanation::mermaid() const {
  auto const& d = about_;
  std::string out = "flowchart TD\n";
  for (std::size_t i = 0; i < d.head.sources.size(); ++i)
    out += formatted("  source{}[(\"{}\")]\n", i, words::label(d.head.sources[i].name + ": " + d.head.sources[i].type));
  for (std::size_t k = 0; k < d.domains.size(); ++k) {
    auto const& one = d.domains[k];
    for (std::size_t i = 0; i < one.of.sources.size(); ++i) {
      auto const& s = one.of.sources[i];
      auto const origin = one.origins.empty() ? column_origin{column_home::head, int(i)} : one.origins[i];
      auto const from = origin.home == column_home::head      ? formatted("source{}", origin.index)
                        : origin.home == column_home::answers ? formatted("answers{}", origin.index)
                                                              : formatted("source{}_{}[(\"{}\")]", k, i, words::label(s.name + ": " + s.type));
      out += formatted("  {} -- \"{}\" --> domain{}\n", from, words::label(s.load), k);
    }
    if (one.kind == grouping_kind::elements && one.route == "rows_with_let")
      for (std::size_t let = 0; let < k; ++let) out += formatted("  answers{} -- registers --> domain{}\n", let, k);
    out += formatted("  domain{}[\"{}<br/>{}<br/>{} read\"]\n", k, words::label(one.name), words::label(groups_of(one)),
                       words::bytes(double(one.bytes_read())));
    out += formatted("  domain{} --> route{}[\"{}\"]\n", k, k, words::label(one.route));
    std::string answers;
    for (auto const& a : one.of.answers) answers += (answers.empty() ? "" : "<br/>") + words::label(a);
    out += formatted("  route{} --> answers{}{{{{\"{}\"}}}}\n", k, k, answers);
  }
  return out;
}

} // namespace tally::v0
