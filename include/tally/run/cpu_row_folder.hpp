// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fold over groups whose elements are neighbours in memory, as many at once as a register has lanes: every group as it lies,
// down to one register of nodes of its tree, and those of all groups together up to the roots. Layer 5, host only.
#pragma once

#include <tally/run/cpu_in_place.hpp>

namespace tally::v0::cpu {

/// Leaves of a group up to which groups are folded several at once; longer ones are folded one after the other by the tile loop.
inline constexpr int leaves_of_row = 16;

namespace detail {

/// The order of N lanes of Number in registers of Bytes while a tree of neighbours grows over them: neighbours are split within
/// 16 bytes, as one instruction does, and every so often halves are put together, which makes the order natural again.
template <int N, int Unit>
struct lane_order {
  static constexpr int steps_in_unit = Unit == 2 ? 1 : Unit == 4 ? 2 : 3, period = steps_in_unit + (N > Unit ? 1 : 0);
  static constexpr bool halves(int step) { return N > Unit && step % period == 0; }
  /// Which of the lanes of (a, b) is lane j of the nodes on the left (Right: on the right) of step `step`, counted from 1.
  static constexpr int from(int step, bool right, int j) {
    if (halves(step)) return (j < N / 2 ? j : N + j - N / 2) + (right ? N / 2 : 0);
    int const unit = j / Unit, k = j % Unit;
    return (k < Unit / 2 ? 0 : N) + unit * Unit + 2 * (k % (Unit / 2)) + (right ? 1 : 0);
  }
  /// Which lane holds the root of every group after `merges` registers of nodes became one, from step `first` on; element e of them
  /// all belongs to group e / in_group.
  struct lanes_of_groups {
    int of[N];
    constexpr lanes_of_groups(int registers, int first, int in_group) : of{} {
      int nodes[N][N]{};
      for (int v = 0; v < registers; ++v)
        for (int j = 0; j < N; ++j) nodes[v][j] = (v * N + j) / in_group;
      for (int h = 1; h < registers; h *= 2, ++first)
        for (int v = 0; v < registers; v += 2 * h) {
          int both[N]{};
          for (int j = 0; j < N; ++j) {
            int const k = from(first, false, j);
            both[j] = k < N ? nodes[v][k] : nodes[v + h][k - N];
          }
          for (int j = 0; j < N; ++j) nodes[v][j] = both[j];
        }
      for (int j = 0; j < N; ++j) of[nodes[0][j]] = j;
    }
  };
  /// N registers, each of one group, after step Done.
  template <int Done>
  static constexpr lanes_of_groups joined{N, Done + 1, N};
  /// As many registers as a group has elements.
  template <int Elements>
  static constexpr lanes_of_groups dense{Elements, 1, Elements};
};

/// One fold over groups that lie together.
template <leaf_shape Shape, class Leaf>
class row_folder {
public:
  using M = typename Leaf::monoid_type;
  using form = strip_form<M, false>;
  using number = typename form::number;
  using block = typename form::block;
  using vector = typename form::vector;
  using state = typename M::state;
  static constexpr int n = form::width, lanes = Shape.lanes(), blocks = lanes / n;
  /// Whether groups of more than one row of lanes are folded here: with more registers a lane, the tile loop is faster.
  static constexpr bool long_too = sizeof(block) == sizeof(vector);

  /// Groups [0, count), `step` numbers apart, of which Blocks registers hold the elements; Ragged: not exactly.
  template <int Blocks, bool Ragged>
  TALLY_INLINE static void short_groups(number const* x, i64 step, number const* end, int elements, i64 count, state* out) {
    i64 const reach = (n - 1) * (step > 0 ? step : 0) + Blocks * n;
    auto const fits = [&](i64 g) { return !Ragged || end - (x + g * step) >= reach; };
    i64 todo = fits(0) ? count / n * n : 0; // groups that are read as they lie; what is left is copied, n at a time
    while (todo > 0 && !fits(todo - n)) todo -= n;
    alignas(64) number copied[n * Blocks * n];
    state of_copied[n];
    for (i64 g = 0, here; g < count; g += here) {
      bool const copies = todo == 0;
      number const* at = x + g * step;
      i64 apart = step;
      state* to = out + g;
      here = todo;
      if (copies) {
        here = count - g < n ? count - g : n;
        for (int j = 0; j < n; ++j)
          for (int e = 0; e < Blocks * n; ++e) copied[j * Blocks * n + e] = j < here && e < elements ? at[j * step + e] : number{};
        at = copied, apart = Blocks * n, to = of_copied, todo = n;
      }
      for (block of_group[n]; todo > 0; todo -= n, to += n) {
        if constexpr (Blocks == 1 && Ragged) {
#pragma GCC unroll 8
          for (int j = 0; j < n; ++j) short_group<Blocks, Ragged, false>(of_group[j], at + j * apart, elements);
          at += n * apart;
        } else {
#pragma GCC unroll 1
          for (int j = 0; j < n; ++j, at += apart) short_group<Blocks, Ragged, false>(of_group[j], at, elements);
        }
        store<tally::v0::detail::log2_of(Blocks)>(of_group, n, to);
      }
      if (copies)
        for (int j = 0; j < here; ++j) out[g + j] = of_copied[j];
    }
  }
  /// n groups at a time that lie one after the other, Elements of each, while there are as many; returns how many it folded.
  template <int Elements>
  TALLY_INLINE static i64 dense_groups(number const* x, i64 count, state* out) {
    i64 g = 0;
    for (; g + n <= count; g += n, x += Elements * n) {
      block nodes, root;
      short_group<Elements, false, false>(nodes, x, Elements * n);
      in_order<order::template dense<Elements>>(root, nodes);
      put_states<form>(root, n, out + g);
    }
    return g;
  }
  /// The same for groups of more than one row of lanes: as many leaves at once, as they lie, of whichever groups they are.
  TALLY_INLINE static void long_groups(M const& m, number const* x, i64 step, number const* end, i64 elements, i64 count, state* out) {
    int const leaves = int((elements - 1) / Shape.elements()) + 1, last = int(elements - i64(leaves - 1) * Shape.elements());
    i64 const units = count * leaves;
    state roots[leaves_of_row + n]; // of leaves whose group is not complete
    int have = 0, k = 0;
    for (i64 u = 0; u < units; u += n) {
      block of_leaf[n];
      int const here = units - u < n ? int(units - u) : n;
      for (int j = 0; j < n; ++j) {
        if (j >= here) {
          copy_registers<form>(of_leaf[j], of_leaf[0]);
          continue;
        }
        leaf(of_leaf[j], x + k * Shape.elements(), end, k + 1 == leaves ? last : Shape.elements());
        if (++k == leaves) k = 0, x += step;
      }
      if (leaves == 1) {
        store<tally::v0::detail::log2_of(blocks)>(of_leaf, here, out + u);
        continue;
      }
      store<tally::v0::detail::log2_of(blocks)>(of_leaf, here, roots + have);
      have += here;
      int done = 0;
      for (; have - done >= leaves; done += leaves) {
        combine_neighbours([&](state const& a, state const& b) TALLY_INLINE_LAMBDA { return m.combine(a, b); }, roots + done, leaves);
        *out++ = roots[done];
      }
      for (int q = done; q < have; ++q) roots[q - done] = roots[q];
      have -= done;
    }
  }

private:
  using mask_number = integer_for<number>;
  using order = lane_order<n, (n < 16 / int(sizeof(number)) ? n : 16 / int(sizeof(number)))>;
  static constexpr lane_ramp<mask_number, n> existing{};

  TALLY_INLINE static void step(block& b, number const* x) {
    vector v;
    load(v, x);
    step_all<form>(b, v);
  }
  /// The first `count` of a register's numbers, which may be none or all.
  TALLY_INLINE static void step_some(block& b, number const* x, int count) {
    typename form::mask on;
    load(on, existing.of + (count < 0 ? n : count > n ? 0 : n - count));
    vector v;
    load(v, x);
    b.step(v, on);
  }
  /// One row of lanes down to a register. All but the right half of a tree is whole.
  template <int Blocks, bool Ragged, bool Left>
  TALLY_INLINE static void short_group(block& out, number const* x, int elements) {
    if constexpr (Blocks == 1) {
      out.begin(vector{}); // forms that keep a pivot are masked here
      if constexpr (Ragged)
        step_some(out, x, elements);
      else
        step(out, x);
      out.close(1);
    } else {
      block a, b;
      short_group<Blocks / 2, Ragged && Left, true>(a, x, elements);
      short_group<Blocks / 2, Ragged, true>(b, x + Blocks / 2 * n, elements - Blocks / 2 * n);
      merge<tally::v0::detail::log2_of(Blocks)>(out, a, b);
    }
  }
  /// A leaf of at least one row of lanes, or the last one of a group: row after row, as memory likes it, with the lanes in the nearest
  /// cache.
  TALLY_INLINE static void leaf(block& out, number const* x, number const* end, int elements) {
    block closed[blocks];
    int const whole = elements / lanes, rest = elements % lanes, full = rest / n;
    number const* const behind = x + whole * lanes;
    for (block& b : closed) b.begin(vector{});
    for (int r = 0; r < whole; ++r) {
      asm volatile(""); // or g++ -O3 takes the rows together and walks down the lanes
#pragma GCC unroll 4
      for (int b = 0; b < blocks; ++b) step(closed[b], x + r * lanes + b * n);
    }
    for (int b = 0; b < full; ++b) step(closed[b], behind + b * n);
    if (rest % n > 0) {
      number const* at = behind + full * n;
      alignas(64) number copied[n];
      if (end - at < n) {
        for (int e = 0; e < n; ++e) copied[e] = e < rest % n ? at[e] : number{};
        at = copied;
      }
      step_some(closed[full], at, rest % n);
    }
    for (block& b : closed) b.close(whole);
    tree<blocks>(out, closed);
  }
  template <int Blocks>
  TALLY_INLINE static void tree(block& out, block const* of) {
    if constexpr (Blocks == 2) {
      merge<1>(out, of[0], of[1]);
    } else {
      block a, b;
      tree<Blocks / 2>(a, of);
      tree<Blocks / 2>(b, of + Blocks / 2);
      merge<tally::v0::detail::log2_of(Blocks)>(out, a, b);
    }
  }
  template <int Done, int Groups>
  TALLY_INLINE static void join(block& out, block const* of) {
    if constexpr (Groups == 2) {
      merge<Done + 1>(out, of[0], of[1]);
    } else {
      block a, b;
      join<Done, Groups / 2>(a, of);
      join<Done, Groups / 2>(b, of + Groups / 2);
      merge<Done + tally::v0::detail::log2_of(Groups)>(out, a, b);
    }
  }
  /// The roots of n groups, whose registers are what step Done has left, in their order.
  template <int Done>
  TALLY_INLINE static void roots(block& out, block const* of_group) {
    block any;
    join<Done, n>(any, of_group);
    in_order<order::template joined<Done>>(out, any);
  }
  template <auto const& LaneOf>
  TALLY_INLINE static void in_order(block& out, block const& of) {
    [&]<int... J>(index_list<J...>) TALLY_INLINE_LAMBDA {
      each_register(out, of, of, [](vector& to, vector const& a, vector const& b) TALLY_INLINE_LAMBDA {
        to = __builtin_shufflevector(a, b, LaneOf.of[J]...);
      });
    }(indices_up_to<n>{});
  }
  template <int Done>
  TALLY_INLINE static void store(block const* of_group, int here, state* out) {
    block root;
    roots<Done>(root, of_group);
    put_states<form>(root, here, out);
  }
  /// Step `Step` of the tree over two neighbouring registers.
  template <int Step>
  TALLY_INLINE static void merge(block& out, block const& a, block const& b) {
    block left, right;
    [&]<int... J>(index_list<J...>) TALLY_INLINE_LAMBDA {
      each_register(left, a, b, [](vector& to, vector const& p, vector const& q) TALLY_INLINE_LAMBDA {
        to = __builtin_shufflevector(p, q, order::from(Step, false, J)...);
      });
      each_register(right, a, b, [](vector& to, vector const& p, vector const& q) TALLY_INLINE_LAMBDA {
        to = __builtin_shufflevector(p, q, order::from(Step, true, J)...);
      });
    }(indices_up_to<n>{});
    left.merge(right, 0);
    copy_registers<form>(out, left);
  }
  template <class F>
  TALLY_INLINE static void each_register(block& to, block const& a, block const& b, F const& f) {
    constexpr int registers = int(sizeof(block) / sizeof(vector));
    static_assert(sizeof(block) == registers * sizeof(vector));
#pragma GCC unroll 8
    for (int q = 0; q < registers; ++q) {
      std::size_t const at = std::size_t(q) * sizeof(vector);
      vector r, p, s;
      std::memcpy(&p, reinterpret_cast<char const*>(&a) + at, sizeof p);
      std::memcpy(&s, reinterpret_cast<char const*>(&b) + at, sizeof s);
      f(r, p, s);
      std::memcpy(reinterpret_cast<char*>(&to) + at, &r, sizeof r);
    }
  }
};

} // namespace detail

} // namespace tally::v0::cpu
