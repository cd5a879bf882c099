// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of a grouping by key whose elements are sorted, compiled from the pipeline a user writes down to a cubin, for one chip of
// each family: the sort, and the folds of the slots. Needs NVRTC, no GPU.
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

namespace {

template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}

/// The PTX of a unit, which goes through to a cubin without a word; empty where there is no NVRTC.
std::string made_of(gpu::unit const& unit, target const& chip) {
  static bool const able = gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    return said ? "" : "";
  }
  gpu::compiled made;
  CHECK_NOTHROW(made = gpu::compile(unit, chip.compute_major, chip.compute_minor));
  CHECK(made.log == "");
  return made.ptx;
}

struct both_kernels {
  sorted_keys_plan plan;
  std::string sort, folds;
};

template <class Domain, class Source>
both_kernels compiles(Domain const& d, Source const& source, target const& chip, i64 elements = 0) {
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using types = detail::keyed_types<Where, std::remove_cvref_t<decltype(d.program)>, std::remove_cvref_t<decltype(d.nodes)>>;
  axes_layout at = layout_of(d.program, source, Where::is_reduced);
  if (elements > 0)
    at.extent = elements;
  auto const plan = make_sorted_keys_plan(detail::facts_of_keys(d, d.program, at, chip, contract::reproducible)).plan;
  return {plan, made_of(gpu::unit_of_sort(types::type(), plan.sort), chip), made_of(gpu::unit_of_folds(types::type(), plan), chip)};
}
template <class Pipe, class Grouping>
both_kernels compiles(grouped<Pipe, Grouping> const& r, target const& chip, i64 elements = 0) {
  INFO(text_of(r));
  return compiles(get<0>(r.folds).bind(r.pipe), r.pipe.source, chip, elements);
}

bool has(std::string const& text, char const* word) { return text.empty() || text.find(word) != std::string::npos; }

auto const x = made_up<float>(1 << 20);
auto const keys = made_up<i32>(1 << 20);

} // namespace

TEST_CASE("elements are sorted and folded on every family") {
  for (auto const& chip : {targets::a100, targets::h200, targets::b200, targets::rtx_pro_6000}) {
    auto const both = compiles(from(x, keys) | by_key(_2, 1000, logsumexp(_1), count), chip);
    CHECK_FALSE(both.plan.sort.wide_numbers);
    CHECK(has(both.sort, "vote.sync.ballot"));
    CHECK(has(both.sort, "atom.shared.add.u32"));
  }
}

TEST_CASE("numbers of 64 bits, and shared memory that every chip has") {
  auto const both = compiles(from(x, keys) | by_key(_2, 1000, logsumexp(_1)), targets::h200, i64(1) << 33);
  CHECK(both.plan.sort.wide_numbers);
  CHECK(has(both.sort, "st.global.u64"));
}

TEST_CASE("filters, masks, matrices, histograms, every kind of fold beside, and wide states") {
  auto const& chip = targets::h200;
  compiles(from(x, keys) | filter(_1 > 0.f) | by_key(_2, 9, logsumexp(_1), sum(_1), argmin(_1), first(_1), count_if(_1 > 1.f)).dropping_strays(), chip);
  compiles(from(x, keys) | by_key(_2, 9, logsumexp(_1).where(_1 < 3.f), sum(_2).checked(), max(_1)), chip);
  compiles(from(made_up<double>(1 << 20), keys) | by_key(_2, 9, moments<4>(_1)), chip);
  compiles(from(made_up<u32>(1 << 20), keys) | by_key(_2, 9, own_matrices(_1)), chip);
  compiles(from(shaped(x, 1 << 10, 1 << 10), along<0>(made_up<i16>(1 << 10))) | by_key<0>(_2, 9, own_recurrence(_1)), chip);
  compiles(from(x) | histogram(0, 1, 70).of(logsumexp(_1)), chip);
  compiles(from(made_up<bf16>(1 << 20), keys) | by_key(_2, 9, logsumexp(_1)), chip);
}

TEST_CASE("keys that are found") {
  auto const r = from(x, keys) | group_by(_2, logsumexp(_1));
  std::string ptx;
  if (gpu::can_compile()) CHECK_NOTHROW(ptx = explain(r, targets::h200).ptx());
  for (char const* part : {"find_keys", "sort_by_key", "fold_sorted"}) CHECK(has(ptx, part));
}
