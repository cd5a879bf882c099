// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Domains of one matrix in one read on a GPU: finds among the items of a grouped reduction the columns (the outer axes folded away),
// the rows (the inner axes) and the folds of the whole, and computes what joins together, with keys beside. Layer 5.
#pragma once

#include <bit>
#include <optional>

#include <tally/run/check.hpp>
#include <tally/run/gpu_mixed.hpp>
#include <tally/run/keys_beside.hpp>
#include <tally/run/run_over.hpp>
#include <tally/run/traits_of_leaves.hpp>

namespace tally::v0::detail {

/// The axes an item folds away, as bits; 0 for what is not a grouping along axes.
template <class Item>
inline constexpr u32 axes_of_item = 0;
template <int... Axes, class... Folds>
inline constexpr u32 axes_of_item<folded_over<index_list<Axes...>, Folds...>> = folded_over<index_list<Axes...>, Folds...>::reduced;

/// Where the columns and the rows of a matrix stand among items, -1 for nowhere; the axes that its columns fold away, those that count the matrices of a
/// batch, which nothing folds away, and where the folds of every matrix of it stand.
struct mixed_items {
  int columns, rows;
  u32 down;
  u32 batch = 0;
  int each = -1;
  constexpr bool any() const { return columns >= 0 || rows >= 0; }
};
/// Whether axes follow each other.
constexpr bool are_neighbours(u32 axes) {
  u32 const first = axes & ~(axes - 1);
  return axes != 0 && (axes & (axes + first)) == 0;
}

/// Whether axes are the outermost ones, some of them.
constexpr bool are_outermost(u32 axes) { return axes != 0 && (axes & (axes + 1)) == 0; }

/// The first item that folds just these axes away; -1: none.
constexpr int first_of(u32 const* of, int n, u32 axes) {
  for (int i = 0; i < n; ++i)
    if (of[i] == axes)
      return i;
  return -1;
}
/// The first two items of which one folds the innermost axes away and the other neighbours among the axes in front of them, where the axes that
/// neither folds away may be those of a batch: may_be(columns' axes, those).
template <class MayBe>
constexpr mixed_items find_matrix(u32 const* of, int n, u32 all, MayBe const& may_be) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      u32 const batch = all & ~(of[i] | of[k]);
      if ((of[i] & of[k]) == 0 && are_neighbours(of[i]) && are_neighbours(of[k]) && (of[k] | (all >> 1)) == all && may_be(of[i], batch))
        return {i, k, of[i], batch, batch != 0 ? first_of(of, n, all & ~batch) : -1};
    }
  return {-1, -1, 0};
}
/// The first item that folds outer axes away, or the first that folds inner axes away.
constexpr mixed_items find_one_side(u32 const* of, int n, u32 all) {
  for (int i = 0; i < n; ++i)
    if (of[i] != all && are_outermost(of[i]))
      return {i, -1, of[i]};
  for (int i = 0; i < n; ++i)
    if (u32 const down = all & ~of[i]; of[i] != 0 && are_outermost(down))
      return {-1, i, down};
  return {-1, -1, 0};
}
/// The columns of the matrices of a batch beside folds of every matrix or of all, or their rows beside folds of every matrix.
constexpr mixed_items find_side_of_batch(u32 const* of, int n, u32 all, bool folds_all) {
  for (int i = 0; i < n; ++i) {
    u32 const down = of[i], batch = down == 0 ? 0 : (down & ~(down - 1)) - 1;
    int const each = batch == 0 ? -1 : first_of(of, n, all & ~batch);
    if (batch != 0 && are_neighbours(down) && (batch | down) != all && (each >= 0 || folds_all))
      return {i, -1, down, batch, each};
  }
  for (int i = 0; i < n; ++i)
    for (int each = 0; each < n; ++each) {
      u32 const batch = all & ~of[each], down = of[each] & ~of[i];
      if (of[i] != 0 && (of[i] & batch) == 0 && down != 0 && are_outermost(batch) && are_outermost(batch | down))
        return {-1, i, down, batch, each};
    }
  return {-1, -1, 0};
}
/// Columns and rows of one matrix, of matrices that lie one behind the other, or of matrices whose rows lie in turn, whose whole most often has a read of its own
/// and which are not taken where columns may be read with it; or one of them and the whole.
template <class... Items>
constexpr mixed_items find_mixed_items(int rank, pack<Items...> const*) {
  constexpr int n = int(sizeof...(Items)), others = (0 + ... + int(axes_of_item<Items> == 0));
  u32 const all = rank < 32 ? (u32(1) << rank) - 1 : 0;
  u32 const of[] = {axes_of_item<Items>..., 0};
  if (auto const one = find_matrix(of, n, all, [](u32, u32 batch) { return batch == 0; }); one.any())
    return one;
  if (auto const behind = find_matrix(of, n, all, [](u32 down, u32 batch) { return batch != 0 && batch < down && are_neighbours(batch); }); behind.any())
    return behind;
  if (auto const side = find_one_side(of, n, all); others > 0 && side.any())
    return side;
  if (auto const in_turn = find_matrix(of, n, all, [](u32 down, u32 batch) { return batch > down && are_neighbours(batch); }); in_turn.any())
    return in_turn;
  if (auto const of_batch = find_side_of_batch(of, n, all, others > 0); of_batch.any())
    return of_batch;
  return find_one_side(of, n, all);
}

template <class... Ts>
constexpr std::size_t most_bytes() {
  std::size_t most = 0;
  ((most = sizeof(Ts) > most ? sizeof(Ts) : most), ...);
  return most;
}

/// 32-bit words of a column while its lanes close: a state a level, without the numbers that whole lanes need not carry.
template <class Leaf>
constexpr int words_while_closing() {
  using M = typename Leaf::monoid_type;
  if constexpr (even_monoid<M> && !Leaf::masked)
    return int((sizeof(typename M::even) + 3) / 4);
  else
    return int((sizeof(typename M::state) + 3) / 4);
}
template <class... Leaves>
constexpr int words_while_closing(pack<Leaves...> const*) {
  return (0 + ... + words_while_closing<Leaves>());
}

/// Where the columns of a matrix lie, or those of all matrices of a batch: outer axis kept counts matrices.
struct matrix_layout {
  axes_layout columns;
  bool batched;
};
template <mixed_items At, class Program, class Source>
constexpr matrix_layout layout_of_matrix(Program const& p, Source const& s) {
  matrix_layout m{layout_of(p, s, [](int k) { return (At.down >> k & 1) != 0; }), false};
  axes_layout& at = m.columns;
  if constexpr (At.batch != 0) {
    i64 matrices = 1;
    for (int k = 0; k < rank_of<Source>; ++k)
      matrices *= (At.batch >> k & 1) != 0 ? extent_along(s, k) : 1;
    m.batched = matrices > 1;
    if (m.batched && at.kept_axes == 1 && at.groups > matrices) { // rows in turn: one axis with that beside which columns lie
      at.kept[1] = at.kept[0];
      i64 const columns = at.kept[1].extent = at.groups / matrices;
      at.kept[0].extent = matrices;
      at.kept[0].position_step *= columns;
      for (i64& step : at.kept[0].steps)
        step *= columns;
      at.kept_axes = 2;
    }
  }
  return m;
}

/// The columns' domain, or one of no folds.
template <mixed_items At, class Folds, class Pipe>
auto columns_of_items([[maybe_unused]] Folds const& items, Pipe const& pipe) {
  if constexpr (At.columns >= 0)
    return get<At.columns>(items).bind(pipe);
  else
    return bind_domain(groups_along_axes<rank_of<std::remove_cvref_t<decltype(pipe.source)>>, At.down>{}, pipe, pack<>{});
}
/// A domain of nothing but leaves.
template <class Leaves>
auto domain_of_leaves(Leaves const& leaves) {
  auto const all = with_leaves(pack<>{}, leaves);
  return domain<int, std::remove_cvref_t<decltype(all)>, pack<>>{0, all, {}};
}
/// The rows' domain, or one of no folds.
template <int Item, class Folds, class Pipe>
auto rows_of_items([[maybe_unused]] Folds const& items, [[maybe_unused]] Pipe const& pipe) {
  if constexpr (Item >= 0)
    return get<Item>(items).bind(pipe);
  else
    return domain_of_leaves(pack<>{});
}
/// The total's domain: every matrix of a batch where an item folds those, else the whole, whose answers are made elsewhere of these leaves.
template <mixed_items At, class Folds, class Pipe, class Leaves>
auto total_of_items([[maybe_unused]] Folds const& items, [[maybe_unused]] Pipe const& pipe, [[maybe_unused]] Leaves const& whole) {
  if constexpr (At.each >= 0)
    return get<At.each>(items).bind(pipe);
  else
    return domain_of_leaves(whole);
}
/// The same domain over other columns.
template <class Columns, class Where, class Own, class... Leaves, class Nodes>
auto over_columns(Columns const& columns, domain<Where, program<Own, Leaves...>, Nodes> const& d) {
  return domain<Where, program<Columns, Leaves...>, Nodes>{d.where, {columns, d.program.extent, d.program.first, d.program.leaves}, d.nodes};
}
/// The columns, rows and total of a matrix as one read, with folds by key beside them that have Keyed types. A total with nodes is that of every matrix of a
/// batch.
template <class ColumnDomain, class RowDomain, class TotalDomain, class Keyed = keyed_domains<pack<>>>
class mixed_read;
template <class ColumnWhere, class ColumnProgram, class... ColumnNodes, class RowWhere, class RowProgram, class... RowNodes, class TotalWhere, class Total, class... TotalNodes, class Keyed>
class mixed_read<domain<ColumnWhere, ColumnProgram, pack<ColumnNodes...>>, domain<RowWhere, RowProgram, pack<RowNodes...>>, domain<TotalWhere, Total, pack<TotalNodes...>>, Keyed> {
public:
  using Columns = std::remove_cvref_t<decltype(ColumnProgram::columns)>;
  using along = decltype(with_leaves(std::declval<Columns>(), join(std::declval<RowProgram>().leaves, std::declval<Total>().leaves)));
  using all = decltype(with_leaves(std::declval<Columns>(), join(std::declval<ColumnProgram>().leaves, std::declval<along>().leaves)));
  using with_keys = decltype(with_leaves(std::declval<Columns>(), join(std::declval<all>().leaves, std::declval<typename Keyed::leaves>())));
  static constexpr bool has_columns = sizeof...(ColumnNodes) > 0, has_rows = sizeof...(RowNodes) > 0, has_each = sizeof...(TotalNodes) > 0;

  mixed_read(domain<ColumnWhere, ColumnProgram, pack<ColumnNodes...>> const& columns, domain<RowWhere, RowProgram, pack<RowNodes...>> const& rows,
             domain<TotalWhere, Total, pack<TotalNodes...>> const& total, matrix_layout const& matrix, on::gpu_place where, contract c, bool queued, gpu::keys_of_read* keys)
      : columns_(columns), rows_(rows), total_(total) {
    axes_layout const& at = matrix.columns;
    where.ordinal = ordinal_for(columns_.program, at, where);
    columns_.program.extent = at.extent;
    total_.program.extent = at.extent * at.groups / (has_each && matrix.batched ? at.kept[0].extent : 1);
    request_ = request_of_types();
    request_.columns = &columns_.program;
    request_.rows = &rows_.program;
    request_.total = &total_.program;
    request_.column_nodes = &columns_.nodes;
    request_.row_nodes = &rows_.nodes;
    request_.ordinal = where.ordinal;
    request_.stream = where.queue;
    places_in_grid(columns_.program, at, request_.places);
    request_.f = facts(columns_.program, matrix, c);
    request_.f.of.queued = queued;
    if (keys != nullptr && keys->any()) {
      request_.keys = keys;
      request_.f.bytes_beside = keys->shared_bytes();
    }
    if (at.groups > 0 && at.extent > 0)
      planned_ = gpu::plan_mixed(request_, staged_);
  }
  mixed_read(mixed_read const&) = delete;
  mixed_planned const& planned() const { return planned_; }
  /// What the planner asks, but for the target, of columns that lie so.
  static mixed_facts facts(ColumnProgram columns, matrix_layout const& matrix, contract c) {
    columns.extent = matrix.columns.extent;
    auto const* leaves = static_cast<decltype(all::leaves) const*>(nullptr);
    constexpr leaf_shape shape = tally::v0::shape_of<ColumnProgram>;
    int const beside = shape.elements() / mixed_folding_threads, levels = std::bit_width(unsigned(shape.lanes())) - 1;
    int const words = words_while_closing(static_cast<decltype(ColumnProgram::leaves) const*>(nullptr)) * beside * levels;
    return {facts_of(columns, target{}, c), matrix.columns, matrix.batched, has_each, words, int(sizeof(typename ColumnProgram::states)), int(sizeof(typename along::states)), int((has_rows ? sizeof(typename RowProgram::states) : 0) + sizeof(typename Total::states)), all_commutative(leaves), any_exact_leaf(leaves),
            Total::leaf_count > 0, has_rows, has_columns, any_checked(leaves_of<ColumnProgram>) || any_checked(leaves_of<RowProgram>), any_counts(leaves_of<ColumnProgram>) || any_counts(leaves_of<RowProgram>), c == contract::fast || all_free_of_order(leaves_of<Total>)};
  }
  /// What the types alone say of a request.
  static gpu::mixed_request request_of_types() {
    static gpu::kernels_of<plan_beside<mixed_plan>> kernels;
    gpu::mixed_request r{};
    r.columns_type = &group_type_of<ColumnProgram, pack<ColumnNodes...>>();
    r.rows_type = &group_type_of<RowProgram, pack<RowNodes...>>();
    r.total_type = &group_type_of<Total, pack<>>();
    r.definitions = &definitions_of<with_keys>;
    r.kernels = &kernels;
    return r;
  }
  bool joins() const { return planned_.joins; }

  /// Queues the read, its answers to device memory, and the states of the whole too if they have joined.
  void queue_to(answer_arrays const& columns, answer_arrays const& rows, void* total) {
    request_.to_columns = {columns, sizeof...(ColumnNodes), most_bytes<group_answer_of<ColumnNodes, ColumnProgram>...>()};
    request_.to_rows = {rows, sizeof...(RowNodes), most_bytes<group_answer_of<RowNodes, RowProgram>...>()};
    request_.to_total = total;
    gpu::enqueue(request_, planned_);
  }
  /// The same with the answers of the whole, if it has joined. `launches` is that of gpu::mixed_request.
  template <class... Nodes>
  void queue_answers_to(answer_arrays const& columns, answer_arrays const& rows, pack<Nodes...> const& nodes, answer_arrays const& total, bool launches) {
    static gpu::kernels_of<plan_beside<mixed_plan>> kernels;
    answers_at<pack<Nodes...>> const answers{nodes, total};
    gpu::answers_in_kernel const finished{&group_type_of<Total, pack<Nodes...>>(), &answers, total.at, sizeof...(Nodes),
                                          most_bytes<group_answer_of<Nodes, Total>...>()};
    request_.launches = launches;
    if (planned_.total_joins()) {
      request_.kernels = &kernels;
      request_.total_type = finished.type;
      request_.finished = &finished;
    }
    queue_to(columns, rows, nullptr);
    request_.finished = nullptr;
  }
  /// The same with the answers of every matrix of a batch.
  void queue_each_to(answer_arrays const& columns, answer_arrays const& rows, answer_arrays const& each, bool launches) {
    queue_answers_to(columns, rows, total_.nodes, each, launches);
  }
  /// Queues the read; total() or each_of() is there if it has joined.
  void queue() {
    auto const& at = request_.f.columns;
    answer_arrays to_columns{}, to_rows{};
    if constexpr (has_columns) {
      to_columns_.emplace(at.groups, request_.ordinal, request_.stream);
      to_columns = to_columns_->places();
    }
    if constexpr (has_rows) {
      to_rows_.emplace(at.extent * planned_.cut.matrices, request_.ordinal, request_.stream);
      to_rows = to_rows_->places();
    }
    if constexpr (has_each) {
      if (planned_.total_joins())
        to_each_.emplace(planned_.cut.wholes, request_.ordinal, request_.stream);
      queue_each_to(to_columns, to_rows, to_each_ ? to_each_->places() : answer_arrays{}, true);
    } else {
      states_ = gpu::readback(sizeof(typename Total::states), request_.ordinal, request_.stream);
      queue_to(to_columns, to_rows, states_.device());
    }
  }
  template <class Source>
  auto columns_of([[maybe_unused]] Source const& s) {
    if constexpr (has_columns) // clang looks at calls that are never made
      return fetched<ColumnWhere>(*to_columns_, s);
  }
  template <class Source>
  auto rows_of([[maybe_unused]] Source const& s) {
    if constexpr (has_rows)
      return fetched<RowWhere>(*to_rows_, s);
  }
  template <class Source>
  auto each_of([[maybe_unused]] Source const& s) {
    if constexpr (has_each)
      return fetched<TotalWhere>(*to_each_, s);
  }
  typename Total::states total() { return *static_cast<typename Total::states const*>(states_.wait()); }

private:
  template <class Where, class Answers, class Source>
  auto fetched(Answers& answers, Source const& s) {
    i64 extents[Where::kept > 0 ? Where::kept : 1]{};
    kept_extents(Where{}, s, extents);
    return answers.template fetch<Where::kept>(extents);
  }
  template <class Program, class... Nodes>
  struct answers_type {
    using type = answers_on_device<Program, Nodes...>;
  };
  template <class Program>
  struct answers_type<Program> {
    using type = int;
  };
  domain<ColumnWhere, ColumnProgram, pack<ColumnNodes...>> columns_;
  domain<RowWhere, RowProgram, pack<RowNodes...>> rows_;
  domain<TotalWhere, Total, pack<TotalNodes...>> total_;
  gpu::mixed_request request_{};
  gpu::staged_columns staged_;
  mixed_planned planned_{};
  std::optional<typename answers_type<ColumnProgram, ColumnNodes...>::type> to_columns_;
  std::optional<typename answers_type<RowProgram, RowNodes...>::type> to_rows_;
  std::optional<typename answers_type<Total, TotalNodes...>::type> to_each_;
  gpu::readback states_;
};

/// The columns, rows and total of a matrix, all over the columns that any of them reads or that Keyed read.
template <class ColumnDomain, class RowDomain, class TotalDomain>
struct matrix_domains {
  ColumnDomain columns;
  RowDomain rows;
  TotalDomain total;
  template <class Keyed>
  using read = mixed_read<ColumnDomain, RowDomain, TotalDomain, Keyed>;
};
template <mixed_items At, class Keyed = keyed_domains<pack<>>, class Folds, class Pipe, class Leaves>
auto domains_of_matrix(Folds const& items, Pipe const& pipe, Leaves const& whole) {
  auto const columns = columns_of_items<At>(items, pipe);
  auto const rows = rows_of_items<At.rows>(items, pipe);
  auto const total = total_of_items<At>(items, pipe, whole);
  constexpr u32 named = columns_folded<std::remove_cvref_t<decltype(columns.program)>> | columns_folded<std::remove_cvref_t<decltype(rows.program)>> |
                        columns_folded<std::remove_cvref_t<decltype(total.program)>> | Keyed::columns;
  auto const read = columns_read<named>(bare_columns(pipe.source));
  using of = matrix_domains<decltype(over_columns(read, columns)), decltype(over_columns(read, rows)), decltype(over_columns(read, total))>;
  return of{over_columns(read, columns), over_columns(read, rows), over_columns(read, total)};
}

/// The read of the items of a grouped reduction, over a pipe, whose folds of the whole have these leaves, which are read apart where every matrix of a batch
/// is folded; `c` stands where it may join.
template <mixed_items At, class Keyed = keyed_domains<pack<>>, class Folds, class Pipe, class Leaves>
auto mixed_read_of(Folds const& items, Pipe const& pipe, Leaves const& whole, on::gpu_place where, contract c, bool queued = false,
                   gpu::keys_of_read* keys = nullptr) {
  auto const of = domains_of_matrix<At, Keyed>(items, pipe, whole);
  check_folds(of.columns.program.leaves);
  check_folds(of.rows.program.leaves);
  check_folds(of.total.program.leaves);
  using read = typename std::remove_cvref_t<decltype(of)>::template read<Keyed>;
  return read(of.columns, of.rows, of.total, layout_of_matrix<At>(of.columns.program, pipe.source), where, c, queued, keys);
}

} // namespace tally::v0::detail
