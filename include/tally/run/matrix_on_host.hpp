// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and folds of the whole of one reduction on the host: in one walk through the matrix where that is worth it. Layer 5.
#pragma once

#include <optional>

#include <tally/run/cpu_matrix.hpp>
#include <tally/run/run_mixed.hpp>

namespace tally::v0::detail {

/// What a reduction does not have among its items.
struct no_groups {};
template <class Item>
inline constexpr bool is_there = !std::same_as<Item, no_groups>;
template <class Domain>
struct host_groups {
  using type = groups_on_host<Domain>;
};
template <>
struct host_groups<no_groups> {
  using type = no_groups;
};

/// What one walk folds of a matrix: At says which items of `items` its columns and rows are; `whole` has the folds of the whole.
template <mixed_items At, class Folds, class Pipe, class Whole>
class matrix_on_host {
  template <int I>
  static auto domain_of([[maybe_unused]] Folds const& items, [[maybe_unused]] Pipe const& pipe) {
    if constexpr (I >= 0) {
      auto const d = get<I>(items).bind(pipe);
      check_folds(d.program.leaves);
      return d;
    } else {
      return no_groups{};
    }
  }
  using ColumnDomain = decltype(domain_of<At.columns>(std::declval<Folds const&>(), std::declval<Pipe const&>()));
  using RowDomain = decltype(domain_of<At.rows>(std::declval<Folds const&>(), std::declval<Pipe const&>()));

public:
  matrix_on_host(Folds const& items, Pipe const& pipe, Whole const& whole, on::cpu_place where)
      : whole_(whole), facts_(facts(items, pipe, whole, where.thread_count)), cut_(cut_matrix_walk(facts_)) {
    if (!cut_.joins)
      return;
    if constexpr (is_there<ColumnDomain>)
      if (cut_.columns)
        columns_.emplace(domain_of<At.columns>(items, pipe), pipe.source);
    if constexpr (is_there<RowDomain>)
      if (facts_.folds_rows)
        rows_.emplace(domain_of<At.rows>(items, pipe), pipe.source);
    fold();
  }
  /// The facts that decide it, also for who only asks.
  static matrix_walk_facts facts(Folds const& items, Pipe const& pipe, Whole const& whole, int threads) {
    auto const columns = columns_of_items<At>(items, pipe);
    auto const rows = rows_of_items<At.rows>(items, pipe);
    axes_layout along{};
    if constexpr (At.rows >= 0)
      along = layout_of(rows.program, pipe.source, std::remove_cvref_t<decltype(rows.where)>::is_reduced);
    return cpu::detail::matrix_of(columns.program, layout_of(columns.program, pipe.source, std::remove_cvref_t<decltype(columns.where)>::is_reduced), rows.program, along,
                                  whole, threads);
  }
  bool has_whole() const { return cut_.joins && facts_.folds_whole; }
  typename Whole::states const& states() const { return *states_; }
  /// Whether item I has been folded, and its answers.
  template <int I>
  bool has() const {
    return (I == At.columns && cut_.joins && cut_.columns) || (I == At.rows && cut_.joins && facts_.folds_rows);
  }
  template <int I>
  auto take() {
    if constexpr (I == At.columns)
      return columns_->take();
    else
      return rows_->take();
  }

private:
  Whole const& whole_;
  matrix_walk_facts facts_;
  matrix_walk_cut cut_;
  std::optional<typename host_groups<ColumnDomain>::type> columns_;
  std::optional<typename host_groups<RowDomain>::type> rows_;
  std::optional<typename Whole::states> states_;

  void fold() {
    auto p = whole_;
    check_host_can_read(p);
    if constexpr (cpu::detail::whole_in_pieces<Whole>::worth) {
      cpu::detail::whole_in_pieces<Whole> pieces(whole_, cut_.of_turn * facts_.columns);
      fold_with([&](i64 first, i64 end) { pieces.fold(first * facts_.columns, end * facts_.columns); });
      states_ = pieces.root();
    } else {
      fold_with([](i64, i64) {});
    }
  }
  template <class FoldWhole>
  void fold_with(FoldWhole const& fold_whole) {
    auto const fold_rows = [&](i64 first, i64 end) {
      if constexpr (is_there<RowDomain>)
        if (facts_.folds_rows)
          cpu::detail::fold_some(rows_->program(), rows_->at(), first, end, rows_->writer());
      fold_whole(first, end);
    };
    if constexpr (is_there<ColumnDomain>)
      if constexpr (cpu::detail::all_in_place<decltype(ColumnDomain::program)>)
        if (cut_.columns) {
          cpu::detail::columns_in_chunks<decltype(ColumnDomain::program)> down(columns_->program(), columns_->at(), cut_);
          cpu::walk_matrix(facts_, cut_, fold_rows, [&](i64 chunk) { return down.begin(chunk); });
          return down.emit(facts_.threads, columns_->writer());
        }
    cpu::walk_matrix(facts_, cut_, fold_rows, [](i64) { return cpu::detail::no_columns{}; });
  }
};

/// Nothing that one walk could fold. The functions are said outside of it, or clang would look into it where they are not called.
struct no_matrix {};
template <int I, class Matrix>
bool has_item(Matrix const& m) {
  return m.template has<I>();
}
template <int I, class Matrix>
auto take_item(Matrix& m) {
  return m.template take<I>();
}

} // namespace tally::v0::detail
