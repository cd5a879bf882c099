// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that folds sorted rows, as host code: it has the answers of the CPU to the last bit, where slots lie in one chunk, in several or
// nowhere, whatever is folded beside an exact sum, and wherever numbers lie.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/fold_sorted_rows.cuh>

#include <doctest/doctest.h>

#include <random>
#include <tuple>

using namespace tally::v0;

namespace {

constexpr i64 rows = 1500, width = 36, bins = 700, chunk_rows = 32;

/// Rows in the order of their slots, and where every slot begins.
struct sorted_rows_of {
  std::vector<numbered_slot<u32>> rows;
  std::vector<u32> begins;
  template <class Where, class Program>
  sorted_rows_of(Where const& where, Program const& p, axes_layout const& at) : begins(std::size_t(where.bins) + 1) {
    for (i64 r = 0; r < at.extent; ++r) {
      grid_place<decltype(p.columns)::size> place{};
      place.move(at.reduced[0], r);
      auto const row = row_at_place(p.columns, place, place.position);
      bool const inside = where.mask.eval(row) && is_in_bins(where.key.eval(row), where.bins);
      rows.push_back({static_cast<u32>(inside ? i64(where.key.eval(row)) : where.bins), static_cast<u32>(r)});
    }
    std::stable_sort(rows.begin(), rows.end(), [](auto a, auto b) { return a.slot < b.slot; });
    for (i64 g = 0; g <= where.bins; ++g)
      begins[std::size_t(g)] = static_cast<u32>(first_not_below([&](i64 t) { return rows[std::size_t(t)].slot; }, at.extent, g));
  }
};

/// Bytes that a kernel writes, and that nobody has written before.
std::vector<u64> unwritten(i64 bytes) { return std::vector<u64>(static_cast<std::size_t>(bytes / 8 + 2), 0xdeadbeefdeadbeefull); }

/// The memory of all answers after the kernel's phases.
template <class R>
std::vector<std::vector<u64>> folded_by_kernel(R const& r) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  using Nodes = std::remove_cvref_t<decltype(d.nodes)>;
  auto const& type = detail::keyed_types<Where, Program, Nodes>::type();
  constexpr sorted_rows_plan plan{{8, 256, 4, 16, false, true, true}, 32, 1, 32, 1, 4, false}; // a block is a warp
  axes_layout const at = layout_of(d.program, r.pipe.source, Where::is_reduced);
  auto p = d.program;
  p.extent = at.extent;
  sorted_rows_of sorted(d.where, p, at);
  u64 stray[3]{~u64(0), 0, 0};
  slot_sort const s{{sorted.rows.data(), nullptr}, nullptr, sorted.begins.data(), stray, at.extent, at.extent, d.where.bins, 1, 1, 1};
  sorted_rows_cut const cut{at.extent, chunk_rows, (at.extent - 1) / chunk_rows + 1, (at.groups - 1) / plan.threads_per_row + 1};
  std::vector<std::vector<u64>> cells, answers;
  keyed_memory memory{};
  for (int i = 0; i < type.fold_count; ++i) {
    cells.push_back(unwritten(cut.chunks * at.groups * type.cell_bytes[i]));
    memory.cells[i] = cells.back().data();
  }
  auto locks = unwritten(cut.chunks * at.groups * 4);
  memory.locks = type.locks ? reinterpret_cast<u32*>(locks.data()) : nullptr;
  memory.stray = stray;
  answer_arrays to{};
  for (int i = 0; i < int(Nodes::size); ++i) {
    answers.push_back(unwritten(d.where.bins * at.groups * 8));
    to.at[i] = answers.back().data();
  }
  auto const run_phase = [&](keyed_phase phase, i64 blocks) {
    emulated::launch(blocks, plan.threads_per_block, [&] { kernel::fold_sorted_rows<plan>(p, at, s, cut, d.nodes, memory, to, phase); });
  };
  run_phase(keyed_phase::open, 2);
  run_phase(keyed_phase::fold, cut.chunks * cut.strips);
  run_phase(keyed_phase::close, 3);
  return answers;
}

template <class A>
bool same_answers(A const& right, std::vector<u64> const& by_kernel) {
  return std::memcmp(right.data(), by_kernel.data(), right.size() * sizeof(*right.data())) == 0;
}
template <class R>
void same(R const& r) {
  INFO(text_of(r));
  auto const by_kernel = folded_by_kernel(r);
  auto const right = run(r, on::cpu);
  std::size_t next = 0;
  auto const check_one = [&](auto const& one) { CHECK(same_answers(one, by_kernel[next++])); };
  if constexpr (requires { right.data(); })
    check_one(right);
  else
    std::apply([&](auto const&... all_of_them) { (check_one(all_of_them), ...); }, right);
}

enum class kind_of_keys { even, hot, one };
std::vector<i32> keys_of(kind_of_keys kind) {
  std::mt19937 random(5);
  std::vector<i32> keys(static_cast<std::size_t>(rows));
  for (i32& k : keys)
    k = kind == kind_of_keys::one || (kind == kind_of_keys::hot && random() % 2 == 0) ? i32(bins) - 1 : static_cast<i32>(random() % unsigned(bins));
  return keys;
}
template <class T>
std::vector<T> numbers() {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<std::size_t>(rows * width));
  for (T& v : x) v = static_cast<T>(float(int(random() % 20001) - 10000) / 777.f);
  return x;
}

} // namespace

TEST_CASE("sorted rows, emulated: every kind of fold beside exact sums, also of slots without rows") {
  auto const x = numbers<float>();
  auto const wide = numbers<double>();
  auto const whole = numbers<i32>();
  for (auto const kind : {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one}) {
    CAPTURE(int(kind));
    auto const keys = keys_of(kind);
    auto const of_rows = [&](auto const& v) { return from(shaped(v, rows, width), along<0>(keys)); };
    same(of_rows(x) | by_key<0>(_2, bins, sum(_1)));
    same(of_rows(x) | by_key<0>(_2, bins, sum(_1), mean(_1), max(_1)));
    same(of_rows(x) | filter(_2 % 3 != 0) | by_key<0>(_2, bins, sum(_1 * _1), argmin(_1), sum(_1).where(_1 < 3.f)));
    same(of_rows(x) | by_key<0>(_2, bins, variance(_1), min(_1).where(_1 > 3.f), count_if(_1 > 1.f)));
    same(of_rows(wide) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1), min(_1)));
    same(of_rows(whole) | by_key<0>(_2, bins, sum(_1), sum(_1).checked(), count, argmax(_1)));
    same(of_rows(x) | by_key<0>(_2 - 100, bins, sum(_1), max(_1)).dropping_strays());
  }
}

TEST_CASE("sorted rows, emulated: numbers far from each other, and those that are none") {
  std::mt19937 random(9);
  auto x = numbers<float>();
  auto wide = numbers<double>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    int const power = int(random() % 250) - 125;
    if (random() % 4 == 0) x[i] = std::ldexp(x[i], power);
    if (random() % 4 == 0) wide[i] = std::ldexp(wide[i], 8 * power);
    if (random() % 3000 == 0) x[i] = std::numeric_limits<float>::infinity() * (random() % 2 == 0 ? 1.f : -1.f);
    if (random() % 3000 == 0) wide[i] = std::numeric_limits<double>::quiet_NaN();
    if (random() % 100 == 0) x[i] = std::numeric_limits<float>::denorm_min() * float(random() % 9);
    if (random() % 100 == 0) x[i] = -0.f;
  }
  for (auto const kind : {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one}) {
    auto const keys = keys_of(kind);
    same(from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1), mean(_1)));
    same(from(shaped(wide, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1), mean(_1), max(_1)));
  }
}
