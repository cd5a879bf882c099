// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fold over strips of neighbouring groups on the CPU: every group is a vector lane and walks along its own canonical
// tree. Layer 5, host only. Lanes of a leaf come one after the other, so that a lane is closed as soon as it is begun and
// only the nodes on the way to the root are kept.
#pragma once

#include <memory>
#include <vector>

#include <tally/fold/groups.hpp>
#include <tally/run/cpu_fold.hpp>

namespace tally::inline v0::cpu {

/// Groups that are folded side by side.
inline constexpr int groups_in_strip = 16;
/// Bytes of a group up to which the prefetcher of a core follows sixteen of them by itself: sums of rows of 64 f32 ran at 8.5 GB/s
/// with and 12.2 without being asked for ahead, rows of 128 at 8.6 and 5.4. EPYC 9004, one core, 2026-11-20, g++ -O2.
inline constexpr int prefetched_group = 256;

namespace detail {

/// The numbers of a fold in registers of at most Bytes, as many as there are groups in a strip.
template <class M, bool Masked, int Bytes>
struct strip_form {
  using number = typename vector_form<M>::number;
  static constexpr int fitting = Bytes / int(sizeof(number));
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
    kept_.reset(new States[static_cast<std::size_t>(strips * levels_)]);
  }
  void restart() { pushed_ = 0; }
  TALLY_INLINE void push(int strip, States& s) {
    States* const kept = kept_.get() + strip * levels_;
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
    States const* const kept = kept_.get() + strip * levels_;
    int depth = M::law.order_free ? 1 : __builtin_popcountll(static_cast<u64>(pushed_));
    s = kept[--depth];
    while (depth > 0) merge(kept[--depth], s);
  }

private:
  M const* m_ = nullptr;
  int levels_ = 1;
  i64 pushed_ = 0;
  std::unique_ptr<States[]> kept_;

  TALLY_INLINE void merge(States const& left, States& s) const {
    States both = left;
    both.merge(*m_, s);
    s = both;
  }
};

/// Whether a leaf (bound monoid) is folded in registers across groups.
template <class Leaf, class Row>
inline constexpr bool in_strip_registers = false;
template <has_vector_form M, class E, class Mask, class Row>
inline constexpr bool in_strip_registers<bound<M, pack<E>, Mask>, Row> = bound<M, pack<E>, Mask>::lowerable && M::law.commutative;

/// One bound monoid over strips. Feeding asks for rows by row_of(r, j): the row of group j that is element r of what is fed.
template <leaf_shape Shape, int Bytes, class Leaf, class Row>
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
      for (int j = 0; j < width; ++j) // host functions are called for what passes the mask, and for nothing else
        if (auto const row = row_of(r, j); Leaf::lowerable || leaf_->mask.eval(row)) leaf_->step(running, j, true, row);
  }
  TALLY_INLINE whole_states<M> closed(running_lanes const& running) const {
    whole_states<M> s;
    for (int j = 0; j < width; ++j) s.of[j] = running.close(leaf_->monoid, j);
    return s;
  }
};

template <leaf_shape Shape, int Bytes, class Leaf, class Row>
  requires in_strip_registers<Leaf, Row>
class strip_folder<Shape, Bytes, Leaf, Row> {
public:
  using M = typename Leaf::monoid_type;
  using form = strip_form<M, Leaf::masked, Bytes>;
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

  /// Feeds one lane of Count (0: count) rows; in_place(r) is where the values of row r lie, null: they are computed. Those of the
  /// next lane are `next` numbers away and asked for, since a core foresees no other page.
  template <int Count, class InPlace, class RowOf>
  TALLY_INLINE void feed(int strip, int count, InPlace const& in_place, RowOf const& row_of, i64 next = 0) {
    int const rows_here = Count > 0 ? Count : count;
    alignas(64) number computed[rows][width];
    alignas(64) [[maybe_unused]] mask_number on[rows][width];
    number const* at[rows];
    for (int r = 0; r < rows_here; ++r) {
      at[r] = in_place(r);
      if (at[r] == nullptr) {
        for (int j = 0; j < width; ++j) computed[r][j] = static_cast<number>(leaf_->values.first.eval(row_of(r, j)));
        at[r] = computed[r];
      } else {
        __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(at[r]) + static_cast<u64>(next) * sizeof(number)));
      }
      if constexpr (Leaf::masked)
        for (int j = 0; j < width; ++j) on[r][j] = leaf_->mask.eval(row_of(r, j)) ? mask_number(-1) : mask_number(0);
    }
    states s;
#pragma GCC unroll 4
    for (int i = 0; i < form::count; ++i) {
      block b;
      row(b, at[0] + i * n, on[0] + i * n, true);
#pragma GCC unroll 8
      for (int r = 1; r < rows_here; ++r) row(b, at[r] + i * n, on[r] + i * n, false);
      b.close(rows_here);
      s.of[i] = b;
    }
    trees_.push(strip, s);
  }

  /// Feeds lanes l, ..., l + n - 1 of a leaf of `left` elements, whose elements are neighbours in every group: N lanes of one
  /// group in a register, then turned. value_at(e, j) is where element e of group j lies or null; room(e, j, k): whether k
  /// numbers may be read there; row_of(e, j) its row. Lanes that meet nothing stay neutral.
  template <class ValueAt, class Room, class RowOf>
  TALLY_INLINE void feed_turned(int strip, int l, int left, ValueAt const& value_at, Room const& room, RowOf const& row_of) {
    int const count = (left - 1 - l) / lanes + 1;
    bool const whole = left - l - (count - 1) * lanes >= n;
    states s;
    if (whole && count == rows)
      turn<rows, false>(s, l, left, count, value_at, room, row_of);
    else if (whole && count == 1)
      turn<1, false>(s, l, left, count, value_at, room, row_of);
    else if (count == 1)
      turn<0, true>(s, l, left, 0, value_at, room, row_of);
    else if (whole)
      turn<-1, false>(s, l, left, count, value_at, room, row_of);
    else
      turn<-1, true>(s, l, left, count - 1, value_at, room, row_of);
    trees_.push(strip, s);
  }

private:
  Leaf const* leaf_ = nullptr;
  strip_trees<M, states> trees_;
  /// n - k ahead: the mask whose first k lanes are on.
  struct ramp {
    mask_number of[2 * n];
    constexpr ramp() : of{} {
      for (int k = 0; k < n; ++k) of[k] = mask_number(-1);
    }
  };
  static constexpr ramp existing{};

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
  /// Whole rows (negative: `whole` of them), and a Part of another.
  template <int Whole, bool Part, class ValueAt, class Room, class RowOf>
  TALLY_INLINE void turn(states& s, int l, int left, int whole, ValueAt const& value_at, Room const& room, RowOf const& row_of) const {
    for (int i = 0; i < form::count; ++i) {
      block b[n];
#pragma GCC unroll 8
      for (int g = 0; g < n; ++g) along_group<Whole, Part>(b[g], l, left, whole, i * n + g, value_at, room, row_of);
      transpose_lanes<block, typename form::vector>(b);
#pragma GCC unroll 4
      for (int h = 1; h < n; h *= 2)
#pragma GCC unroll 4
        for (int k = 0; k + h < n; k += 2 * h) b[k].merge(b[k + h], 0);
      s.of[i] = b[0];
    }
  }
  template <int Whole, bool Part, class ValueAt, class Room, class RowOf>
  TALLY_INLINE void along_group(block& b, int l, int left, int whole, int j, ValueAt const& value_at, Room const& room,
                                RowOf const& row_of) const {
    int const rows_here = Whole < 0 ? whole : Whole;
    b.begin(typename form::vector{}); // forms that keep a pivot are masked here
    int e = l;
#pragma GCC unroll 8
    for (int r = 0; r < rows_here; ++r, e += lanes) {
      number const* const at = value_at(e, j);
      if (at != nullptr && left * int(sizeof(number)) > prefetched_group)
        __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(at) + bytes_asked_ahead));
      along_row(b, e, n, j, at, row_of);
    }
    if constexpr (Part) {
      int const here = left - e;
      number const* at = value_at(e, j);
      alignas(64) number part[n]{};
      if (at != nullptr && !room(e, j, n)) {
        for (int k = 0; k < here; ++k) part[k] = at[k];
        at = part;
      }
      along_row(b, e, here, j, at, row_of, Part);
    }
    b.close(rows_here + (Part ? 1 : 0));
  }
  /// `here` numbers from element e of group j on.
  template <class RowOf>
  TALLY_INLINE void along_row(block& b, int e, int here, int j, number const* at, RowOf const& row_of, bool part = false) const {
    typename form::vector x{};
    if (at != nullptr)
      load(x, at);
    else
      for (int k = 0; k < here; ++k) x[k] = static_cast<number>(leaf_->values.first.eval(row_of(e + k, j)));
    typename form::mask let = typename form::mask{} - 1;
    if (part) load(let, &existing.of[n - here]);
    if constexpr (Leaf::masked)
      for (int k = 0; k < here; ++k) let[k] = leaf_->mask.eval(row_of(e + k, j)) ? mask_number(-1) : mask_number(0);
    step(b, x, let, Leaf::masked || part);
  }
};

} // namespace detail

} // namespace tally::inline v0::cpu
