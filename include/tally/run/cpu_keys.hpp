// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk of the CPU over elements that have keys: block after block, the slots of the answers that the elements belong to are
// computed, then what is folded there takes them. Layer 5, host only. A slot is a bin and an index along the axes that stay.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <tally/fold/keys.hpp>
#include <tally/run/cpu_gather.hpp>
#include <tally/run/cpu_groups.hpp>

namespace tally::v0::cpu {

/// Elements whose slots and values are computed before any is folded. Small, so that a core reads on while it scatters: 2^24 floats by
/// 10^4 keys took 1.2 ns each with 64, 1.5 with 128, 1.7 with 512. EPYC 9004, 2026-11-20, g++ -O2, build/bench/keyed_cpu.
inline constexpr int keyed_block = 64;
/// Asks a large table, of `width` numbers a slot, for the slots of a block, all before the first value that goes there is computed.
template <class T>
TALLY_INLINE void ask_for(T const* table, std::size_t width, u32 const* slot, int count) {
  for (int j = 0; j < count; ++j) __builtin_prefetch(table + width * slot[j], 1);
}
/// Slots behind the last one that take what belongs nowhere; several, so that no addition waits for the one before it.
inline constexpr u32 idle_slots = 16;
inline constexpr i64 most_slots = (i64(1) << 32) - 64 * 1024;

/// The first element whose key names no bin.
struct first_stray {
  i64 position = -1;
  i64 key = 0;
  bool key_is_unsigned = false;
  void meet(i64 at, i64 k, bool is_unsigned) {
    if (position < 0 || at < position) *this = {at, k, is_unsigned};
  }
};

/// Bins that keys name by their number.
template <bool DropsStrays>
struct numbered_bins {
  static constexpr bool lazy = false; ///< may be asked for elements that a mask holds back
  static constexpr bool reports = !DropsStrays;
  i64 bins;
  template <class K>
  TALLY_INLINE bool has(K key) const {
    return is_in_bins(key, bins);
  }
  template <class K>
  TALLY_INLINE u32 slot(K key) const {
    return static_cast<u32>(key);
  }
};

namespace detail {

/// A place that moves along some axes, in row-major order.
template <int Columns>
struct axis_walker {
  grid_axis const* axes;
  int axis_count;
  grid_place<Columns> place{};
  i64 index[max_axes]{};
  axis_walker(grid_axis const* a, int count, i64 first) : axes(a), axis_count(count) {
    move_along(place, axes, axis_count, first);
    for (int k = axis_count - 1; k >= 0; --k) {
      index[k] = first % axes[k].extent;
      first /= axes[k].extent;
    }
  }
  TALLY_INLINE void advance() {
    for (int k = axis_count - 1; k >= 0; --k) {
      place.move(axes[k], 1);
      if (++index[k] < axes[k].extent) return;
      place.move(axes[k], -index[k]);
      index[k] = 0;
    }
  }
};
template <int Columns>
TALLY_INLINE grid_place<Columns> sum_of_places(grid_place<Columns> a, grid_place<Columns> const& b) {
  a.position += b.position;
  for (int c = 0; c < Columns; ++c) a.offset[c] += b.offset[c];
  return a;
}

/// The keys of one block of elements.
template <class RowOf, class E, class Key>
TALLY_INLINE void compute_keys(int count, RowOf const& row_of, E const& of, Key* __restrict keys) {
  E const key = of;
  for (int j = 0; j < count; ++j) keys[j] = key.eval(row_of(j));
}
/// The bins of x by their edges, in double as uniform_bins says, a register at a time. x and keys have room for a block.
template <class T>
TALLY_INLINE void compute_bins_by_edges(int count, uniform_bins const& of, T const* x, i32* __restrict keys) {
  constexpr int lanes = 4;
  using numbers = wide<double, lanes>;
  using integers = wide<i32, lanes>;
  numbers const first{}, last = first + of.last;
  for (int j = 0; j < count; j += lanes) {
    wide<T, lanes> given;
    load(given, x + j);
    numbers const v = __builtin_convertvector(given, numbers), free = (v - of.low) * of.scale, bounded = free < last ? free : last;
    integers const k = __builtin_convertvector(bounded > first ? bounded : first, integers);
    numbers const at = __builtin_convertvector(k, numbers), lower = of.low + at * of.step, upper = of.low + (at + 1.0) * of.step;
    auto const below = v < lower, above = (at < last) & (v >= upper), inside = (v >= of.low) & (v <= of.high) & (last >= first);
    integers const bins = (k + __builtin_convertvector(below, integers) - __builtin_convertvector(above, integers)) | ~__builtin_convertvector(inside, integers);
    std::memcpy(keys + j, &bins, sizeof bins);
  }
}
/// The bins of x, a register of roughly computed ones at a time: `doubt` is how far from an edge, in bins, one may be wrong. Those that are as near are
/// computed by the edges, one by one if they are few. x and keys have room for a block.
template <class T>
TALLY_INLINE void compute_bins(int count, uniform_bins const& of, T low, T scale, T doubt, T const* x, i32* __restrict keys) {
  constexpr int lanes = 32 / int(sizeof(T));
  using numbers = wide<T, lanes>;
  alignas(64) integer_for<T> unsure[keyed_block];
  numbers const behind = numbers{} + (of.last < 0x1p30 ? static_cast<T>(of.last) + T(2.5) : T(0x1p30)), in_front = numbers{} + T(0.5);
  wide_mask<T, lanes> unsure_of_lane{};
  for (int j = 0; j < count; j += lanes) {
    numbers v;
    load(v, x + j);
    numbers const free = (v - low) * scale + T(1), bounded = free < behind ? free : behind, at = bounded > in_front ? bounded : in_front; // bin k from k + 1 on
    wide<i32, lanes> const k = __builtin_convertvector(at, wide<i32, lanes>);
    numbers const beyond = at - __builtin_convertvector(k, numbers);
    wide<i32, lanes> const bins = (k - 1) | (k - 1 > static_cast<i32>(of.last));
    std::memcpy(keys + j, &bins, sizeof bins);
    wide_mask<T, lanes> const near = ~((beyond > doubt) & (beyond < T(1) - doubt));
    std::memcpy(unsure + j, &near, sizeof near);
    unsure_of_lane -= near;
  }
  integer_for<T> counts[lanes], all = 0;
  std::memcpy(counts, &unsure_of_lane, sizeof counts);
  for (auto const n : counts) all += n;
  if (all > count / 16) {
    compute_bins_by_edges(count, of, x, keys);
  } else if (all != 0) {
    for (int j = 0; j < count; ++j)
      if (unsure[j] != 0) keys[j] = of(static_cast<double>(x[j]));
  }
}
/// Whether one integer of sixteen, or more, lies on an edge.
inline bool integers_lie_on_edges(uniform_bins const& of) {
  auto const is_whole = [](double x) { return x > -0x1p52 && x < 0x1p52 && x == static_cast<double>(static_cast<i64>(x)); };
  return of.step <= 16 && is_whole(of.step < 1 ? of.scale : of.step) && is_whole(of.low);
}
/// Floats that are mostly far from an edge stay floats.
inline constexpr float doubt_of_floats = 0x1p-9f;
template <class RowOf, class E>
TALLY_INLINE void compute_keys(int count, RowOf const& row_of, call<op::bin, E, literal<uniform_bins>> const& of, i32* __restrict keys) {
  using element = decltype(widen(of.args.first.eval(row_of(0))));
  uniform_bins const b = of.args.rest.first.value;
  E const value = of.args.first;
  auto const compute = [&]<class T>(T low, T scale, T doubt) TALLY_INLINE_LAMBDA {
    alignas(64) T x[keyed_block];
    for (int j = 0; j < count; ++j) x[j] = static_cast<T>(widen(value.eval(row_of(j))));
    for (int j = count; j % int(32 / sizeof(T)) != 0; ++j) x[j] = T(0);
    if constexpr (std::is_integral_v<element>)
      if (integers_lie_on_edges(b)) return compute_bins_by_edges(count, b, static_cast<T const*>(x), keys);
    compute_bins(count, b, low, scale, doubt, static_cast<T const*>(x), keys);
  };
  if constexpr (std::is_same_v<element, float>)
    if (b.doubt < doubt_of_floats) return compute(b.near_low, b.near_scale, b.doubt);
  compute(b.low, b.scale, b.doubt_in_double());
}
template <class RowOf, class Outer, class Inner>
TALLY_INLINE void compute_keys(int count, RowOf const& row_of, call<op::bin_beside, Outer, Inner, literal<i64>> const& of,
                               i64* __restrict keys) {
  using K = std::remove_cvref_t<decltype(of.args.first.eval(row_of(0)))>;
  alignas(64) K outer[keyed_block];
  alignas(64) i32 inner[keyed_block];
  compute_keys(count, row_of, of.args.first, static_cast<K*>(outer));
  compute_keys(count, row_of, of.args.rest.first, static_cast<i32*>(inner));
  i64 const n = of.args.rest.rest.first.value;
  for (int j = 0; j < count; ++j) keys[j] = op::bin_beside::apply(outer[j], inner[j], n);
}

/// The slots of one block of elements.
struct block_of_slots {
  alignas(64) u32 slot[keyed_block];
  u32 idle; ///< the first of the idle slots
};

} // namespace detail

/// Walks over the elements of a source by reduced index, and hands blocks of them to a sink: take<N>(n, row_of, slots), or
/// take_row<N>(n, row_of, first slot) where n neighbours have neighbouring slots. N: n where it is known, else 0.
template <class Where, class Program, class Bins>
class keyed_walk;
template <class Where, class... Columns, class... Leaves, class Bins>
class keyed_walk<Where, program<pack<Columns...>, Leaves...>, Bins> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  static constexpr int column_count = int(sizeof...(Columns));

  keyed_walk(Where const& where, program_type const& p, axes_layout const& at, Bins const& bins)
      : where_(where), p_(p), at_(at), bins_(bins), whole_rows_(rows_have_one_key<Where>(p, at)) {
    in_order_ = blocks::possible(at);
  }

  /// Slots [own, own_end) are handed on, all others are idle.
  template <class Sink>
  TALLY_INLINE void walk(i64 first, i64 last, u32 own, u32 own_end, u32 idle, first_stray& stray, Sink& sink) const {
    if (first >= last) return;
    share const mine{own, own_end, idle};
    if (in_order_) first = in_order(first, last, mine, stray, sink);
    if constexpr (Where::kept > 0)
      if (whole_rows_) return by_whole_rows(first, last, mine, stray, sink);
    if (first < last) place_by_place(first, last, mine, stray, sink);
  }
  /// The same, element by element in the order of row_of_element.
  template <class Sink>
  void walk_plainly(i64 first, i64 last, u32 own, u32 own_end, u32 idle, first_stray& stray, Sink& sink) const {
    place_by_place(first, last, {own, own_end, idle}, stray, sink);
  }
  /// The row of element t, counted by reduced index and, within, by kept index.
  auto row_of_element(i64 t, i64 number) const {
    i64 const r = at_.groups == 1 ? t : t / at_.groups;
    grid_place<column_count> reduced{};
    move_along(reduced, at_.reduced, at_.reduced_axes, r);
    auto const place = sum_of(reduced, group_origin<column_count>(at_, t - r * at_.groups));
    return row_at_place(p_.columns, place, number);
  }
  template <class Row>
  bool passes(Row const& r) const {
    return where_.mask.eval(r);
  }
  axes_layout const& layout() const { return at_; }
  program_type const& program_of() const { return p_; }

private:
  struct share {
    u32 own, own_end, idle;
  };
  Where const& where_;
  program_type const& p_;
  axes_layout const& at_;
  Bins const& bins_;
  bool in_order_, whole_rows_;
  using blocks = detail::blocks_in_order<keyed_block, Columns...>;

  static TALLY_INLINE auto sum_of(grid_place<column_count> const& a, grid_place<column_count> const& b) {
    return detail::sum_of_places(a, b);
  }

  /// All whole blocks; where the rest begins.
  template <class Sink>
  TALLY_INLINE i64 in_order(i64 first, i64 last, share const& own, first_stray& stray, Sink& sink) const {
    i64 r = first;
    blocks all(p_.columns, at_);
    for (; last - r >= keyed_block; r += keyed_block) {
      auto const row_of = [columns = all.from(r), r](int j) TALLY_INLINE_LAMBDA {
        grid_place<column_count> here{};
        here.position = r + j;
        for (i64& o : here.offset) o = j;
        return row_at_place(columns, here, r + j);
      };
      hand_over<keyed_block>(keyed_block, row_of, 0, own, stray, sink);
    }
    return r;
  }
  template <class Sink>
  [[gnu::noinline]] void place_by_place(i64 first, i64 last, share const& own, first_stray& stray, Sink& sink) const {
    std::vector<grid_place<column_count>> places(static_cast<std::size_t>(keyed_block));
    detail::axis_walker<column_count> reduced(at_.reduced, at_.reduced_axes, first);
    auto const row_of = [columns = p_.columns, at = places.data()](int j) TALLY_INLINE_LAMBDA {
      return row_at_place(columns, at[j], at[j].position);
    };
    detail::axis_walker<column_count> kept(at_.kept, at_.kept_axes, 0);
    for (i64 r = first, k = 0; r < last;) {
      i64 const kept_before = k, left = at_.groups == 1 ? last - r : at_.groups - k;
      int const n = left < keyed_block ? static_cast<int>(left) : keyed_block;
      if (at_.groups == 1) {
        for (int j = 0; j < n; ++j, reduced.advance()) places[std::size_t(j)] = reduced.place;
        r += n;
      } else {
        for (int j = 0; j < n; ++j, kept.advance()) places[std::size_t(j)] = sum_of(reduced.place, kept.place);
        if (k += n; k == at_.groups) {
          kept = {at_.kept, at_.kept_axes, 0};
          k = 0, ++r, reduced.advance();
        }
      }
      hand_over<0>(n, row_of, kept_before, own, stray, sink);
    }
  }
  template <class Sink>
  TALLY_INLINE void by_whole_rows(i64 first, i64 last, share const& own, first_stray& stray, Sink& sink) const {
    constexpr u32 folded = columns_folded<program_type>;
    detail::axis_walker<column_count> reduced(at_.reduced, at_.reduced_axes, first);
    i64 const step = at_.kept[0].position_step;
    u32 const groups = static_cast<u32>(at_.groups);
    for (i64 r = first; r < last; ++r, reduced.advance()) {
      auto const head = row_at_place(p_.columns, reduced.place, reduced.place.position);
      if (!where_.mask.eval(head)) continue;
      auto const key = where_.key.eval(head);
      if (!bins_.has(key)) {
        met(stray, reduced.place.position, key);
        continue;
      }
      u32 const begin = bins_.slot(key) * groups;
      u32 const from = begin < own.own ? own.own - begin : 0;
      u32 const end = own.own_end < begin + groups ? (own.own_end > begin ? own.own_end - begin : 0) : groups;
      for (u32 k = from; k < end; k += keyed_block) {
        auto const row_of = [columns = p_.columns, base = reduced.place, k, step](int j) TALLY_INLINE_LAMBDA {
          grid_place<column_count> here = base;
          here.position += (i64(k) + j) * step;
          for (int c = 0; c < column_count; ++c)
            if ((folded >> c & 1) != 0) here.offset[c] += i64(k) + j;
          return row_at_place(columns, here, here.position);
        };
        if (end - k >= u32(keyed_block))
          sink.template take_row<keyed_block>(keyed_block, row_of, begin + k);
        else
          sink.template take_row<0>(static_cast<int>(end - k), row_of, begin + k);
      }
    }
  }

  template <class Key>
  static void met(first_stray& stray, i64 position, Key key) {
    if constexpr (Bins::reports) stray.meet(position, static_cast<i64>(key), Key(0) < Key(-1));
  }
  template <int N, class RowOf, class Sink>
  TALLY_INLINE void hand_over(int n, RowOf const& row_of, i64 kept, share const& own, first_stray& stray, Sink& sink) const {
    detail::block_of_slots slots;
    slots.idle = own.idle;
    if (find_slots<N>(n, row_of, kept, slots)) find_strays(n, row_of, stray);
    if (own.own > 0 || own.own_end < static_cast<u32>(-1)) keep_own<N>(n, slots, own);
    sink.template take<N>(n, row_of, slots);
  }
  template <int N>
  TALLY_INLINE static void keep_own(int n, detail::block_of_slots& slots, share const& own) {
    int const count = N > 0 ? N : n;
    for (int j = 0; j < count; ++j)
      slots.slot[j] = slots.slot[j] - own.own < own.own_end - own.own ? slots.slot[j] : own.idle + (u32(j) & (idle_slots - 1));
  }
  /// Whether any element has a key that names no bin.
  template <int N, class RowOf>
  TALLY_INLINE bool find_slots(int n, RowOf const& row_of, i64 kept, detail::block_of_slots& slots) const {
    int const count = N > 0 ? N : n;
    u32 any = 0;
    u32 const idle = slots.idle, groups = static_cast<u32>(at_.groups), k0 = static_cast<u32>(kept), beside = groups == 1 ? 0 : 1;
    auto const slot_in = [=](u32 bin, int j) TALLY_INLINE_LAMBDA { return Where::kept == 0 ? bin : bin * groups + k0 + u32(j) * beside; };
    auto const idle_slot = [=](int j) TALLY_INLINE_LAMBDA { return idle + (u32(j) & (idle_slots - 1)); };
    constexpr bool masked = !std::is_same_v<decltype(Where::mask), always>;
    if constexpr (Where::lowerable && !Bins::lazy && !(masked && decltype(Where::key)::calls_users_code)) {
      using Key = std::remove_cvref_t<decltype(where_.key.eval(row_of(0)))>;
      alignas(64) Key keys[keyed_block];
      detail::compute_keys(count, row_of, where_.key, static_cast<Key*>(keys));
      auto const mask = where_.mask;
      auto const bins = bins_;
      for (int j = 0; j < count; ++j) { // without a branch, which would be mispredicted
        u32 const on = mask.eval(row_of(j)) ? 1 : 0, in = bins.has(keys[j]) ? 1 : 0, chosen = 0 - (on & in);
        slots.slot[j] = (slot_in(bins.slot(keys[j]), j) & chosen) | (idle_slot(j) & ~chosen);
        any |= on & (in ^ 1);
      }
    } else {
      for (int j = 0; j < count; ++j) {
        auto const row = row_of(j);
        slots.slot[j] = idle_slot(j);
        if (!where_.mask.eval(row)) continue;
        auto const of = where_.key.eval(row);
        if (bins_.has(of))
          slots.slot[j] = slot_in(bins_.slot(of), j);
        else
          any = 1;
      }
    }
    return Bins::reports && any != 0;
  }
  template <class RowOf>
  [[gnu::noinline]] void find_strays(int n, RowOf const& row_of, first_stray& stray) const {
    for (int j = 0; j < n; ++j) {
      auto const row = row_of(j);
      if (!where_.mask.eval(row)) continue;
      auto const key = where_.key.eval(row);
      if (!bins_.has(key)) met(stray, row.position, key);
    }
  }
};

} // namespace tally::v0::cpu
