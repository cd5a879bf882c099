// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the CPU keeps for every slot while it folds by key: states; for exact sums of floats two doubles whose additions cannot
// round; for those of doubles and of products of two floats 128 bits, of products of two doubles 192. Layer 5, host only. Every worker has a
// table of its own, or a range of slots in one; what does not fit the doubles or the bits goes to the wide integer itself, so the sum is the same always.
#pragma once

#include <vector>

#include <tally/fold/exact.hpp>
#include <tally/fold/expansion.hpp>
#include <tally/run/cpu_keys.hpp>
#include <tally/run/cpu_slices.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::inline v0::cpu {

namespace detail {

template <class V>
struct values_of_block {
  alignas(64) V of[keyed_block];
};

/// A bound monoid fed from blocks: where its elements go, and their values.
template <class Leaf, class RowOf>
struct leaf_values_of_block;
template <class M, class... Es, class Mask, class RowOf>
struct leaf_values_of_block<bound<M, pack<Es...>, Mask>, RowOf> {
  using leaf_type = bound<M, pack<Es...>, Mask>;
  using row_type = decltype(std::declval<RowOf const&>()(0));
  template <class E>
  using value = std::remove_cvref_t<decltype(std::declval<E const&>().eval(std::declval<row_type const&>()))>;
  static constexpr bool masked = !std::is_same_v<Mask, in_a_bin>;
  static constexpr bool at_once = leaf_type::lowerable && (true && ... && fits_a_buffer<value<Es>>);

  /// Whether the values of elements that go nowhere must not be asked for.
  static constexpr bool for_some = any_calls_users_code(static_cast<pack<Es...> const*>(nullptr));

  /// The values of elements whose slots are below `slots`, of others too where that harms nobody.
  template <class E, class V>
  TALLY_INLINE static void compute(int count, RowOf const& row_of, E const& of, V* __restrict out, u32 const* slot, std::size_t slots) {
    E const e = of;
    for (int j = 0; j < count; ++j)
      if constexpr (E::calls_users_code)
        out[j] = slot[j] < slots ? static_cast<V>(e.eval(row_of(j))) : V{};
      else
        out[j] = static_cast<V>(e.eval(row_of(j)));
  }
  TALLY_INLINE static void let_through(int count, RowOf const& row_of, Mask const& of, u32 idle, u32 const* slot, u32* __restrict to) {
    Mask const m = of;
    for (int j = 0; j < count; ++j)
      to[j] = (!Mask::calls_users_code || slot[j] < idle) && m.eval(row_of(j)) ? slot[j] : idle + (u32(j) & (idle_slots - 1));
  }
};

/// Bytes of a table whose slots come as soon as they are wanted; those of larger ones are asked for. 2^24 f32 by 100 000 and 200 000 keys, 1.6 and 3.2 MB: 22.6 and 25.0 ms, asked
/// for 25.7 and 27.7; by 10^6, 16 MB, 60 and, asked for one by one 24 ahead, 80 to 97 (two cores of an AMD EPYC, g++ 12 -O2, 2026-11-28, one thread).
inline constexpr std::size_t bytes_near = 4 * 1024 * 1024;

__extension__ typedef unsigned __int128 whole_128;

} // namespace detail

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
  TALLY_INLINE void feed(int table, int n, RowOf const& row_of, detail::block_of_slots const& slots) {
    state* const t = of_[std::size_t(table)].data();
    if constexpr (detail::leaf_values_of_block<Leaf, RowOf>::at_once) {
      feed_computed<N>(t, n, row_of, slots, leaf_.values);
    } else {
      for (int j = 0; j < n; ++j)
        if (slots.slot[j] < slots_) one_by_one(t[slots.slot[j]], row_of(j));
    }
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed_row(int table, int n, RowOf const& row_of, std::size_t first, u32) {
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
    if (room_ * sizeof(state) > detail::bytes_near) ask_for(t, to, count);
    for_each_index<int(sizeof...(Es))>(
        [&](auto i) TALLY_INLINE_LAMBDA { of_block::compute(count, row_of, get<i>(es), get<i>(v).of, to, slots_); });
    auto const m = leaf_.monoid;
    unpack(
        [&](auto const&... x) TALLY_INLINE_LAMBDA {
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

/// What does not fit a quick table: nothing at first, wide integers of all slots as soon as a worker has such an element.
template <class M>
class wide_sums {
public:
  wide_sums(M const& m, std::size_t slots) : m_(m), slots_(slots) {}
  /// Whether there are any; asked in a turn, or when no worker is left.
  bool any() const { return of_.data() != nullptr; }
  template <class... Vs>
  void add(std::size_t slot, Vs... values) {
    m_.add(of_[slot], values...);
  }
  typename M::state& operator[](std::size_t slot) { return of_[slot]; }
  typename M::state const& operator[](std::size_t slot) const { return of_[slot]; }

private:
  class lock {
  public:
    explicit lock(int& taken) : taken_(taken) { cpu::lock(taken_); }
    lock(lock const&) = delete;
    lock& operator=(lock const&) = delete;
    ~lock() { cpu::unlock(taken_); }

  private:
    int& taken_;
  };

public:
  /// As long as it lives, no other worker has one, and the integers are there.
  class turn {
  public:
    explicit turn(wide_sums& sums) : lock_(sums.taken_) {
      if (!sums.any()) sums.make();
    }

  private:
    lock lock_;
  };

private:
  int taken_ = 0;
  M m_;
  std::size_t slots_;
  heap_array<typename M::state> of_;

  void make() {
    of_ = heap_array<typename M::state>(slots_);
    for (std::size_t g = 0; g < slots_; ++g) of_[g] = {};
  }
};

/// Exact sums, a pair of quick words a slot.
template <class Leaf>
class exact_table {
public:
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  using number = typename monoid_type::number;
  static constexpr int factors = monoid_type::factors;
  /// Floats by their two slices as doubles; doubles and products of floats as 128 bits, products of doubles as three words.
  static constexpr bool by_slices = std::is_same_v<number, float> && factors == 1, by_words = std::is_same_v<number, double> && factors == 2;
  struct whole {
    detail::whole_128 q;
  };
  using quick = std::conditional_t<by_slices, float_slices, std::conditional_t<by_words, wide_integer<3>, whole>>;
  using near_state = sum_of_numbers<double>;

  exact_table(Leaf const& leaf, std::size_t slots, std::size_t room, int tables, int workers)
      : leaf_(leaf), slots_(slots), room_(room), wide_(leaf.monoid, slots), since_(std::size_t(workers)) {
    for (int t = 0; t < tables; ++t) of_.emplace_back(room);
    log_room_ = 22;
    while (log_room_ < 27 && (std::size_t(1) << (log_room_ - 6)) < slots) ++log_room_;
  }
  void clear(int table, std::size_t from, std::size_t to) {
    quick* const t = of_[std::size_t(table)].data();
    for (std::size_t g = from; g < to; ++g) t[g] = quick{};
  }
  /// Chooses what the quick words hold from some of the elements.
  template <class Walk>
  void look_at(Walk const& walk, i64 elements) {
    double most = 0;
    i64 const samples = elements < 2048 ? elements : 2048;
    for (i64 i = 0; i < samples; ++i) {
      auto const row = walk.row_of_element(elements / samples * i, 0);
      if (!walk.passes(row) || !leaf_.mask.eval(row)) continue;
      double const x = product_at(row);
      double const size = x < 0 ? -x : x;
      if (is_finite(size) && size > most) most = size;
    }
    auto const a = take_apart(most);
    int top = 3; // of a sample without a number: sizes below 8
    if (a.fraction != 0) top = 64 - __builtin_clzll(a.fraction) + a.bit + float_shape<double>::lowest + 3;
    set_top(top < -900 ? -900 : top > 900 ? 900 : top);
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed(int table, int n, RowOf const& row_of, detail::block_of_slots const& slots) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    quick* const t = of_[std::size_t(table)].data();
    if constexpr (of_block::at_once) {
      int const count = N > 0 ? N : n;
      alignas(64) u32 narrowed[keyed_block];
      u32 const* to = slots.slot;
      if constexpr (of_block::masked) {
        of_block::let_through(count, row_of, leaf_.mask, slots.idle, slots.slot, narrowed);
        to = narrowed;
      }
      if (room_ * sizeof(quick) > detail::bytes_near) ask_for(t, to, count);
      feed_computed<N>(t, count, row_of, to);
    } else {
      for (int j = 0; j < n; ++j)
        if (slots.slot[j] < slots_) one_by_one(slots.slot[j], row_of(j));
    }
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed_row(int table, int n, RowOf const& row_of, std::size_t first, [[maybe_unused]] u32 idle) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    if constexpr (of_block::at_once) {
      int const count = N > 0 ? N : n;
      alignas(64) u32 neighbours[keyed_block], narrowed[keyed_block];
      for (int j = 0; j < count; ++j) neighbours[j] = static_cast<u32>(first) + u32(j);
      u32 const* to = neighbours;
      if constexpr (of_block::masked) {
        of_block::let_through(count, row_of, leaf_.mask, idle, neighbours, narrowed);
        to = narrowed;
      }
      feed_computed<N>(of_[std::size_t(table)].data(), count, row_of, to);
    } else {
      for (int j = 0; j < n; ++j) one_by_one(first + std::size_t(j), row_of(j));
    }
  }
  /// After n elements of a worker: before its quick words could have overflowed, they go to the wide integers.
  TALLY_INLINE void end_block(int worker, int n, std::size_t from, std::size_t to) {
    auto& since = since_[std::size_t(worker)].elements;
    if ((since += n) + keyed_block > i64(1) << log_room_) put_away_all(worker, from, to);
  }
  void merge(std::size_t from, std::size_t to) {
    if (!wide_.any()) return;
    for (auto& t : of_)
      for (std::size_t g = from; g < to; ++g) put_away(wide_[g], t[g]);
  }
  state operator()(std::size_t slot) const {
    if (wide_.any()) return wide_[slot];
    state s{};
    for (auto const& t : of_) add_quick(s, t[slot]);
    return s;
  }
  /// The same as three doubles; false: it is not.
  bool near(std::size_t slot, near_state& to) const {
    if (wide_.any()) return false;
    expansion<double> sum;
    for (auto const& t : of_) add_quick(sum, t[slot]);
    to = {sum.high(), sum.middle(), sum.low()};
    return !sum.lost();
  }

private:
  struct alignas(64) counted {
    i64 elements = 0;
  };
  Leaf const& leaf_;
  std::size_t slots_, room_;
  wide_sums<monoid_type> wide_;
  std::vector<counted> since_;
  std::vector<heap_array<quick>> of_;
  int log_room_, unit_ = 0;
  float_cutters cut_;

  /// Elements below 2^top are cut into multiples of 2^unit_ and of a unit below it, 2^log_room_ of which add up without rounding; or
  /// are multiples of 2^unit_ in 126 or 190 bits.
  void set_top(int top) {
    cut_.top = detail::power_of_two(top);
    if constexpr (by_slices) {
      unit_ = top + log_room_ - 53;
      int const lower_unit = unit_ - 1 + log_room_ - 53;
      cut_.upper = 1.5 * detail::power_of_two(unit_ + 52);
      cut_.lower = lower_unit + 52 < -1000 ? 0.0 : 1.5 * detail::power_of_two(lower_unit + 52);
    } else {
      unit_ = top + log_room_ - (by_words ? 190 : 126);
      constexpr int finest = monoid_type::range::lowest;
      if (unit_ < finest) unit_ = finest;
    }
  }
  template <class Row>
  double product_at(Row const& row) const {
    return unpack([&](auto const&... v) { return (1.0 * ... * static_cast<double>(static_cast<number>(v.eval(row)))); }, leaf_.values);
  }
  template <class Row>
  void one_by_one(std::size_t slot, Row const& row) {
    if (!leaf_.mask.eval(row)) return;
    typename wide_sums<monoid_type>::turn const mine(wide_);
    unpack([&](auto const&... v) { wide_.add(slot, static_cast<number>(v.eval(row))...); }, leaf_.values);
  }
  [[gnu::noinline]] void put_away_all(int worker, std::size_t from, std::size_t to) {
    since_[std::size_t(worker)].elements = 0;
    typename wide_sums<monoid_type>::turn const mine(wide_);
    quick* const t = of_[std::size_t(worker) < of_.size() ? std::size_t(worker) : 0].data(); // one a worker, or one for all
    for (std::size_t g = from; g < to; ++g) put_away(wide_[g], t[g]);
  }
  void put_away(state& to, quick& of) const {
    add_quick(to, of);
    of = quick{};
  }
  void add_quick(state& to, quick const& of) const {
    auto& sum = to.sum;
    constexpr int lowest = monoid_type::range::lowest;
    if constexpr (by_slices) {
      detail::add_double(sum, of.q[0], lowest);
      detail::add_double(sum, of.q[1], lowest);
    } else {
      for_each_word(of, [&](int at, u64 word, bool negative) { sum.add_at(unit_ - lowest + at, word, negative); });
    }
  }
  void add_quick(expansion<double>& to, quick const& of) const {
    if constexpr (by_slices) {
      to.add(of.q[0]);
      to.add(of.q[1]);
    } else {
      if (unit_ < -1000) return to.lose(); // doubles may have no bits for it
      for_each_word(of, [&](int at, u64 word, bool negative) {
        double const one = negative ? -detail::power_of_two(unit_ + at) : detail::power_of_two(unit_ + at);
        to.add(static_cast<double>(static_cast<i64>(word & 0xffffffffu)) * one);
        to.add(static_cast<double>(static_cast<i64>(word >> 32)) * 0x1p32 * one);
      });
    }
  }
  /// Calls f(at, word, negative) for the words that are not zero of the size of quick words.
  template <class F>
  static void for_each_word(quick const& of, F const& f) {
    constexpr int words = by_words ? 3 : 2;
    wide_integer<words> size;
    if constexpr (by_words)
      size = of;
    else
      size = {{static_cast<u64>(of.q), static_cast<u64>(of.q >> 64)}};
    bool const negative = size.negative();
    if (negative) size.negate();
    for (int w = 0; w < words; ++w)
      if (size.word[w] != 0) f(64 * w, size.word[w], negative);
  }
  /// An element that the quick words cannot hold.
  template <class Row>
  [[gnu::noinline]] void add_odd(Row const& row, u32 slot) {
    if (slot >= slots_) return;
    typename wide_sums<monoid_type>::turn const mine(wide_);
    unpack([&](auto const&... v) { wide_.add(slot, static_cast<number>(v.eval(row))...); }, leaf_.values);
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed_computed(quick* t, int count, RowOf const& row_of, u32 const* to) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    if constexpr (by_slices) {
      alignas(64) float x[keyed_block];
      of_block::compute(count, row_of, leaf_.values.first, static_cast<float*>(x), to, slots_);
      for (u64 odd = add_slices(t, count, x, to, cut_); odd != 0; odd &= odd - 1) {
        int const j = __builtin_ctzll(odd);
        add_odd(row_of(j), to[j]);
      }
    } else {
      for (int j = 0; j < count; ++j) {
        if (of_block::for_some && to[j] >= slots_) continue;
        if constexpr (by_words) {
          wide_integer<3> units{};
          if (!unpack([&](auto const&... v) { return to_units(static_cast<double>(v.eval(row_of(j)))..., units); }, leaf_.values)) add_odd(row_of(j), to[j]);
          t[to[j]] += units;
        } else {
          detail::whole_128 units = 0;
          if (!to_units(product_at(row_of(j)), units)) add_odd(row_of(j), to[j]);
          t[to[j]].q += units;
        }
      }
    }
  }
  TALLY_INLINE bool to_units(double x, detail::whole_128& out) const {
    if (!(x < cut_.top && x > -cut_.top)) return false;
    auto const a = take_apart(x);
    int const shift = a.bit + float_shape<double>::lowest - unit_;
    if (shift < 0 && (shift <= -64 ? a.fraction != 0 : (a.fraction & ((u64(1) << -shift) - 1)) != 0)) return false;
    using W = detail::whole_128;
    W const size = shift >= 0 ? static_cast<W>(a.fraction) << shift : shift > -64 ? static_cast<W>(a.fraction >> -shift) : 0;
    out = a.negative ? -size : size;
    return true;
  }
  /// The same of a product of two.
  TALLY_INLINE bool to_units(double x, double y, wide_integer<3>& out) const {
    double const rounded = x * y;
    if (!(rounded < cut_.top && rounded > -cut_.top)) return false;
    auto const a = take_apart(x), b = take_apart(y);
    detail::whole_128 size = static_cast<detail::whole_128>(a.fraction) * b.fraction;
    int shift = a.bit + b.bit + monoid_type::range::lowest - unit_;
    if (size == 0) return true;
    if (shift < 0) {
      if (shift <= -106 || (size & ((static_cast<detail::whole_128>(1) << -shift) - 1)) != 0) return false;
      size >>= -shift;
      shift = 0;
    }
    int const word = shift / 64, bits = shift % 64;
    u64 const low = static_cast<u64>(size), high = static_cast<u64>(size >> 64);
    u64 const part[3] = {low << bits, high << bits | (low >> 1) >> (63 - bits), (high >> 1) >> (63 - bits)};
    for (int w = 0; w < 3; ++w) out.word[w] = w >= word ? part[w - word] : 0;
    if (a.negative != b.negative) out.negate();
    return true;
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

} // namespace tally::inline v0::cpu
