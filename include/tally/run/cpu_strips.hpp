// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fold over strips of neighbouring groups on the CPU: every group is a vector lane and walks along its own canonical
// tree. Layer 5, host only. Lanes of a leaf come one after the other, so that a lane is closed as soon as it is begun and
// only the nodes on the way to the root are kept.
#pragma once

#include <vector>

#include <tally/plan/host_axes.hpp>
#include <tally/run/cpu_fold.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0::cpu {

using planning::groups_in_strip;
/// Bytes of a group up to which the prefetcher of a core follows sixteen of them by itself: sums of rows of 64 f32 ran at 8.5 GB/s
/// with and 12.2 without being asked for ahead, rows of 128 at 8.6 and 5.4. EPYC 9004, one core, 2026-11-20, g++ -O2.
inline constexpr int prefetched_group = 256;

namespace detail {

/// The numbers of a fold in registers, as many as there are groups in a strip.
template <class M, bool Masked>
struct strip_form {
  using number = typename vector_form<M>::number;
  static constexpr int fitting = register_bytes / int(sizeof(number));
  static constexpr int width = fitting < groups_in_strip ? fitting : groups_in_strip;
  static constexpr int count = groups_in_strip / width;
  /// Forms that count what they have met keep the count of each lane, for lanes of a last leaf have met different ones.
  static constexpr bool counts = requires(typename vector_form<M>::template lanes<width, true> l) { l.count; };
  using block = typename vector_form<M>::template lanes<width, Masked || counts>;
  using vector = typename block::vector;
  using mask = typename block::mask;
  struct states {
    block of[count];
    TALLY_INLINE void merge(M const&, states const& right) {
      for (int i = 0; i < count; ++i) of[i].merge(right.of[i], 0);
    }
    TALLY_INLINE typename M::state state(int j) const { return of[j / width].state(j % width, 0); }
  };
};
/// States as they are, where a fold has no vector form.
template <class M>
struct whole_states {
  typename M::state of[groups_in_strip];
  TALLY_INLINE void merge(M const& m, whole_states const& right) {
    for (int j = 0; j < groups_in_strip; ++j) of[j] = m.combine(of[j], right.of[j]);
  }
  TALLY_INLINE typename M::state state(int j) const { return of[j]; }
};

/// N - k ahead: the mask whose first k lanes of N are on.
template <class Number, int N>
struct lane_ramp {
  Number of[2 * N];
  constexpr lane_ramp() : of{} {
    for (int k = 0; k < N; ++k) of[k] = Number(-1);
  }
};

/// Rows become columns: register i of N holds element i of every one.
template <class V>
TALLY_INLINE void transpose(V (&r)[4]) {
  V const a = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6), b = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
  V const c = __builtin_shufflevector(r[2], r[3], 0, 4, 2, 6), d = __builtin_shufflevector(r[2], r[3], 1, 5, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5), r[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7), r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
template <class V>
TALLY_INLINE void transpose(V (&r)[8]) {
  V s[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    s[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  V t[8];
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4)
#pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
      t[i + 2 * k] = __builtin_shufflevector(s[i + k], s[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      t[i + 2 * k + 1] = __builtin_shufflevector(s[i + k], s[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(t[i], t[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(t[i], t[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}
/// The same for lanes, register by register.
template <class Block, class V, int N>
TALLY_INLINE void transpose_lanes(Block (&b)[N]) {
  constexpr int registers = int(sizeof(Block) / sizeof(V));
  static_assert(sizeof(Block) == registers * sizeof(V));
#pragma GCC unroll 4
  for (int q = 0; q < registers; ++q) {
    V r[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) std::memcpy(&r[i], reinterpret_cast<char const*>(&b[i]) + std::size_t(q) * sizeof(V), sizeof(V));
    transpose(r);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) std::memcpy(reinterpret_cast<char*>(&b[i]) + std::size_t(q) * sizeof(V), &r[i], sizeof(V));
  }
}

/// The canonical trees of several strips, which all grow alike.
template <class M, class States>
class strip_trees {
public:
  void begin(M const& m, int strips, i64 pushes) {
    m_ = &m;
    while (pushes > 0) pushes >>= 1, ++levels_;
    kept_ = heap_array<States>(static_cast<std::size_t>(strips * levels_));
  }
  void restart() { pushed_ = 0; }
  TALLY_INLINE void push(int strip, States& s) {
    States* const kept = kept_.data() + strip * levels_;
    if constexpr (M::law.order_free) {
      if (pushed_ > 0) merge(kept[0], s);
      kept[0] = s;
    } else {
      int depth = __builtin_popcountll(static_cast<u64>(pushed_));
      for (i64 k = pushed_; k & 1; k >>= 1) merge(kept[--depth], s);
      kept[depth] = s;
    }
  }
  /// After all strips have been pushed to.
  void advance() { ++pushed_; }
  void root(int strip, States& s) const {
    States const* const kept = kept_.data() + strip * levels_;
    int depth = M::law.order_free ? 1 : __builtin_popcountll(static_cast<u64>(pushed_));
    s = kept[--depth];
    while (depth > 0) merge(kept[--depth], s);
  }

private:
  M const* m_ = nullptr;
  int levels_ = 1;
  i64 pushed_ = 0;
  heap_array<States> kept_;

  TALLY_INLINE void merge(States const& left, States& s) const {
    States both = left;
    both.merge(*m_, s);
    s = both;
  }
};

/// Whether values lie nowhere: what would point to them is a nullptr_t.
template <class Pointer>
inline constexpr bool is_nowhere = std::is_null_pointer_v<Pointer>;
/// Whether a leaf (bound monoid) is folded in registers across groups.
template <class Leaf, class Row>
inline constexpr bool in_strip_registers = false;
template <has_group_form M, class E, class Mask, class Row>
inline constexpr bool in_strip_registers<bound<M, pack<E>, Mask>, Row> = bound<M, pack<E>, Mask>::computes_all && M::law.commutative;

/// One bound monoid over strips. Feeding asks for rows by row_of(r, j): the row of group j that is element r of what is fed.
template <leaf_shape Shape, class Leaf, class Row>
class strip_folder {
public:
  using M = typename Leaf::monoid_type;
  static constexpr bool by_row = !M::law.commutative;
  static constexpr bool in_registers = in_strip_registers<Leaf, Row>;
  static constexpr int width = groups_in_strip;

  /// For n elements of every group.
  void begin(Leaf const& leaf, int strips, i64 n) {
    leaf_ = &leaf;
    strips_ = strips;
    if constexpr (!order_free) trees_.begin(leaf.monoid, strips, n);
  }
  void restart() {
    trees_.restart();
    if constexpr (order_free) running_.assign(static_cast<std::size_t>(strips_), running_lanes(leaf_->monoid));
  }
  void advance() { trees_.advance(); }
  using states = whole_states<M>;
  void root(int strip, states& s) const {
    if constexpr (order_free)
      s = closed(running_[static_cast<std::size_t>(strip)]);
    else
      trees_.root(strip, s);
  }

  /// Feeds one lane, or one element of a fold that does not commute: count rows of every group.
  template <class RowOf>
  TALLY_INLINE void feed(int strip, int count, RowOf const& row_of) {
    if constexpr (order_free) {
      step(running_[static_cast<std::size_t>(strip)], count, row_of);
    } else {
      running_lanes fresh(leaf_->monoid);
      step(fresh, count, row_of);
      auto s = closed(fresh);
      trees_.push(strip, s);
    }
  }

private:
  using running_lanes = lanes_t<M, width>;
  /// There is no tree to follow; lanes with a running form of their own may count on elements in ascending order, though.
  static constexpr bool order_free = M::law.order_free && (exact_monoid<M> || std::is_same_v<running_lanes, state_lanes<M, width>>);
  Leaf const* leaf_ = nullptr;
  strip_trees<M, whole_states<M>> trees_;
  int strips_ = 0;
  std::vector<running_lanes> running_;

  template <class RowOf>
  TALLY_INLINE void step(running_lanes& running, int count, RowOf const& row_of) const {
    for (int r = 0; r < count; ++r)
      for (int j = 0; j < width; ++j) // the user's functions are called for what passes the mask, and for nothing else
        if (auto const row = row_of(r, j); Leaf::computes_all || leaf_->mask.eval(row)) leaf_->step(running, j, true, row);
  }
  TALLY_INLINE whole_states<M> closed(running_lanes const& running) const {
    whole_states<M> s;
    for (int j = 0; j < width; ++j) s.of[j] = running.close(leaf_->monoid, j);
    return s;
  }
};

template <leaf_shape Shape, class Leaf, class Row>
  requires in_strip_registers<Leaf, Row>
class strip_folder<Shape, Leaf, Row> {
public:
  using M = typename Leaf::monoid_type;
  using form = strip_form<M, Leaf::masked>;
  using number = typename form::number;
  using block = typename form::block;
  using states = typename form::states;
  using expression_type = std::remove_cvref_t<decltype(std::declval<Leaf>().values.first)>;
  using own = std::remove_cvref_t<decltype(std::declval<expression_type const&>().eval(std::declval<Row const&>()))>;
  using mask_number = integer_for<number>;
  static constexpr bool by_row = false, in_registers = true;
  static constexpr int width = groups_in_strip, n = form::width, rows = Shape.rows, lanes = Shape.lanes();
  /// The column whose memory is what is folded, or -1.
  static constexpr int column = reads_as<own, number> ? column_named_by<expression_type> : -1;
  /// Whether N lanes of N groups are turned in registers.
  static constexpr bool turns = n == 4 || n == 8;

  void begin(Leaf const& leaf, int strips, i64 elements) {
    leaf_ = &leaf;
    trees_.begin(leaf.monoid, strips, elements);
  }
  void restart() { trees_.restart(); }
  void advance() { trees_.advance(); }
  void root(int strip, states& s) const { trees_.root(strip, s); }

  /// Feeds one lane of `count` rows; in_place(r) is where the values of row r lie, or a nullptr_t: they are computed. Those of the
  /// next lane are `next` numbers away and asked for, since a core foresees no other page.
  template <class InPlace, class RowOf>
  TALLY_INLINE void feed(int strip, int count, InPlace const& in_place, RowOf const& row_of, i64 next = 0) {
    states s;
    if (count == rows)
      feed_rows<rows>(s, count, in_place, row_of, next);
    else
      feed_rows<0>(s, count, in_place, row_of, next);
    trees_.push(strip, s);
  }

  /// Feeds lanes l, ..., l + n - 1 of a leaf of `left` elements, whose elements are neighbours in every group: N lanes of one
  /// group in a register, then turned. value_at(e, j) is where element e of group j lies or a nullptr_t; room(e, j, k): whether k
  /// numbers may be read there; row_of(e, j) its row. Lanes that meet nothing stay neutral.
  template <class ValueAt, class Room, class RowOf>
  TALLY_INLINE void feed_turned(int strip, int l, int left, ValueAt const& value_at, Room const& room, RowOf const& row_of) {
    constexpr bool computes = is_nowhere<decltype(value_at(0, 0))>;
    alignas(64) [[maybe_unused]] number computed[computes ? rows : 1][width][n];
    alignas(64) [[maybe_unused]] mask_number on[Leaf::masked ? rows : 1][width][n];
    int const count = (left - 1 - l) / lanes + 1;
    auto const each_row = [&](auto& to, auto const& one) TALLY_INLINE_LAMBDA {
      int r = 0;
      do { // at least one row, and the compiler may know it
        for (int e = l + r * lanes, j = 0; j < width; ++j)
          if (left - e >= n)
            for (int k = 0; k < n; ++k) to[r][j][k] = one(row_of(e + k, j));
          else
            for (int k = 0; k < n; ++k) to[r][j][k] = k < left - e ? one(row_of(e + k, j)) : decltype(one(row_of(e, j)))(0);
      } while (++r < count);
    };
    if constexpr (computes)
      each_row(computed, [&](auto const& row) TALLY_INLINE_LAMBDA { return static_cast<number>(leaf_->values.first.eval(row)); });
    if constexpr (Leaf::masked)
      each_row(on, [&](auto const& row) TALLY_INLINE_LAMBDA { return leaf_->mask.eval(row) ? mask_number(-1) : mask_number(0); });
    auto const load_row = [&](typename form::vector& x, typename form::mask& let, int r, int e, int j) TALLY_INLINE_LAMBDA {
      int const here = left - e;
      let = typename form::mask{} - 1;
      if constexpr (Leaf::masked)
        load(let, on[r][j]);
      else if (here < n)
        load(let, &existing.of[n - here]);
      if constexpr (computes) {
        load(x, computed[r][j]);
      } else {
        number const* const at = value_at(e, j);
        if (left * int(sizeof(number)) > prefetched_group)
          __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(at) + bytes_asked_ahead));
        if (here < n && !room(e, j, n)) {
          alignas(64) number part[n]{};
          for (int k = 0; k < here; ++k) part[k] = at[k];
          load(x, part);
        } else {
          load(x, at);
        }
      }
    };
    states s;
    if (count == 1 && left - l >= n)
      turn<true>(s, l, 1, load_row);
    else
      turn<false>(s, l, count, load_row);
    trees_.push(strip, s);
  }

private:
  Leaf const* leaf_ = nullptr;
  strip_trees<M, states> trees_;
  static constexpr lane_ramp<mask_number, n> existing{};

  /// One row of a register's groups.
  TALLY_INLINE static void row(block& b, number const* at, [[maybe_unused]] mask_number const* on, bool first) {
    typename form::vector x;
    load(x, at);
    if (first) b.begin(x);
    typename form::mask let = typename form::mask{} - 1;
    if constexpr (Leaf::masked) load(let, on);
    step(b, x, let, Leaf::masked);
  }
  TALLY_INLINE static void step(block& b, typename form::vector const& x, typename form::mask const& let, bool ask) {
    if constexpr (form::counts || !requires { b.step(x); })
      b.step(x, let);
    else if (ask)
      b.step(x, let);
    else
      b.step(x);
  }
  /// The registers of one lane, over Count rows, or `count` where that is 0.
  template <int Count, class InPlace, class RowOf>
  TALLY_INLINE void feed_rows(states& s, int count, InPlace const& in_place, RowOf const& row_of, i64 next) const {
    int const rows_here = Count > 0 ? Count : count;
    constexpr bool computes = is_nowhere<decltype(in_place(0))>;
    alignas(64) number computed[computes ? rows : 1][width];
    alignas(64) [[maybe_unused]] mask_number on[Leaf::masked ? rows : 1][width];
    number const* at[rows];
    int r = 0;
    do { // at least one row, and the compiler may know it
      if constexpr (computes) {
        for (int j = 0; j < width; ++j) computed[r][j] = static_cast<number>(leaf_->values.first.eval(row_of(r, j)));
        at[r] = computed[r];
      } else {
        at[r] = in_place(r);
        __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(at[r]) + static_cast<u64>(next) * sizeof(number)));
      }
      if constexpr (Leaf::masked)
        for (int j = 0; j < width; ++j) on[r][j] = leaf_->mask.eval(row_of(r, j)) ? mask_number(-1) : mask_number(0);
    } while (++r < rows_here);
    auto const mask_of = [&](int of, int i) TALLY_INLINE_LAMBDA -> mask_number const* {
      if constexpr (Leaf::masked)
        return on[of] + i * n;
      else
        return nullptr;
    };
#pragma GCC unroll 4
    for (int i = 0; i < form::count; ++i) {
      block b;
      row(b, at[0] + i * n, mask_of(0, i), true);
#pragma GCC unroll 8
      for (int k = 1; k < rows_here; ++k) row(b, at[k] + i * n, mask_of(k, i), false);
      b.close(rows_here);
      s.of[i] = b;
    }
  }
  /// `count` rows of every group, or one whole one.
  template <bool OneWhole, class LoadRow>
  TALLY_INLINE void turn(states& s, int l, int count, LoadRow const& load_row) const {
    for (int i = 0; i < form::count; ++i) {
      block b[n];
      if constexpr (OneWhole) {
#pragma GCC unroll 8
        for (int g = 0; g < n; ++g) along_group<OneWhole>(b[g], l, 1, i * n + g, load_row);
      } else {
        for (int g = 0; g < n; ++g) along_group<OneWhole>(b[g], l, count, i * n + g, load_row);
      }
      transpose_lanes<block, typename form::vector>(b);
#pragma GCC unroll 4
      for (int h = 1; h < n; h *= 2)
#pragma GCC unroll 4
        for (int k = 0; k + h < n; k += 2 * h) b[k].merge(b[k + h], 0);
      s.of[i] = b[0];
    }
  }
  template <bool OneWhole, class LoadRow>
  TALLY_INLINE static void along_group(block& b, int l, int count, int j, LoadRow const& load_row) {
    b.begin(typename form::vector{}); // forms that keep a pivot are masked here
    for (int r = 0; r < count; ++r) {
      typename form::vector x;
      typename form::mask let;
      load_row(x, let, r, l + r * lanes, j);
      step(b, x, let, Leaf::masked || !OneWhole);
    }
    b.close(count);
  }
};

} // namespace detail

} // namespace tally::v0::cpu
