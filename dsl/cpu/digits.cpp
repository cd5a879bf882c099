// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers and products of two cut into digits and added to those of their slots, four at a time. Layer 5.

#include <tally/run/cpu_digits.hpp>
#include <tally/run/cpu_keys.hpp>
#include <tally/run/cpu_lanes.hpp>
#include <tally/run/cpu_registers.hpp>

#include <cstring>

namespace tally::v0::cpu {
namespace {

using four = wide<double, 4>;
using four_words = wide<u64, 4>; // whose sums wrap, also of what is taken back
using four_choices = wide_mask<double, 4>;

/// What was rounded away of products of this size and more is a double.
constexpr double least_product = 0x1p-900;

/// What is not cut yet of four elements: the doubles next to them, and what was rounded away of products.
template <bool Products>
struct uncut {
  four near, rest{};
  four_choices known = ~four_choices{};
  TALLY_INLINE uncut(double const* x, double const* y) {
    std::memcpy(&near, x, sizeof near);
    if constexpr (Products) {
      four const a = near;
      four b;
      std::memcpy(&b, y, sizeof b);
      near = a * b;
      for (int i = 0; i < 4; ++i) rest[i] = __builtin_fma(a[i], b[i], -near[i]);
      known = (near >= least_product) | (near <= -least_product) | (a == 0) | (b == 0);
    }
  }
  /// Which of them can be cut, before any digit is.
  TALLY_INLINE void can_be_cut(double top, four_choices& which) const { which = known & (near < top) & (near > -top); }
  /// Digit k, in units of which `shift` is 1.5 x 2^52.
  TALLY_INLINE void cut(int k, four const& shift, four_words& digit) {
    four const at = near + shift;
    digit = (four_words)at - (four_words)shift;
    near += shift - at; // never -0
    if constexpr (Products)
      if (k > 0) {
        four const below = rest + shift;
        digit += (four_words)below - (four_words)shift;
        rest += shift - below;
      }
  }
  /// Not zero where something is left.
  TALLY_INLINE void left(four_words& some) const {
    some = (four_words)near;
    if constexpr (Products) some |= (four_words)rest;
  }
};

template <int Digits>
TALLY_INLINE void add_to(u64* of, wide<u64, Digits> const& digits) {
  wide<u64, Digits> sum;
  std::memcpy(&sum, of, sizeof sum);
  sum += digits;
  std::memcpy(of, &sum, sizeof sum);
}
/// Adds the digits of four elements to their slots.
TALLY_INLINE void add_four(u64* table, u32 const* slot, four_words const (&d)[1]) {
  table[slot[0]] += d[0][0];
  table[slot[1]] += d[0][1];
  table[slot[2]] += d[0][2];
  table[slot[3]] += d[0][3];
}
TALLY_INLINE void add_four(u64* table, u32 const* slot, four_words const (&d)[2]) {
  add_to<2>(table + std::size_t(2) * slot[0], __builtin_shufflevector(d[0], d[1], 0, 4));
  add_to<2>(table + std::size_t(2) * slot[1], __builtin_shufflevector(d[0], d[1], 1, 5));
  add_to<2>(table + std::size_t(2) * slot[2], __builtin_shufflevector(d[0], d[1], 2, 6));
  add_to<2>(table + std::size_t(2) * slot[3], __builtin_shufflevector(d[0], d[1], 3, 7));
}
template <int Width>
TALLY_INLINE void add_four(u64* table, u32 const* slot, four_words const (&d)[Width]) {
#pragma GCC unroll 2
  for (int k = 0; k < Width; k += 4) {
    four_words const a = __builtin_shufflevector(d[k], d[k + 1], 0, 4, 2, 6), b = __builtin_shufflevector(d[k], d[k + 1], 1, 5, 3, 7);
    four_words const c = __builtin_shufflevector(d[k + 2], d[k + 3], 0, 4, 2, 6), e = __builtin_shufflevector(d[k + 2], d[k + 3], 1, 5, 3, 7);
    add_to<4>(table + std::size_t(Width) * slot[0] + k, __builtin_shufflevector(a, c, 0, 1, 4, 5));
    add_to<4>(table + std::size_t(Width) * slot[1] + k, __builtin_shufflevector(b, e, 0, 1, 4, 5));
    add_to<4>(table + std::size_t(Width) * slot[2] + k, __builtin_shufflevector(a, c, 2, 3, 6, 7));
    add_to<4>(table + std::size_t(Width) * slot[3] + k, __builtin_shufflevector(b, e, 2, 3, 6, 7));
  }
}

/// Which of the elements have bits that were not added; takes those back that are not below the top.
template <int Width, bool Products>
TALLY_INLINE u64 take_back(u64* table, int n, double const* x, double const* y, u32 const* slots, digit_cutters const& by) {
  u64 which = 0;
  for (int j = 0; j < n; j += 4) {
    uncut<Products> of(x + j, y + j);
    four_choices below;
    of.can_be_cut(by.top, below);
    four_words digit[Width], left;
    for (int k = 0; k < Width; ++k) of.cut(k, four{} + by.shift[k], digit[k]);
    of.left(left);
    for (int i = 0; i < 4 && j + i < n; ++i) {
      if (below[i] == 0)
        for (int k = 0; k < Width; ++k) table[std::size_t(Width) * slots[j + i] + std::size_t(k)] -= digit[k][i];
      if (below[i] == 0 || left[i] != 0) which |= u64(1) << (j + i);
    }
  }
  return which;
}

template <int Width, bool Products>
TALLY_INLINE u64 add(u64* table, int n, double const* x, double const* y, u32 const* slots, digit_cutters const& by) {
  four_words lost{}, beyond{};
  four_words const most = four_words{} + static_cast<u64>(by.most);
  four shift[Width];
#pragma GCC unroll 8
  for (int k = 0; k < Width; ++k) shift[k] = four{} + by.shift[k];
  for (int j = 0; j < n; j += 4) {
    uncut<Products> of(x + j, y + j);
    four_words digit[Width], left;
#pragma GCC unroll 8
    for (int k = 0; k < Width; ++k) of.cut(k, shift[k], digit[k]);
    of.left(left);
    lost |= left | ~(four_words)of.known;
    beyond |= digit[0] + most;
    add_four(table, slots + j, digit);
  }
  four_words const any = lost | (beyond & ~(2 * most - 1));
  return ((any[0] | any[1]) | (any[2] | any[3])) == 0 ? 0 : take_back<Width, Products>(table, n, x, y, slots, by);
}

template <bool Products>
u64 add(near_digits table, int n, double* x, double* y, u32* slots, digit_cutters const& by) {
  for (int j = n; j % 4 != 0; ++j) { // nothing, which every digit holds
    x[j] = y[j] = 0;
    slots[j] = table.idle;
  }
  u64* const of = reinterpret_cast<u64*>(table.of);
  return detail::with_or_without_registers([&]() TALLY_INLINE_LAMBDA {
    return table.width == 1   ? add<1, Products>(of, n, x, y, slots, by)
           : table.width == 2 ? add<2, Products>(of, n, x, y, slots, by)
           : table.width == 4 ? add<4, Products>(of, n, x, y, slots, by)
                              : add<8, Products>(of, n, x, y, slots, by);
  });
}

template <bool Products>
digits cut_first(double const* x, double const* y, digit_cutters const& by) {
  digits d{};
  uncut<Products> of(x, y);
  four_choices below;
  of.can_be_cut(by.top, below);
  d.below_top = below[0] != 0;
  auto const is_left = [&] { return of.near[0] != 0 || of.rest[0] != 0; };
  for (; d.count < most_digits && d.below_top && is_left(); ++d.count) {
    four_words digit;
    of.cut(d.count, four{} + by.shift[d.count], digit);
    d.of[d.count] = static_cast<i64>(digit[0]);
  }
  if (!d.below_top || is_left()) d.count = most_digits + 1;
  return d;
}

} // namespace

static_assert(keyed_block <= 64, "a bit for each element");

digits cut(double x, digit_cutters const& by) {
  double const four_of[4] = {x};
  return cut_first<false>(four_of, four_of, by);
}
digits cut(double x, double y, digit_cutters const& by) {
  double const four_of[4] = {x}, by_four[4] = {y};
  return cut_first<true>(four_of, by_four, by);
}
u64 add_digits(near_digits table, int n, double* x, u32* slots, digit_cutters const& by) { return add<false>(table, n, x, x, slots, by); }
u64 add_digits(near_digits table, int n, double* x, double* y, u32* slots, digit_cutters const& by) { return add<true>(table, n, x, y, slots, by); }

} // namespace tally::v0::cpu
