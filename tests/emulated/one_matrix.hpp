// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One read of a matrix or of a batch by the kernel that the planner picks, as host code, beside the CPU's answers.
#pragma once

#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/few_columns.cuh>
#include <tally/kernel/mixed.cuh>
#include <tally/plan/mixed.hpp>

#include <doctest/doctest.h>

#include <random>
#include <tuple>

namespace emulated {

using namespace tally::v0;

template <class T>
std::vector<T> uneven(i64 n) {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<std::size_t>(n) + 16 / sizeof(T));
  for (auto& v : x) v = T(std::ldexp(float(random() % 1000) - 400.f, int(random() % 20) - 10));
  return x;
}

/// How matrices of a batch lie in memory, and whether each of them is folded; or their columns and that, or all, alone, or their rows and that.
enum class lie { behind, in_turn, each_behind, each_in_turn, columns_and_each, columns_and_all, rows_and_each };
template <i64 Matrices, lie Lie>
auto sums_of_batch(auto const* x, i64 rows, i64 columns) {
  if constexpr (Matrices == 1)
    return from(shaped(x, rows, columns)) | reduce(over<0>(sum), over<1>(mean), sum);
  else if constexpr (Lie == lie::behind)
    return from(shaped(x, Matrices, rows, columns)) | reduce(over<1>(sum), over<2>(mean), sum);
  else if constexpr (Lie == lie::each_behind)
    return from(shaped(x, Matrices, rows, columns)) | reduce(over<1>(sum), over<2>(mean), over<1, 2>(sum));
  else if constexpr (Lie == lie::columns_and_each)
    return from(shaped(x, Matrices, rows, columns)) | reduce(over<1>(sum), over<1, 2>(sum));
  else if constexpr (Lie == lie::columns_and_all)
    return from(shaped(x, Matrices, rows, columns)) | reduce(over<1>(sum), sum);
  else if constexpr (Lie == lie::rows_and_each)
    return from(shaped(x, Matrices, rows, columns)) | reduce(over<2>(mean), over<1, 2>(sum));
  else if constexpr (Lie == lie::each_in_turn)
    return from(shaped(x, rows, Matrices, columns)) | reduce(over<0>(sum), over<2>(mean), over<0, 2>(sum));
  else
    return from(shaped(x, rows, Matrices, columns)) | reduce(over<0>(sum), over<2>(mean));
}

/// The first element of a vector from `uneven` that begins at a multiple of 16 bytes.
template <class T>
T const* aligned_in(std::vector<T> const& x) {
  return x.data() + (16 - reinterpret_cast<u64>(x.data()) % 16) % 16 / sizeof(T);
}

/// A matrix with what is the same in every row and what is the same all along one.
template <class T>
auto sums_beside_operands(T const* x, T const* of_column, T const* of_row, i64 rows, i64 columns) {
  return from(shaped(x, rows, columns), along<1>(device(of_column, columns)), along<0>(device(of_row, rows))) |
         reduce(over<0>(sum(_1 * _3)), over<1>(mean(_1 * _2)), sum(_1 * _2 * _3));
}

/// Whether rows whose parts of the whole are folded together are what the planner says, or those of a unit's neighbouring lanes, as in matrices of more columns.
enum class runs { planned, of_units };

/// Launches what the planner makes of sums of columns, rows and all; true where their answers are those of the CPU.
template <class T, i64 Rows, i64 Columns, bool Engine, i64 Matrices = 1, lie Lie = lie::behind, runs Runs = runs::planned, bool Operands = false>
bool folds() {
  CAPTURE(Rows);
  CAPTURE(Columns);
  constexpr bool whole_too = Lie != lie::in_turn && !(Operands && Columns % i64(16 / sizeof(T)) != 0), each = Lie == lie::each_behind || Lie == lie::each_in_turn || Lie == lie::columns_and_each || Lie == lie::rows_and_each;
  constexpr bool behind = Lie != lie::in_turn && Lie != lie::each_in_turn, rows_too = Lie != lie::columns_and_each && Lie != lie::columns_and_all,
                 columns_too = Lie != lie::rows_and_each;
  auto const all = uneven<T>(Matrices * Rows * Columns);
  T const* const x = aligned_in(all);
  auto const of_columns = uneven<T>(Columns), of_rows = uneven<T>(Rows);
  auto const r = [&] {
    if constexpr (Operands)
      return sums_beside_operands(x, aligned_in(of_columns), aligned_in(of_rows), Rows, Columns);
    else
      return sums_of_batch<Matrices, Lie>(x, Rows, Columns);
  }();
  using R = std::remove_cvref_t<decltype(r)>;
  constexpr auto at = detail::mixed_items_of<R>;
  auto const whole = detail::bind_to(r.pipe, detail::whole_folds(r.folds));
  auto const of = detail::domains_of_matrix<at>(r.folds, r.pipe, whole.program.leaves);
  auto columns = of.columns;
  auto const rows = of.rows;
  auto total = of.total.program;
  using Down = std::remove_cvref_t<decltype(columns.program)>;
  using Across = std::remove_cvref_t<decltype(rows.program)>;
  using Total = std::remove_cvref_t<decltype(total)>;
  static constexpr mixed_planned planned = [] {
    constexpr leaf_shape shape = shape_of<Down>;
    mixed_facts f{};
    f.of.lanes_per_group = shape.group;
    f.of.rows_per_leaf = shape.rows;
    f.of.source_count = Operands ? 3 : 1;
    for (int c = 0; c < f.of.source_count; ++c) f.of.sources[c] = {sizeof(T), 1, 16};
    f.of.target = Engine ? targets::h200 : targets::a100;
    f.of.target.multiprocessors = 4; // of which few rows have enough
    f.of.target.l2_bytes = 0;        // in which rows alone would be found again
    constexpr i64 row = behind ? Columns : Matrices * Columns, matrix = behind ? Rows * Columns : Columns;
    f.batched = Matrices > 1;
    f.whole_of_each = each;
    f.columns.kept_axes = Matrices > 1 ? 2 : 1;
    f.columns.reduced_axes = 1;
    f.columns.groups = Matrices * Columns;
    f.columns.extent = Rows;
    f.columns.kept[0] = {Matrices, matrix, {matrix}};
    f.columns.kept[Matrices > 1 ? 1 : 0] = {Columns, 1, {1, 1, 0}};
    f.columns.reduced[0] = {Rows, row, {row, 0, 1}};
    f.column_words = detail::words_while_closing(static_cast<decltype(Down::leaves) const*>(nullptr)) * (shape.elements() / mixed_folding_threads) * kernel::levels_of(shape.lanes());
    f.column_bytes = sizeof(typename Down::states);
    f.along_bytes = sizeof(pack<typename Across::states, typename Total::states>);
    f.apart_bytes = sizeof(typename Across::states) + sizeof(typename Total::states);
    f.commutative = true;
    f.folds_columns = columns_too;
    f.rows = rows_too;
    f.total = whole_too;
    return make_mixed_plan(f);
  }();
  CHECK(planned.joins);
  CHECK(planned.total_joins() == whole_too);
  auto cut = planned.cut;
  if (Runs == runs::of_units) {
    CHECK(cut.splits > 1);
    cut.make_runs_of(cut.lanes_of_unit);
  }
  columns.program.extent = Rows;
  total.extent = (each ? 1 : Matrices) * Rows * Columns;
  i64 const states = sizeof(pack<typename Down::states, typename Across::states, typename Total::states>);
  std::vector<unsigned char> scratch(static_cast<std::size_t>(states * (Matrices * (2 * cut.slots() * Columns + 2 * cut.chunks * Rows) + cut.parts_of_wholes + cut.wholes * cut.groups_of_whole) + 6 * 256 + 16), 0x55);
  std::vector<u32> arrivals(static_cast<std::size_t>(cut.arrivals()));
  std::vector<char> room(static_cast<std::size_t>(planned.shared_bytes) + 128 + 4096, 0x55); // more behind what was asked for, which stays as it is
  emulated::shared_begin = room.data() + (128 - reinterpret_cast<u64>(room.data()) % 128);
  unsigned char* const aligned = scratch.data() + (16 - reinterpret_cast<u64>(scratch.data()) % 16);
  auto const right = run(r, on::cpu);
  using Answer = std::remove_cvref_t<decltype(*std::get<0>(right).begin())>;
  std::vector<Answer> to_columns(static_cast<std::size_t>(Matrices * Columns), Answer(-77)), to_rows(static_cast<std::size_t>(Matrices * Rows), Answer(-77));
  std::vector<typename Total::states> of_all(static_cast<std::size_t>(Matrices), total.identity());
  answer_arrays columns_there{}, rows_there{};
  columns_there.at[0] = to_columns.data();
  rows_there.at[0] = to_rows.data();
  using ColumnNodes = std::remove_cvref_t<decltype(columns.nodes)>;
  using RowNodes = std::remove_cvref_t<decltype(rows.nodes)>;
  emulated::launch(planned.blocks(), unsigned(mixed_threads), [&] {
    if constexpr (planned.plan.few_columns > 0)
      kernel::few_columns<planned.plan, Down, ColumnNodes, Across, RowNodes, Total, typename Total::states*>(columns.program, columns.nodes, rows.program, rows.nodes, total, cut,
                                                                                                             columns_there, rows_there, of_all.data(), {aligned, arrivals.data()},
                                                                                                             {nullptr, 0, 0});
    else
      kernel::mixed<planned.plan, Down, ColumnNodes, Across, RowNodes, Total, typename Total::states*>(columns.program, columns.nodes, rows.program, rows.nodes, total, cut, columns_there,
                                                                                                       rows_there, of_all.data(), {aligned, arrivals.data()}, {nullptr, 0, 0});
  });
  auto const same_all = [](auto const& one, auto const& other) { return std::equal(one.begin(), one.end(), other.begin(), other.end()); };
  bool same = true;
  if constexpr (columns_too) same = same_all(to_columns, std::get<0>(right));
  if constexpr (rows_too) same = same && same_all(to_rows, std::get<columns_too ? 1 : 0>(right));
  auto const& of_whole = std::get<std::tuple_size_v<std::remove_cvref_t<decltype(right)>> - 1>(right);
  if constexpr (each)
    same = same && std::equal(of_all.begin(), of_all.end(), of_whole.begin(), of_whole.end(), [](auto const& s, auto answer) { return get<0>(s) == answer; });
  else if constexpr (whole_too)
    same = same && of_whole == get<0>(of_all[0]);
  for (u32 const a : arrivals) same = same && a == 0;
  CHECK(std::all_of(emulated::shared_begin + planned.shared_bytes, room.data() + room.size(), [](char c) { return c == 0x55; }));
  CHECK(same);
  return same;
}

} // namespace emulated
