// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the CPU adds a leaf to an exact sum: one look at all exponents, then additions of doubles that cannot round, because
// every element is cut into slices whose sum over the leaf fits a double. Layer 5, host only. A leaf that spans more than
// three slices, or holds what is not finite, goes element by element; either way the wide integer is the same.
#pragma once

#include <tally/fold/exact.hpp>
#include <tally/run/cpu_lanes.hpp>
#include <tally/run/cpu_registers.hpp>

#include <cstring>

namespace tally::v0::cpu::detail {

/// What one look at some finite numbers tells: all are below 2^top in size, and multiples of 2^low; empty when all are zero.
struct extent_of_bits {
  int top, low;
  bool empty, finite;
};

template <int N, class S>
TALLY_INLINE void load_masked(wide<S, N>& to, S const* x, integer_for<S> const* on) {
  std::memcpy(&to, x, sizeof to);
  if (on != nullptr) {
    wide_mask<S, N> let;
    std::memcpy(&let, on, sizeof let);
    to = __builtin_bit_cast(wide<S, N>, __builtin_bit_cast(wide_mask<S, N>, to) & let);
  }
}

/// Looks at numbers whose last Spare fraction bits are known to be zero.
template <int Elements, int Spare, class S>
TALLY_INLINE extent_of_bits look_at(S const* x, integer_for<S> const* on) {
  using shape = float_shape<S>;
  using I = integer_for<S>;
  constexpr int n = register_bytes / int(sizeof(S)), stored = shape::precision - 1;
  constexpr I size_bits = stl::numeric_limits<I>::max();
  wide<I, n> most = wide<I, n>{}, least = wide<I, n>{} + size_bits;
  for (int e = 0; e < Elements; e += n) {
    wide<S, n> v;
    load_masked<n>(v, x + e, on == nullptr ? nullptr : on + e);
    wide<I, n> const size = __builtin_bit_cast(wide_mask<S, n>, v) & size_bits;
    wide<I, n> const without_zero = (size - 1) & size_bits; // zero becomes the largest
    most = size > most ? size : most;
    least = without_zero < least ? without_zero : least;
  }
  I highest = 0, lowest = size_bits;
  for (int j = 0; j < n; ++j) {
    highest = most[j] > highest ? most[j] : highest;
    lowest = least[j] < lowest ? least[j] : lowest;
  }
  auto const exponent = [](I bits) { return bits >> stored == 0 ? 1 : static_cast<int>(bits >> stored); };
  constexpr int bias = shape::highest - 2; // of fields: field 1 holds sizes below 2^-bias
  if (highest == 0)
    return {0, 0, true, true};
  return {exponent(highest) - bias, exponent(lowest + 1) - 1 + shape::lowest + Spare, false,
          (highest >> stored) < 2 * shape::highest - 1};
}

/// fraction * 2^exponent; both the answer and 2^exponent must be normal doubles.
constexpr double power_of_two(int exponent) { return bits_as<double>(static_cast<u64>(exponent + 1023) << 52); }

/// Adds a double that is a multiple of 2^lowest to an integer whose bit 0 weighs 2^lowest.
template <int Words>
TALLY_INLINE void add_double(wide_integer<Words>& sum, double x, int lowest) {
  auto const a = take_apart(x);
  int const at = a.bit + float_shape<double>::lowest - lowest;
  if (a.fraction != 0)
    sum.add_at(at < 0 ? 0 : at, at < 0 ? a.fraction >> -at : a.fraction, a.negative);
}

/// The slices of a leaf: sizes below 2^top, so that the sum of 2^Log of them, as multiples of 2^unit, fits a double.
template <int Log>
struct slice {
  int top;
  constexpr int unit() const { return top + Log - 53; }
  constexpr slice next() const { return {unit() - 1}; }
  constexpr bool holds(int low) const { return low >= unit(); }
  /// Adding and subtracting this leaves the nearest multiple of 2^unit.
  constexpr double cutter() const { return unit() < -1074 ? 0.0 : 1.5 * power_of_two(unit() + 52); }
};

/// Adds all elements, cut into Slices slices.
template <int Slices, int Elements, class S, int Words>
TALLY_INLINE void add_slices(wide_integer<Words>& sum, S const* x, integer_for<S> const* on, int top, int lowest) {
  constexpr int n = register_bytes / 8;
  using doubles = wide<double, n>;
  slice<tally::v0::detail::log2_of(Elements)> s{top};
  double cutter[Slices];
  for (int l = 0; l < Slices; ++l, s = s.next())
    cutter[l] = s.cutter();
  constexpr int chains = Slices == 1 ? 4 : 2; // additions in flight
  doubles total[Slices][chains] = {};
  for (int e = 0; e < Elements; e += n * chains)
#pragma GCC unroll 4
    for (int c = 0; c < chains; ++c) {
      wide<S, n> v;
      load_masked<n>(v, x + e + c * n, on == nullptr ? nullptr : on + e + c * n);
      doubles d = __builtin_convertvector(v, doubles);
#pragma GCC unroll 4
      for (int l = 0; l + 1 < Slices; ++l) {
        doubles const cut = (d + cutter[l]) - cutter[l];
        total[l][c] += cut;
        d -= cut;
      }
      total[Slices - 1][c] += d;
    }
  for (int l = 0; l < Slices; ++l) {
    double all = 0;
    for (int c = 0; c < chains; ++c)
      for (int j = 0; j < n; ++j)
        all += total[l][c][j];
    add_double(sum, all, lowest);
  }
}

/// Adds finite numbers of which something is known; false where they span too many slices.
template <int Elements, class S, int Words>
TALLY_INLINE bool add_known(wide_integer<Words>& sum, S const* x, integer_for<S> const* on, extent_of_bits const& known,
                            int lowest) {
  slice<tally::v0::detail::log2_of(Elements)> const first{known.top}, second = first.next(), third = second.next();
  if (known.top > 960 || known.top < -960)
    return false;
  if (first.holds(known.low))
    add_slices<1, Elements>(sum, x, on, known.top, lowest);
  else if (second.holds(known.low))
    add_slices<2, Elements>(sum, x, on, known.top, lowest);
  else if (third.holds(known.low))
    add_slices<3, Elements>(sum, x, on, known.top, lowest);
  else
    return false;
  return true;
}

template <class M, class... Vs>
[[gnu::noinline]] void add_one_by_one(M const& m, typename M::state& s, int elements, integer_for<typename M::number> const* on,
                                      Vs const*... x) {
  for (int e = 0; e < elements; ++e)
    if (on == nullptr || on[e] != 0)
      m.add(s, x[e]...);
}

/// Adds a whole leaf of numbers.
template <int Elements, exact_monoid M>
TALLY_INLINE void add_exactly(M const& m, typename M::state& s, integer_for<typename M::number> const* on,
                              typename M::number const* x) {
  auto const known = look_at<Elements, 0>(x, on);
  if (known.empty)
    return;
  if (!known.finite || !add_known<Elements>(s.sum, x, on, known, M::range::lowest))
    add_one_by_one(m, s, Elements, on, x);
}

/// Adds a whole leaf of products: of floats, a product is a double whose last 5 fraction bits are zero.
template <int Elements, exact_monoid M>
TALLY_INLINE void add_exactly(M const& m, typename M::state& s, integer_for<typename M::number> const* on,
                              typename M::number const* x, typename M::number const* y) {
  if constexpr (stl::same_as<typename M::number, float>) {
    constexpr int n = register_bytes / 8;
    using doubles = wide<double, n>;
    alignas(64) double products[Elements];
    for (int e = 0; e < Elements; e += n) {
      wide<float, n> a, b;
      load_masked<n>(a, x + e, on == nullptr ? nullptr : on + e);
      load_masked<n>(b, y + e, on == nullptr ? nullptr : on + e);
      doubles const p = __builtin_convertvector(a, doubles) * __builtin_convertvector(b, doubles);
      std::memcpy(products + e, &p, sizeof p);
    }
    auto const known = look_at<Elements, 5>(products, nullptr);
    if (known.empty ||
        (known.finite && add_known<Elements>(s.sum, static_cast<double const*>(products),
                                                    static_cast<i64 const*>(nullptr), known, M::range::lowest)))
      return;
  }
  add_one_by_one(m, s, Elements, on, x, y);
}

/// x * y as a rounded product and what the rounding lost, both doubles (Dekker); x and y have at most 48 bits, so that the halves
/// of x have at most 25 and nothing else rounds.
template <int N>
TALLY_INLINE void product_and_rest(wide<double, N> const& x, wide<double, N> const& y, wide<double, N>& product, wide<double, N>& rest) {
  wide<double, N> const far = x * (0x1p28 + 1), y_far = y * (0x1p28 + 1);
  wide<double, N> const upper = far - (far - x), lower = x - upper, y_upper = y_far - (y_far - y), y_lower = y - y_upper;
  product = x * y;
  rest = lower * y_lower - (((product - upper * y_upper) - lower * y_upper) - upper * y_lower);
}

/// Adds finite doubles, in slices or one by one.
template <int Elements, int Words>
TALLY_INLINE void add_doubles(wide_integer<Words>& sum, double const* x, extent_of_bits const& known, int lowest) {
  if (known.empty || add_known<Elements>(sum, x, static_cast<i64 const*>(nullptr), known, lowest))
    return;
  for (int e = 0; e < Elements; ++e)
    add_double(sum, x[e], lowest);
}

/// Adds a whole leaf of products of three or four: of floats, two doubles each.
template <int Elements, exact_monoid M, class... More>
TALLY_INLINE void add_exactly(M const& m, typename M::state& s, integer_for<typename M::number> const* on,
                              typename M::number const* x, typename M::number const* y, typename M::number const* z, More... more) {
  if constexpr (stl::same_as<typename M::number, float>) {
    constexpr int n = register_bytes / 8;
    using doubles = wide<double, n>;
    alignas(64) double products[Elements], rests[Elements];
    for (int e = 0; e < Elements; e += n) {
      doubles first = doubles{} + 1.0, second = first, product, rest;
      auto const times = [&](doubles& to, float const* of) TALLY_INLINE_LAMBDA {
        wide<float, n> v;
        load_masked<n>(v, of + e, on == nullptr ? nullptr : on + e);
        to *= __builtin_convertvector(v, doubles);
      };
      times(first, x), times(first, y), times(second, z);
      (times(second, more), ...);
      product_and_rest<n>(first, second, product, rest);
      std::memcpy(products + e, &product, sizeof product);
      std::memcpy(rests + e, &rest, sizeof rest);
    }
    auto const look = [](double const* of) TALLY_INLINE_LAMBDA {
      return look_at<Elements, 0>(of, static_cast<i64 const*>(nullptr));
    };
    auto const known = look(products);
    if (known.empty || known.finite) {
      add_doubles<Elements>(s.sum, products, known, M::range::lowest);
      add_doubles<Elements>(s.sum, rests, look(rests), M::range::lowest);
      return;
    }
  }
  add_one_by_one(m, s, Elements, on, x, y, z, more...);
}

/// Lanes that add what they are fed to one sum.
template <class M>
struct adding_lanes {
  typename M::state& sum;
  template <class... Vs>
  constexpr void step(M const& m, int, bool on, i64, Vs... values) {
    if (on)
      m.add(sum, static_cast<typename M::number>(values)...);
  }
};

/// Adds `count` elements of one bound monoid, one by one; values behind a false mask are not computed.
template <class Program, class Leaf>
[[gnu::noinline]] void add_ragged(Program const& p, Leaf const& leaf, typename Leaf::state& s, i64 first, int count) {
  adding_lanes<typename Leaf::monoid_type> lanes{s};
  for (int e = 0; e < count; ++e) {
    auto const row = p.row_at(first + e);
    if (leaf.mask.eval(row))
      leaf.step(lanes, 0, true, row);
  }
}

} // namespace tally::v0::cpu::detail
