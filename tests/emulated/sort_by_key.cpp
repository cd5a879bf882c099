// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that sorts elements by slot, as host code: a stable sort whatever the keys, and where every slot begins, also where many
// slots in a row have no element.
#include "emulated/kernel_on_host.hpp"

#include <tally/plan/slot_sort.hpp>
#include <tally/plan/targets.hpp>

#include <tally/kernel/sort_by_key.cuh>

#include <doctest/doctest.h>

#include <random>

using namespace tally::v0;

namespace {

/// All launches of a sort of n keys by the kernel; true where it left what a stable sort leaves.
template <slot_sort_plan P>
bool sorts(std::vector<i32> const& keys, i64 bins) {
  using element = numbered_slot<std::conditional_t<P.wide_numbers, u64, u32>>;
  using number = decltype(element::number);
  auto const r = from(keys) | by_key(_1, bins, count).dropping_strays();
  auto const d = get<0>(r.folds).bind(r.pipe);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  axes_layout const at = layout_of(d.program, r.pipe.source, Where::is_reduced);
  auto const n = static_cast<i64>(keys.size());
  i64 const tile = i64(P.threads_per_block) * P.elements_per_thread;
  std::vector<element> one(keys.size()), other(keys.size());
  int const blocks = int((n - 1) / tile) + 1, values = 1 << P.bits_of_digit;
  std::vector<number> counts(std::size_t(values) * std::size_t(blocks + 1)), begins(std::size_t(bins) + 1, number(-1));
  u64 stray[3]{};
  slot_sort s{{one.data(), other.data()}, counts.data(), begins.data(), stray, n, tile, bins, 1, blocks, 0};
  auto const run_phase = [&](sort_phase phase, i64 of_blocks) {
    emulated::launch(of_blocks, P.threads_per_block, [&] { kernel::sort_by_key<P>(d.where, d.program, at, s, phase); });
  };
  run_phase(sort_phase::open, 1);
  run_phase(sort_phase::note, blocks);
  for (int const passes = digits_of_slots(bins).passes; s.pass < passes; ++s.pass) {
    if (s.pass > 0) run_phase(sort_phase::count_digits, blocks);
    run_phase(sort_phase::add_up, values * 32 / P.threads_per_block);
    run_phase(sort_phase::move, blocks);
  }
  run_phase(sort_phase::begin, 3);
  std::vector<element> right;
  for (std::size_t i = 0; i < keys.size(); ++i) right.push_back({static_cast<u32>(is_in_bins(keys[i], bins) ? i64(keys[i]) : bins), static_cast<number>(i)});
  std::stable_sort(right.begin(), right.end(), [](auto a, auto b) { return a.slot < b.slot; });
  auto const* const sorted = static_cast<element const*>(s.now());
  bool same = true;
  for (std::size_t i = 0; i < right.size(); ++i) same = same && sorted[i].slot == right[i].slot && sorted[i].number == right[i].number;
  for (i64 g = 0; g <= bins; ++g)
    same = same && i64(begins[std::size_t(g)]) == first_not_below([&](i64 t) { return right[std::size_t(t)].slot; }, n, g);
  return same;
}

enum class kind_of_keys { even, hot, one, apart, low, none };
std::vector<i32> keys_of(kind_of_keys kind, i64 n, i64 bins) {
  std::mt19937 random(7);
  std::vector<i32> keys(static_cast<std::size_t>(n));
  for (i32& k : keys) {
    auto const any = static_cast<i32>(random() % static_cast<u32>(bins));
    k = kind == kind_of_keys::one ? i32(bins / 2) : kind == kind_of_keys::hot && random() % 2 == 0 ? i32(bins - 1) : kind == kind_of_keys::apart ? any / 5000 * 5000 : any;
    if (kind == kind_of_keys::low) k %= static_cast<i32>(bins / 3 + 1);
    if (kind == kind_of_keys::none || (random() % 50 == 0 && kind != kind_of_keys::one)) k = -1;
  }
  return keys;
}
constexpr kind_of_keys all_kinds[] = {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one, kind_of_keys::apart, kind_of_keys::low, kind_of_keys::none};

/// The planner's plan of a sort of N elements by Bins.
template <i64 N, i64 Bins>
constexpr slot_sort_plan plan_of = plan_slot_sort(targets::h200, {0, 1, 1, N, {}, {{N, 1, {1}}}, {}}, Bins).plan;

} // namespace

TEST_CASE("sort by key, emulated: digits of eight, nine and ten bits, one pass and two") {
  for (i64 const n : {1, 4500})
    for (auto const kind : all_kinds) {
      CAPTURE(n);
      CAPTURE(int(kind));
      CHECK(sorts<plan_of<4500, 200>>(keys_of(kind, n, 200), 200));
      CHECK(sorts<plan_of<4500, 500>>(keys_of(kind, n, 500), 500));
      CHECK(sorts<plan_of<4500, 1000>>(keys_of(kind, n, 1000), 1000));
      CHECK(sorts<plan_of<4500, 100'000>>(keys_of(kind, n, 100'000), 100'000));
    }
}

TEST_CASE("sort by key, emulated: the places of slots behind all elements end with a whole run, or with a part of one") {
  for (auto const kind : all_kinds) {
    CAPTURE(int(kind));
    CHECK(sorts<plan_of<700, 1022>>(keys_of(kind, 700, 1022), 1022));
    CHECK(sorts<plan_of<700, 1023>>(keys_of(kind, 700, 1023), 1023));
    CHECK(sorts<plan_of<700, 1024>>(keys_of(kind, 700, 1024), 1024));
    CHECK(sorts<plan_of<700, 2047>>(keys_of(kind, 700, 2047), 2047));
    CHECK(sorts<plan_of<700, 3071>>(keys_of(kind, 700, 3071), 3071));
  }
}

TEST_CASE("sort by key, emulated: numbers of 64 bits") {
  for (auto const kind : all_kinds) CHECK(sorts<plan_of<(i64(1) << 33), 30'000>>(keys_of(kind, 5000, 30'000), 30'000));
}
