// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile loop of the CPU back end: folds leaves of the canonical tree. Layer 5, host only. Every fold walks over the
// values of a whole leaf while they are near, in vector registers where it has a vector form. What is left (the last
// leaf, host functions behind a mask) goes element by element. Spreading tiles over cores lives in dsl/cpu.
#pragma once

#include <tally/run/cpu_exact.hpp>
#include <tally/run/cpu_lanes.hpp>
#include <tally/run/cpu_leaf_tree.hpp>
#include <tally/run/cpu_places.hpp>
#include <tally/run/cpu_plain.hpp>
#include <tally/run/cpu_values.hpp>

namespace tally::v0::cpu {

/// Lanes that are in flight together where a fold has no vector form.
inline constexpr int lanes_in_flight = 16;

/// How far ahead memory is asked for where a leaf is walked down its lanes, which the prefetcher of a core does not
/// foresee: per element and core, min, max and variance of f32 at 256 MiB took 0.6 ns without this and 0.3 with it;
/// half and twice as far were no better. (A sum along the rows takes 0.17, down its lanes 0.25.) EPYC 9004, 2026-11-20,
/// g++ -O2, build/bench/cpu.
inline constexpr int bytes_asked_ahead = 8192;

namespace detail {

/// The register whose numbers start at x.
template <class Register, class V>
TALLY_INLINE void load(Register& to, V const* x) {
  std::memcpy(&to, x, sizeof to);
}

/// Asks for part `index` of `Parts` of what lies bytes_asked_ahead behind a leaf's values.
template <int Parts, int Elements, class V, bool InPlace>
TALLY_INLINE void ask_ahead(value_run<V, InPlace> x, int index) {
  constexpr int bytes = Elements * int(sizeof(V)) / Parts;
  if constexpr (InPlace)
    for (int b = 0; b < bytes; b += 64)
      __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(x.at) +
                                                       std::uintptr_t(bytes_asked_ahead + index * bytes + b)));
}

/// The even and the odd lanes of a and b, one after the other.
template <class Lanes, int... I>
TALLY_INLINE void split(Lanes& even, Lanes& odd, Lanes const& a, Lanes const& b, index_list<I...>) {
  Lanes::each_register(even, a, b, [](auto& to, auto const& x, auto const& y) TALLY_INLINE_LAMBDA {
    to = __builtin_shufflevector(x, y, (2 * I)...);
  });
  Lanes::each_register(odd, a, b, [](auto& to, auto const& x, auto const& y) TALLY_INLINE_LAMBDA {
    to = __builtin_shufflevector(x, y, (2 * I + 1)...);
  });
}

/// The balanced tree of neighbours over all lanes of Count registers of N lanes, each lane of which has met `met`
/// elements; the answer is lane 0 of closed[0], over the elements returned.
template <int N, int Count, class Lanes>
TALLY_INLINE int merge_neighbours(Lanes* closed, int met) {
  Lanes even, odd;
  for (int w = Count / 2; w > 0; w /= 2, met *= 2)
    for (int b = 0; b < w; ++b) {
      split(even, odd, closed[2 * b], closed[2 * b + 1], indices_up_to<N>{});
      even.merge(odd, met);
      closed[b] = even;
    }
  for (int w = N / 2; w > 0; w /= 2, met *= 2) {
    split(even, odd, closed[0], closed[0], indices_up_to<N>{});
    even.merge(odd, met);
    closed[0] = even;
  }
  return met;
}

/// The state of one leaf of one bound monoid, in registers.
template <leaf_shape Shape, class Leaf>
struct leaf_folder {
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  using number = typename wants<monoid_type>::number;
  using mask_number = typename wants<monoid_type>::mask;
  static constexpr int lanes = Shape.lanes(), rows = Shape.rows;

  /// Of a whole leaf whose first element has the given position.
  template <class... Runs>
  TALLY_INLINE static state of_whole(monoid_type const& m, [[maybe_unused]] i64 position, mask_number const* on, Runs... x) {
    if constexpr (has_vector_form<monoid_type> && sizeof...(Runs) == 1)
      return in_registers(m, on, x...);
    else if constexpr (finds_a_place<monoid_type>)
      return place_search<monoid_type>::template of_leaf<lanes * rows>(m, position, on, x.at...);
    else
      return lane_by_lane(m, position, on, x...);
  }
  /// Of a last leaf of count elements: its rows as they lie, the rest of a row behind a mask.
  template <class Program>
  TALLY_INLINE static state of_ragged(Program const& p, Leaf const& leaf, i64 first, int count) {
    return with_registers([&]() TALLY_INLINE_LAMBDA {
      if constexpr (in_ragged_registers<Program>)
        return ragged_in_registers(p, leaf, first, count);
      else
        return fold_one_by_one<Shape>(p, leaf, first, count);
    });
  }

private:
  template <class Program>
  static constexpr bool in_ragged_registers = [] {
    if constexpr (has_vector_form<monoid_type> && needs<Program, Leaf>::at_once)
      return decltype(Leaf::values)::size == 1;
    else
      return false;
  }();
  template <class Program>
  TALLY_INLINE static state ragged_in_registers(Program const& p, Leaf const& leaf, i64 first, int count) {
    using form = vector_form<monoid_type>;
    using E = std::remove_cvref_t<decltype(leaf.values.first)>;
    constexpr int n = register_bytes / int(sizeof(number)), blocks = lanes / n;
    constexpr bool counts = requires(typename form::template lanes<n, true> l) { l.count; };
    constexpr bool in_place = lies_in_memory<E, decltype(Program::columns)>() && reads_as<value_of<E, Program>, number>;
    using block = typename form::template lanes<n, Leaf::masked || counts>;
    block closed[blocks];
    for (auto& b : closed) b.begin(typename block::vector{}); // forms that keep a pivot are masked here
    alignas(64) number computed[lanes];
    alignas(64) mask_number on[lanes];
    for (int r = 0; r * lanes < count; ++r) {
      int const e = r * lanes, here = count - e < lanes ? count - e : lanes;
      number const* x = computed;
      bool const masked = Leaf::masked || counts || here < lanes;
      if constexpr (in_place)
        if (here == lanes) x = reinterpret_cast<number const*>(get<column_named_by<E>>(p.columns).data + first + e);
      if (x == computed)
        each_lane(computed, here, element<Program, E>{p, leaf.values.first, first + e});
      if (masked)
        each_lane(on, here, [passes = element<Program, std::remove_cvref_t<decltype(leaf.mask)>>{p, leaf.mask, first + e}](int l)
                                TALLY_INLINE_LAMBDA { return passes(l) ? mask_number(-1) : mask_number(0); });
      for (int b = 0; b < blocks; ++b) step_ragged(closed[b], x + b * n, on + b * n, masked);
    }
    for (auto& b : closed) b.close(rows);
    return merged<n, blocks, form>(leaf.monoid, closed);
  }
  /// f(l) for lanes below `here`, zero for the others; where that is all of them, in a loop that needs no condition.
  template <class V, class F>
  TALLY_INLINE static void each_lane(V (&to)[lanes], int here, F const& f) {
    if (here == lanes)
      for (int l = 0; l < lanes; ++l) to[l] = static_cast<V>(f(l));
    else
      for (int l = 0; l < lanes; ++l) to[l] = l < here ? static_cast<V>(f(l)) : V{};
  }
  template <class Block>
  TALLY_INLINE static void step_ragged(Block& b, number const* x, mask_number const* on, bool masked) {
    typename Block::vector v;
    load(v, x);
    if (masked || !requires { b.step(v); }) {
      typename Block::mask let;
      load(let, on);
      b.step(v, let);
    } else if constexpr (requires { b.step(v); }) {
      b.step(v);
    }
  }
  template <int N, int Count, class Form, class Block>
  TALLY_INLINE static state merged(monoid_type const& m, Block* closed) {
    if constexpr (Form::order_free) {
      for (int b = 1; b < Count; ++b) closed[0].merge(closed[b], 0);
      state s = closed[0].state(0, 0);
      for (int j = 1; j < N; ++j) s = m.combine(s, closed[0].state(j, 0));
      return s;
    } else {
      return closed[0].state(0, merge_neighbours<N, Count>(closed, rows));
    }
  }
  /// Feeds elements e, e + 1, ... to as many lanes; First: they have met none.
  template <bool First, class Lanes, class V>
  TALLY_INLINE static void feed(Lanes& running, V const* x, [[maybe_unused]] mask_number const* on, int e) {
    typename Lanes::vector v;
    load(v, x + e);
    if constexpr (First) running.begin(v);
    if constexpr (Leaf::masked) {
      typename Lanes::mask let;
      load(let, on + e);
      running.step(v, let);
    } else {
      running.step(v);
    }
  }
  /// Over memory, a fold of one register walks along the rows, as memory likes it, and keeps its lanes in the nearest
  /// cache; all others walk down their lanes, which then stay in registers.
  template <class V, bool InPlace>
  TALLY_INLINE static state in_registers(monoid_type const& m, mask_number const* on, value_run<V, InPlace> x) {
    using form = vector_form<monoid_type>;
    constexpr int n = register_bytes / int(sizeof(number)), count = lanes / n;
    using block = typename form::template lanes<n, Leaf::masked>;
    block closed[count];
    if constexpr (InPlace && sizeof(block) == register_bytes) {
      for (int b = 0; b < count; ++b) feed<true>(closed[b], x.at, on, b * n);
      for (int r = 1; r < rows; ++r) {
        asm volatile(""); // or g++ -O3 takes the rows together and walks down the lanes after all, at half the speed
#pragma GCC unroll 4
        for (int b = 0; b < count; ++b) feed<false>(closed[b], x.at, on, r * lanes + b * n);
      }
      for (int b = 0; b < count; ++b) closed[b].close(rows);
    } else {
      for (int b = 0; b < count; ++b) {
        block running;
        ask_ahead<count, lanes * rows>(x, b);
        feed<true>(running, x.at, on, b * n);
#pragma GCC unroll 8
        for (int r = 1; r < rows; ++r) feed<false>(running, x.at, on, r * lanes + b * n);
        running.close(rows);
        closed[b] = running;
      }
    }
    return merged<n, count, form>(m, closed);
  }
  template <class... Runs>
  TALLY_INLINE static state lane_by_lane(monoid_type const& m, i64 position, [[maybe_unused]] mask_number const* on,
                                         Runs... x) {
    auto const combine = [&](state const& a, state const& b) TALLY_INLINE_LAMBDA { return m.combine(a, b); };
    constexpr int width = lanes < lanes_in_flight ? lanes : lanes_in_flight;
    constexpr bool by_row = !monoid_type::law.commutative;
    state closed[lanes];
    state of_row[rows];
    for (int pass = 0; pass < (by_row ? rows : 1); ++pass) {
      for (int l = 0; l < lanes; l += width) {
        if constexpr (!by_row) (ask_ahead<lanes / width, lanes * rows>(x, l / width), ...);
        lanes_t<monoid_type, width> running(m);
        for (int r = by_row ? pass : 0; r < (by_row ? pass + 1 : rows); ++r) {
          int const e = r * lanes + l;
          for (int j = 0; j < width; ++j)
            running.step(m, j, Leaf::masked ? on[e + j] != 0 : true, position + e + j, x.at[e + j]...);
        }
        for (int j = 0; j < width; ++j) closed[l + j] = running.close(m, j);
      }
      combine_neighbours(combine, closed, lanes);
      of_row[pass] = closed[0];
    }
    if constexpr (by_row) combine_neighbours(combine, of_row, rows);
    return of_row[0];
  }
};

/// f(position, mask, values...) for the current leaf of `values`, all of whose elements there are.
template <class Leaf, class Program, class F, int... Slot>
TALLY_INLINE decltype(auto) with_values(leaf_values<Program>& values, Leaf const& leaf, index_list<Slot...>, F const& f) {
  using wanted = wants<typename Leaf::monoid_type>;
  return f(values.p.first + values.first, values.template mask<typename wanted::mask>(leaf.mask),
           values.template values<Slot, typename wanted::number>(get<Slot>(leaf.values))...);
}

/// Takes the current leaf of `values` for one fold: its state goes into the tree, or its elements into an exact sum.
template <leaf_shape Shape, class Program, class Leaf, class InTree>
TALLY_INLINE void take_leaf(leaf_values<Program>& values, Leaf const& leaf, [[maybe_unused]] InTree& s, [[maybe_unused]] typename Leaf::state& sum) {
  i64 const left = values.p.extent - values.first;
  bool const whole = left >= Shape.elements();
  constexpr bool exactly = exact_monoid<typename Leaf::monoid_type>;
  if constexpr (needs<Program, Leaf>::at_once)
    if (whole)
      return with_values(values, leaf, indices_up_to<decltype(leaf.values)::size>{}, [&](i64 position, auto const* on, auto... x) TALLY_INLINE_LAMBDA {
        if constexpr (exactly)
          add_exactly<Shape.elements()>(leaf.monoid, sum, on, x.at...);
        else
          s = leaf_folder<Shape, Leaf>::of_whole(leaf.monoid, position, on, x...);
      });
  int const count = whole ? Shape.elements() : static_cast<int>(left);
  if constexpr (exactly)
    add_ragged(values.p, leaf, sum, values.first, count);
  else
    s = leaf_folder<Shape, Leaf>::of_ragged(values.p, leaf, values.first, count);
}

template <class Columns, class... Leaves>
TALLY_INLINE void fold_tile(program<Columns, Leaves...> const& p, i64 leaf, i64 count,
                            pack<typename Leaves::state...>& out) {
  constexpr leaf_shape shape = shape_of<program<Columns, Leaves...>>;
  leaf_values<program<Columns, Leaves...>> values(p);
  fold_leaves(p.leaves, leaf, count, out, [&](i64 k, auto& s) TALLY_INLINE_LAMBDA {
    values.move_to(k * shape.elements());
    for_each_index<int(sizeof...(Leaves))>([&](auto i) TALLY_INLINE_LAMBDA { take_leaf<shape>(values, get<i>(p.leaves), get<i>(s), get<i>(out)); });
  });
}

} // namespace detail

/// The subtree over `count` leaves (at least 1) that start at `leaf`.
template <class Program>
typename Program::states fold_subtree(Program const& p, i64 leaf, i64 count) {
  typename Program::states s = p.identity();
  if constexpr (!detail::registers_are_certain)
    if (!detail::has_registers()) {
      detail::fold_plainly(p, p, p.extent, leaf, count, s);
      return s;
    }
  detail::with_registers([&]() TALLY_INLINE_LAMBDA { detail::fold_tile(p, leaf, count, s); });
  return s;
}

} // namespace tally::v0::cpu
