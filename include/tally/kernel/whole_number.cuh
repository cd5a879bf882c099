// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers of exact sums, and products of them, as whole numbers; and what those of a whole warp add up to. Layer 4.
#pragma once

#include <tally/fold/keyed_cells.hpp>
#include <tally/kernel/sum_of_warp.cuh>

namespace tally::v0::kernel {

/// A number or product as a whole number of 128 bits: sign and fraction * 2^bit.
struct whole_number {
  u64 low, high;
  int bit;
  bool negative;
  /// Limb i of the fraction times 2^shift, of less than 32.
  __device__ __forceinline__ u32 limb(int i, int shift) const { return u32((u64(piece(i)) << 32 | piece(i - 1)) << shift >> 32); }

private:
  __device__ __forceinline__ u32 piece(int i) const {
    u64 const half = i < 2 ? low : high;
    return i < 0 || i > 3 ? 0 : u32(i % 2 == 0 ? half : half >> 32);
  }
};
/// Whether numbers are all neither zero nor below the normal ones, infinite or none, and their product.
template <class M, class... Vs>
__device__ __forceinline__ bool are_normal(whole_number& product, Vs... values) {
  static_assert(M::factors == int(sizeof...(Vs)) && M::factors <= 4);
  using shape = float_shape<typename M::number>;
  using B = typename shape::bits;
  constexpr int stored = shape::precision - 1;
  u64 fraction[M::factors];
  bool normal = true;
  int k = 0;
  product = {0, 0, 0, false};
  auto const take = [&](typename M::number x) {
    B const b = bits_as<B>(x);
    unsigned const bit = unsigned(b << 1 >> (stored + 1)) - 1;
    normal = normal && bit < unsigned(2 * shape::highest - 2);
    product.bit += int(bit);
    product.negative = product.negative != (b >> (8 * sizeof(B) - 1) != 0);
    fraction[k++] = (b & ((B(1) << stored) - 1)) | B(1) << stored;
  };
  (take(static_cast<typename M::number>(values)), ...);
  if constexpr (M::factors == 1)
    product.low = fraction[0];
  else if constexpr (bits_of_number<M> <= 64)
    product.low = fraction[0] * fraction[1];
  else if constexpr (M::factors == 2)
    multiply(fraction[0], fraction[1], product.low, product.high);
  else if constexpr (M::factors == 3)
    multiply(fraction[0] * fraction[1], fraction[2], product.low, product.high);
  else
    multiply(fraction[0] * fraction[1], fraction[2] * fraction[3], product.low, product.high);
  return normal;
}
/// Whether a product of numbers is zero, and not none.
template <class... Vs>
__device__ __forceinline__ bool is_zero(Vs... values) {
  return are_finite(values...) && (false || ... || (values == Vs(0)));
}

/// Numbers of V elements of a lane, or the factors of products, handed over in registers.
template <class M, int V>
struct numbers_of_lane {
  typename M::number of[V][M::factors];
  /// Calls with(factors...) of element v.
  template <class With>
  __device__ __forceinline__ auto with(int v, With const& with) const {
    return with_all(v, with, indices_up_to<M::factors>{});
  }
  /// Those that fit(whole_number&, factors...), zero in place of the others, of which `apart` gets a bit for each that is none.
  template <class Fit>
  __device__ __forceinline__ numbers_of_lane those_that(Fit const& fit, u32& apart) const {
    numbers_of_lane kept;
    apart = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      whole_number n;
      bool const is = with(v, [&](auto... x) { return fit(n, x...); });
#pragma unroll
      for (int k = 0; k < M::factors; ++k)
        kept.of[v][k] = is ? of[v][k] : typename M::number(0);
      apart |= u32(!is && !with(v, [](auto... x) { return is_zero(x...); })) << v;
    }
    return kept;
  }
  /// Calls take(factors...) of each that has a bit.
  template <class Take>
  __device__ __forceinline__ void each_of(u32 bits, Take const& take) const {
#pragma unroll
    for (int v = 0; v < V; ++v)
      if ((bits >> v & 1) != 0)
        with(v, take);
  }

private:
  template <class With, int... K>
  __device__ __forceinline__ auto with_all(int v, With const& with, index_list<K...>) const {
    return with(of[v][K]...);
  }
};
/// Whether numbers of M are short enough that a warp adds them up in two words.
template <class M>
inline constexpr bool adds_up_in_words = bits_of_number<M> > 0 && bits_of_number<M> <= two_words::bits_of_fraction;

/// What the numbers of a warp add up to, V a lane, each normal or zero: take(sum, bit), sum * 2^bit, is called by the whole warp, first of those that begin few enough bits below
/// the highest, then of those that do so of what is left. None begins below `lowest`, or more than Binades above it.
template <int Binades, class M, int V, class Take>
__device__ __forceinline__ void add_up_warp(numbers_of_lane<M, V> const& x, int lowest, Take const& take) {
  static_assert(adds_up_in_words<M> && V <= 8);
  constexpr int binades = two_words::binades;
  u32 left = ~u32(0);
  bool others;
  do {
    int bit = lowest;
    if constexpr (Binades > binades) {
      int highest = 0;
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (whole_number n; (left >> v & 1) != 0 && x.with(v, [&](auto... of) { return are_normal<M>(n, of...); }))
          highest = n.bit > highest ? n.bit : highest;
      int const top = int(__reduce_max_sync(whole_warp, u32(highest)));
      bit = top - binades > lowest ? top - binades : lowest;
    }
    two_words sum{};
    others = false;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      whole_number n;
      bool const is = x.with(v, [&](auto... of) { return are_normal<M>(n, of...); }) && (left >> v & 1) != 0, here = is && n.bit >= bit;
      sum.add(here ? n.low : 0, here ? n.bit - bit : 0, n.negative);
      left &= ~(u32(here) << v);
      others = others || (is && !here);
    }
    take(sum_of_warp(sum).sized(), bit);
  } while (Binades > binades && __any_sync(whole_warp, others));
}
/// The same of floats, of which the bits themselves are looked at: they take the fewest registers.
template <int Binades, class To, int V, class Take>
__device__ __forceinline__ void add_up_warp(numbers_of_lane<exact_sum_monoid<float, To, 1>, V> const& x, int lowest, Take const& take) {
  static_assert(V <= 8);
  u32 left[V], others;
#pragma unroll
  for (int v = 0; v < V; ++v)
    left[v] = bits_as<u32>(x.of[v][0]);
  do {
    u32 most = 0;
#pragma unroll
    for (int v = 0; v < V; ++v)
      most = (left[v] & 0x7fffffffu) > most ? left[v] & 0x7fffffffu : most;
    int const top = int(__reduce_max_sync(whole_warp, most) >> 23) - 1, bit = top - one_word::binades > lowest ? top - one_word::binades : lowest;
    one_word sum{};
    others = 0;
#pragma unroll
    for (int v = 0; v < V; ++v) {
      int const at = int(left[v] << 1 >> 24) - 1 - bit;
      bool const here = at >= 0;
      sum.add((left[v] & 0x7fffffu) | u32(1) << 23, at, i32(left[v]) < 0);
      left[v] = here ? 0 : left[v];
      others |= left[v] & 0x7fffffffu;
    }
    take(sum_of_warp(sum).sized(), bit);
  } while (__any_sync(whole_warp, others != 0));
}

} // namespace tally::v0::kernel
