// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of groups along axes, compiled from the pipeline a user writes down to a cubin, for one chip of each family. Needs
// NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

TALLY_STRUCT(rtc_axes_line, { unsigned a, b; });
TALLY_FUNCTION(rtc_axes_then, (rtc_axes_line x, rtc_axes_line y), { return rtc_axes_line{x.a * y.a, y.a * x.b + y.b}; });
TALLY_FUNCTION(rtc_axes_line_of, (float x), { return rtc_axes_line{x > 0 ? 3u : 5u, 7}; });
TALLY_FUNCTION(rtc_axes_shift, (rtc_axes_line x), { return x.b; });

namespace {

constexpr target families[] = {targets::a100, targets::h200, targets::b200, targets::rtx_pro_6000};

template <class T, class... Extents>
auto made_up(Extents... extents) {
  return shaped(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), extents...);
}

/// Compiles the kernel of a grouping along axes and gives its plan.
template <class R, class... Options>
axes_planned compiles(R const& r, target const& chip, Options... options) {
  auto d = get<0>(r.folds).bind(detail::pipe_for<Options...>(r.pipe));
  using Program = decltype(d.program);
  using Nodes = decltype(d.nodes);
  using Where = decltype(d.where);
  axes_layout const at = layout_of(d.program, r.pipe.source, Where::is_reduced);
  d.program.extent = at.extent;
  axes_facts const f{facts_of(d.program, chip, detail::contract_in(options...)), at};
  axes_planned const planned = make_axes_plan(f);
  static bool const able = gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    (void)said;
    return planned;
  }
  gpu::compiled made;
  INFO(text_of(r));
  CHECK_NOTHROW(made = gpu::compile(gpu::unit_of(detail::group_type_of<Program, Nodes>(), planned.plan, f.of.source_count),
                                    chip.compute_major, chip.compute_minor));
  CHECK(made.ptx.find(".target sm_" + std::to_string(chip.compute_major) + std::to_string(chip.compute_minor)) != std::string::npos);
  CHECK(made.log == "");
  return planned;
}

} // namespace

TEST_CASE("sums of rows and of columns compile for every family") {
  for (auto const& chip : families) {
    CHECK(compiles(from(made_up<float>(65536, 4096)) | reduce(over<1>(sum)), chip).plan.route == axes_route::threads_along_group);
    CHECK(compiles(from(made_up<float>(65536, 4096)) | reduce(over<0>(sum)), chip).plan.route == axes_route::threads_across_groups);
  }
}

TEST_CASE("rows short, odd, long and shared by blocks; middle axes and axis sets") {
  auto const& chip = targets::h200;
  auto const short_rows = compiles(from(made_up<float>(4194304, 64)) | reduce(over<1>(sum)), chip).plan;
  CHECK(short_rows.threads_across == 2);
  CHECK(short_rows.batches == 8);
  CHECK(short_rows.bytes_per_load[0] == 16);
  auto const odd = compiles(from(made_up<float>(1000, 63)) | reduce(over<1>(max)), chip).plan;
  CHECK(odd.bytes_per_load[0] == 4);
  auto const shared = compiles(from(made_up<float>(16, 1 << 24)) | reduce(over<1>(sum)), chip);
  CHECK(shared.plan.blocks_share);
  CHECK(shared.cut.chunks == 128);
  CHECK(shared.plan.batches == 2);
  auto const two_leaves = compiles(from(made_up<float>(13000, 20001)) | reduce(over<1>(sum)), chip);
  CHECK(two_leaves.plan.batches == 2);
  CHECK(two_leaves.plan.warps_per_group == 5);
  CHECK(two_leaves.plan.blocks_per_multiprocessor == 3);
  CHECK(two_leaves.cut.chunks == 1);
  CHECK(compiles(from(made_up<float>(65536, 4096)) | reduce(over<1>(variance)), chip).plan.warps_per_group == 1);
  CHECK(compiles(from(made_up<float>(500, 4096)) | reduce(over<1>(variance)), chip).plan.warps_per_group == 4);
  auto const narrow = compiles(from(made_up<bf16>(1000000, 33)) | reduce(over<0>(sum)), chip).plan;
  CHECK(narrow.lanes_at_once == 2);
  CHECK(narrow.bytes_per_load[0] == 2);
  CHECK(compiles(from(made_up<float>(64, 4096, 1024)) | reduce(over<1>(sum)), chip).plan.groups_per_thread == 4);
  CHECK(compiles(from(made_up<float>(256, 64, 1024)) | reduce(over<0, 2>(sum)), chip).plan.route == axes_route::threads_along_group);
  auto const on_runs = compiles(from(made_up<float>(256, 64, 100)) | reduce(over<0, 2>(sum)), chip).plan;
  CHECK(on_runs.threads_apart);
  CHECK_FALSE(on_runs.striped);
  CHECK(on_runs.bytes_per_load[0] == 16);
  CHECK(compiles(from(made_up<bf16>(256, 64, 196)) | reduce(over<0, 2>(mean, variance)), chip).plan.bytes_per_load[0] == 8);
  CHECK(compiles(from(made_up<float>(256, 64, 49)) | reduce(over<0, 2>(sum, argmax)), chip).plan.striped);
  CHECK(compiles(from(made_up<bf16>(256, 1000, 49), made_up<float>(256, 1000, 49)) | reduce(over<0, 2>(sum(_1 * _2))), chip).plan.striped);
  CHECK_FALSE(compiles(from(made_up<float>(256, 64, 31)) | reduce(over<0, 2>(sum)), chip).plan.striped); // a warp reaches over two ends
  CHECK(compiles(from(made_up<float>(256, 64, 7)) | reduce(over<0, 2>(sum)), chip).plan.route == axes_route::threads_across_groups); // half a sector
}

TEST_CASE("odd rows of small elements come in aligned pieces") {
  auto const& chip = targets::h200;
  CHECK(compiles(from(made_up<bf16>(100000, 300)) | reduce(over<1>(sum)), chip).plan.realigned == 0); // loads of 8 bytes
  CHECK(compiles(from(made_up<bf16>(100000, 511)) | reduce(over<1>(sum)), chip).plan.realigned == 1);
  CHECK(compiles(from(made_up<bf16>(100000, 2049)) | reduce(over<1>(sum)), chip).plan.realigned == 1);
  CHECK(compiles(from(made_up<bf16>(1000, 40001)) | reduce(over<1>(sum, argmax)), chip).plan.realigned == 1);
  CHECK(compiles(from(made_up<i16>(1000, 5001)) | reduce(over<1>(max)), chip).plan.realigned == 1);
  CHECK(compiles(from(made_up<float>(1000, 5001)) | reduce(over<1>(sum)), chip).plan.realigned == 0);
  CHECK(compiles(from(made_up<bf16>(1000, 5001), made_up<bf16>(1000, 5001)) | reduce(over<1>(sum(_1 * _2))), chip).plan.realigned == 3);
  CHECK(compiles(from(made_up<bf16>(1000, 5001), made_up<float>(1000, 5001)) | reduce(over<1>(sum(_1 * _2))), chip).plan.realigned == 0);
}

TEST_CASE("wide states, several columns, masks, and folds that do not commute") {
  auto const& chip = targets::h200;
  auto const ordered = fold_of(rtc_axes_line{1, 0}, rtc_axes_then, rtc_axes_line_of, rtc_axes_shift, associative);
  compiles(from(made_up<float>(1000, 1000)) | filter(_1 > 0.f) | reduce(over<0>(variance, minmax, count)), chip);
  compiles(from(made_up<float>(1000, 1000)) | filter(_1 > 0.f) | reduce(over<1>(variance, minmax, count)), chip);
  compiles(from(made_up<float>(1000, 1000), made_up<double>(1000, 1000)) | reduce(over<0>(sum(_1 * _2), argmax(_2))), chip);
  CHECK(compiles(from(made_up<float>(4000, 1000)) | reduce(over<0>(ordered)), chip).plan.warps_on_lanes == 1);
  compiles(from(made_up<float>(4000, 1000)) | reduce(over<1>(ordered)), chip);
  CHECK(compiles(from(made_up<float>(64, 1000, 49)) | reduce(over<0, 2>(ordered)), chip).plan.striped);
  compiles(from(made_up<bf16>(4000, 1024)) | reduce(over<0>(mean)), chip);
}

TEST_CASE("exact sums and means along axes") {
  CHECK(compiles(from(made_up<float>(100, 100, 1000)) | reduce(over<0, 2>(sum)), targets::h200, exact).plan.threads_across == 1);
  CHECK(compiles(from(made_up<float>(100, 100, 5)) | reduce(over<0, 2>(sum)), targets::h200, exact).plan.threads_across == 32);
  CHECK(compiles(from(made_up<float>(16384, 16384)) | reduce(over<0>(sum)), targets::a100, exact).plan.groups_per_thread == 4);
  CHECK(compiles(from(made_up<double>(16384, 16384)) | filter(_1 > 0.0) | reduce(over<0>(sum, count)), targets::b200, exact).plan.groups_per_thread == 1);
  CHECK(compiles(from(made_up<float>(1000, 1000)) | reduce(over<0>(mean, variance, max)), targets::h200, exact).plan.in_windows);
  CHECK(compiles(from(made_up<float>(1000, 1000)) | reduce(over<0>(moments<4>)), targets::h200, exact).plan.in_windows);
  CHECK(compiles(from(made_up<double>(100000, 300)) | reduce(over<0>(moments<4>)), targets::h200, exact).plan.in_windows);
  CHECK(compiles(from(made_up<double>(3, 1 << 24), made_up<double>(3, 1 << 24)) | reduce(over<1>(sum(_1 * _2))), targets::a100, exact).plan.in_windows);
}
