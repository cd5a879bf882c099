// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of pipelines that look at earlier answers, compiled to a cubin: folds beside columns of answers, and elements that are
// written. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace tally::v0;

TALLY_FUNCTION(rtc_let_clamped, (float r), { return r < 0 ? 0.f : r > 1 ? 1.f : r; });

namespace {

bool able() {
  static bool const can = gpu::can_compile();
  if (!can) std::printf("skipped: no NVRTC on this machine\n");
  return can;
}
/// The pipe of a collection, or of a reduction, beside columns of answers that were folded on the host.
template <class R>
auto plain(R const& r, detail::answers_of_lets& kept) {
  return detail::without_lets_in<>(r.pipe, r.folds, on::cpu, contract::reproducible, kept);
}
template <class R>
elements_plan writes(R const& r, target const& chip = targets::h200) {
  detail::answers_of_lets kept;
  auto const pipe = plain(r, kept).pipe;
  using Pipe = std::remove_cvref_t<decltype(pipe)>;
  auto p = detail::program_of_elements(pipe);
  auto const at = layout_of(p, pipe.source, detail::nothing_reduced);
  using Values = std::remove_cvref_t<decltype(pipe.values)>;
  axes_facts const f{facts_of(p, chip, contract::reproducible), at};
  written_facts const to[] = {{4, 16}, {8, 16}};
  auto const planned = make_elements_plan(f, to, Values::size);
  if (able()) {
    auto const u = gpu::unit_of(detail::elements_type_of<decltype(p), row_of<Pipe>, Values>(), planned.plan, f.of.source_count, Values::size);
    auto const made = gpu::compile(u, chip.compute_major, chip.compute_minor);
    CHECK(!made.cubin.empty());
    bool const in_bulk = planned.plan.in_bulk && planned.plan.bytes_per_store[0] == 16;
    CHECK((made.ptx.find("cp.async.bulk.global.shared::cta") != std::string::npos) == in_bulk);
  }
  return planned.plan;
}

/// The plan of one kernel for rows of n elements and their lets, which compiles where there is one.
template <class R>
rows_planned in_one_kernel(R const& r) {
  using Rows = detail::rows_of_pipe<std::remove_cvref_t<decltype(r.pipe)>>;
  static_assert(Rows::possible);
  using Computing = detail::computing_rows<std::remove_cvref_t<decltype(r.pipe)>>;
  auto base = Computing::base(r.pipe);
  auto const at = Computing::layout(base, r.pipe);
  base.extent = at.extent;
  axes_facts const f{facts_of(base, targets::h200, contract::reproducible), at, Computing::written_only};
  written_facts const to[] = {{4, 16}};
  auto const planned = make_rows_plan(f, to, 1);
  if (planned.possible && able()) {
    auto const& type = Computing::choose(r.pipe, detail::in_order(pack<>{}, detail::all_lets(r.pipe, pack<>{})), [](auto keeps) -> auto const& {
      return detail::rows_type_of<std::remove_cvref_t<decltype(r.pipe)>, decltype(keeps)::value>();
    });
    auto const made = gpu::compile(gpu::unit_of(type, planned.plan, f.of.source_count, 1), 9, 0);
    CHECK(!made.cubin.empty());
    CHECK(!planned.plan.strip.evicts_first);
    CHECK(made.ptx.find("ld.global.nc.v4") != std::string::npos);
    CHECK(made.ptx.find(".global.cs") == std::string::npos);
    CHECK((made.ptx.find("cp.async.bulk.prefetch.L2") != std::string::npos) == planned.plan.asks_ahead);
    CHECK((made.ptx.find("barrier.cluster.wait") != std::string::npos) == (planned.plan.blocks_per_row > 1));
  }
  return planned;
}
template <class Source>
auto softmax_of(Source const& source) {
  auto const greatest = source | over<1>(max);
  auto const total = source | map(exp(_1 - let(greatest))) | over<1>(sum);
  return source | map(exp(_1 - let(greatest)) / let(total)) | collect;
}

} // namespace

TEST_CASE("rows that fit on the chip are read once: their lets and elements are one kernel") {
  std::vector<float> const x(4 * 16384);
  CHECK(in_one_kernel(softmax_of(from(shaped(x, 64, 1024)))).plan.strip.one_leaf);
  CHECK(in_one_kernel(softmax_of(from(shaped(x, 4, 16384)))).plan.strip.warps_per_group == 16);
  auto const odd = in_one_kernel(softmax_of(from(shaped(x.data(), 7, 4097))));
  CHECK(odd.plan.strip.warps_per_group == 5);
  CHECK(odd.plan.bytes_per_store[0] == 4);
  std::vector<float> const weights(131072);
  auto const norm = [&](i64 rows, i64 n) {
    auto const source = from(shaped(x.data(), rows, n));
    auto const w = along<1>(device(weights.data(), n));
    auto const mu = source | over<1>(mean);
    auto const var = source | over<1>(mean(squared(_1 - let(mu))));
    return in_one_kernel(from(shaped(x.data(), rows, n), w, w) | map((_1 - let(mu)) / sqrt(let(var) + 1e-5f) * _2 + _3) | collect);
  };
  auto const short_rows = norm(16, 4096);
  CHECK(short_rows.possible);
  CHECK(short_rows.plan.strip.bytes_per_load[1] == 16);
  CHECK(short_rows.plan.strip.late == 0);
  auto const of_block = norm(3, 20000);
  CHECK(of_block.plan.strip.late == 0b110);
  CHECK(of_block.plan.blocks_per_row == 1);
  CHECK(norm(3, 20001).plan.strip.late == 0b110); // one by one
  auto const of_cluster = norm(2, 32768);
  CHECK(of_cluster.plan.strip.late == 0b110);
  CHECK(of_cluster.plan.blocks_per_row == 4);
  CHECK(of_cluster.plan.strip.warps_per_block == 8);
  auto const many = in_one_kernel(softmax_of(from(shaped(x.data(), 2, 32767))));
  CHECK(many.plan.strip.warps_per_group == 32);
  auto const two_blocks = in_one_kernel(softmax_of(from(shaped(x.data(), 3, 20000))));
  CHECK(two_blocks.plan.strip.warps_per_group == 20);
  CHECK(two_blocks.plan.strip.blocks_per_multiprocessor == 2);
  CHECK(!two_blocks.plan.asks_ahead);
  auto const turned = in_one_kernel(softmax_of(from(shaped(x.data(), 3, 20001))));
  CHECK(turned.plan.strip.blocks_per_multiprocessor == 0);
  CHECK(turned.plan.asks_ahead);
  CHECK(in_one_kernel(softmax_of(from(shaped(x.data(), 3, 18001)))).plan.strip.blocks_per_multiprocessor == 2);
  CHECK(in_one_kernel(softmax_of(from(shaped(x.data(), 3, 20481)))).plan.strip.blocks_per_multiprocessor == 0);
  CHECK(in_one_kernel(softmax_of(from(shaped(x.data(), 3, 32769)))).plan.blocks_per_row == 5);
  CHECK(in_one_kernel(softmax_of(from(shaped(x.data(), 2, 131072)))).plan.blocks_per_row == 8);
  CHECK(in_one_kernel(softmax_of(from(shaped(x.data(), 2, 262144)))).plan.blocks_per_row == 16);
  auto const longer = in_one_kernel(softmax_of(from(shaped(x.data(), 1, 524289))));
  CHECK(!longer.possible);
  CHECK(longer.why_not.count == 1);
  CHECK(!in_one_kernel(softmax_of(from(shaped(x.data(), {1024, 64}, {1, 1024})))).possible);
}

TEST_CASE("a let over another axis, or of another source, is folded before") {
  std::vector<float> const x(64 * 64), y(64 * 64);
  auto const source = from(shaped(x, 64, 64));
  auto const r = source | map(_1 - let(source | over<0>(mean))) | collect;
  CHECK(!detail::rows_of_pipe<std::remove_cvref_t<decltype(r.pipe)>>::possible);
  auto const other = source | map(_1 - let(from(shaped(y, 64, 64)) | over<1>(mean))) | collect;
  auto const chain = detail::in_order(pack<>{}, detail::all_lets(other.pipe, pack<>{}));
  CHECK(!detail::reads_the_same(get<0>(chain), other.pipe.source));
  CHECK(detail::reads_the_same(let(source | over<1>(mean)), other.pipe.source));
}

TEST_CASE("elements beside answers of their rows: 16 bytes a load, 16 bytes a store") {
  std::vector<float> const x(64 * 1024, 1.f);
  auto const source = from(shaped(x, 64, 1024));
  auto const greatest = source | over<1>(max);
  auto const total = source | over<1>(sum(exp(_1 - let(greatest))));
  auto const p = writes(source | map(exp(_1 - let(greatest)) / let(total)) | collect);
  CHECK(p.strip.groups_per_thread == 4);
  CHECK(p.strip.bytes_per_load[0] == 16);
  CHECK(p.strip.bytes_per_load[1] == 4);
  CHECK(p.bytes_per_store[0] == 16);
}

TEST_CASE("elements of turned axes go through tiles, on every chip") {
  std::vector<float> const x(64 * 96);
  auto const turned = [&](i64 rows, i64 n) { return from(shaped(x.data(), {rows, n}, {1, rows})) | collect; };
  auto const whole = writes(turned(64, 96));
  CHECK(whole.turned_axis == 0);
  CHECK(whole.in_bulk);
  CHECK(whole.bytes_per_store[0] == 16);
  CHECK(writes(turned(64, 95)).bytes_per_store[0] == 4);
  auto const older = writes(turned(64, 96), targets::a100);
  CHECK(older.turned_axis == 0);
  CHECK(!older.in_bulk);
  CHECK(writes(turned(3, 96)).turned_axis < 0);
  CHECK(writes(turned(4, 96)).strip.threads_across == 8);
}

TEST_CASE("elements of odd rows, of turned axes, of several types, through a function of the user's own") {
  std::vector<float> const x(63 * 1023);
  CHECK(writes(from(shaped(x, 63, 1023)) | map(_1 + 1.f) | collect).strip.groups_per_thread == 4); // one run of all
  auto const rows = from(shaped(x, 63, 1023)) | over<1>(sum);
  CHECK(writes(from(shaped(x, 63, 1023)) | map(_1 - let(rows)) | collect).strip.groups_per_thread == 1);
  writes(from(shaped(x.data(), {1023, 63}, {1, 1023})) | map(rtc_let_clamped(_1), tally::index) | collect);
}

TEST_CASE("elements beside answers of segments and by key, and what tells them their own") {
  std::vector<float> const x(5000, 1.f);
  std::vector<int> const offsets{0, 7, 7, 5000}, keys(5000, 3);
  auto const source = from(x, keys);
  CHECK(writes(source | map(_1 - let(from(x) | by_segment(offsets, mean)), let(source | by_key(_2, 4, count))) | collect).bytes_per_store[1] == 16);
  using milestone = segment_of_milestone<int>;
  grid<1, milestone> all{};
  all.columns = make_pack(milestone{offsets.data(), 3});
  all.extents[0] = all.axes[0][0] = milestone::around(5000);
  CHECK(milestone::around(5000) == 6);
  writes(piped<grid<1, milestone>, pack<placeholder<0>>, always>{all, {}, {}} | collect);
  auto const bins = from(x) | histogram(-3, 3, 50);
  writes(from(x) | map(get<0>(bins.folds).key) | collect); // as they are written for a let of bins
}

TEST_CASE("rows beside their own answers are folded by threads along them") {
  std::vector<float> const x(64 * 4096);
  auto const source = from(shaped(x, 64, 4096));
  auto const mu = source | over<1>(mean);
  detail::answers_of_lets kept;
  auto const r = plain(source | over<1>(sum(squared(_1 - let(mu)))), kept);
  auto const d = get<0>(r.items).bind(r.pipe);
  auto const at = layout_of(d.program, r.pipe.source, groups_along_axes<2, 2>::is_reduced);
  auto const planned = make_axes_plan({facts_of(d.program, targets::h200, contract::reproducible), at});
  CHECK(planned.plan.route == axes_route::threads_along_group);
  CHECK(planned.plan.bytes_per_load[0] == 16);
  if (able())
    CHECK(!gpu::compile(gpu::unit_of(detail::group_type_of<decltype(d.program), decltype(d.nodes)>(), planned.plan, 2), 9, 0).cubin.empty());
}

TEST_CASE("keys, bins and segments behind lets compile") {
  if (!able()) return;
  auto const x = reinterpret_cast<float const*>(std::uintptr_t(0x7f0000000000));
  auto const key = reinterpret_cast<int const*>(std::uintptr_t(0x7f1000000000));
  auto const offsets = reinterpret_cast<i64 const*>(std::uintptr_t(0x7f2000000000));
  auto const source = from(shaped(x, 1 << 20), shaped(key, 1 << 20));
  auto const mu = source | mean(_1);
  auto const compiled = [](auto const& r) { return explain(r, targets::h200).ptx(); };
  CHECK(compiled(source | by_key(_2, 100, sum(_1 - let(mu)))).find("by_key") != std::string::npos);
  CHECK(compiled(source | map(_1 - let(mu), _2) | group_by(_2, count)).find("find_keys") != std::string::npos);
  CHECK(compiled(source | map(_1 - let(mu)) | by_segment(device(offsets, 1000), sum)).find("segments") != std::string::npos);
  auto const rows = from(shaped(x, 1024, 1024));
  CHECK(compiled(rows | histogram(_1 - let(rows | over<1>(mean)), 0, 1, 100)).find("by_key") != std::string::npos);
}
