// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of a grouping of rows by key whose rows are sorted, compiled from the pipeline a user writes down to a cubin, for one chip
// of each family: the sort, and the folds of the rows. Needs NVRTC, no GPU.
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

using namespace tally::v0;

namespace {

template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}

bool can_compile() {
  if (!gpu::can_compile())
    std::printf("skipped: no NVRTC on this machine\n");
  return gpu::can_compile();
}

struct both_kernels {
  sorted_rows_plan plan;
  std::string sort, folds;
  int times_folds_by(std::string_view word) const {
    int times = 0;
    for (auto at = folds.find(word); at != std::string::npos; at = folds.find(word, at + word.size())) ++times;
    return times;
  }
  bool folds_by(std::string_view word) const { return times_folds_by(word) > 0; }
};

/// The PTX of both, which goes through to cubins without a word.
template <bool Fast = false, class R>
both_kernels compiled(R const& r, target const& chip = targets::h200) {
  INFO(text_of(r));
  auto const bound = get<0>(r.folds).bind(r.pipe);
  auto const& d = detail::domain_under<Fast>(bound);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  auto const& type = detail::keyed_types<Where, Program, std::remove_cvref_t<decltype(d.nodes)>>::type();
  axes_layout const at = layout_of(bound.program, r.pipe.source, Where::is_reduced);
  auto p = d.program;
  p.extent = at.extent;
  auto const facts = detail::facts_of_keys(d, p, at, chip, Fast ? contract::fast : contract::reproducible);
  REQUIRE(planning::sorts_rows(facts));
  both_kernels out{make_sorted_rows_plan(facts).plan, {}, {}};
  auto const text = [&](gpu::unit const& u) {
    gpu::compiled made;
    CHECK_NOTHROW(made = gpu::compile(u, chip.compute_major, chip.compute_minor));
    CHECK(made.log == "");
    return made.ptx;
  };
  out.sort = text(gpu::unit_of_sort(type, out.plan.sort));
  out.folds = text(gpu::unit_of_folds(type, out.plan));
  return out;
}

template <class T = float>
auto rows(i64 count, i64 width) {
  return from(shaped(made_up<T>(count * width), count, width), along<0>(made_up<i64>(count)));
}

} // namespace

TEST_CASE("rows of floats are loaded by 16 bytes, and what meets is added by four, on every family that has such an instruction") {
  if (!can_compile()) return;
  for (auto const& chip : {targets::h200, targets::rtx_pro_6000}) {
    auto const t = compiled<true>(rows(1 << 22, 64) | by_key<0>(_2, 100'000, sum(_1)), chip);
    CHECK(t.plan.in_place);
    CHECK(t.plan.threads_per_row == 16);
    CHECK(t.folds_by("ld.global.cs.v4"));
    CHECK(t.folds_by("red.relaxed.gpu.global.add.v4.f32"));
    CHECK(t.folds_by("st.global.wb.v4.u32"));
  }
  auto const small = compiled<true>(rows<bf16>(1 << 22, 64) | by_key<0>(_2, 100'000, sum(_1)));
  CHECK(small.plan.elements_per_load == 8);
  CHECK(small.plan.threads_per_row == 8);
  CHECK(small.folds_by("ld.global.cs.v4"));
}

TEST_CASE("exact sums meet as integers, and shared memory is not asked for") {
  if (!can_compile()) return;
  auto const t = compiled(rows(1 << 20, 256) | by_key<0>(_2, 1'000'000, sum(_1), mean(_1)));
  CHECK_FALSE(t.plan.in_place);
  for (auto const of_floats : {"atom.add.f32", "global.add.f32", "global.add.v2", "global.add.v4"})
    CHECK_FALSE(t.folds_by(of_floats));
  CHECK_FALSE(t.folds_by("ld.shared"));
  CHECK(t.folds_by("red.relaxed.gpu.global.add.u64"));
  auto const alone = compiled(rows(1 << 20, 256) | by_key<0>(_2, 1'000'000, sum(_1)));
  CHECK(alone.folds_by("st.global.wb.v4.u32")); // four answers of a slot, whole
  CHECK(t.times_folds_by("st.global.wb.v4.u32") >= 2 * alone.times_folds_by("st.global.wb.v4.u32")); // and four means
}

TEST_CASE("every kind of fold, masks, elements of all widths, odd columns, and numbers of 64 bits") {
  if (!can_compile()) return;
  compiled(rows(1 << 16, 33) | by_key<0>(_2, 5000, sum(_1), max(_1), argmin(_1), count_if(_1 > 1.f), sum(_1).where(_1 < 3.f)));
  compiled(rows<double>(1 << 16, 66) | by_key<0>(_2, 5000, sum(_1), min(_1), sum(_1 * _1)));
  compiled(rows<i32>(1 << 16, 64) | by_key<0>(_2, 5000, sum(_1).checked(), count, min(_1)));
  compiled(rows<u8>(1 << 16, 64) | filter(_2 != 3) | by_key<0>(_2, 5000, sum(_1), max(_1)).dropping_strays());
  compiled(rows<u32>(1 << 16, 64) | by_key<0>(_2, 5000, own_records(_1)));
  compiled<true>(rows(1 << 16, 64) | by_key<0>(_2, 5000, variance(_1), sum(_1), mean(_1)));
  compiled<true>(rows<double>(1 << 16, 64) | by_key<0>(_2, 5000, sum(_1)));
  auto const many = compiled<true>(rows<bf16>(i64(1) << 33, 64) | by_key<0>(_2, 5000, sum(_1)));
  CHECK(many.plan.sort.wide_numbers);
  compiled(from(shaped(reinterpret_cast<float const*>(std::uintptr_t(0x7f0000000000)), {64, 1 << 16}, {1, 64}), along<1>(made_up<i64>(1 << 16))) | by_key<1>(_2, 5000, sum(_1)));
}

TEST_CASE("on chips without red of vectors") {
  if (!can_compile()) return;
  compiled(rows(1 << 20, 64) | by_key<0>(_2, 1000, sum(_1)), targets::a100);
}
