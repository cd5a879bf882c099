// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the CPU keeps for every slot while it folds by key: states, or what run/cpu_exact_tables.hpp keeps. Layer 5, host only. Every worker has a
// table of its own, or a range of slots in one.
#pragma once

#include <vector>

#include <tally/run/cpu_block_values.hpp>
#include <tally/run/cpu_exact_tables.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0::cpu {

/// States, one a slot.
template <class Leaf>
class state_table {
public:
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  using near_state = state; ///< of which answers are made where that is quicker

  state_table(Leaf const& leaf, std::size_t slots, std::size_t room, int tables, int) : leaf_(leaf), slots_(slots), room_(room) {
    for (int t = 0; t < tables; ++t) of_.emplace_back(room);
  }
  void clear(int table, std::size_t from, std::size_t to) {
    state* const t = of_[std::size_t(table)].data();
    for (std::size_t g = from; g < to; ++g) t[g] = leaf_.monoid.identity();
  }
  template <class Walk>
  void look_at(Walk const&, i64) {}

  template <int N, class RowOf>
  TALLY_INLINE void feed(int, int table, int n, RowOf const& row_of, detail::block_of_slots const& slots) {
    state* const t = of_[std::size_t(table)].data();
    if constexpr (detail::leaf_values_of_block<Leaf, RowOf>::at_once) {
      feed_computed<N>(t, n, row_of, slots, leaf_.values);
    } else {
      for (int j = 0; j < n; ++j)
        if (slots.slot[j] < slots_) one_by_one(t[slots.slot[j]], row_of(j));
    }
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed_row(int, int table, int n, RowOf const& row_of, std::size_t first, u32) {
    state* const t = of_[std::size_t(table)].data() + first;
    if constexpr (detail::leaf_values_of_block<Leaf, RowOf>::at_once)
      feed_row_computed<N>(t, n, row_of, leaf_.values);
    else
      for (int j = 0; j < n; ++j) one_by_one(t[j], row_of(j));
  }
  void end_block(int, int, std::size_t, std::size_t) {}
  /// Makes slots [from, to) of table 0 those of all tables, which is what state() gives then.
  void merge(std::size_t from, std::size_t to) {
    state* const t = of_[0].data();
    for (std::size_t w = 1; w < of_.size(); ++w)
      for (std::size_t g = from; g < to; ++g) t[g] = leaf_.monoid.combine(t[g], of_[w][g]);
  }
  state operator()(std::size_t slot) const { return of_[0][slot]; }
  bool near(std::size_t slot, near_state& to) const { return to = of_[0][slot], true; }

private:
  Leaf const& leaf_;
  std::size_t slots_, room_;
  std::vector<heap_array<state>> of_;

  template <class Row>
  TALLY_INLINE void one_by_one(state& s, Row const& row) const {
    if (leaf_.mask.eval(row))
      unpack([&](auto const&... v) { s = leaf_.monoid.combine(s, leaf_.monoid.lift(row.position, v.eval(row)...)); }, leaf_.values);
  }
  template <int N, class RowOf, class... Es>
  TALLY_INLINE void feed_computed(state* t, int n, RowOf const& row_of, detail::block_of_slots const& slots, pack<Es...> const& es) const {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    int const count = N > 0 ? N : n;
    pack<detail::values_of_block<typename of_block::template value<Es>>...> v;
    alignas(64) u32 narrowed[keyed_block];
    u32 const* to = slots.slot;
    if constexpr (of_block::masked) {
      of_block::let_through(count, row_of, leaf_.mask, slots.idle, slots.slot, narrowed);
      to = narrowed;
    }
    if (room_ * sizeof(state) > detail::bytes_near) ask_for(t, 1, to, count);
    for_each_index<int(sizeof...(Es))>(
        [&](auto i) TALLY_INLINE_LAMBDA {
          of_block::template compute<std::remove_cvref_t<decltype(*get<i>(v).of)>>(count, row_of, get<i>(es), get<i>(v).of, to, slots_);
        });
    auto const m = leaf_.monoid;
    unpack(
        [&](auto const&... x) TALLY_INLINE_LAMBDA {
#pragma GCC unroll 4
          for (int j = 0; j < count; ++j) t[to[j]] = m.combine(t[to[j]], m.lift(row_of(j).position, x.of[j]...));
        },
        v);
  }
  template <int N, class RowOf, class... Es>
  TALLY_INLINE void feed_row_computed(state* __restrict t, int n, RowOf const& row_of, pack<Es...> const& es) const {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    int const count = N > 0 ? N : n;
    auto const m = leaf_.monoid;
    auto const mask = leaf_.mask;
    for (int j = 0; j < count; ++j) {
      auto const row = row_of(j);
      if constexpr (of_block::masked && of_block::for_some)
        if (!mask.eval(row)) continue;
      auto const next =
          unpack([&](auto const&... e) TALLY_INLINE_LAMBDA { return m.combine(t[j], m.lift(row.position, e.eval(row)...)); }, es);
      if constexpr (of_block::masked)
        t[j] = mask.eval(row) ? next : t[j];
      else
        t[j] = next;
    }
  }
};

namespace detail {
template <class Leaf>
struct key_table {
  using type = state_table<Leaf>;
};
template <class Leaf>
  requires exact_monoid<typename Leaf::monoid_type> && (Leaf::monoid_type::factors <= 2)
struct key_table<Leaf> {
  using type = exact_table<Leaf>;
};
} // namespace detail
template <class Leaf>
using key_table_t = typename detail::key_table<Leaf>::type;

} // namespace tally::v0::cpu
