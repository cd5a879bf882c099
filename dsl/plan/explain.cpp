// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a description's facts to its words: the plan is made here, and every choice gets the sentence that all renderers
// share. Compiled side, plan.
#include <tally/plan/explain.hpp>

#include "base/formatted.hpp"
#include "jit/dump.hpp"
#include "jit/hash.hpp"
#include "plan/words.hpp"

#include <tally/base/error.hpp>
#include <tally/fold/tree.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <ostream>
#include <utility>

namespace tally::v0 {
namespace {

/// ceil(log2(n)): the height of a tree over n leaves.
int height(i64 n) { return n <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<u64>(n - 1))); }

/// Combinations between an element and the answer along the canonical tree.
int combinations(facts const& f, bool commutative) {
  i64 const lanes = i64(32) * f.lanes_per_group;
  int const rows = static_cast<int>(std::min<i64>(f.rows_per_leaf, f.extent == 0 ? 1 : (f.extent - 1) / lanes + 1));
  return height(std::min(lanes, f.extent)) + (commutative ? rows - 1 : height(rows)) + height(f.leaves());
}

i64 elements_of(source_description const& s, facts const& f) { return s.elements > 0 ? s.elements : f.extent; }

std::string rounding_of(fold_description const& fold, description const& d) {
  return words::rounding(fold, d.facts, d.on_gpu && d.reads() ? d.planned.plan.order : combine_order::canonical_tree, d.reads());
}

void word_gpu_source(source_description& s, source_choice const& c, bool striped) {
  switch (c.load) {
  case load_primitive::bulk_ring:
    s.load = "bulk_ring, leaves copied ahead by cp.async.bulk";
    s.why = formatted("folding takes longer than loading, address aligned to {} B", s.address_alignment);
    break;
  case load_primitive::striped_ldg:
    s.load = formatted("striped_ldg, {} B per load", c.bytes_per_load);
    s.why = s.stride != 1 ? formatted("elements lie {} apart", s.stride)
                          : formatted("address aligned to {} B", s.address_alignment);
    if (striped && s.stride == 1 && s.address_alignment >= 16)
      s.why = "another column is striped, and lanes have one layout";
    break;
  case load_primitive::grid_vector_ldg:
  case load_primitive::grid_same_ldg:
  case load_primitive::grid_two_ldg:
  case load_primitive::grid_words_ldg:
  case load_primitive::grid_ldg:
    s.load = formatted("{}, {} B per load", spell(c.load), c.bytes_per_load);
    s.why = c.load == load_primitive::grid_same_ldg ? "the same all along a row, whose place is found by its axes"
            : c.load == load_primitive::grid_two_ldg ? "the same all along a row, which may end within a group: its element and the next row's"
            : c.load == load_primitive::grid_words_ldg ? "rows begin anywhere: a group is picked from the words around it"
            : c.load == load_primitive::grid_ldg    ? "a row may end within a group: each lane finds its place by the axes"
                                                    : formatted("neighbours on a row, whose place is found by its axes, rows aligned to {} B", std::min(s.address_alignment, s.steps_alignment));
    break;
  case load_primitive::computed:
    s.load = "computed";
    s.why = "nothing is read";
    break;
  default: // loads that need neighbours and an aligned address
    s.load = formatted("{}, {} B per load", spell(c.load), c.bytes_per_load);
    s.why = formatted("neighbours in memory, address aligned to {} B", s.address_alignment);
  }
  if (s.staged) s.why += ", after a copy from host memory";
}

/// What the planner refused, with names and numbers.
void add_refusals(description& d) {
  for (int i = 0; i < d.planned.why_not.count; ++i) {
    refusal const& r = d.planned.why_not.entries[i];
    bool const of_source = std::string_view(r.choice) == "vector load" || std::string_view(r.choice) == "bulk ring";
    auto const k = static_cast<std::size_t>(r.subject);
    std::string subject;
    if (r.subject >= 0) subject = of_source ? d.sources.at(k).name : d.folds.at(k).name;
    d.why_not.push_back(words::in_words(r, std::move(subject)));
  }
}

} // namespace

std::string describe(target const& t) {
  if (t == targets::host) return "host";
  auto const* name = t == targets::a100           ? "A100 "
                     : t == targets::h200         ? "H200 "
                     : t == targets::b200         ? "B200 "
                     : t == targets::rtx_pro_6000 ? "RTX PRO 6000 "
                                                  : "";
  auto const architecture = formatted("sm_{}{}", t.compute_major, t.compute_minor);
  auto const chip = *name ? name + ("(" + architecture + ")") : architecture;
  return formatted("{}, {} multiprocessors", chip, t.multiprocessors);
}

name_list::name_list() = default;
name_list::name_list(name_list const&) = default;
name_list::~name_list() = default;
void name_list::add_fold(std::string name) { folds.push_back(std::move(name)); }
void name_list::add_column(std::string name) { columns.push_back(std::move(name)); }

description::description() = default;
description::description(description const&) = default;
description::description(description&&) noexcept = default;
description& description::operator=(description const&) = default;
description::~description() = default;

void description::add_answer(std::string text) { answers.push_back(std::move(text)); }

void description::add_source(source_facts const& f, std::string type, i64 bytes_per_element, bool host_only) {
  source_description s;
  s.name = "_" + std::to_string(sources.size() + 1);
  s.type = std::move(type);
  s.bytes_per_element = bytes_per_element;
  s.stride = f.stride;
  s.address_alignment = f.address_alignment;
  s.steps_alignment = f.steps_alignment;
  s.elements = f.elements;
  s.host_only = host_only;
  sources.push_back(std::move(s));
}

void description::add_fold(fold_facts const& f, std::string name, std::string rounds_in, host_lanes lanes,
                           bool host_only) {
  fold_description fold;
  fold.name = std::move(name);
  fold.state_bytes = f.state_bytes;
  fold.law = {f.commutative, f.order_free};
  fold.exact = f.exact;
  fold.rounds_in = std::move(rounds_in);
  fold.host_only = host_only;
  fold.lanes = lanes;
  folds.push_back(std::move(fold));
}

i64 description::bytes_read() const {
  i64 bytes = 0;
  for (auto const& s : sources) bytes += elements_of(s, facts) * s.bytes_per_element;
  return reads() ? bytes : 0;
}

i64 description::bytes_moved() const {
  i64 bytes = 0;
  for (auto const& s : sources) {
    i64 const apart = s.bytes_per_element * (s.stride < 0 ? -s.stride : s.stride);
    bytes += elements_of(s, facts) * std::max(s.bytes_per_element, std::min(apart, words::bytes_per_sector));
  }
  return reads() ? bytes : 0;
}

double description::expected_seconds() const {
  double const rate = facts.target.read_bytes_per_second;
  return rate > 0 && bytes_read() > 0 ? facts.target.launch_seconds + double(bytes_moved()) / rate : 0;
}

double description::expected_share_of_peak() const {
  double const seconds = expected_seconds();
  return seconds > 0 ? double(bytes_read()) / facts.target.read_bytes_per_second / seconds : 0;
}

explanation::explanation(explanation const&) = default;
explanation::explanation(explanation&&) noexcept = default;
explanation& explanation::operator=(explanation const&) = default;
explanation::~explanation() = default;

explanation::explanation(description facts_and_names) : about_(std::move(facts_and_names)) {
  words::plan_full(about_);
  if (words::keeps()) words::keep(text());
}

std::string explanation::ptx() const {
  if (!about_.on_gpu)
    throw no_gpu("this plan is for the host, which runs no PTX: explain(pipeline, targets::h200).ptx() names a chip.");
  if (about_.ptx_of == nullptr || !about_.reads()) return {};
  return about_.ptx_of(about_.planned.plan, about_.facts);
}

explanation explanation::measured(double seconds, double whole_seconds) const {
  explanation e = *this;
  e.about_.measured_seconds = seconds;
  e.about_.whole_seconds = whole_seconds;
  return e;
}

std::ostream& operator<<(std::ostream& out, explanation const& e) { return out << e.text(); }

} // namespace tally::v0

namespace tally::v0::words {

void word_host_source(source_description& s) {
  if (s.host_only) {
    s.load = "asked one by one";
    s.why = "only host code knows its elements";
  } else if (s.bytes_per_element == 0) {
    s.load = "computed";
    s.why = "nothing is read";
  } else {
    s.load = s.stride == 1 ? "read in place" : "gathered";
    s.why = s.stride == 1 ? "neighbours in memory" : formatted("elements lie {} apart", s.stride);
  }
}

void word_unnamed(source_description& s) {
  if (!s.unnamed) return;
  s.load = "not read";
  s.why = "nothing names it";
}

namespace {
/// A column of a fold of the whole, which may have rows of its own.
void word_host_column(source_description& s, i64 row) {
  word_host_source(s);
  if (row == 0 || s.host_only) return;
  s.load = "laid out, a few leaves at a time";
  s.why = formatted("rows of {} elements have places of their own", row);
}
} // namespace

void word_host_fold(fold_description& f) {
  switch (f.lanes) {
  case host_lanes::registers: f.block = "vector registers"; break;
  case host_lanes::one_by_one: f.block = "lane by lane"; break;
  case host_lanes::opaque: f.block = "element by element"; break;
  }
  f.grid = "ordered tiles";
}

void plan_full(description& d) {
  bool const plans = d.on_gpu && d.reads();
  if (plans) {
    d.planned = make_plan(d.facts);
    add_refusals(d);
  }
  for (std::size_t i = 0; i < d.sources.size(); ++i)
    if (!d.reads())
      d.sources[i].load = "not read",
      d.sources[i].why = d.facts.extent > 0 ? "no fold looks at its elements" : "it is empty";
    else if (d.on_gpu)
      word_gpu_source(d.sources[i], d.planned.plan.sources[i], d.planned.plan.sources_are_striped());
    else
      word_host_column(d.sources[i], d.facts.sources[i].row);
  for (auto& s : d.sources) word_unnamed(s);
  for (std::size_t i = 0; i < d.folds.size(); ++i) {
    auto& fold = d.folds[i];
    if (d.on_gpu) {
      fold.block = fold.exact ? "digits" : spell(d.planned.plan.folds[i].block);
      fold.grid = !plans                         ? "none"
                  : d.planned.plan.one_cluster   ? spell(d.planned.plan.folds[i].cluster)
                  : d.planned.blocks > 1         ? "ordered_partials"
                                                 : "one block";
    } else {
      word_host_fold(fold);
    }
    fold.rounding = rounding_of(fold, d);
  }
}

bool keeps() { return !jit::dump_folder(std::getenv("TALLY_DUMP"), "plan").empty(); }
void keep(std::string const& page) { jit::dump("plan", jit::hexadecimal(jit::fnv64(page)) + ".txt", page); }

std::string rounding(fold_description const& fold, facts const& f, combine_order order, bool reads) {
  if (fold.exact) return "once, the exact answer";
  if (fold.law.order_free) return "never: any order gives the same bits";
  auto const in = fold.rounds_in.empty() ? std::string("in its state") : "in " + fold.rounds_in;
  if (!reads) return in;
  if (order == combine_order::free) return in + ", in any order";
  if (order == combine_order::ordered) return in + ", in any grouping of elements in order";
  return formatted("{}, at most {} for an element", in, combinations(f, fold.law.commutative));
}

std::string bytes(double n) {
  char const* const units[] = {"B", "kB", "MB", "GB", "TB"};
  int u = 0;
  for (; n >= 1000 && u < 4; ++u) n /= 1000;
  return formatted("{:.3g} {}", n, units[u]);
}

std::string seconds(double s) {
  if (s < 1e-3) return formatted("{:.3g} us", s * 1e6);
  return s < 1 ? formatted("{:.3g} ms", s * 1e3) : formatted("{:.3g} s", s);
}

std::string several(i64 n, char const* thing) { return formatted("{} {}{}", n, thing, n == 1 ? "" : "s"); }

refused_choice in_words(refusal const& r, std::string subject) {
  return {r.choice, formatted(fmt::runtime(r.reason), r.numbers[0], r.numbers[1]), std::move(subject)};
}

std::string tree(facts const& f) {
  return formatted("tree v{}: {} rows x {} lanes", tree_version, f.rows_per_leaf, 32 * f.lanes_per_group);
}

std::vector<refusal_group> grouped(description const& d) {
  std::vector<refusal_group> groups;
  for (auto const& r : d.why_not) {
    std::size_t at = 0;
    while (at < groups.size() && (groups[at].choice != r.choice || groups[at].reason != r.reason)) ++at;
    if (at == groups.size())
      groups.push_back({r.choice, r.reason, r.subject});
    else
      groups[at].subjects += ", " + r.subject;
  }
  std::string every_fold;
  for (auto const& f : d.folds) every_fold += (every_fold.empty() ? "" : ", ") + f.name;
  auto const count = d.folds.size();
  for (auto& g : groups)
    if (!g.subjects.empty() && g.subjects == every_fold)
      g.subjects = count == 1 ? "" : count == 2 ? "both folds" : formatted("all {} folds", count);
  return groups;
}

} // namespace tally::v0::words
