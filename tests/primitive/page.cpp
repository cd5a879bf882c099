// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps docs/reference/primitives.md: every form, the verb that writes it, what reaches it and which test of tests/gpu
// checks its values. TALLY_UPDATE_GOLDEN=1 writes the page; otherwise a page that says something else fails. Needs NVRTC,
// no GPU.
//
// A GPU test claims forms in the line before its TEST_CASE, as patterns with `*`:
//   // values of: red.relaxed.gpu.global.add.*, cp.reduce.async.bulk.global.*.add.*
#include "primitive/device_unit.hpp"
#include "primitive/form_of.hpp"
#include "primitive/reaching.hpp"
#include "primitive/verb_of.hpp"

#include <tally/primitive/reducible.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace tally::v0::primitive;

namespace {

std::string const page_name = TALLY_REPOSITORY "/docs/reference/primitives.md";

std::string text_of(std::filesystem::path const& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether a text is what a pattern with `*` says.
bool matches(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') return !text.empty() && text[0] == pattern[0] && matches(text.substr(1), pattern.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i)
    if (matches(text.substr(i), pattern.substr(1))) return true;
  return false;
}

/// A test case of tests/gpu that says whose values it checks.
struct claim {
  std::string pattern, file, test;
};

std::vector<claim> claims() {
  std::vector<claim> found;
  for (auto const& file : std::filesystem::directory_iterator(TALLY_REPOSITORY "/tests/gpu")) {
    if (file.path().extension() != ".cpp") continue;
    std::istringstream lines(text_of(file.path()));
    std::vector<std::string> patterns;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("// values of: ")) {
        std::istringstream list(line.substr(14));
        for (std::string one; std::getline(list, one, ',');) {
          one.erase(0, one.find_first_not_of(' '));
          patterns.push_back(one);
        }
      } else if (line.starts_with("TEST_CASE(\"") && !patterns.empty()) {
        auto const name = line.substr(11, line.rfind('"') - 11);
        for (auto const& p : patterns) found.push_back({p, file.path().stem().string(), name});
        patterns.clear();
      }
    }
    CHECK_MESSAGE(patterns.empty(), ("a claim without a test in " + file.path().string()));
  }
  std::stable_sort(found.begin(), found.end(), [](claim const& a, claim const& b) { return a.file < b.file; });
  return found;
}

/// Forms that differ in order, scope, addressing and cache policy only: one row of the page.
struct row {
  form plain; ///< relaxed, gpu, .global and without a policy where there is a choice
  std::vector<form> forms;
};

form plain(form f) {
  f.cache_hint = false;
  if (f.instruction == family::red) {
    f.order = semantics::relaxed, f.scope = scope::gpu;
    if (f.destination == space::generic) f.destination = space::global;
  }
  if (f.instruction == family::red_async && f.order == semantics::release) f.scope = f.mmio ? scope::sys : scope::gpu;
  return f;
}

std::vector<row> rows() {
  std::vector<row> found;
  for (form const& f : verb_of::written_forms()) {
    auto const same = std::find_if(found.begin(), found.end(), [&](row const& r) { return r.plain == plain(f); });
    if (same == found.end())
      found.push_back({plain(f), {f}});
    else
      same->forms.push_back(f);
  }
  std::stable_sort(found.begin(), found.end(), [](row const& a, row const& b) {
    auto const key = [](form const& f) { return std::make_tuple(int(f.instruction), int(f.destination), f.width > 1); };
    return key(a.plain) < key(b.plain);
  });
  return found;
}

/// The heading a row stands under, the verb there, and what it is for.
struct part {
  std::string heading, verb, use;
};

part part_of(form const& f) {
  switch (f.instruction) {
  case family::copy_bulk:
    return {"Bulk copies: `cp.async.bulk`", "`copy`, `copy_to_blocks`, `copy_masked` of `primitive/copy.cuh`",
            "tiles of several columns, operands that the blocks of a cluster share, states on their way to a cluster's "
            "leader, whole tiles of results and, with a byte mask, their ragged ends"};
  case family::prefetch_bulk:
    return {"Bulk prefetch: `cp.async.bulk.prefetch.L2`", "`prefetch` of `primitive/prefetch.cuh`",
            "what a later block reads: of long rows with lets, the part of a row to come"};
  case family::reduce_bulk:
    if (f.destination == space::shared_cluster)
      return {"Bulk reductions into another block: `cp.reduce.async.bulk`", "`reduce` of `primitive/bulk_reduce.cuh`",
              "integer states, exact lanes and tables of bins that meet in a cluster"};
    return {"Bulk reductions into global memory: `cp.reduce.async.bulk`", "`reduce` of `primitive/bulk_reduce.cuh`",
            "keyed rows, histograms, columns, exact lanes"};
  case family::red_async:
    if (f.order == semantics::release)
      return {"Published reductions: `red.async.release`", "`red_async_release` of `primitive/red_async.cuh`",
              "a count that tells others what has been written"};
    return {"Reductions into another block: `red.async`", "`red_async` of `primitive/red_async.cuh`",
            "a few integer words that meet in a cluster"};
  case family::red: break;
  }
  if (f.width > 1) return {"Vectors: `red`", "`red` of `primitive/red_vector.cuh`", "tiles of columns, keyed rows"};
  return {"Single words: `red`", "`red` of `primitive/red.cuh`", "one answer a block, sparse bins, the ends of rows"};
}

/// What is known of a row.
struct findings {
  std::vector<std::string> reached_by, checked_by;
  bool by_pipeline = false;
};

findings look_up(row const& r, std::vector<claim> const& claimed) {
  findings known;
  for (auto const& u : reaching::users())
    if (std::any_of(r.forms.begin(), r.forms.end(),
                    [&](form const& f) { return std::find(u.forms.begin(), u.forms.end(), f) != u.forms.end(); })) {
      known.reached_by.push_back(u.name);
      known.by_pipeline = known.by_pipeline || u.is_pipeline;
    }
  for (auto const& c : claimed)
    if (std::any_of(r.forms.begin(), r.forms.end(),
                    [&](form const& f) { return matches(spell(f).c_str(), c.pattern); }) &&
        std::find(known.checked_by.begin(), known.checked_by.end(), c.file) == known.checked_by.end())
      known.checked_by.push_back(c.file);
  return known;
}

/// A text for a cell of a table.
std::string in_a_cell(std::string text) {
  for (auto at = text.find('|'); at != text.npos; at = text.find('|', at + 2)) text.insert(at, 1, '\\');
  return text;
}

/// Names behind commas, each once.
std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::find(names.begin(), names.begin() + long(i), names[i]) == names.begin() + long(i))
      text += (text.empty() ? "" : ", ") + names[i];
  return text;
}

char const introduction[] = R"(# Instructions

Every form of `cp.async.bulk`, `cp.async.bulk.prefetch`, `cp.reduce.async.bulk`, `red.async` and `red` that the PTX ISA
defines, and who uses it. This page is written by `tests/primitive/page.cpp`, which fails when the page says something else.

- **Legal**: `primitive/legal.hpp` is the table; `tests/legality` asks ptxas about every combination of words, legal or not,
  for sm_80, sm_90, sm_90a, sm_100, sm_100a and sm_120, in both directions. What is refused, and how, is in
  [errors](../errors.md#P1); `bulk_reducible`, `vector_reducible` and their like (`primitive/reducible.hpp`,
  `primitive/copyable.hpp`) ask the same table.
- **Written**: each form is written word for word by its verb; `tests/primitive/verbs.cpp` compiles all of them.
- **forms**: a row stands for so many forms, which differ in order (relaxed, release), scope (cta, cluster, gpu, sys),
  generic addressing and cache policy; the row shows the plain one. Words left to their default make no form of their own.
- **reached by**: a pipeline, or a part of `primitive/` that kernels are made of, in whose PTX the form was found; why a form has no pipeline:
  [decision](../decisions/some_forms_have_no_pipeline.md).
  Nine rows are left to the verb: of `red` in another block's shared memory, min, max, and, or, xor of 64 bits and additions
  of pairs become a load and a store (ptxas 13.0 for sm_90 and sm_100), and values are lost. There the ladder folds bits of
  64 as two words, adds halves one by one, and refuses min and max of 64 bits (`atomic_everywhere`).
- **values**: the test of `tests/gpu` that compares values on a GPU.

)";

std::string summary_line(std::string const& name, std::vector<row> const& of, std::vector<claim> const& claimed) {
  std::size_t forms = 0, pipelines = 0, parts = 0, checked = 0;
  for (row const& r : of) {
    auto const known = look_up(r, claimed);
    forms += r.forms.size();
    pipelines += known.by_pipeline;
    parts += !known.reached_by.empty();
    checked += !known.checked_by.empty();
  }
  std::ostringstream line;
  line << "| " << name << " | " << of.size() << " | " << forms << " | " << parts << " | " << pipelines << " | "
       << checked << " |\n";
  return line.str();
}

std::string page() {
  auto const claimed = claims();
  std::vector<std::pair<std::string, std::vector<row>>> parts;
  for (row const& r : rows()) {
    auto const heading = part_of(r.plain).heading;
    auto const known = std::find_if(parts.begin(), parts.end(), [&](auto const& p) { return p.first == heading; });
    if (known == parts.end())
      parts.push_back({heading, {r}});
    else
      known->second.push_back(r);
  }
  std::string text = introduction;
  text += "| | rows | forms | rows reached | by a pipeline | values checked |\n|---|---|---|---|---|---|\n";
  for (auto const& [heading, of] : parts) text += summary_line(heading.substr(0, heading.find(": `")), of, claimed);
  text += summary_line("all", rows(), claimed);
  for (auto const& [heading, of] : parts) {
    auto const about = part_of(of.front().plain);
    text += "\n## " + heading + "\n\nFor " + about.use + ". Verb: " + about.verb + ".\n\n";
    text += "| form | forms | since | reached by | values |\n|---|---|---|---|---|\n";
    for (row const& r : of) {
      auto const known = look_up(r, claimed);
      bool const newer = since(r.plain) >= 100;
      std::string const reached = !known.reached_by.empty()      ? listed(known.reached_by)
                                  : !atomic_everywhere(r.plain) ? "the verb only: not atomic in another block"
                                                                : "the verb only";
      std::string const values = !known.checked_by.empty() ? listed(known.checked_by)
                                 : newer                   ? "sm_100: assembled and planned, not run"
                                                           : "not yet";
      text += "| `" + std::string(spell(r.plain).c_str()) + "` | " + std::to_string(r.forms.size()) + " | sm_" +
              std::to_string(since(r.plain)) + " | " + reached + " | " + values + " |\n";
    }
  }
  text += "\n## Block algorithms\n\nCUB's three and the warp's own instruction, chosen by rule (`plan/block.hpp`).\n\n";
  text += "| algorithm | planned by | values |\n|---|---|---|\n";
  for (char const* name :
       {"BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_REDUCE_RAKING", "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY", "redux.sync"}) {
    std::vector<std::string> planned_by, checked_by;
    for (auto const& u : reaching::users())
      if (std::count(u.blocks.begin(), u.blocks.end(), name) != 0) planned_by.push_back(u.name);
    for (auto const& c : claimed)
      if (c.pattern == name) checked_by.push_back(c.file);
    text += std::string("| `") + name + "` | " + (planned_by.empty() ? "nothing yet" : listed(planned_by)) + " | " +
            (checked_by.empty() ? "not yet" : listed(checked_by)) + " |\n";
  }
  text += "\n## Who reaches them\n\n| | |\n|---|---|\n";
  for (auto const& u : reaching::users())
    text += "| " + u.name + (u.is_pipeline ? " (pipeline)" : "") + " | " + in_a_cell(u.text) + " |\n";
  text += "\n## Tests of values\n\n| tests/gpu | |\n|---|---|\n";
  std::vector<std::string> files, names;
  for (auto const& c : claimed) files.push_back(c.file);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  for (auto const& file : files) {
    names.clear();
    for (auto const& c : claimed)
      if (c.file == file) names.push_back("\"" + c.test + "\"");
    text += "| " + file + " | " + listed(names) + " |\n";
  }
  return text;
}

} // namespace

TEST_CASE("the page of instructions says what was found") {
  if (!device_unit::can_compile()) return;
  std::string const now = page();
  if (std::getenv("TALLY_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(page_name) << now;
    return;
  }
  bool const same = text_of(page_name) == now;
  CHECK_MESSAGE(same, "docs/reference/primitives.md is out of date: run with TALLY_UPDATE_GOLDEN=1");
}

TEST_CASE("every claim of a GPU test is about a form that exists") {
  auto const forms = verb_of::written_forms();
  for (claim const& c : claims()) {
    bool const found =
        c.pattern.starts_with("BLOCK_REDUCE_") || c.pattern == "redux.sync" ||
        std::any_of(forms.begin(), forms.end(), [&](form const& f) { return matches(spell(f).c_str(), c.pattern); });
    CHECK_MESSAGE(found, (c.file + ": " + c.test + " claims " + c.pattern));
  }
}

TEST_CASE("what is used is legal where it is used") {
  if (!device_unit::can_compile()) return;
  for (auto const& u : reaching::users())
    for (form const& f : u.forms) CHECK_MESSAGE(legal(f, u.made_for), (u.name + ": " + spell(f).c_str()));
}
