// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain of reductions with groupings: domain by domain, in each form, on every place.
#include "plans/made_up.hpp"
#include "plans/read_grouped.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

using namespace tally::v0;
using made_up::matrix;
using nlohmann::json;

TEST_CASE("every grouping is a domain, and the whole folds are one more") {
  std::vector<float> const x(12, 1.f);
  auto const e = explain(from(shaped(x, 3, 4)) | reduce(over<0>(sum), over<1>(mean), sum, max), on::cpu.threads(2));
  auto const& d = e.details().domains;
  REQUIRE(d.size() == 3);
  CHECK(d[0].name == "over<0>(sum(_1))");
  CHECK(d[0].groups == 4);
  CHECK(d[0].at.extent == 3);
  CHECK(d[1].groups == 3);
  CHECK(d[1].at.extent == 4);
  CHECK(d[2].name == "sum(_1), max(_1)");
  CHECK(d[2].kind == grouping_kind::whole);
  CHECK(e.details().bytes_read() == 3 * 48);
  CHECK(e.details().bytes_written() == 4 * 4 + 3 * 4 + 4 + 4);
  std::ostringstream out;
  out << e;
  CHECK(out.str() == e.text());
  CHECK(e.text().starts_with("from(f32[3 x 4]) | reduce(over<0>(sum(_1)), over<1>(mean(_1)), sum(_1), max(_1))\n"));
}

TEST_CASE("what is said of a GPU is what the planner plans") {
  auto const m = matrix<float>(8192, 4096);
  auto const down = explain(from(m) | reduce(over<0>(sum)), targets::h200), along = explain(from(m) | reduce(over<1>(mean, max)), targets::h200);
  auto const &columns = down.details().domains[0], &rows = along.details().domains[0];
  CHECK(columns.route == "threads_across_groups");
  CHECK(rows.route == "threads_along_group");
  for (auto const* one : {&columns, &rows}) {
    auto const planned = make_axes_plan({one->of.facts, one->at});
    CHECK(planned.plan == one->planned.plan);
    CHECK(says(one->cut, std::to_string(planned.blocks()) + " blocks"));
  }
  CHECK(refuses(columns.why_not, "threads along a group", "not neighbours"));
  CHECK(says(read(down)["domains"][0]["plan"].get<std::string>(), "tally::v0::axes_plan{"));
}

TEST_CASE("columns, rows and total of a matrix share a read, on a GPU and on the host") {
  auto const r = from(matrix<float>(8192, 4096)) | reduce(over<0>(sum), over<1>(mean), sum);
  auto const e = explain(r, targets::h200);
  CHECK(e.details().passes() == 1);
  CHECK(e.details().bytes_read() == 8192LL * 4096 * 4);
  for (auto const& d : e.details().domains) CHECK(d.route == "mixed");
  CHECK(e.details().why_not.empty());
  CHECK(read(e)["domains"][1]["shares_read"] == true);
  auto const host = explain(r, on::cpu);
  CHECK(host.details().passes() == 1);
  CHECK(host.details().bytes_read() == 8192LL * 4096 * 4);
  CHECK(read(host)["domains"][2]["shares_read"] == true);
  CHECK(explain(from(matrix<float>(512, 512)) | reduce(over<0>(sum), over<1>(mean), sum), on::cpu).details().passes() == 3); // caches keep it
  auto const table = explain(from(matrix<float>(200'000, 32)) | reduce(over<0>(sum), over<1>(sum), sum), targets::h200);
  CHECK(table.details().passes() == 1);
  CHECK(table.details().domains[0].cut == "196 bands, 1 a block = 196 blocks of 288 threads, a ring of 3 tiles copied ahead in bulk, of whole rows, each folded by 8 threads");
  auto const small = explain(from(matrix<float>(64, 64)) | reduce(over<0>(sum), over<1>(sum)), targets::h200);
  CHECK(small.details().passes() == 2);
  CHECK(refuses(small.details().why_not, "one read", "leave most of a tile empty"));
}

TEST_CASE("a domain that does not share its read with the first says so, and why") {
  auto const small = explain(from(matrix<float>(64, 64)) | reduce(over<0>(sum), over<1>(sum)), targets::h200);
  CHECK(refuses(small.details().why_not, "one read with over<0>(sum(_1))", "L2"));
  auto const large = explain(from(matrix<bf16>(65536, 3072)) | reduce(over<0>(sum), sum), targets::h200);
  CHECK_FALSE(says(large.text(), "L2"));
  CHECK(large.details().why_not.size() == 2);
  CHECK(refuses(large.details().why_not, "total in the same read", "elements so small"));
  CHECK(refuses(large.details().why_not, "one read with over<0>(sum(_1))", "a launch of its own"));
  CHECK(explain(from(matrix<float>(64, 64)) | reduce(over<0>(sum)), targets::h200).details().why_not.empty());
}

TEST_CASE("the host folds numbers by rows, where they lie or computed, and by columns") {
  std::vector<float> const x(1 << 16, 1.f);
  auto const at = [&](auto r) { return explain(r, on::cpu.threads(2)).details().domains[0]; };
  for (i64 const n : {1, 32, 2048})
    CHECK(at(from(shaped(x.data(), (1 << 16) / n, n)) | reduce(over<1>(sum, mean, sum(_1 * _1)))).route == "rows");
  CHECK(at(from(shaped(x.data(), 1, 1 << 16)) | reduce(over<1>(sum))).route == "tile loop");
  for (i64 const n : {3, 32, 2048})
    CHECK(at(from(shaped(x.data(), (1 << 16) / n, n)) | reduce(over<0>(sum, max))).route == "columns");
  CHECK(at(from(shaped(x.data(), {1000, 3}, {4, 1})) | reduce(over<0>(sum))).route == "strips of groups");
}

TEST_CASE("the host folds strips of groups, or long groups one after another") {
  std::vector<float> const x(1 << 16, 1.f);
  auto const at = [&](auto r) { return explain(r, on::cpu.threads(2)).details().domains[0]; };
  CHECK(at(from(shaped(x, 32, 2048)) | reduce(over<1>(sum.where(_1 > 0.f)))).route == "tile loop");
  auto const short_groups = at(from(shaped(x, 2048, 32)) | reduce(over<1>(sum.where(_1 > 0.f))));
  CHECK(short_groups.route == "strips of groups");
  CHECK(refuses(short_groups.why_not, "tile loop", "shorter than " + std::to_string(planning::long_group)));
  CHECK(refuses(short_groups.why_not, "whole strips", "not neighbours"));
  auto const columns = at(from(shaped(x, 2048, 32)) | filter(_1 > 0.f) | reduce(over<0>(sum)));
  CHECK(refuses(columns.why_not, "tile loop", "not neighbours in memory"));
  CHECK_FALSE(refuses(columns.why_not, "whole strips", ""));
  CHECK(refuses(at(from(shaped(x, 32, 2048)) | reduce(over<1>(sum(_1 * cast<float>(tally::index))))).why_not, "tile loop", "positions"));
}

TEST_CASE("the host copies few long groups that lie apart, if all of their columns are memory") {
  std::vector<float> const x(1 << 15, 1.f);
  auto const at = [&](auto r) { return explain(r, on::cpu.threads(2)).details().domains.back(); };
  auto const few_columns = shaped(x, 8192, 4);
  auto const memory = at(from(few_columns) | reduce(over<0>(sum(_1 * _1))));
  CHECK(memory.route == "copied groups");
  CHECK(says(memory.shape, "piece by piece"));
  CHECK(memory.cut == "1 tile of every group, dealt to 2 threads");
  CHECK(memory.why_not.empty());
  CHECK(at(from(shaped(x, 2, 4096, 4)) | reduce(over<1>(sum(_1 * _1)))).route == "copied groups");
  CHECK(at(from(shaped(x.data(), {4, 2048}, {4096, 2})) | reduce(over<1>(sum))).route == "copied groups");
  auto const computed = at(from(few_columns, shaped(iota(1 << 15), 8192, 4)) | reduce(over<0>(sum(_1 * cast<float>(_2)))));
  auto const answers = at(from(few_columns) | map(_1 - let(from(few_columns) | over<0>(mean))) | reduce(over<0>(sum(_1 * _1))));
  for (auto const* d : {&computed, &answers}) {
    CHECK(d->route == "strips of groups");
    CHECK_FALSE(says(d->shape, "piece by piece"));
    CHECK(d->cut == "1 strip on 2 threads");
    CHECK(refuses(d->why_not, "copied groups", "computed"));
    CHECK(refuses(d->why_not, "tile loop", "not neighbours"));
    CHECK(refuses(d->why_not, "whole strips", "shorter than a strip"));
  }
  auto const positions = at(from(few_columns) | reduce(over<0>(sum(_1 * cast<float>(tally::index)))));
  CHECK(positions.route == "strips of groups");
  CHECK(refuses(positions.why_not, "copied groups", "positions"));
  auto const many = at(from(shaped(x, 2048, 16)) | reduce(over<0>(sum(_1 * _1))));
  CHECK(many.route == "strips of groups");
  CHECK_FALSE(refuses(many.why_not, "copied groups", ""));
}

TEST_CASE("strips are cut as they are walked: along a row where its groups lie together, else through all groups") {
  std::vector<float> const x(1 << 16, 1.f);
  auto const at = [&](auto r) { return explain(r, on::cpu.threads(2)).details().domains[0]; };
  auto const together = at(from(shaped(x.data(), {4, 8, 20}, {200, 20, 1})) | filter(_1 > 0.f) | reduce(over<1>(sum)));
  CHECK(together.cut == "8 strips, up to 64 of them walked together, on 2 threads");
  auto const apart = at(from(shaped(x.data(), {4, 8, 20}, {640, 80, 2})) | filter(_1 > 0.f) | reduce(over<1>(sum)));
  CHECK(apart.cut == "5 strips on 2 threads");
}

TEST_CASE("a processor without the registers of vector loops folds groups element by element, and explain says so") {
  std::vector<float> const x(1 << 16, 1.f);
  auto const without_registers = [&](auto r) {
    auto d = explain(r, on::cpu.threads(2)).details();
    d.domains[0].why_not.clear();
    d.domains[0].on_host.has_registers = false;
    return grouped_explanation(d).details().domains[0];
  };
  auto const check = [&](auto r) {
    auto const d = without_registers(r);
    CHECK(d.route == "element by element");
    CHECK(d.cut == std::to_string(d.groups) + " groups dealt to 2 threads");
    CHECK(d.of.folds[0].block == "element by element");
    CHECK(refuses(d.why_not, "vector loops", "registers"));
  };
  check(from(shaped(x.data(), 2048, 32)) | reduce(over<1>(sum)));
  check(from(shaped(x.data(), 2048, 32)) | reduce(over<0>(sum)));
  check(from(shaped(x.data(), 8192, 4)) | reduce(over<0>(sum(_1 * _1))));
  CHECK(without_registers(from(shaped(x.data(), 32, 2048)) | reduce(over<1>(sum))).route == "tile loop");
}

TEST_CASE("a rounding point for every combination, and no more") {
  std::vector<float> const x(48, 1.f);
  auto const e = explain(from(shaped(x, 3, 16)) | reduce(over<1>(sum, max)), targets::h200);
  CHECK(says(e.details().domains[0].of.folds[0].rounding, "f32, at most 4 "));
  CHECK(says(e.details().domains[0].of.folds[1].rounding, "never"));
}

TEST_CASE("a read has the bytes of the columns that it names, and one that is joined those of all") {
  float const* const x = made_up::address<float>();
  constexpr i64 rows_of = 65536, row = 4096, column = 4 * rows_of * row;
  auto const all = from(shaped(x, rows_of, row), shaped(x + rows_of * row, rows_of, row), shaped(x + 2 * rows_of * row, rows_of, row));
  auto const one = explain(all | over<0>(sum(_2)), targets::h200);
  CHECK(one.details().bytes_read() == column);
  CHECK(one.details().domains[0].of.sources[0].load == "not read");
  CHECK(says(one.details().domains[0].of.sources[1].load, "vector_ldg"));
  auto const matrix = explain(all | reduce(over<0>(sum(_1)), over<1>(sum(_3)), sum(_3)), targets::h200);
  CHECK(matrix.details().passes() == 1);
  CHECK(matrix.details().bytes_read() == 2 * column);
  CHECK(matrix.details().joined.plan.bytes_per_copy == 0);
  auto const keys = explain(all | reduce(sum(_1), by_key(cast<int>(_3), 10, count)), targets::h200);
  CHECK(keys.details().passes() == 1);
  CHECK(keys.details().bytes_read() == 2 * column);
  auto const apart = explain(all | reduce(sum(_1), by_key(cast<int>(_3), 100000, count)), targets::h200);
  CHECK(apart.details().passes() == 2);
  CHECK(apart.details().bytes_read() == 2 * column);
}

TEST_CASE("segments and keys say what they are") {
  std::vector<float> const x(12, 1.f);
  std::vector<i32> const key(12, 1), offsets{0, 3, 12};
  auto const r = from(x, key) | reduce(by_key(_2, 5, sum(_1), count), by_segment(offsets, mean(_1)), histogram(_1, 0.f, 2.f, 4), group_by(_2, max(_1)));
  auto const e = explain(r, on::cpu.threads(2));
  auto const& d = e.details().domains;
  REQUIRE(d.size() == 4);
  CHECK(d[0].kind == grouping_kind::keys);
  CHECK(d[0].groups == 5);
  CHECK(says(d[0].of.folds[0].rounding, "once, the exact answer"));
  CHECK(d[1].kind == grouping_kind::segments);
  CHECK(d[1].groups == 2);
  CHECK(d[1].bytes_read() == 12 * 4 + 3 * 4); // no key
  CHECK(d[2].groups == 4);
  CHECK(says(d[2].name, "bin(_1, [0, 2]), 4"));
  CHECK(d[3].kind == grouping_kind::found_keys);
  CHECK(read(e)["domains"][3]["groups"].is_null());
  auto const quick = explain(from(x, key) | reduce(by_key(_2, 5, sum(_1))), on::cpu.threads(2), fast);
  CHECK(says(quick.details().domains[0].of.folds[0].rounding, "in any order"));
}

TEST_CASE("segments on a GPU have the plan of segments") {
  std::vector<i64> const offsets{0, 3, 1 << 20};
  auto const e = explain(from(device(reinterpret_cast<float const*>(0x1000), 1 << 20)) | reduce(by_segment(offsets, sum)), targets::h200);
  auto const& d = e.details().domains[0];
  CHECK(e.details().head.on_gpu);
  CHECK(d.route == "segments");
  CHECK(d.of_segments == make_segments_plan(d.of.facts, d.groups));
  CHECK(says(read(e)["domains"][0]["plan"].get<std::string>(), "tally::v0::segments_plan{"));
  CHECK(read(e)["domains"][0]["launch"]["blocks"] == d.blocks);
}

TEST_CASE("keys on a GPU have the plan of keys") {
  auto const at = [](i64 bins) {
    auto const r = from(device(reinterpret_cast<float const*>(0x1000), 1 << 20), device(reinterpret_cast<i32 const*>(0x2000), 1 << 20));
    return explain(r | reduce(by_key(_2, bins, sum(_1), count)), targets::h200);
  };
  auto const few = at(100).details().domains[0], many = at(1 << 20).details().domains[0];
  CHECK(few.route == "in_shared_memory");
  CHECK(says(few.shape, "shared memory"));
  CHECK(few.why_not.empty());
  CHECK(many.route == "in_global_memory");
  CHECK(refuses(many.why_not, "table of a block", "do not fit"));
  CHECK(many.bytes_written() == i64(1 << 20) * (4 + 8));
  CHECK(says(read(at(100))["domains"][0]["plan"].get<std::string>(), "tally::v0::keys_plan{"));
  CHECK(read(at(100))["domains"][0]["launch"]["blocks"] == few.blocks);
  CHECK(says(few.of.folds[0].rounding, "once, the exact answer"));
}

TEST_CASE("under fast, a GPU takes variances of floats exactly, and the host as they come, as it is told") {
  i64 const n = 1 << 24;
  auto const columns = from(device(reinterpret_cast<float const*>(0x1000), n), device(reinterpret_cast<i32 const*>(0x2000), n));
  auto const wide = from(device(reinterpret_cast<double const*>(0x1000), n), device(reinterpret_cast<i32 const*>(0x2000), n));
  auto const of = [](auto const& r, auto where) { return explain(r, where, fast).details().domains[0]; };
  auto const r = columns | by_key(_2, 1000, variance(_1));
  auto const on_gpu = of(r, targets::h200), on_host = of(r, on::cpu);
  CHECK(on_gpu.route == "in_shared_memory");
  REQUIRE(on_gpu.of.folds.size() == 3);
  CHECK(on_gpu.of.folds[0].exact);
  CHECK((on_gpu.ptx_of != nullptr));
  REQUIRE(on_host.of.folds.size() == 1);
  CHECK(on_host.of.folds[0].name == "deviations(_1)");
  CHECK(of(wide | by_key(_2, 1000, variance(_1)), targets::h200).of.folds[0].exact);
  CHECK(of(columns | by_key(_2, 1 << 22, variance(_1)), targets::h200).route == "sorted"); // slots are many
  CHECK(of(columns | group_by(_2, variance(_1)), targets::h200).of.folds[0].exact);
  CHECK(of(columns | by_key(_2, 1 << 20, sum(_1), count), targets::h200).of.folds[0].exact);
  CHECK_FALSE(of(columns | by_key(_2, 100'000, sum(_1), count), targets::h200).of.folds[0].exact);
  auto const together = explain(columns | reduce(by_key(_2, 100, variance(_1)), sum(_1)), targets::h200, fast).details();
  CHECK(together.domains[0].of_beside.joins);
  CHECK(together.passes() == 1);
}

TEST_CASE("keys that are found have a search in front, and count what it reads") {
  auto const r = from(device(reinterpret_cast<float const*>(0x1000), 1 << 20), device(reinterpret_cast<i64 const*>(0x2000), 1 << 20));
  auto const e = explain(r | reduce(group_by(_2, sum(_1), count)), targets::h200);
  auto const& d = e.details().domains[0];
  CHECK(e.details().head.on_gpu);
  CHECK(d.kind == grouping_kind::found_keys);
  CHECK(d.route == "found keys, in_global_memory");
  CHECK(d.of_search.slots == planning::first_key_slots);
  CHECK(says(d.shape, "table of 131072 slots of 16 B"));
  CHECK(says(d.shape, "here for 65536 keys"));
  CHECK(says(d.cut, "search: "));
  CHECK(d.bytes_read() == (i64(1) << 20) * (4 + 8 + 8));
  CHECK(e.details().passes() == 2);
  CHECK(read(e)["domains"][0]["launch"]["search"]["slots"] == planning::first_key_slots);
  CHECK(read(e)["domains"][0]["groups"].is_null());
  for (char const* plan : {"tally::v0::find_keys_plan{", "tally::v0::keys_plan{"}) CHECK(says(read(e)["domains"][0]["plan"].get<std::string>(), plan));
  auto const any_order = explain(r | reduce(group_by(_2, sum(_1))), targets::h200, fast).details().domains[0];
  CHECK(any_order.route == "found keys, in_global_memory");
  CHECK(says(any_order.shape, "a block keeps the first 4096 slots"));
  CHECK(refuses(any_order.why_not, "ranges of slots", "each of 2 would look all keys up"));
  CHECK(says(d.shape, "a block keeps the first 2048 slots"));
  auto const few = explain(from(device(reinterpret_cast<u8 const*>(0x1000), 1 << 20)) | reduce(group_by(_1, count)), targets::h200);
  CHECK(few.details().domains[0].of_search.slots == 512);
  if (gpu::can_compile())
    for (char const* part : {"find_keys", "by_key"}) CHECK(says(few.ptx(), part));
}

TEST_CASE("keys whose folds need an order are sorted, and so are those that are found") {
  auto const r = from(device(reinterpret_cast<float const*>(0x1000), 1 << 20), device(reinterpret_cast<i32 const*>(0x2000), 1 << 20));
  auto const e = explain(r | reduce(by_key(_2, 1000, logsumexp(_1), count)), targets::h200);
  auto const& d = e.details().domains[0];
  CHECK(e.details().head.on_gpu);
  CHECK(d.route == "sorted");
  CHECK(says(d.shape, "one pass of 10 bits"));
  CHECK(refuses(d.why_not, "tables of slots", "in their order"));
  CHECK(e.details().passes() == 2);
  CHECK(d.bytes_moved() > 3 * d.bytes_read());
  CHECK(d.of.folds[0].grid == "ordered_partials");
  CHECK(says(read(e)["domains"][0]["plan"].get<std::string>(), "tally::v0::sorted_keys_plan{"));
  CHECK(read(e)["domains"][0]["launch"]["blocks"] == d.blocks);
  CHECK(read(e)["domains"][0]["launch"]["sort"]["passes"] == 1);
  auto const found = explain(r | reduce(group_by(_2, logsumexp(_1))), targets::h200, fast);
  CHECK(found.details().domains[0].route == "found keys, sorted");
  CHECK(found.details().passes() == 3);
  CHECK(says(found.details().domains[0].of.folds[0].rounding, "at most"));
  for (char const* plan : {"tally::v0::find_keys_plan{", "tally::v0::sorted_keys_plan{"}) CHECK(says(read(found)["domains"][0]["plan"].get<std::string>(), plan));
  CHECK(explain(r | reduce(by_key(_2, 9, logsumexp(_1))), on::cpu).details().domains[0].route == "sorted elements");
}

TEST_CASE("elements by many keys are partitioned where each takes several atomics, and sorted where no atomic combines a state") {
  i64 const n = 1 << 24;
  auto const r = from(device(reinterpret_cast<float const*>(0x1000), n), device(reinterpret_cast<i32 const*>(0x2000), n));
  auto const e = explain(r | reduce(by_key(_2, 100'000, sum(_1))), targets::h200);
  auto const& d = e.details().domains[0];
  CHECK(d.route == "partitioned");
  CHECK(says(d.shape, "264 partitions of 380 slots in tiles of 16384"));
  CHECK(says(d.shape, "of exact sums a block has windows, 12 of 112 bytes a slot"));
  CHECK(refuses(d.why_not, "tables of slots", "less than 2 atomics an element"));
  CHECK(e.details().passes() == 1);
  CHECK(d.bytes_moved() == d.bytes_read() + 2 * n * 6);
  CHECK(d.of.folds[0].grid == "atomics");
  auto const said = read(e)["domains"][0];
  CHECK(says(said["plan"].get<std::string>(), "tally::v0::partitioned_keys_plan{"));
  CHECK(said["launch"]["partition"]["partitions"] == 264);
  auto const wide = explain(r | reduce(by_key(_2, 4'000'000, covariance(_1, _1 * 3.f), variance(_1 * 2.f))), targets::h200);
  CHECK(says(wide.details().domains[0].shape, "in 2 turns that take 649 partitions each"));
  CHECK(wide.details().domains[0].bytes_moved() > e.details().domains[0].bytes_moved());
  auto const positions = explain(r | reduce(by_key(_2, 100'000, sum(_1 * tally::index))), targets::h200);
  CHECK(positions.details().domains[0].route == "in_global_memory");
  CHECK(refuses(positions.details().domains[0].why_not, "partitions of slots", "looks at positions"));
  CHECK(explain(r | reduce(group_by(_2, sum(_1))), targets::h200).details().domains[0].route == "found keys, partitioned");
  auto const sorted = explain(r | reduce(by_key(_2, 1000, argmax(_1), logsumexp(_1))), targets::h200, fast);
  CHECK(sorted.details().domains[0].route == "sorted");
  CHECK(refuses(sorted.details().domains[0].why_not, "tables of slots", "no atomic combines"));
  CHECK(explain(r | reduce(by_key(_2, 1000, argmax(_1), first(_1))), targets::h200).details().domains[0].route == "in_shared_memory");
  CHECK(explain(r | reduce(by_key(_2, 1'000'000, argmax(_1), first(_1))), targets::h200).details().domains[0].route == "in_global_memory");
  if (gpu::can_compile()) {
    for (char const* part : {"partition", "fold_partitions"}) CHECK(says(e.ptx(), part));
    for (char const* part : {"sort_by_key", "fold_sorted"}) CHECK(says(sorted.ptx(), part));
  }
}

TEST_CASE("long rows by key are sorted where their slots are many") {
  i64 const n = 1 << 20;
  auto const r = from(matrix<float>(n, 64), along<0>(device(reinterpret_cast<i32 const*>(0x2000), n)));
  auto const e = explain(r | reduce(by_key<0>(_2, 100'000, sum(_1))), targets::h200, fast);
  auto const& d = e.details().domains[0];
  CHECK(d.route == "sorted rows");
  CHECK(says(d.shape, "2 passes of 9 bits"));
  CHECK(says(d.shape, "where the answers go"));
  CHECK(refuses(d.why_not, "tables of slots", "before they are written"));
  CHECK(e.details().passes() == 2);
  CHECK(d.of.folds[0].grid == "atomics");
  CHECK(says(read(e)["domains"][0]["plan"].get<std::string>(), "tally::v0::sorted_rows_plan{"));
  CHECK(read(e)["domains"][0]["launch"]["blocks"] == d.blocks);
  CHECK(read(e)["domains"][0]["launch"]["sort"]["passes"] == 2);
  CHECK(says(explain(r | reduce(by_key<0>(_2, 100'000, sum(_1))), targets::h200).details().domains[0].shape, "in a cell for each chunk"));
  if (gpu::can_compile())
    for (char const* part : {"sort_by_key", "fold_sorted_rows"}) CHECK(says(e.ptx(), part));
  CHECK(explain(r | reduce(by_key<0>(_2, 10, sum(_1))), targets::h200).details().domains[0].route == "in_shared_memory");
}

TEST_CASE("what holds one domain on the host holds all, and is said") {
  std::vector<float> const x(12, 1.f);
  std::vector<i32> const key(12, 1);
  auto const lambda = explain(from(shaped(x, 3, 4)) | map([](float v) { return v * 2; }) | reduce(over<0>(sum)), targets::h200);
  CHECK_FALSE(lambda.details().head.on_gpu);
  CHECK(refuses(lambda.details().head.why_not, "a GPU", "no device text"));
  if (gpu::device_count() == 0)
    CHECK_THROWS_AS(explain(from(shaped(x, 3, 4)) | reduce(over<0>(sum)), on::gpu), no_gpu);
}

TEST_CASE("bad input is refused as run refuses it") {
  std::vector<float> const x(12, 1.f);
  CHECK_THROWS_AS(explain(from(shaped(x, 3, 5)) | reduce(over<0>(sum)), on::cpu), extent_mismatch);
  CHECK_THROWS_AS(explain(from(shaped(x, 3, 4)) | reduce(over<0>(count_modulo(0u))), targets::h200), zero_modulus);
}

TEST_CASE("a broadcast operand is read once, elements that lie apart move sectors") {
  std::vector<float> const x(12, 1.f), w(4, 1.f);
  auto const near = explain(from(shaped(x, 3, 4), along<1>(w)) | reduce(over<1>(sum(_1 * _2))), targets::h200).details().domains[0];
  CHECK(near.bytes_read() == 48 + 16);
  i64 const extents[] = {10, 20}, strides[] = {640, 32};
  auto const far = explain(from(shaped(reinterpret_cast<float const*>(0x1000), extents, strides)) | reduce(over<1>(sum)), targets::h200);
  CHECK(far.details().domains[0].bytes_read() == 800);
  CHECK(far.details().domains[0].bytes_moved() == 6400);
}

TEST_CASE("nothing to read is no route") {
  auto const empty = explain(from(matrix<float>(0, 5)) | reduce(over<0>(sum), over<1>(sum)), targets::h200);
  for (auto const& d : empty.details().domains) CHECK(d.route == "none");
  CHECK(empty.details().bytes_read() == 0);
  CHECK(explain(from(matrix<float>(3, 5)) | reduce(over<0>(count)), targets::h200).details().domains[0].route == "none");
}

TEST_CASE("the JSON holds what programs read") {
  auto const j = read(explain(from(matrix<float>(2048, 3072)) | reduce(over<1>(sum), sum), targets::h200)); // L2 holds it: two reads
  CHECK(j["route"] == "grouped");
  CHECK(j["back_end"] == "gpu");
  CHECK(j["target"]["architecture"] == "sm_90");
  CHECK(j["bytes_read"] == 2 * 3072LL * 2048 * 4);
  CHECK(j["expected_seconds"].get<double>() > 2 * targets::h200.launch_seconds);
  REQUIRE(j["domains"].size() == 2);
  auto const& columns = j["domains"][0];
  CHECK(columns["kind"] == "axes");
  CHECK(columns["groups"] == 2048);
  CHECK(columns["elements_per_group"] == 3072);
  CHECK(columns["bytes_written"] == 2048 * 4);
  CHECK(columns["launch"]["blocks"] == columns["launch"]["sets"].get<int>() * columns["launch"]["chunks"].get<int>());
  CHECK(columns["folds"][0]["name"] == "sum(_1)");
  CHECK(columns["sources"][0]["type"] == "f32");
  CHECK(j["domains"][1]["kind"] == "whole");
  CHECK(j["domains"][1]["launch"]["blocks"] > 0);
  CHECK(says(j["domains"][1]["plan"].get<std::string>(), "tally::v0::plan{"));
  for (auto const& r : j["why_not"]) CHECK_FALSE(says(r["reason"], "{"));
}

TEST_CASE("the Mermaid chart names every source and domain and closes every bracket") {
  auto const chart = explain(from(matrix<float>(64, 64)) | reduce(over<0>(sum), over<1>(sum), all(_1 < 3.f)), targets::h200).mermaid();
  CHECK(chart.starts_with("flowchart TD\n"));
  for (char const* part : {"source0", "domain0", "domain1", "domain2", "answers2", "#lt; 3"}) CHECK_MESSAGE(says(chart, part), part);
  for (char const* pair : {"()", "[]", "{}"})
    CHECK(std::count(chart.begin(), chart.end(), pair[0]) == std::count(chart.begin(), chart.end(), pair[1]));
  CHECK(std::count(chart.begin(), chart.end(), '"') % 2 == 0);
}

TEST_CASE("the PTX holds a kernel for every domain") {
  std::vector<i32> const offsets{0, 3, 12};
  auto const r = from(matrix<float>(64, 64)) | reduce(over<0>(sum), over<1>(max), sum);
  CHECK_THROWS_AS(explain(r, on::cpu).ptx(), no_gpu);
  if (!gpu::can_compile()) {
    CHECK_THROWS_AS(explain(r, targets::h200).ptx(), no_nvrtc);
    return;
  }
  auto const text = explain(r, targets::h200).ptx();
  for (char const* part : {"// over<0>(sum(_1))\n", "across_groups", "along_group", "// sum(_1)\n", ".target sm_90"}) CHECK_MESSAGE(says(text, part), part);
}
