// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain of pipelines with lets, and of those that end with collect: which let is folded in the kernel of the elements, which before,
// and why.
#include "plans/made_up.hpp"
#include "plans/read_grouped.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

using namespace tally::v0;
using made_up::matrix;
using nlohmann::json;

namespace {

template <class Source>
auto softmax_of(Source const& source) {
  auto const greatest = source | over<1>(max);
  auto const total = source | map(exp(_1 - let(greatest))) | over<1>(sum);
  return source | map(exp(_1 - let(greatest)) / let(total)) | collect;
}
template <class R, class... Options>
auto domains_of(R const& r, Options... options) {
  return explain(r, options...).details().domains;
}

} // namespace

TEST_CASE("on a host, folds behind lets take the ways of rows without") {
  auto const route = [](i64 rows, i64 n) { return domains_of(softmax_of(from(matrix<float>(rows, n))), on::cpu.threads(2))[1].route; };
  CHECK(route(4096, 10) == "rows");
  CHECK(route(4096, 1000) == "rows");
  CHECK(route(4096, 20001) == "tile loop");
  CHECK(route(3, 1000) == "tile loop");
  CHECK(route(3, 100) == "strips of groups");
}

TEST_CASE("rows that fit on the chip are one kernel with their lets: one read, one write") {
  auto const e = explain(softmax_of(from(matrix<float>(4096, 1024))), targets::h200);
  auto const& d = e.details().domains;
  REQUIRE(d.size() == 3);
  CHECK(d[0].name == "let(over<1>(max(_1)))");
  CHECK(d[1].name == "let(map(exp(_1 - let(over<1>(max(_1))))) | over<1>(sum(_1)))");
  CHECK(d[2].name == "collect");
  for (auto const& one : d) CHECK(one.route == "rows_with_let");
  CHECK(d[0].shares_read);
  CHECK(d[1].shares_read);
  CHECK_FALSE(d[2].shares_read);
  CHECK(e.details().passes() == 1);
  CHECK(e.details().bytes_read() == 4096LL * 1024 * 4);
  CHECK(e.details().bytes_written() == 4096LL * 1024 * 4);
  CHECK(e.details().why_not.empty());
  CHECK(d[2].why_not.empty());
  CHECK(d[2].of_rows.plan == make_rows_plan(d[2].rows, d[2].written, 1).plan);
  CHECK(says(d[2].cut, std::to_string(d[2].of_rows.blocks) + " blocks"));
}

TEST_CASE("rows longer than a block holds are one kernel too, in clusters of blocks") {
  auto const planned = [](i64 n, target const& chip) { return explain(softmax_of(from(matrix<float>(64, n))), chip).details(); };
  auto const longer = planned(128256, targets::h200); // 126 leaves
  CHECK(longer.passes() == 1);
  auto const& p = longer.domains[2].of_rows.plan;
  CHECK(p.strip.warps_per_block == 16);
  CHECK(p.blocks_per_row == 8);
  CHECK_FALSE(p.strip.extent_fits);
  CHECK(longer.domains[2].blocks == 64 * 8);
  CHECK(says(longer.domains[2].shape, "a cluster of 8 blocks a row, 16 warps a block, a leaf each"));
  auto const least = planned(32769, targets::h200).domains[2].of_rows.plan;
  CHECK(least.strip.warps_per_block == 8);
  CHECK(least.blocks_per_row == 5); // the last of one leaf
  auto const larger = planned(262144, targets::h200).domains[2].of_rows.plan;
  CHECK(larger.strip.warps_per_block == 16);
  CHECK(larger.blocks_per_row == 16);
  CHECK(larger.strip.extent_fits);
  auto const of_every_chip = planned(262144, targets::rtx_pro_6000).domains[2].of_rows.plan;
  CHECK(of_every_chip.strip.warps_per_block == 32);
  CHECK(of_every_chip.blocks_per_row == 8);
  auto const most = planned(524288, targets::h200).domains[2].of_rows.plan;
  CHECK(most.strip.warps_per_block == 32);
  CHECK(most.blocks_per_row == 16);
  CHECK_FALSE(planned(33 * 1024, targets::h200).domains[2].of_rows.plan.strip.extent_fits); // whole leaves, but warps without one
  CHECK(planned(32768, targets::h200).domains[2].of_rows.plan.blocks_per_row == 1);
  CHECK(planned(32769, targets::a100).passes() == 3);
  CHECK(refuses(planned(32769, targets::a100).domains[2].why_not, "one kernel for rows", "a row takes 33 leaves, a block holds at most 32"));
}

TEST_CASE("rows of which a multiprocessor has few at a time ask for later ones, as far behind as they are long") {
  auto const planned = [](i64 n, target const& chip) { return explain(softmax_of(from(matrix<float>(4096, n))), chip).details().domains[2]; };
  auto const long_row = planned(65536, targets::h200);
  CHECK(long_row.of_rows.plan.asks_ahead);
  CHECK(long_row.of_rows.rows_ahead == 21);
  CHECK(says(long_row.shape, "; the row 21 behind is asked for"));
  CHECK(says(planned(1 << 18, targets::h200).shape, "; the row 6 behind is asked for"));
  CHECK(planned(25000, targets::h200).of_rows.plan.asks_ahead);
  CHECK(planned(20001, targets::h200).of_rows.plan.asks_ahead);       // one block a multiprocessor, because lanes are turned
  CHECK_FALSE(planned(20000, targets::h200).of_rows.plan.asks_ahead); // two blocks
  CHECK_FALSE(planned(16384, targets::h200).of_rows.plan.asks_ahead);
  CHECK_FALSE(says(planned(16384, targets::h200).shape, "asked for"));
  CHECK_FALSE(planned(25000, targets::a100).of_rows.plan.asks_ahead);
}

TEST_CASE("rows that do not fit are two passes of lets and one of elements, with the numbers that say why") {
  auto const e = explain(softmax_of(from(matrix<float>(64, 524289))), targets::h200);
  auto const& d = e.details().domains;
  CHECK(e.details().passes() == 3);
  CHECK(d[0].route == "threads_along_group");
  CHECK(d[2].route == "elements");
  CHECK(refuses(d[2].why_not, "one kernel for rows", "a row takes 513 leaves, the blocks of a cluster hold at most 512"));
  CHECK(e.details().bytes_written() == (64 + 64 + 64LL * 524289) * 4); // the answers of lets go through memory
  CHECK(d[2].of.sources.size() == 3);
  CHECK(d[2].of.sources[1].name == d[0].name);
  CHECK(d[2].of.sources[2].name == d[1].name);
}

TEST_CASE("a block holds 32 leaves, 16 where a thread would hold more than 128 bytes") {
  auto const blocks = [](auto const& source) { return explain(softmax_of(source), targets::h200).details().domains.back().of_rows.plan.blocks_per_row; };
  CHECK(blocks(from(matrix<float>(64, 32768))) == 1);
  CHECK(blocks(from(matrix<bf16>(64, 65536))) == 1);
  auto const products = [&](i64 n) { return blocks(from(matrix<float>(64, n), matrix<float>(64, n)) | map(_1 * _2)); };
  CHECK(products(16384) == 1);
  CHECK(products(16385) == 3);
}

TEST_CASE("a let that is not of the rows of the elements says which") {
  auto const source = from(matrix<float>(64, 1024));
  auto const why = [](auto const& r, auto... options) { return domains_of(r, targets::h200, options...).back().why_not; };
  CHECK(refuses(why(source | map(_1 - let(source | over<0>(mean))) | collect), "one kernel", "other axes than the innermost"));
  auto const other = from(matrix<float>(64, 1024, 4096));
  CHECK(refuses(why(source | map(_1 - let(other | over<1>(mean))) | collect), "one kernel", "other columns than the elements"));
  auto const doubles = from(matrix<double>(64, 1024));
  CHECK(refuses(why(source | map(_1 - cast<float>(let(doubles | over<1>(mean)))) | collect), "one kernel", "reads columns that the elements do not"));
  CHECK(refuses(why(softmax_of(source), exact), "one kernel", "exact"));
  auto const turned = from(shaped(reinterpret_cast<float const*>(0x1000), {1024, 64}, {1, 1024}));
  CHECK(refuses(why(softmax_of(turned)), "one kernel", "not neighbours in every column"));
  CHECK(why(source | map(_1 * 2.f) | collect).empty()); // without lets there is nothing to join
}

TEST_CASE("a let that several look at is one domain, lets of one type and other columns are two") {
  auto const source = from(matrix<float>(64, 40000));
  auto const mu = source | over<1>(mean);
  auto const var = source | map(squared(_1 - let(mu))) | over<1>(mean);
  CHECK(domains_of(source | map((_1 - let(mu)) / sqrt(let(var))) | collect, targets::h200).size() == 3);
  auto const other = from(matrix<float>(64, 40000, 1 << 20)) | over<1>(mean);
  auto const both = domains_of(source | map(let(mu) - let(other)) | collect, targets::h200);
  REQUIRE(both.size() == 3);
  CHECK(both[0].origins[0].home == column_home::head);
  CHECK(both[1].origins[0].home == column_home::apart);
  CHECK(both[2].origins[2].home == column_home::answers);
  CHECK(both[2].origins[2].index == 1);
}

TEST_CASE("folds behind lets are the domains that they are without, and the last") {
  auto const source = from(matrix<float>(64, 1024));
  auto const mu = source | over<1>(mean);
  auto const e = explain(source | map(_1 - let(mu)) | reduce(over<1>(sum(_1 * _1)), max), targets::h200);
  auto const& d = e.details().domains;
  REQUIRE(d.size() == 3);
  CHECK(d[0].is_let);
  CHECK(d[1].name == "over<1>(sum(_1 * _1))");
  CHECK(d[2].kind == grouping_kind::whole);
  CHECK(refuses(e.details().why_not, "one read with let(over<1>(mean(_1)))", "must all be there"));
  auto const in_the_fold = explain(source | over<1>(sum(squared(_1 - let(mu)))), targets::h200);
  CHECK(in_the_fold.details().domains[1].of.folds[0].name == "sum(squared(_1 - let(over<1>(mean(_1)))))");
  CHECK(in_the_fold.details().domains[1].name == "over<1>(sum(squared(_1 - let(over<1>(mean(_1))))))");
  auto const plain = domains_of(from(matrix<float>(64, 1024)) | over<1>(mean), targets::h200)[0];
  CHECK(d[0].planned.plan == plain.planned.plan); // as run(mu) has it
}

TEST_CASE("keys behind a let are read as without it, where it has one answer") {
  auto const source = from(matrix<float>(64, 1024));
  auto const whole = source | over<0, 1>(mean);
  auto const keyed = [&](auto const& folds) { return domains_of(folds, targets::h200); };
  auto const d = keyed(source | map(_1 - let(whole)) | histogram(0, 1, 100));
  REQUIRE(d.size() == 2);
  CHECK(d[0].is_let);
  CHECK(d[1].kind == grouping_kind::keys);
  CHECK(d[1].origins[1].home == column_home::answers);
  CHECK(d[1].of_keys.plan.in_order);
  CHECK(d[1].of_keys.plan == keyed(source | histogram(0, 1, 100))[0].of_keys.plan);
  CHECK(keyed(source | map(_1 - let(source | over<1>(mean))) | histogram(0, 1, 100))[1].of_keys.plan.on_rows);
}

TEST_CASE("columns, rows and total behind a let may share their read") {
  auto const source = from(matrix<float>(8192, 4096));
  auto const whole = from(matrix<float>(8192, 4096)) | over<0, 1>(max);
  auto const e = explain(source | map(_1 - let(whole)) | reduce(over<0>(sum), over<1>(sum), sum), targets::h200);
  REQUIRE(e.details().is_matrix);
  CHECK(e.details().columns == 1);
  CHECK(e.details().rows == 2);
}

TEST_CASE("the host folds every let before, and says how elements are written") {
  std::vector<float> const x(64 * 1024, 1.f);
  auto const e = explain(softmax_of(from(shaped(x, 64, 1024))), on::cpu.threads(2));
  CHECK(e.details().passes() == 3);
  CHECK(e.details().domains[2].route == "runs of elements");
  CHECK(says(e.details().domains[2].cut, "2 threads"));
  CHECK_FALSE(refuses(e.details().domains[2].why_not, "one kernel", ""));
  auto const wide = explain(from(x) | map(_1 * 2.f, tally::index) | collect, on::cpu);
  CHECK(wide.details().domains.size() == 1);
  CHECK(wide.details().bytes_written() == 64 * 1024 * 12);
  CHECK(wide.details().domains[0].of.answers == std::vector<std::string>{"_1 * 2", "index"});
}

TEST_CASE("what only the host knows holds all on the host, and is said") {
  std::vector<float> const x(12, 1.f);
  std::deque<float> const queue(12, 1.f);
  auto const where = [](auto const& r) { return explain(r, targets::h200).details(); };
  auto const lambda = where(from(x) | map([](float v) { return v; }) | collect);
  CHECK_FALSE(lambda.head.on_gpu);
  CHECK(refuses(lambda.head.why_not, "a GPU", "no device text"));
  auto const in_let = where(from(x) | map(_1 - let(from(x) | map([](float v) { return v; }) | sum)) | collect);
  CHECK_FALSE(in_let.head.on_gpu);
  CHECK(refuses(in_let.head.why_not, "a GPU", "no device text"));
  auto const range = where(from(x) | map(_1 - let(from(queue) | sum)) | collect);
  CHECK_FALSE(range.head.on_gpu);
  CHECK(refuses(range.head.why_not, "a GPU", "only host code knows"));
}

TEST_CASE("bad input is refused as run refuses it") {
  std::vector<float> const x(24, 1.f);
  auto const rows = from(shaped(x, 4, 6)) | over<1>(sum);
  CHECK_THROWS_WITH_AS(explain(from(shaped(x, 6, 4)) | over<1>(sum(_1 - let(rows))), targets::h200),
                       "[tally-E2] a let has 4 answers along axis 0, the source has 6 elements. docs/errors.md#E2", extent_mismatch);
  CHECK_THROWS_AS(explain(from(shaped(x, 3, 5)) | collect, on::cpu), extent_mismatch);
  auto const zero = from(x) | count_modulo(0u);
  CHECK_THROWS_AS(explain(from(x) | map(_1 - cast<float>(let(zero))) | collect, targets::h200), zero_modulus);
}

TEST_CASE("nothing to write is no route") {
  auto const e = explain(softmax_of(from(matrix<float>(0, 5))), targets::h200);
  for (auto const& d : e.details().domains) CHECK(d.route == "none");
  CHECK(e.ptx().empty());
}

TEST_CASE("the JSON says which kernel a let is in") {
  auto const j = read(explain(softmax_of(from(matrix<float>(64, 1024))), targets::h200));
  CHECK(j["domains"][0]["route"] == "rows_with_let");
  CHECK(j["domains"][0]["shares_read"] == true);
  CHECK(j["domains"][0]["plan"] == "");
  CHECK(j["domains"][2]["kind"] == "elements");
  CHECK(j["domains"][2]["launch"]["threads_per_block"] == 128);
  CHECK(says(j["domains"][2]["plan"].get<std::string>(), "tally::v0::elements_plan{.strip = tally::v0::axes_plan{"));
  CHECK(j["bytes_read"] == 64 * 1024 * 4);
}

TEST_CASE("the Mermaid chart leads answers of lets to what looks at them") {
  for (i64 n : {1024, 40000}) {
    auto const chart = explain(softmax_of(from(matrix<float>(64, n))), targets::h200).mermaid();
    for (char const* part : {"source0 -- ", "answers0 -- ", "answers1 -- ", "--> domain2"}) CHECK_MESSAGE(says(chart, part), part);
    for (char const* pair : {"()", "[]", "{}"})
      CHECK(std::count(chart.begin(), chart.end(), pair[0]) == std::count(chart.begin(), chart.end(), pair[1]));
  }
  auto const other = from(matrix<double>(64, 1024)) | over<1>(mean);
  CHECK(says(explain(from(matrix<float>(64, 1024)) | map(_1 - cast<float>(let(other))) | collect, targets::h200).mermaid(), "source0_0[(\"_1: f64\")]"));
}

TEST_CASE("the PTX holds the one kernel of rows, or one for each pass") {
  if (!gpu::can_compile()) return;
  auto const one = explain(softmax_of(from(matrix<float>(64, 1024))), targets::h200).ptx();
  CHECK(says(one, "rows_with_let"));
  CHECK_FALSE(says(one, "along_group"));
  auto const three = explain(softmax_of(from(matrix<float>(64, 600000))), targets::h200).ptx();
  CHECK_FALSE(says(three, "rows_with_let"));
  for (char const* part : {"along_group", "elements", "// collect\n", "// let(over<1>(max(_1)))\n"}) CHECK_MESSAGE(says(three, part), part);
}

TEST_CASE("answers of segments are folded before, and looked up by offsets") {
  float const* const x = reinterpret_cast<float const*>(std::uintptr_t(0x7f0000000000));
  int const* const offsets = reinterpret_cast<int const*>(std::uintptr_t(0x7f8000000000));
  auto const source = from(shaped(x, i64(1) << 24));
  auto const mu = source | by_segment(device(offsets, 1001), mean);
  auto const e = explain(source | map(_1 - let(mu)) | collect, targets::h200);
  auto const& d = e.details().domains;
  REQUIRE(d.size() == 2);
  CHECK(d[0].name == "let(by_segment(i32[1001], mean(_1)))");
  CHECK(d[0].route == "segments");
  CHECK(d[1].of.sources[0].load == "vector_ldg, 16 B per load");
  CHECK(d[1].of.sources[1].load == "looked up");
  CHECK(e.details().passes() == 2);
  CHECK(says(e.text(), "its groups are no rows"));
  CHECK(explain(source | sum(_1 * let(mu)), targets::h200).details().domains[1].of.sources[1].load == "looked up");
  CHECK(explain(source | reduce(by_segment(device(offsets, 1001), sum(_1 - let(mu)))), on::cpu).details().domains[1].of.sources[1].load == "looked up");
  if (!gpu::can_compile()) return;
  for (char const* part : {"earlier_of_segment", "// collect\n", "// let(by_segment(i32[1001], mean(_1)))\n"}) CHECK_MESSAGE(says(e.ptx(), part), part);
}
