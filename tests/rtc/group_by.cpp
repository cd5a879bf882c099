// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of a grouping by keys that are not known, compiled from the pipeline a user writes down to a cubin, for one chip of each
// family: the search, and the folds by the number of a key. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

TALLY_STRUCT(rtc_station, { int country, place; });
TALLY_FUNCTION(rtc_station_of, (int x), { return rtc_station{x >> 8, x & 255}; });
TALLY_FUNCTION(rtc_country, (rtc_station s), { return s.country; });

namespace {

constexpr target families[] = {targets::a100, targets::h200, targets::b200, targets::rtx_pro_6000};

template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}

gpu::compiled made_of(gpu::unit const& unit, target const& chip) {
  gpu::compiled made;
  CHECK_NOTHROW(made = gpu::compile(unit, chip.compute_major, chip.compute_minor));
  CHECK(made.ptx.find(".target sm_" + std::to_string(chip.compute_major) + std::to_string(chip.compute_minor)) != std::string::npos);
  CHECK(made.log == "");
  return made;
}

struct both_kernels {
  find_keys_plan search;
  keys_plan folds;
  std::string search_ptx, folds_ptx;
};

/// Compiles the search and the folds by `keys` numbers.
template <class Pipe, class Grouping>
both_kernels compiles(grouped<Pipe, Grouping> const& r, target const& chip, i64 keys = 1000) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  using types = detail::find_keys_types<Where, Program>;
  using Numbered = typename detail::groups_by_number<Where, typename types::word>::type;
  using keyed = detail::keyed_types<Numbered, Program, std::remove_cvref_t<decltype(d.nodes)>>;
  axes_layout const at = layout_of(d.program, r.pipe.source, Numbered::is_reduced);
  typename types::read read{d.program.columns, at.extent, 0, {}};
  auto p = d.program;
  p.extent = at.extent;
  auto const search = make_find_keys_plan({facts_of(read, chip, contract::reproducible), at, 4}).plan;
  auto const folds = make_keys_plan({facts_of(p, chip, contract::reproducible), at, keys, keyed::own_cell_bytes(true), false, 0, false, keyed::only_counts, keyed::counts, keyed::gives_words, keyed::integers, keyed::meet_in_clusters, true}).plan;
  static bool const able = gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    (void)said;
    return {search, folds, "", ""};
  }
  INFO(text_of(r));
  return {search, folds, made_of(gpu::unit_of(types::type(), search), chip).ptx, made_of(gpu::unit_of(keyed::type(), folds), chip).ptx};
}

auto const x = made_up<float>(1 << 20);
auto const keys = made_up<i32>(1 << 20);

} // namespace

TEST_CASE("keys of 32 bits are found and folded on every family") {
  for (auto const& chip : families) {
    auto const both = compiles(from(x, keys) | group_by(_2, sum(_1), count), chip, 300);
    CHECK(both.search.in_order);
    CHECK(both.search.elements_per_load == 4);
    CHECK(both.folds.route == keys_route::in_shared_memory);
    auto const more = compiles(from(x, keys) | group_by(_2, sum(_1), count), chip, 2500); // they fit in ranges, each of which would look all keys up
    CHECK(more.folds.route == keys_route::in_global_memory);
  }
}

TEST_CASE("a claim is a compare-and-swap of the key's width, and a look goes past the first cache") {
  if (!gpu::can_compile()) return;
  auto const has = [](std::string const& text, char const* word) { return text.find(word) != std::string::npos; };
  auto const narrow = compiles(from(x, keys) | group_by(_2, sum(_1)), targets::h200);
  CHECK(has(narrow.search_ptx, "atom.global.cas.b32"));
  CHECK(has(narrow.search_ptx, "ld.volatile.global.u32"));
  CHECK(has(narrow.search_ptx, "ld.global.cs.v4.u32"));
  CHECK(has(narrow.folds_ptx, "ld.global.v2.u32")); // a key and its number
  auto const wide = compiles(from(x, made_up<u64>(1 << 20)) | group_by(_2, sum(_1)), targets::h200);
  CHECK(has(wide.search_ptx, "atom.global.cas.b64"));
  CHECK(has(wide.search_ptx, "ld.volatile.global.u64"));
}

TEST_CASE("sums of powers by key are digits, under exact") {
  auto const r = from(made_up<float>(5000), made_up<int>(5000)) | by_key(_2, 100, moments<4>(_1));
  auto const wide = from(made_up<double>(5000), made_up<int>(5000)) | by_key(_2, 100, moments<4>(_1));
  auto const adds = [](auto const& pipeline) {
    std::string ptx;
    if (gpu::can_compile()) CHECK_NOTHROW(ptx = explain(pipeline, targets::h200, exact).ptx());
    return ptx.empty() || ptx.find("atom") != std::string::npos;
  };
  CHECK(adds(r));
  CHECK(adds(wide));
}

TEST_CASE("exact sums by key have windows of digits, of numbers and of products of up to four") {
  auto const compiled = [](auto const& r, auto... contract) {
    auto const e = explain(r, targets::h200, contract...);
    CHECK(e.json().find(".sums_in_windows = true") != std::string::npos);
    if (gpu::can_compile()) CHECK(e.ptx().find("atom.shared.add.u32") != std::string::npos);
  };
  auto const y = made_up<double>(1 << 20);
  compiled(from(x, keys) | by_key(_2, 1000, variance(_1), max(_1)));
  compiled(from(x, keys) | by_key(_2, 1000, moments<4>(_1)), exact);
  compiled(from(y, x, keys) | by_key(_3, 500, covariance(_1, _2), mean(_1)));
}

TEST_CASE("narrow keys, conditions, filters, matrices, functions and structs of the user's own, every kind of cell") {
  auto const& chip = targets::h200;
  compiles(from(x, made_up<i8>(1 << 20)) | group_by(_2, count), chip);
  compiles(from(x, made_up<i8>(1 << 20), keys) | group_by(_2, _1 > 0.5f, cast<int>(_3 / 7), sum(_1), count), chip);
  compiles(from(x) | group_by(_1 > 0.5f, count, mean(_1)), chip);
  compiles(from(x, keys) | filter(_1 > 0.f) | map(_2 / 7, _1 * _1) | group_by(_1, sum(_2), max(_2), argmin(_2)), chip);
  compiles(from(shaped(x, 1 << 10, 1 << 10), along<0>(made_up<i16>(1 << 10))) | group_by(_2, variance(_1)), chip);
  compiles(from(shaped(x, 1 << 10, 1 << 10)) | group_by(index_along<0> + index_along<1>, sum(_1)), chip);
  compiles(from(every(reinterpret_cast<i64 const*>(0x7f0000000000), 77, 3), iota(77)) | group_by(_1, sum(_2), first(_2)), chip);
  compiles(from(keys) | group_by(rtc_country(rtc_station_of(_1)), count, sum(_1).checked(), bit_xor(_1)), chip);
  compiles(from(x, keys) | group_by(_2, sum(_1)), chip, 10'000'000);
}
