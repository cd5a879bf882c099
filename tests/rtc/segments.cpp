// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of segments, compiled from the pipeline a user writes down to a cubin, for one chip of each family. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

TALLY_STRUCT(rtc_line, { unsigned long long a, b; });
TALLY_FUNCTION(rtc_composed, (rtc_line x, rtc_line y), { return rtc_line{x.a * y.a, y.a * x.b + y.b}; });
TALLY_FUNCTION(rtc_line_of, (float x), { return rtc_line{x > 0 ? 3ull : 5ull, 7}; });
TALLY_FUNCTION(rtc_offset, (rtc_line x), { return x.b; });

namespace {

constexpr target families[] = {targets::a100, targets::h200, targets::b200, targets::rtx_pro_6000};

template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}

/// Compiles the kernel of a grouping by segment, as planned for so many segments (0: nobody knows how many); gives its plan.
template <class Pipe, class Grouping, class... Options>
segments_plan compiles_for(i64 segments, grouped<Pipe, Grouping> const& r, target const& chip, Options... options) {
  auto const d = get<0>(r.folds).bind(detail::pipe_for<Options...>(r.pipe));
  using Program = std::remove_cvref_t<decltype(d.program)>;
  using Nodes = std::remove_cvref_t<decltype(d.nodes)>;
  auto const f = facts_of(d.program, chip, detail::contract_in(options...));
  auto plan = make_segments_plan(f, segments);
  plan.counted = d.where.count != nullptr;
  static bool const able = gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    (void)said;
    return plan;
  }
  gpu::compiled made;
  auto const unit = gpu::unit_of(detail::group_type_of<Program, Nodes>(), "tally::v0::i64", plan);
  INFO(text_of(r));
  CHECK_NOTHROW(made = gpu::compile(unit, chip.compute_major, chip.compute_minor));
  CHECK(made.ptx.find(".target sm_" + std::to_string(chip.compute_major) + std::to_string(chip.compute_minor)) != std::string::npos);
  CHECK(made.log == "");
  return plan;
}

template <class Pipe, class Grouping, class... Options>
segments_plan compiles(grouped<Pipe, Grouping> const& r, target const& chip, Options... options) {
  return compiles_for(0, r, chip, options...);
}

auto const x = made_up<float>(1 << 20);
auto const offsets = made_up<i64>(1001);

} // namespace

TEST_CASE("sums of segments compile for every family") {
  for (auto const& chip : families)
    CHECK(compiles(from(x) | by_segment(offsets, sum), chip).tile_elements == 1024);
}

TEST_CASE("segments that are short on average compile, for every family and for states and elements of any width") {
  i64 const many = 1 << 20;
  for (auto const& chip : families)
    CHECK(compiles_for(many, from(x) | by_segment(offsets, sum), chip).segments_per_lane == 2);
  auto const& chip = targets::h200;
  CHECK(compiles_for(many, from(x) | filter(_1 > 0.f) | by_segment(offsets, mean, variance, argmax, count), chip).segments_per_lane == 1);
  CHECK(compiles_for(many, from(x) | by_segment(offsets, fold_of(rtc_line{1, 0}, rtc_composed, rtc_line_of, rtc_offset, associative)), chip).segments_per_lane == 1);
  CHECK(compiles_for(many, from(made_up<bf16>(99), made_up<i8>(99), made_up<double>(99)) | by_segment(offsets, sum(_1), max(_2), logsumexp(_3)), chip).segments_per_lane == 1);
  CHECK(compiles_for(many, from(x) | by_segment(offsets, sum, mean), chip, exact).segments_per_lane == 0);
}

TEST_CASE("exact sums of what a warp folds alone are folded in windows, while their digits have room") {
  CHECK(compiles(from(x) | by_segment(offsets, sum, mean), targets::h200, exact).in_windows);
  CHECK(compiles(from(x) | by_segment(offsets, sum, max, argmin), targets::a100, exact).in_windows);
  if (!gpu::can_compile()) return;
  auto const rows = explain(from(shaped(made_up<float>(1 << 24), 1 << 12, 1 << 12)) | over<1>(sum), targets::h200, exact);
  CHECK(rows.details().domains[0].exact_rows);
  CHECK(rows.ptx().find("8segments") != std::string::npos);
}

TEST_CASE("as many segments as memory of the device says compile, and so do answers that are made there") {
  auto const counted = from(x) | by_segment(offsets, sum, mean).as_many_as(offsets.column.data);
  CHECK(compiles(counted, targets::h200).counted);
  if (!gpu::can_compile()) return;
  auto const b = detail::bind_for<>(from(x) | filter(_1 > 0.f) | reduce(sum, variance, argmax, count));
  auto const& type = detail::group_type_of<std::remove_cvref_t<decltype(b.program)>, std::remove_cvref_t<decltype(b.nodes)>>();
  for (auto const& chip : families)
    CHECK(gpu::compile(gpu::unit_of_finish(type), chip.compute_major, chip.compute_minor).log == "");
}

namespace {
/// Compiles the kernel that folds what lies between two offsets that the device knows.
template <class Pipe, class Grouping, class... Options>
void one_segment_compiles(grouped<Pipe, Grouping> const& r, target const& chip, Options... options) {
  if (!gpu::can_compile()) return;
  auto const d = get<0>(r.folds).bind(detail::pipe_for<Options...>(r.pipe));
  using Program = std::remove_cvref_t<decltype(d.program)>;
  auto const& type = detail::group_type_of<Program, std::remove_cvref_t<decltype(d.nodes)>>();
  auto f = facts_of(d.program, chip, detail::contract_in(options...));
  f.queued = true;
  CHECK(holds_one_segment(f, sizeof(typename Program::states)));
  auto const unit = gpu::unit_of(type, "tally::v0::i64", make_one_segment_plan(f));
  gpu::compiled made;
  INFO(text_of(r));
  CHECK_NOTHROW(made = gpu::compile(unit, chip.compute_major, chip.compute_minor));
  CHECK(made.log == "");
  CHECK((made.ptx.find("griddepcontrol.wait") != std::string::npos) == (chip.compute_major >= 9));
  CHECK(made.ptx.find("ld.global.cs.v4") != std::string::npos); // where it begins at a multiple of 16 bytes
}
} // namespace

TEST_CASE("one segment between offsets that the device knows compiles for every family, and for folds of every kind") {
  auto const two = made_up<i64>(2);
  for (auto const& chip : families)
    one_segment_compiles(from(x) | by_segment(two, sum), chip);
  one_segment_compiles(from(x) | filter(_1 > 0.f) | by_segment(two, mean, variance, argmax, minmax, count), targets::h200);
  one_segment_compiles(from(x) | by_segment(two, fold_of(rtc_line{1, 0}, rtc_composed, rtc_line_of, rtc_offset, associative)), targets::h200);
  one_segment_compiles(from(made_up<bf16>(99), made_up<i8>(99), made_up<double>(99)) | by_segment(two, sum(_1), max(_2), logsumexp(_3)), targets::h200);
  one_segment_compiles(from(made_up<double>(1 << 20)) | by_segment(two, sum(_1 * _1)), targets::a100, exact);
  auto const moments_of_two = from(made_up<double>(1 << 20)) | by_segment(two, moments<2>);
  auto const wide = get<0>(moments_of_two.folds).bind(detail::pipe_for<exact_contract>(moments_of_two.pipe));
  CHECK_FALSE(holds_one_segment(facts_of(wide.program, targets::a100, contract::exact), sizeof(decltype(wide.program)::states))); // that of many has room
}

TEST_CASE("folds of every kind, several columns, masks, positions, small types and structs of the user's own compile") {
  auto const& chip = targets::h200;
  compiles(from(x) | filter(_1 > 0.f) | by_segment(offsets, mean, variance, argmax, minmax, count), chip);
  compiles(from(x) | by_segment(offsets, fold_of(rtc_line{1, 0}, rtc_composed, rtc_line_of, rtc_offset, associative), sum(cast<i64>(_1)).checked()), chip);
  compiles(from(made_up<bf16>(99), made_up<i8>(99), made_up<double>(99)) | by_segment(offsets, sum(_1), max(_2), logsumexp(_3)), chip);
  compiles(from(every(reinterpret_cast<float const*>(0x7f0000000000), 77, 3), iota(77)) | by_segment(offsets, sum(_1 * _2), first(_1), min(tally::index)), chip);
  compiles(from(x) | by_segment(offsets, sum, mean), chip, exact);
  compiles(from(x) | by_segment(offsets, moments<3>), chip, exact);
  compiles(from(made_up<double>(1 << 20)) | by_segment(offsets, moments<4>), targets::a100, exact);
}

namespace {
/// The kernel of a few programs compiles.
template <class... Programs>
void compiles_together(target const& chip, Programs const&... programs) {
  auto const argument = make_pack(programs...);
  gpu::batch_of_types_request r{{&detail::type_of<Programs>()...}, {{facts_of(programs, chip, contract::reproducible), 1, i64(sizeof(typename Programs::states))}...}, int(sizeof...(Programs)), nullptr,
                                &definitions_of<Programs...>, &argument, sizeof argument, 0, {}};
  gpu::compiled made;
  CHECK_NOTHROW(made = gpu::compile(gpu::unit_of(r, plan_batch_of_types(r.programs, r.count).plan), chip.compute_major, chip.compute_minor));
  CHECK(made.log == "");
}
} // namespace

TEST_CASE("a batch compiles for every family") {
  auto const b = tally::v0::bind(from(x) | filter(_1 > 0.f) | reduce(sum, argmax, variance));
  for (auto const& chip : families) {
    auto const plan = make_batch_plan(facts_of(b.program, chip, contract::reproducible));
    if (!gpu::can_compile()) return;
    gpu::compiled made;
    CHECK_NOTHROW(made = gpu::compile(gpu::unit_of_batch(detail::type_of<std::remove_cvref_t<decltype(b.program)>>(), plan), chip.compute_major, chip.compute_minor));
    CHECK(made.log == "");
  }
}

TEST_CASE("a few reductions of any types compile as one kernel") {
  if (!gpu::can_compile()) return;
  for (auto const& chip : {targets::a100, targets::h200})
    compiles_together(chip, bind(from(x) | filter(_1 > 0.f) | reduce(sum, argmax, variance)).program, bind(from(made_up<bf16>(99), made_up<double>(99)) | sum(_1)).program,
                      bind_exactly(from(x) | reduce(sum)).program, bind(from(x) | reduce(sum)).program, bind(from(x) | reduce(sum)).program);
}
