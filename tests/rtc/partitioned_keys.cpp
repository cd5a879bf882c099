// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of a grouping by key whose elements are partitioned, compiled from the pipeline a user writes down to a cubin, for one chip of each family
// that has the bulk engine: what partitions, and what folds. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

TALLY_FUNCTION(rtc_cents, (float x), { return static_cast<float>(x * 100.f); });

namespace {

template <class T>
auto made_up(i64 n, std::uintptr_t place = 0) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000) + place), n);
}

bool can_compile() {
  if (!gpu::can_compile())
    std::printf("skipped: no NVRTC on this machine\n");
  return gpu::can_compile();
}

struct both_kernels {
  partitioned_keys_plan plan;
  std::string partition, folds;
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
  auto const chosen = choose_any_order(facts);
  REQUIRE(chosen.route == any_order_route::partitions);
  both_kernels out{make_partitioned_keys_plan(facts, chosen.partitions).plan, {}, {}};
  auto const text = [&](gpu::unit const& u) {
    gpu::compiled made;
    CHECK_NOTHROW(made = gpu::compile(u, chip.compute_major, chip.compute_minor));
    CHECK(made.log == "");
    return made.ptx;
  };
  out.partition = text(gpu::unit_of_partition(type, out.plan));
  out.folds = text(gpu::unit_of_folds(type, out.plan));
  return out;
}
bool says(std::string const& ptx, char const* word) { return ptx.find(word) != std::string::npos; }

constexpr i64 n = 1 << 24;
auto const x = made_up<float>(n);
auto const keys = made_up<i64>(n);

} // namespace

TEST_CASE("tiles leave by the bulk engine, exact sums are integers in shared memory, on every family that has it") {
  if (!can_compile()) return;
  for (auto const& chip : {targets::h200, targets::b200}) {
    auto const t = compiled(from(x, keys) | by_key(_2, 100'000, sum(_1)), chip);
    CHECK(t.plan.elements_per_load == 4);
    CHECK(says(t.partition, "ld.global.cs.v4"));
    CHECK(says(t.partition, "cp.async.bulk.global.shared::cta.bulk_group"));
    CHECK(says(t.partition, "atom.shared.add.u32"));
    CHECK(says(t.folds, "atom.shared.add.u32"));
    CHECK(says(t.folds, "red.relaxed.gpu.global.add.u64"));
    for (auto const of_floats : {"global.add.f32", "shared.add.f32"}) CHECK_FALSE(says(t.folds, of_floats));
  }
}

TEST_CASE("elements of all widths, several columns, masks, filters, functions of the user's own, and what cannot be loaded together") {
  if (!can_compile()) return;
  compiled(from(made_up<bf16>(n), made_up<u16>(n), made_up<i8>(n)) | filter(_2 != 7) | by_key(_2, 60'000, sum(_1 * _3), mean(_3), sum(_3).checked(), max(_1)).dropping_strays());
  compiled(from(x, keys) | map(rtc_cents(_1), _2 / 3) | by_key(_2, 50'000, sum(_1), sum(_1).where(_1 > 3.f)));
  CHECK(compiled(from(made_up<float>(n, 4), keys) | by_key(_2, 50'000, sum(_1)), targets::rtx_pro_6000).plan.elements_per_load == 1);
  compiled<true>(from(x, keys) | by_key(_2, 500'000, sum(_1), count));
}
