// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and the whole of a matrix on the CPU, in one walk through memory: a few rows are folded every way there is while they are in the
// second cache. Layer 5, host only. The trees are those of a walk for each; a core that folds lanes of the columns grows all their trees at once.
#pragma once

#include <vector>

#include <tally/plan/matrix_walk.hpp>
#include <tally/run/cpu_groups.hpp>

namespace tally::v0::cpu {

namespace detail {

/// Whether neighbouring rows can be folded by themselves, and folding them: as numbers that lie in rows, or one after the other.
template <class Program>
bool can_fold_some(Program const& p, axes_layout const& at) {
  auto const f = host_axes_of(p, at);
  return planning::folds_rows(f) || planning::folds_in_turn(f);
}
template <class Program, class Emit>
void fold_some(Program const& p, axes_layout const& at, i64 first, i64 end, Emit const& emit) {
  if constexpr (folds_in_rows<Program>)
    if (planning::folds_rows(host_axes_of(p, at))) return fold_some_rows(p, at, first, end, emit);
  if constexpr (!needs_positions<Program>)
    for (; first < end; first += leaves_per_tile) fold_some_in_turn(p, at, first, end < first + leaves_per_tile ? end : first + leaves_per_tile, emit);
}

/// The whole as subtrees that neighbouring rows have, each folded with the rows in which it begins.
template <class Program>
class whole_in_pieces {
public:
  using states = typename Program::states;
  /// A piece is no longer than `elements`, unless a leaf is.
  whole_in_pieces(Program const& p, i64 elements) : p_(p), leaves_((p.extent - 1) / shape_of<Program>.elements() + 1) {
    while (2 * of_piece_ <= leaves_per_tile && 2 * of_piece_ * shape_of<Program>.elements() <= elements) of_piece_ *= 2;
    state_ = std::vector<states>(static_cast<std::size_t>((leaves_ - 1) / of_piece_ + 1), p.identity());
  }
  /// Folds the pieces that begin at elements [begin, end).
  void fold(i64 begin, i64 end) {
    for (i64 k = piece_from(begin); k < piece_from(end); ++k) {
      i64 const first = k * of_piece_;
      state_[static_cast<std::size_t>(k)] = fold_subtree(p_, first, leaves_ - first < of_piece_ ? leaves_ - first : of_piece_);
    }
  }
  states root() {
    combine_neighbours([&](states const& a, states const& b) { return p_.combine(a, b); }, state_.data(), static_cast<i64>(state_.size()));
    return state_[0];
  }
  /// The states of a piece are few beside its elements.
  static constexpr bool worth = Program::leaf_count > 0 && sizeof(states) <= std::size_t(shape_of<Program>.elements());

private:
  Program const& p_;
  i64 leaves_, of_piece_ = 1;
  std::vector<states> state_;
  i64 piece_from(i64 element) const {
    i64 const of = of_piece_ * shape_of<Program>.elements();
    return (element + of - 1) / of;
  }
};

template <class... Columns>
constexpr i64 bytes_of_element(pack<Columns...> const*) {
  return (i64(0) + ... + i64(tally::v0::detail::bytes_in_memory<Columns>()));
}
/// What may be folded of a matrix whose columns lie as `down` says and rows as `along` does; a program without folds folds nothing. All zero
/// where the axes do not make a matrix.
template <class Columns, class Rows, class Whole>
matrix_walk_facts matrix_of(Columns const& columns, axes_layout const& down, Rows const& rows, axes_layout const& along, Whole const&, int threads) {
  matrix_walk_facts f{};
  if (down.reduced_axes != 1 || down.kept_axes != 1 || down.kept[0].position_step != 1 || down.reduced[0].position_step != down.kept[0].extent)
    return f;
  f.rows = down.reduced[0].extent;
  f.columns = down.kept[0].extent;
  f.row_bytes = f.columns * bytes_of_element(static_cast<typename Columns::columns_type const*>(nullptr));
  f.down = shape_of<Columns>;
  f.lanes_beside = 1;
  f.threads = threads > 0 ? threads : core_count();
  if constexpr (all_in_place<Columns>)
    if (f.columns > 0 && f.rows > 0 && has_registers() && column_walk<Columns>::can(down)) {
      f.folds_columns = true;
      f.lanes_beside = column_walk<Columns>(columns, down, 1, 1).lanes_beside();
    }
  if constexpr (Rows::leaf_count > 0)
    f.folds_rows = along.groups == f.rows && along.extent == f.columns && can_fold_some(rows, along);
  f.folds_whole = whole_in_pieces<Whole>::worth;
  return f;
}

/// The columns of a matrix, chunk by chunk.
template <class Program>
class columns_in_chunks {
public:
  using walk_type = column_walk<Program>;
  columns_in_chunks(Program const& p, axes_layout const& at, matrix_walk_cut const& cut)
      : p_(p), cut_(cut), walk_(p, at, (at.extent - 1) / cut.rows_of_leaf + 1, 1), parts_(static_cast<std::size_t>(cut.chunks() * walk_.blocks())) {}
  /// The trees of one chunk, on one core.
  class chunk {
  public:
    chunk(columns_in_chunks& of, i64 number) : of_(of), number_(number) {
      for (i64 b = 0; b < of.walk_.blocks(); ++b) trees_.push_back(of.walk_.begin(b, of.cut_.of_chunk * of.cut_.of_turn / of.cut_.lanes + 1));
    }
    void add(i64 leaf, i64 lane, i64 count) {
      for (auto& t : trees_) walk_type::add(t, leaf, 1, int(lane), int(lane + count));
    }
    void end() {
      for (std::size_t b = 0; b < trees_.size(); ++b)
        of_.parts_[b * static_cast<std::size_t>(of_.cut_.chunks()) + static_cast<std::size_t>(number_)].emplace(of_.walk_.end(trees_[b], i64(b)));
    }

  private:
    columns_in_chunks& of_;
    i64 number_;
    std::vector<typename walk_type::folders> trees_;
  };
  chunk begin(i64 number) { return {*this, number}; }
  /// The states of all columns, when all chunks have ended.
  template <class Emit>
  void emit(int threads, Emit const& emit) {
    emit_roots(p_, walk_, cut_.chunks(), parts_, threads, emit);
  }

private:
  Program const& p_;
  matrix_walk_cut const& cut_;
  walk_type walk_;
  std::vector<std::optional<typename walk_type::states>> parts_;
};

/// No columns are folded in a walk.
struct no_columns {
  void add(i64, i64, i64) {}
  void end() {}
};
} // namespace detail

/// Walks through a matrix as it was cut: fold(first, end) takes rows that lie together, whose lanes then go to the columns that begin(chunk) gives.
template <class Fold, class Begin>
void walk_matrix(matrix_walk_facts const& f, matrix_walk_cut const& cut, Fold const& fold, Begin const& begin) {
  i64 const turns_of_leaf = cut.columns ? cut.lanes / cut.of_turn : 1;
  detail::spread_over_cores(cut.chunks(), f.threads, [&](i64 chunk) {
    auto columns = begin(chunk);
    i64 const last = cut.turns < (chunk + 1) * cut.of_chunk ? cut.turns : (chunk + 1) * cut.of_chunk;
    for (i64 t = chunk * cut.of_chunk; t < last; ++t) {
      i64 const leaf = t / turns_of_leaf, lane = t % turns_of_leaf * cut.of_turn;
      i64 const from = cut.columns ? leaf * cut.rows_of_leaf + lane : t * cut.of_turn, step = cut.columns ? cut.lanes : f.rows;
      i64 const behind = cut.columns && (leaf + 1) * cut.rows_of_leaf < f.rows ? (leaf + 1) * cut.rows_of_leaf : f.rows;
      for (i64 first = from; first < behind; first += step) fold(first, f.rows < first + cut.of_turn ? f.rows : first + cut.of_turn);
      columns.add(leaf, lane, cut.of_turn);
    }
    columns.end();
  });
}

} // namespace tally::v0::cpu
