// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A spelled plan is C++ that rebuilds the plan: a compiler reads the text back and compares every field.
#include <tally/plan/planner.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tally::v0;

namespace {

/// An equality with the plan's numbers that does not go through spell.
std::string comparison(plan const& p) {
  // a new field stops here: compare it too
  auto const& [promise, order, group, rows, threads, leaves, in_flight, stages, per_chip, cluster, overlaps, ahead, in_turns, sources, folds] = p;
  auto text = fmt::format("int(p.promise) == {} && int(p.order) == {} && p.lanes_per_group == {} && "
                          "p.rows_per_leaf == {} && p.threads_per_block == {} && p.leaves_per_warp == {} && "
                          "p.rows_in_flight == {} && p.stages == {} && p.blocks_per_multiprocessor == {} && "
                          "p.one_cluster == {} && p.overlaps_launch == {} && p.reads_ahead == {} && p.takes_turns == {}",
                          int(promise), int(order), group, rows, threads, leaves, in_flight, stages, per_chip, cluster, overlaps, ahead, in_turns);
  for (int i = 0; i < max_sources; ++i)
    text += fmt::format(" && int(p.sources[{0}].load) == {1} && p.sources[{0}].bytes_per_load == {2}", i,
                        int(sources[i].load), sources[i].bytes_per_load);
  for (int i = 0; i < max_folds; ++i)
    text += fmt::format(" && int(p.folds[{0}].block) == {1} && int(p.folds[{0}].cluster) == {2}", i, int(folds[i].block),
                        int(folds[i].cluster));
  return text;
}

struct spelled_plan {
  plan value;
  int sources, folds;
};

std::vector<spelled_plan> plans_of_all_kinds() {
  std::vector<spelled_plan> all;
  for (contract c : {contract::reproducible, contract::fast})
    for (target const& t : {targets::a100, targets::h200})
      for (int sources : {1, max_sources})
        for (int folds : {1, max_folds}) {
          facts f{1 << 24, c, 4, 8, sources, folds, {}, {}, t};
          for (int i = 0; i < sources; ++i) f.sources[i] = {4, 1, c == contract::fast ? 4 : 16};
          if (sources > 3) f.sources[3] = {0, 1, 16, load_primitive::computed};
          for (int i = 0; i < folds; ++i)
            f.folds[i] = {4 + 8 * (i % 3), i != 5, i % 2 == 0, static_cast<block_algorithm>(1 + i % 3), i % 2 == 0};
          all.push_back({make_plan(f).plan, sources, folds});
        }
  return all;
}

} // namespace

TEST_CASE("the host compiler reads a spelled plan back as the same plan") {
  std::string program = "#include <tally/plan/plan.hpp>\n";
  int number = 0;
  for (auto const& p : plans_of_all_kinds())
    program += fmt::format("namespace n{} {{ constexpr auto p = {}; static_assert({}); }}\n", number++,
                           spell(p.value, p.sources, p.folds), comparison(p.value));
  CHECK(number > 8);
  char const* chosen = std::getenv("CXX");
  std::string const compiler = chosen != nullptr && *chosen ? chosen : "c++";
  auto const command = compiler + " -std=c++20 -fsyntax-only -I " TALLY_REPOSITORY "/include -isystem "
                                  TALLY_CCCL_INCLUDE_DIR " -x c++ -";
  std::FILE* pipe = popen(command.c_str(), "w");
  REQUIRE(pipe != nullptr);
  std::fwrite(program.data(), 1, program.size(), pipe);
  CHECK(pclose(pipe) == 0);
}

TEST_CASE("plans that differ are spelled differently") {
  std::vector<spelled_plan> const plans = plans_of_all_kinds();
  for (auto const& a : plans)
    for (auto const& b : plans) {
      bool const spelled_alike = spell(a.value, a.sources, a.folds) == spell(b.value, b.sources, b.folds);
      CHECK(spelled_alike == (a.value == b.value));
    }
}

TEST_CASE("every enumerator has its own word") {
  CHECK(std::string(spell(contract::fast)) == "fast");
  CHECK(std::string(spell(contract::reproducible)) == "reproducible");
  CHECK(std::string(spell(combine_order::free)) == "free");
  CHECK(std::string(spell(load_primitive::striped_ldg)) == "striped_ldg");
  CHECK(std::string(spell(block_algorithm::raking_commutative_only)) == "raking_commutative_only");
}
