// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of forms (primitive/legal.hpp) against ptxas, in both directions and on six targets: what it allows
// assembles, what it forbids is rejected, and what ptxas takes without a meaning in the PTX ISA is listed row by row.
// Three of the six differ: sm_90a adds no form to sm_90, nor do sm_100a and sm_120 to sm_100, and that is checked, too.
// Needs ptxas, no GPU.
#include "legality/assembler.hpp"
#include "legality/every_form.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace legality;

struct chip {
  char const* name;
  architecture number;
};
constexpr chip chips[]{{"sm_80", sm_80},   {"sm_90", sm_90},     {"sm_90a", sm_90a},
                       {"sm_100", sm_100}, {"sm_100a", sm_100a}, {"sm_120", sm_120}};
constexpr int chip_count = 6;
constexpr family families[]{family::copy_bulk, family::prefetch_bulk, family::reduce_bulk, family::red_async,
                            family::red};

bool have_assembler() {
  static bool const have = [] {
    if (assembler::path().empty()) {
      std::printf("skipped: no ptxas on this machine\n");
      return false;
    }
    int const release = assembler::release();
    if (release < 13) std::printf("skipped: the table is that of CUDA 13, and this ptxas is of CUDA %d\n", release);
    return release >= 13;
  }();
  return have;
}

/// Every form of every family.
std::vector<form> const& forms() {
  static std::vector<form> const all = [] {
    std::vector<form> found;
    for (family f : families)
      for (form const& one : every_form(f)) found.push_back(one);
    return found;
  }();
  return all;
}

/// What ptxas said: verdicts()[chip][form].
std::array<std::vector<bool>, chip_count> const& verdicts() {
  static auto const said = [] {
    std::array<std::vector<bool>, chip_count> result;
    std::vector<std::string> lines;
    for (form const& f : forms()) lines.push_back(line(f));
    std::atomic<int> next = 0, processes = 0;
    auto const start = std::chrono::steady_clock::now();
    auto const work = [&] {
      for (int c = next++; c < chip_count; c = next++) {
        assembler ptxas(chips[c].name, c);
        result[std::size_t(c)] = ptxas.judge(lines);
        processes += ptxas.processes();
      }
    };
    std::thread second(work);
    work();
    second.join();
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    std::printf("%zu cases in %.0f s, %d runs of ptxas\n", lines.size() * chip_count, seconds.count(), int(processes));
    return result;
  }();
  return said;
}

bool explained(form const& f, architecture on) { return legal(f, on, accepted_without_meaning); }

/// Whether a table and ptxas agree about a form: it assembles where it is legal, or else taken without a meaning.
bool agree(std::size_t i, int c, rules const& table) {
  form const& f = forms()[i];
  architecture const on = chips[c].number;
  bool const allowed = legal(f, on, table), meaningless = explained(f, on);
  return verdicts()[std::size_t(c)][i] == (allowed || meaningless) && !(allowed && meaningless);
}

/// Whether something holds for some form of a family on some chip.
template <class Holds>
bool somewhere(family instruction, Holds holds) {
  for (std::size_t i = 0; i < forms().size(); ++i)
    if (forms()[i].instruction == instruction)
      for (int c = 0; c < chip_count; ++c)
        if (holds(i, c)) return true;
  return false;
}

} // namespace

TEST_CASE("what the table allows assembles, and what it forbids is rejected") {
  if (!have_assembler()) return;
  for (int c = 0; c < chip_count; ++c) {
    CAPTURE(chips[c].name);
    long allowed = 0, without_meaning = 0, differences = 0;
    for (std::size_t i = 0; i < forms().size(); ++i) {
      allowed += legal(forms()[i], chips[c].number);
      without_meaning += explained(forms()[i], chips[c].number);
      if (agree(i, c, ptx_rules)) continue;
      bool const taken = verdicts()[std::size_t(c)][i];
      if (++differences <= 20)
        MESSAGE((std::string(chips[c].name) + (taken ? " takes " : " refuses ") + line(forms()[i])));
    }
    CHECK(differences == 0);
    std::printf("%-8s %zu forms: %ld legal, %ld taken without a meaning, %ld refused\n", chips[c].name, forms().size(),
                allowed, without_meaning, long(forms().size()) - allowed - without_meaning);
  }
  CHECK(forms().size() * chip_count >= 35000);
}

namespace {

/// The table with one entry changed, and what was changed.
struct broken {
  rules table;
  family instruction;
  std::string what;
};

/// Every table that differs from the true one in one word of one row, or in its first architecture.
std::vector<broken> every_broken_table() {
  std::vector<broken> tables;
  for (int r = 0; r < ptx_rules.count; ++r) {
    auto const change = [&](char const* what, auto edit) {
      rules table = ptx_rules;
      edit(table.rows[r]);
      tables.push_back({table, table.rows[r].instruction, "row " + std::to_string(r) + ": " + what});
    };
    auto const flip = [&](char const* what, int size, auto set_of) {
      for (int bit = 0; bit < size; ++bit)
        change((what + (" " + std::to_string(bit))).c_str(),
               [&](detail::rule& row) { set_of(row) ^= static_cast<detail::set>(1u << bit); });
    };
    flip(
        "operation", sizes[op], [](detail::rule & row) -> auto& { return row.what.operations; });
    flip(
        "type", sizes[type], [](detail::rule & row) -> auto& { return row.what.types; });
    flip(
        "destination", sizes[destination], [](detail::rule & row) -> auto& { return row.where.destinations; });
    flip(
        "source", sizes[source], [](detail::rule & row) -> auto& { return row.where.sources; });
    flip(
        "order", sizes[order], [](detail::rule & row) -> auto& { return row.where.orders; });
    flip(
        "scope", sizes[who], [](detail::rule & row) -> auto& { return row.where.scopes; });
    flip(
        "completion", sizes[end], [](detail::rule & row) -> auto& { return row.where.completions; });
    for (int bit : {1, 2, 4, 8})
      change(("width " + std::to_string(bit)).c_str(),
             [&](detail::rule& row) { row.what.widths ^= static_cast<detail::set>(1u << bit); });
    for (int bit : {1, 2, 4, 16}) {
      change(("may " + std::to_string(bit)).c_str(),
             [&](detail::rule& row) { row.where.may ^= static_cast<unsigned char>(bit); });
      change(("must " + std::to_string(bit)).c_str(),
             [&](detail::rule& row) { row.where.must ^= static_cast<unsigned char>(bit); });
    }
    change("noftz", [](detail::rule& row) { row.what.noftz = !row.what.noftz; });
    change("since + 10", [](detail::rule& row) { row.since = short(row.since + 10); });
    if (ptx_rules.rows[r].since > 80)
      change("since - 10", [](detail::rule& row) { row.since = short(row.since - 10); });
  }
  return tables;
}

} // namespace

TEST_CASE("a table with one wrong entry is found out") {
  if (!have_assembler()) return;
  auto const tables = every_broken_table();
  long found = 0, same = 0;
  for (broken const& b : tables) {
    if (somewhere(b.instruction, [&](std::size_t i, int c) { return !agree(i, c, b.table); })) {
      ++found;
      continue;
    }
    // Rows overlap: an entry that another row has as well changes nothing, nor does a chip that its words ask for.
    bool const different = somewhere(b.instruction, [&](std::size_t i, int c) {
      return legal(forms()[i], chips[c].number, b.table) != legal(forms()[i], chips[c].number);
    });
    CHECK_MESSAGE(!different, b.what);
    ++same;
  }
  std::printf("%ld broken tables found out, %ld that say the same in other words\n", found, same);
  CHECK(found > 2000);
  CHECK(same < 80);
}
