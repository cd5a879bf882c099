// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats as whole numbers of one unit in 64 bits, so that sums of them wrap in no order and no order can be seen in them: the
// lanes of tables that rows are added to. Layer 0. What does not fit is never rounded in silence: it leaves a mark, and the
// sums it would have entered are refused.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// What came that a lane cannot hold: a number above the bound, infinite or NaN; and one that is no multiple of the unit.
inline constexpr u32 above_bound = 1, finer_than_unit = 2;

/// The weight of bit 0 of a lane, a power of two, and what may enter: multiples of it of at most `bound`. V: float or double.
template <class V>
struct exact_unit {
  V weight, per_one, bound;
  using bits = stl::conditional_t<sizeof(V) == 8, u64, u32>;
  static constexpr int precision = stl::numeric_limits<V>::digits, highest = stl::numeric_limits<V>::max_exponent;

  /// The finest unit by which sums of up to `rows` (at most 2^60) numbers of at most `bound` keep within a lane. It is at
  /// most rows * bound / 2^60, and 2^-126 (double: 2^-1022) at least. A bound that is NaN, infinite or negative lets nothing in.
  TALLY_HD static constexpr exact_unit of(V bound, i64 rows) {
    constexpr int least = 2 - highest, most = highest - 2;
    int at = log_above(bound) + log_above(rows) - 62;
    at = at < least ? least : at;
    if (!(bound >= V(0)) || bound - bound != V(0) || at > most) return {V(1), V(1), stl::numeric_limits<V>::quiet_NaN()};
    return {power(at), power(-at), bound};
  }
  /// x in units; 0 and a mark where it may not enter.
  TALLY_INLINE constexpr i64 lane(V x, u32& marks) const { return lane_if(size_of(x) <= bound, x, marks); }
  /// The same of a number that sums are added to: any that a lane holds, whatever the bound.
  TALLY_INLINE constexpr i64 lane_of_total(V x, u32& marks) const {
    return lane_if(size_of(x) * per_one <= V(i64(1) << 62), x, marks);
  }
  /// A sum of lanes, rounded once to nearest even; zero is +0. To: V, or f16 and bf16 where V is float.
  template <class To>
    requires(stl::same_as<To, V> || (small_float<To> && stl::same_as<V, float>))
  TALLY_INLINE constexpr To value(i64 total) const {
    if constexpr (stl::same_as<To, V>)
      return static_cast<V>(total) * weight; // no whole number of units is subnormal
    else
      return To(detail::whole_to_odd(total) * weight);
  }

private:
  TALLY_INLINE static constexpr V size_of(V x) { return x < V(0) ? -x : x; }
  TALLY_INLINE constexpr i64 lane_if(bool within, V x, u32& marks) const {
    constexpr V whole_from = V(i64(1) << (precision - 1)); // from here on every V is a whole number
    V const size = size_of(x), units = size * per_one;
    V const whole = units < whole_from ? (units + whole_from) - whole_from : units;
    bool const representable = whole * weight == size; // units may have lost bits on its way down
    marks |= within ? representable ? 0u : finer_than_unit : above_bound;
    return static_cast<i64>(within && representable ? x * per_one : V(0));
  }
  TALLY_HD static constexpr V power(int at) {
    return bits_as<V>(static_cast<bits>(static_cast<bits>(at + highest - 1) << (precision - 1)));
  }
  /// The least n with size <= 2^n, no less than that of the least normal number.
  TALLY_HD static constexpr int log_above(V size) {
    bits const b = bits_as<bits>(size);
    int const field = static_cast<int>((b >> (precision - 1)) & bits(highest * 2 - 1));
    bool const more = field > 0 && (b & ((bits(1) << (precision - 1)) - 1)) != 0;
    return (field > 0 ? field : 1) - (highest - 1) + int(more);
  }
  TALLY_HD static constexpr int log_above(i64 addends) {
    int n = 0;
    while (n < 62 && (i64(1) << n) < addends) ++n;
    return n;
  }
};

/// Elements of a row of lanes: the columns, and one more where they are odd, so that rows begin at 16 bytes.
TALLY_HD constexpr i64 lanes_of_row(i64 columns) { return columns + columns % 2; }

/// The number at `to` becomes itself plus the sum of a lane, rounded once; a sum of zero leaves it as it is.
template <class T>
TALLY_INLINE constexpr void add_lane(T& to, i64 total, exact_unit<accumulator_t<T>> const& unit, u32& marks) {
  if (total != 0)
    to = unit.template value<T>(static_cast<i64>(static_cast<u64>(total) + static_cast<u64>(unit.lane_of_total(widen(to), marks))));
}

/// Adds rows to the rows of lanes that their keys name, on a host; the marks of what was refused. Row r of the tile begins at
/// tile + r * stride, row k of the lanes at lanes + k * lanes_of_row(columns).
template <class T, class Key>
TALLY_HD constexpr u32 add_rows_exactly(i64* lanes, T const* tile, i64 stride, i64 rows, i64 columns, Key const* keys,
                               exact_unit<accumulator_t<T>> unit) {
  u32 marks = 0;
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < columns; ++c) {
      i64& to = lanes[static_cast<i64>(keys[r]) * lanes_of_row(columns) + c];
      to = static_cast<i64>(static_cast<u64>(to) + static_cast<u64>(unit.lane(widen(tile[r * stride + c]), marks)));
    }
  return marks;
}

/// Adds the lanes to a table, on a host, each sum rounded once, and leaves them zero; `marks` are those of the rows. Where any
/// are left in the end, all of the table is NaN. Row k begins at table + k * stride. Returns the marks.
template <class T>
TALLY_HD constexpr u32 finish_rows_exactly(T* table, i64 stride, i64 table_rows, i64 columns, i64* lanes,
                                  exact_unit<accumulator_t<T>> unit, u32 marks) {
  for (i64 k = 0; k < table_rows; ++k)
    for (i64 c = 0; c < columns; ++c) {
      i64& total = lanes[k * lanes_of_row(columns) + c];
      add_lane(table[k * stride + c], total, unit, marks);
      total = 0;
    }
  for (i64 k = 0; k < table_rows && marks != 0; ++k)
    for (i64 c = 0; c < columns; ++c)
      table[k * stride + c] = T(stl::numeric_limits<accumulator_t<T>>::quiet_NaN());
  return marks;
}

} // namespace tally::v0

namespace tally {
using v0::above_bound, v0::add_rows_exactly, v0::exact_unit, v0::finer_than_unit, v0::finish_rows_exactly, v0::lanes_of_row;
} // namespace tally
