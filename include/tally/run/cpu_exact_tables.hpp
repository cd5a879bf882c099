// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the CPU keeps for every slot while it sums by key exactly: digits of 64 bits, to which blocks of elements are added (run/cpu_digits.hpp). Layer 5,
// host only. Most elements have all their bits in the first one, two, four or eight, as a look at some elements says; the slots of the others have more. What fits no
// digits goes to a wide integer of its slot, so the sum is the same always.
#pragma once

#include <vector>

#include <tally/fold/exact.hpp>
#include <tally/fold/expansion.hpp>
#include <tally/run/cpu_block_values.hpp>
#include <tally/run/cpu_digits.hpp>
#include <tally/run/cpu_door.hpp>
#include <tally/run/few_of_slots.hpp>

namespace tally::v0::cpu {

/// Exact sums of numbers, or of products of two.
template <class Leaf>
class exact_table {
public:
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  using number = typename monoid_type::number;
  using near_state = sum_of_numbers<double>;

  exact_table(Leaf const& leaf, std::size_t slots, std::size_t room, int tables, int workers)
      : leaf_(leaf), slots_(slots), room_(room), wide_(slots), tables_(std::size_t(tables)) {
    for (int w = 0; w < workers; ++w) workers_.emplace_back(slots);
    while (log_room_ < 27 && (std::size_t(1) << (log_room_ - 3)) < slots) ++log_room_;
  }
  /// Chooses from some of the elements what the digits hold, and how many of them are near each other.
  template <class Walk>
  void look_at(Walk const& walk, i64 elements) {
    double most = 0;
    each_of_some(walk, elements, 2048, [&](auto const& row) {
      double const x = product_at(row), size = x < 0 ? -x : x;
      if (is_finite(size) && size > most) most = size;
    });
    set_top(most);
    int of_count[most_digits + 2]{}, all = 0;
    each_of_some(walk, elements, elements / 16 < 1024 ? elements / 16 : 1024, [&](auto const& row) { ++of_count[digits_at(row).count], ++all; });
    auto const few_have_more = [&](int digits) {
      int more = all;
      for (int k = 0; k <= digits; ++k) more -= of_count[k];
      return more * most_share_of_rest <= all;
    };
    near_ = 1;
    while (near_ < most_digits && !few_have_more(near_)) near_ *= 2;
    for (auto& t : tables_) t = heap_array<i64>(room_ * std::size_t(near_));
  }
  void clear(int at, std::size_t from, std::size_t to) {
    i64* const t = tables_[std::size_t(at)].data();
    for (std::size_t i = from * near_width(); i < to * near_width(); ++i) t[i] = 0;
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed(int worker, int at, int n, RowOf const& row_of, detail::block_of_slots& slots) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    if constexpr (of_block::at_once) {
      int const count = N > 0 ? N : n;
      alignas(64) u32 narrowed[keyed_block];
      u32* to = slots.slot;
      if constexpr (of_block::masked) {
        of_block::let_through(count, row_of, leaf_.mask, slots.idle, slots.slot, narrowed);
        to = narrowed;
      }
      if (room_ * near_width() * sizeof(i64) > detail::bytes_near) ask_for(tables_[std::size_t(at)].data(), near_width(), to, count);
      feed_computed(worker, at, count, row_of, to, slots.idle);
    } else {
      for (int j = 0; j < n; ++j)
        if (slots.slot[j] < slots_) one_by_one(slots.slot[j], row_of(j));
    }
  }
  template <int N, class RowOf>
  TALLY_INLINE void feed_row(int worker, int at, int n, RowOf const& row_of, std::size_t first, u32 idle) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    if constexpr (of_block::at_once) {
      int const count = N > 0 ? N : n;
      alignas(64) u32 neighbours[keyed_block], narrowed[keyed_block];
      for (int j = 0; j < count; ++j) neighbours[j] = static_cast<u32>(first) + u32(j);
      u32* to = neighbours;
      if constexpr (of_block::masked) {
        of_block::let_through(count, row_of, leaf_.mask, idle, neighbours, narrowed);
        to = narrowed;
      }
      feed_computed(worker, at, count, row_of, to, idle);
    } else {
      for (int j = 0; j < n; ++j) one_by_one(first + std::size_t(j), row_of(j));
    }
  }
  /// After n elements of a worker: before digits could overflow, those that are half full go to the wide integers.
  TALLY_INLINE void end_block(int worker, int n, std::size_t from, std::size_t to) {
    auto& since = workers_[std::size_t(worker)].since;
    if ((since += n) + keyed_block > i64(1) << log_room_) {
      since = 0;
      make_room(worker, from, to);
    }
  }
  void merge(std::size_t, std::size_t) {}
  state operator()(std::size_t slot) const {
    state const* const wide = wide_.find(slot);
    state s = wide != nullptr ? *wide : state{};
    each_digit(slot, [&](int k, i64 digit) { add_to(s, k, digit); });
    return s;
  }
  /// The same as three doubles; false: it is not.
  bool near(std::size_t slot, near_state& to) const {
    if (wide_.find(slot) != nullptr) return false;
    i64 first = 0;
    bool of_first = unit_[0] >= -1000; // or doubles may have no bits for it
    each_digit(slot, [&](int k, i64 digit) { of_first = of_first && k == 0 && !__builtin_add_overflow(first, digit, &first); });
    if (of_first && !is_half_full(first)) {
      double const nearest = static_cast<double>(first), unit = detail::power_of_two(unit_[0]);
      to = {nearest * unit, static_cast<double>(first - static_cast<i64>(nearest)) * unit, 0};
      return true;
    }
    expansion<double> sum;
    each_digit(slot, [&](int k, i64 digit) {
      if (unit_[k] < -1000) return sum.lose();
      double const unit = detail::power_of_two(unit_[k]);
      i64 const upper = digit >> 32;
      sum.add(static_cast<double>(digit - upper * (i64(1) << 32)) * unit);
      sum.add(static_cast<double>(upper) * 0x1p32 * unit);
    });
    to = {sum.high(), sum.middle(), sum.low()};
    return !sum.lost();
  }

private:
  static constexpr bool of_two_doubles = std::is_same_v<number, double> && monoid_type::factors == 2;
  /// One in so many elements may have bits behind the near digits, where it takes 80 ns instead of one.
  static constexpr int most_share_of_rest = 256;
  struct far_digits {
    i64 of[most_digits - 1];
  };
  /// What one worker has for itself.
  struct alignas(64) own {
    explicit own(std::size_t slots) : far(slots) {}
    i64 since = 0; ///< elements since its digits had room
    few_of_slots<far_digits> far; ///< digits of its slots behind the near ones
  };
  Leaf const& leaf_;
  std::size_t slots_, room_;
  int adding_ = 0; ///< to wide_
  few_of_slots<state> wide_;
  std::vector<own> workers_;
  std::vector<heap_array<i64>> tables_; ///< the near digits of a slot beside each other
  int log_room_ = 16, near_ = 1;
  int unit_[most_digits]{};
  digit_cutters by_;

  /// As long as it lives, no other worker has one.
  class turn {
  public:
    explicit turn(int& taken) : taken_(taken) { cpu::lock(taken_); }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() { cpu::unlock(taken_); }

  private:
    int& taken_;
  };

  std::size_t near_width() const { return std::size_t(near_); }

  /// Elements of up to eight times this size have digits, 2^log_room_ of which add up to half of what a word holds.
  void set_top(double most) {
    auto const a = take_apart(most);
    int top = 3; // of a sample without a number: sizes below 8
    if (a.fraction != 0) top = 64 - __builtin_clzll(a.fraction) + a.bit + float_shape<double>::lowest + 3;
    top = top < -900 ? -900 : top > 900 ? 900 : top;
    by_.top = detail::power_of_two(top);
    constexpr int finest = monoid_type::range::lowest > float_shape<double>::lowest ? monoid_type::range::lowest : float_shape<double>::lowest;
    by_.most = i64(1) << (62 - log_room_);
    for (int k = 0; k < most_digits; ++k) {
      int const unit = top - (k + 1) * (62 - log_room_);
      unit_[k] = unit < finest ? finest : unit;
      by_.shift[k] = 1.5 * detail::power_of_two(unit_[k] + 52);
    }
  }
  template <class Walk, class F>
  void each_of_some(Walk const& walk, i64 elements, i64 most, F const& f) const {
    i64 const samples = elements < most ? elements : most;
    for (i64 i = 0; i < samples; ++i) {
      auto const row = walk.row_of_element(elements / samples * i, 0);
      if (walk.passes(row) && leaf_.mask.eval(row)) f(row);
    }
  }
  template <class Row>
  double product_at(Row const& row) const {
    return unpack([&](auto const&... v) { return (1.0 * ... * static_cast<double>(static_cast<number>(v.eval(row)))); }, leaf_.values);
  }
  template <class Row>
  digits digits_at(Row const& row) const {
    if constexpr (of_two_doubles)
      return unpack([&](auto const&... v) { return cut(static_cast<double>(v.eval(row))..., by_); }, leaf_.values);
    else
      return cut(product_at(row), by_);
  }
  template <class Row>
  void add_to_wide(std::size_t slot, Row const& row) {
    turn const mine(adding_);
    unpack([&](auto const&... v) { leaf_.monoid.add(wide_[slot], static_cast<number>(v.eval(row))...); }, leaf_.values);
  }
  template <class Row>
  void one_by_one(std::size_t slot, Row const& row) {
    if (leaf_.mask.eval(row)) add_to_wide(slot, row);
  }
  template <class RowOf>
  TALLY_INLINE void feed_computed(int worker, int at, int count, RowOf const& row_of, u32* to, u32 idle) {
    using of_block = detail::leaf_values_of_block<Leaf, RowOf>;
    near_digits const near{tables_[std::size_t(at)].data(), near_, idle};
    alignas(64) double x[keyed_block];
    of_block::template compute<number>(count, row_of, leaf_.values.first, static_cast<double*>(x), to, slots_);
    u64 more;
    if constexpr (monoid_type::factors == 1) {
      more = add_digits(near, count, x, to, by_);
    } else {
      alignas(64) double y[keyed_block];
      of_block::template compute<number>(count, row_of, leaf_.values.rest.first, static_cast<double*>(y), to, slots_);
      if constexpr (of_two_doubles) {
        more = add_digits(near, count, x, y, to, by_);
      } else {
        for (int j = 0; j < count; ++j) x[j] *= y[j];
        more = add_digits(near, count, x, to, by_);
      }
    }
    if (more != 0) add_rests(worker, near, more, row_of, to);
  }
  /// Of elements that the near digits did not hold.
  template <class RowOf>
  [[gnu::noinline]] void add_rests(int worker, near_digits const& near, u64 which, RowOf const& row_of, u32 const* to) {
    for (; which != 0; which &= which - 1) {
      int const j = __builtin_ctzll(which);
      std::size_t const slot = to[j];
      if (slot >= slots_) continue;
      auto const row = row_of(j);
      digits const d = digits_at(row);
      if (d.count <= most_digits) {
        far_digits& far = workers_[std::size_t(worker)].far[slot];
        for (int k = near_; k < d.count; ++k) far.of[k - near_] += d.of[k];
      } else {
        for (int k = 0; d.below_top && k < near_; ++k) near.of[slot * near_width() + std::size_t(k)] -= d.of[k];
        add_to_wide(slot, row);
      }
    }
  }
  [[gnu::noinline]] void make_room(int worker, std::size_t from, std::size_t to) {
    i64* const near = tables_[std::size_t(worker) < tables_.size() ? std::size_t(worker) : 0].data(); // one a worker, or one for all
    if (any_half_full(near, from * near_width(), to * near_width()))
      for (std::size_t g = from; g < to; ++g) empty_half_full(g, near + g * near_width(), 0, near_);
    for (auto& far : workers_[std::size_t(worker)].far.all()) empty_half_full(far.first, far.second.of, near_, most_digits);
  }
  /// Digits [first, last) of a slot.
  void empty_half_full(std::size_t slot, i64* of, int first, int last) {
    for (int k = first; k < last; ++k)
      if (is_half_full(of[k - first])) {
        turn const mine(adding_);
        add_to(wide_[slot], k, of[k - first]);
        of[k - first] = 0;
      }
  }
  static bool is_half_full(i64 digit) { return (static_cast<u64>(digit) + (u64(1) << 62)) >> 63 != 0; }
  static bool any_half_full(i64 const* of, std::size_t from, std::size_t to) {
    u64 any = 0;
    for (std::size_t i = from; i < to; ++i) any |= static_cast<u64>(of[i]) + (u64(1) << 62);
    return any >> 63 != 0;
  }
  void add_to(state& to, int k, i64 digit) const {
    to.sum.add_at(unit_[k] - monoid_type::range::lowest, digit < 0 ? -static_cast<u64>(digit) : static_cast<u64>(digit), digit < 0);
  }
  /// Calls f(k, digit) for the digits of a slot that are not zero.
  template <class F>
  TALLY_INLINE void each_digit(std::size_t slot, F const& f) const {
    for (auto const& t : tables_)
      for (int k = 0; k < near_; ++k)
        if (i64 const digit = t[slot * near_width() + std::size_t(k)]; digit != 0) f(k, digit);
    for (auto const& w : workers_)
      if (far_digits const* const far = w.far.find(slot))
        for (int k = near_; k < most_digits; ++k)
          if (i64 const digit = far->of[k - near_]; digit != 0) f(k, digit);
  }
};

} // namespace tally::v0::cpu
