// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The windows of a thread over exact sums: a few integers that elements or their products are cut into, and the pieces that
// elements are cut into where a window does not hold them. Layer 4. A window is aimed, looked through, added to and flushed into
// digits by kernel/exact.cuh.
#pragma once

#include <tally/fold/exact.hpp>

namespace tally::v0::kernel {

/// At most 27 bits of an element, times 2^at: what the slow way adds. Calls add(bits, at, negative) for each piece.
template <exact_monoid M, class Add>
__device__ __forceinline__ void in_pieces(Add const& add, typename M::number x) {
  auto const a = take_apart(x);
  add(u32(a.fraction) & 0x7ffffffu, a.bit, a.negative);
  if constexpr (sizeof(x) == 8)
    add(u32(a.fraction >> 27), a.bit + 27, a.negative);
}
template <exact_monoid M, class Add, class... More>
__device__ __forceinline__ void in_pieces(Add const& add, typename M::number x, typename M::number y, More... more) {
  constexpr int bits = (2 + int(sizeof...(More))) * float_shape<typename M::number>::precision;
  auto const a = take_apart(x), b = take_apart(y);
  bool const negative = ((a.negative != b.negative) != ... != take_apart(more).negative);
  int const at = ((a.bit + b.bit) + ... + take_apart(more).bit);
  if constexpr (bits <= 128) {
    u64 const left = sizeof(x) == 4 ? a.fraction * b.fraction : a.fraction;
    u64 const right = sizeof(x) == 4 ? (u64(1) * ... * take_apart(more).fraction) : b.fraction;
    u64 const low = left * right, high = bits > 64 ? __umul64hi(left, right) : 0;
    add(u32(low) & 0x7ffffffu, at, negative);
    if constexpr (bits <= 54) {
      add(u32(low >> 27), at + 27, negative);
    } else {
      add(u32(low >> 27) & 0x7ffffffu, at + 27, negative);
      add(u32((low >> 54) | (high << 10)) & 0x7ffffffu, at + 54, negative);
      add(u32(high >> 17), at + 81, negative);
    }
  } else {
    u32 piece[2 * (2 + sizeof...(More))] = {u32(a.fraction) & 0x7ffffffu, u32(a.fraction >> 27)};
    auto const times = [&](u64 fraction) {
      u64 const lower = fraction & 0x7ffffffu, upper = fraction >> 27;
      u64 carried = 0;
      u32 below = 0;
#pragma unroll
      for (int k = 0; k < int(2 * (2 + sizeof...(More))); ++k) {
        carried += piece[k] * lower + below * upper;
        below = piece[k];
        piece[k] = u32(carried) & 0x7ffffffu;
        carried >>= 27;
      }
    };
    times(b.fraction);
    (times(take_apart(more).fraction), ...);
#pragma unroll
    for (int k = 0; k < int(2 * (2 + sizeof...(More))); ++k)
      add(piece[k], at + 27 * k, negative);
  }
}

/// What is seen through while elements are added: those with an exponent field from base + 1 - spare to base + binades; it
/// is aimed so that what has been seen stands `headroom` binades below the top. Bits
/// are cut off by adding a constant, which rounds to an integer that then stands in the low bits of the result; conversions
/// to and from 64-bit types are four to a cycle of a multiprocessor, additions 64 and 128 (H200, 2026-11-20).
template <class M>
struct window_of;

/// A window over floats: 41 binades in three digits, of 22, 22 and 21 bits, each with room for 2^10 sums.
template <class M>
  requires(M::factors == 1 && sizeof(typename M::number) == 4)
struct window_of<M> {
  static constexpr int spare = 0, exponent_at = 24, binades = 41, headroom = 6, lowest_base = 0, highest_base = 213,
                       additions = 1000;
  static constexpr float magic = 0x1.8p23f;
  u32 digit[3] = {0, 0, 0};
  int base = -1; ///< the bit of the exact sum that bit 0 of digit[0] stands for
  float scale = 0;
  __device__ __forceinline__ static u32 key(float x) { return bits_as<u32>(x) << 1; }
  __device__ __forceinline__ u32 key_of_base() const { return u32(base + 1) << exponent_at; }
  __device__ __forceinline__ void aim(int at) {
    base = at;
    scale = bits_as<float>(u32(232 - at) << 23); // 2^(149 - at - 44)
  }
  __device__ __forceinline__ void add(float x) {
    float const upper = __fmaf_rn(x, scale, magic), below_upper = __fmaf_rn(x, scale, -(upper - magic));
    float const middle = __fmaf_rn(below_upper, 0x1p22f, magic);
    float const lower = __fmaf_rn(__fmaf_rn(below_upper, 0x1p22f, -(middle - magic)), 0x1p22f, magic);
    digit[2] += bits_as<u32>(upper);
    digit[1] += bits_as<u32>(middle);
    digit[0] += bits_as<u32>(lower);
  }
  template <class Room>
  __device__ __forceinline__ void flush(Room& room, int warp, int added) {
    u32 const constant = u32(added) * bits_as<u32>(magic);
    room.add(warp, i64(i32(digit[0] - constant)) + i64(i32(digit[1] - constant)) * (1 << 22), base);
    room.add(warp, i64(i32(digit[2] - constant)), base + 44);
    digit[0] = digit[1] = digit[2] = 0;
  }
};

/// A float times 2^-896 as a double: also of a denormal, and of zero.
__device__ __forceinline__ double far_below(float x) {
  u32 const bits = bits_as<u32>(x);
  return bits_as<double>((u64(u32(i32(bits) >> 3) & 0x8fffffffu) << 32) | (bits << 29));
}
__device__ __forceinline__ double product_of(float x, float y) {
  return (far_below(x) * 0x1p896) * (far_below(y) * 0x1p896);
}
/// A key above all others where a number is not finite, which far_below() takes for one of 2^128; else nothing.
template <class... Floats>
__device__ __forceinline__ u32 marks_of(Floats... x) {
  return bits_as<u32>((... + (x * 0.0f))) << 1;
}

/// A window over doubles, which are elements or products of two floats: 43 binades and more, in two digits, of 45 and of 50
/// bits.
template <class M>
  requires(sizeof(typename M::number) == (M::factors == 1 ? 8 : M::factors == 2 ? 4 : 0))
struct window_of<M> {
  static constexpr int spare = M::factors == 1 ? 0 : 5; ///< fraction bits that are known to be zero
  static constexpr int offset = float_shape<double>::lowest - M::range::lowest;
  static constexpr int exponent_at = 21, binades = 43, headroom = 8, lowest_base = M::factors == 1 ? 6 : -offset,
                       highest_base = 2003, additions = 2048;
  static constexpr double magic = 0x1.8p52;
  i64 low = 0, high = 0;
  int base = -1; ///< the bit, counted from 2^-1074, that bit 0 of `low` stands for
  double scale = 0;
  __device__ __forceinline__ static u32 key(double x) {
    u64 const bits = bits_as<u64>(x);
    u32 const head = u32(bits >> 32) << 1;
    return spare > 0 ? head : head | u32(u32(bits) != 0); // a denormal is not zero
  }
  __device__ __forceinline__ static u32 key(float x, float y) { return key(product_of(x, y)) | marks_of(x, y); }
  __device__ __forceinline__ u32 key_of_base() const { return u32(base + 1 - spare) << exponent_at; }
  __device__ __forceinline__ void aim(int at) {
    base = at;
    scale = bits_as<double>(u64(2052 - at) << 52);
  }
  __device__ __forceinline__ void add(double x) {
    double const scaled = x * scale, whole = scaled + magic;
    double const rest = __fma_rn(scaled - (whole - magic), 0x1p45, magic);
    high += bits_as<i64>(whole) - bits_as<i64>(magic);
    low += bits_as<i64>(rest) - bits_as<i64>(magic);
  }
  __device__ __forceinline__ void add(float x, float y) { add(product_of(x, y)); }
  template <class Room>
  __device__ __forceinline__ void flush(Room& room, int warp, int) {
    room.add(warp, low, base + offset);
    room.add(warp, high, base + offset + 45);
    low = high = 0;
  }
};

/// A window over products of three or four floats, or of two doubles, which are two doubles exactly: the rounded product and what the rounding lost.
/// As many digits of 45 bits as leave 23 binades of x in x^3, 22 in x^4, and 39 in the square of a double, and one of 50 bits above them.
template <class M>
  requires(M::factors > 2 ? sizeof(typename M::number) == 4 : M::factors == 2 && sizeof(typename M::number) == 8)
struct window_of<M> {
  static constexpr bool of_floats = sizeof(typename M::number) == 4;
  static constexpr int digits = of_floats ? M::factors : 4, product_bits = float_shape<typename M::number>::precision * M::factors;
  static constexpr int spare = 52 - product_bits; ///< the lowest bit of a product is at most product_bits below its first
  static constexpr int offset = float_shape<double>::lowest - M::range::lowest;
  static constexpr int exponent_at = 21, binades = 45 * (digits - 1) - 2, headroom = 4 * digits, additions = 2048;
  static constexpr int lowest_base = of_floats ? -offset : 1, ///< doubles that are smaller lose more than a double can say
                       highest_base = of_floats ? 1586 : 1911; ///< what is above may be infinite
  static constexpr double magic = 0x1.8p52;
  i64 digit[digits] = {};
  int base = -1; ///< the bit, counted from 2^-1074, that bit 0 of digit[0] stands for
  double scale = 0;
  __device__ __forceinline__ static double of_all(float x, float y, float z) { return product_of(x, y) * (far_below(z) * 0x1p896); }
  __device__ __forceinline__ static double of_all(float x, float y, float z, float w) { return product_of(x, y) * product_of(z, w); }
  template <class... Floats>
  __device__ __forceinline__ static u32 key(Floats... x) {
    return (u32(bits_as<u64>(of_all(x...)) >> 32) << 1) | marks_of(x...); // a product is normal or zero
  }
  __device__ __forceinline__ static u32 key(double x, double y) {
    u32 const head = u32(bits_as<u64>(x * y) >> 32) << 1, marks = u32(bits_as<u64>(x * 0. + y * 0.) >> 32) << 1;
    return head | marks | u32(head >> exponent_at == 0 && x != 0 && y != 0);
  }
  __device__ __forceinline__ u32 key_of_base() const { return u32(base + 1 - spare) << exponent_at; }
  __device__ __forceinline__ void aim(int at) {
    base = at;
    scale = bits_as<double>(u64(2097 - 45 * (digits - 1) - at) << 52);
  }
  /// Adds x * scale, which has nothing above digit `Top`.
  template <int Top>
  __device__ __forceinline__ void add_scaled(double x) {
#pragma unroll
    for (int k = Top; k >= 0; --k) {
      double const whole = x + magic;
      digit[k] += bits_as<i64>(whole) - bits_as<i64>(magic);
      x = (x - (whole - magic)) * 0x1p45;
    }
  }
  __device__ __forceinline__ void add_both(double x, double y) {
    double const product = x * y;
    add_scaled<digits - 1>(product * scale);
    add_scaled<digits - 2>(__fma_rn(x, y, -product) * scale * 0x1p45);
  }
  __device__ __forceinline__ void add(double x, double y) { add_both(x, y); }
  __device__ __forceinline__ void add(float x, float y, float z) { add_both(product_of(x, y), far_below(z) * 0x1p896); }
  __device__ __forceinline__ void add(float x, float y, float z, float w) { add_both(product_of(x, y), product_of(z, w)); }
  template <class Room>
  __device__ __forceinline__ void flush(Room& room, int warp, int) {
#pragma unroll
    for (int k = 0; k < digits; ++k) {
      room.add(warp, digit[k], base + offset + 45 * k);
      digit[k] = 0;
    }
  }
};

/// No window: products of three or four doubles, whose 159 bits and more go the slow way.
template <class M>
  requires(M::factors > 2 && sizeof(typename M::number) == 8)
struct window_of<M> {
  static constexpr int spare = 0, exponent_at = 21, binades = 1, headroom = 0, lowest_base = 0, highest_base = 0, additions = 1;
  int base = -1;
  __device__ __forceinline__ static u32 key(auto...) { return 0xffffffffu; }
  __device__ __forceinline__ u32 key_of_base() const { return u32(1) << exponent_at; }
  __device__ __forceinline__ void aim(int at) { base = at; }
  __device__ __forceinline__ void add(auto...) {}
  template <class Room>
  __device__ __forceinline__ void flush(Room&, int, int) {}
};

/// Whether keys lie in a window that has been aimed: the least of those that are not zero, less one, and the greatest of all.
template <class Window>
__device__ __forceinline__ bool holds_keys(Window const& w, u32 least, u32 most) {
  u32 const bottom = w.key_of_base();
  u32 const above = bottom + (u32(Window::binades + Window::spare) << Window::exponent_at);
  return least >= bottom - 1 && most < above;
}
/// Aims a window so that a key stands `room` binades below its top, as far as windows go.
template <class Window>
__device__ __forceinline__ void aim_below(Window& w, u32 key, int room) {
  int const at = int(key >> Window::exponent_at) + room - Window::binades;
  w.aim(at < Window::lowest_base ? Window::lowest_base : at > Window::highest_base ? Window::highest_base : at);
}

} // namespace tally::v0::kernel
