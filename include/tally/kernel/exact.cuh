// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a warp, a block and a grid add to an exact sum. Layer 4. A thread adds in a *window*: two or three integers
// whose lowest bit has a weight that the warp has agreed on. Before a batch of elements is added, one look at their
// exponents says whether all lie in the window; that is nearly always so. Otherwise the warp goes over the batch once per 30
// binades that it spans, and aims the window anew. Windows end up in 32-bit digits with 32 bits of room for carries, one
// set a warp in shared memory; all of it is integer addition, so no order can be seen in the answer.
#pragma once

#include <tally/fold/exact.hpp>
#include <tally/plan/plan.hpp>

namespace tally::inline v0::kernel {

inline constexpr u32 whole_warp = 0xffffffffu;

/// The sum of one word of every lane, with the carries.
__device__ __forceinline__ u64 sum_of_warp(u32 x) {
  return u64(__reduce_add_sync(whole_warp, x & 0xffffu)) + (u64(__reduce_add_sync(whole_warp, x >> 16)) << 16);
}
__device__ __forceinline__ i64 sum_of_warp(i32 x) {
  return i64(__reduce_add_sync(whole_warp, u32(x) & 0xffffu)) + i64(__reduce_add_sync(whole_warp, x >> 16)) * 65536;
}

/// Digits of one exact sum for every warp of a block.
template <exact_monoid M, int Warps>
struct exact_room {
  static constexpr int digits = 2 * M::range::words;
  u64 digit[Warps][digits];
  u32 special[Warps];
  u32 word[digits + 1]; ///< of the state of the block: digits without their carries, then what was special

  /// Adds the integers of all lanes times 2^at to the digits of a warp.
  __device__ __forceinline__ void add(int warp, i64 x, int at) {
    int const shift = at & 31, first = at >> 5, lane = int(threadIdx.x % 32);
    u64 const low = u64(x) << shift;
    u64 const sum[3] = {sum_of_warp(u32(low)), sum_of_warp(u32(low >> 32)), u64(sum_of_warp(i32((x >> 32) >> (32 - shift))))};
    if (lane < 3 && first + lane < digits)
      digit[warp][first + lane] += lane == 0 ? sum[0] : lane == 1 ? sum[1] : sum[2];
    __syncwarp();
  }
  /// The digits of all warps become the words of the block; all threads must come, and wait before they read them.
  template <int Threads>
  __device__ __forceinline__ void total() {
    __syncthreads();
    for (int k = int(threadIdx.x); k < digits; k += Threads) {
      u64 sum = 0;
#pragma unroll
      for (int w = 0; w < Warps; ++w)
        sum += digit[w][k];
      digit[0][k] = sum;
    }
    if (threadIdx.x == Threads - 1) {
      u32 all = 0;
#pragma unroll
      for (int w = 0; w < Warps; ++w)
        all |= special[w];
      word[digits] = all;
    }
    __syncthreads();
    carry();
  }
  /// The words from the digits of warp 0, by thread 0.
  __device__ __forceinline__ void carry() {
    if (threadIdx.x != 0)
      return;
    i64 carried = 0;
#pragma unroll(digits <= 24 ? digits : 4)
    for (int k = 0; k < digits; ++k) {
      i64 const here = i64(digit[0][k]) + carried;
      word[k] = u32(here);
      carried = here >> 32;
    }
  }
  /// The words as a state, in the thread that made them.
  __device__ __forceinline__ typename M::state state() const {
    typename M::state s;
#pragma unroll(digits <= 24 ? digits / 2 : 1)
    for (int k = 0; k < digits / 2; ++k)
      s.sum.word[k] = word[2 * k] | (u64(word[2 * k + 1]) << 32);
    s.special = word[digits];
    return s;
  }
};

/// The room of one of the folds of a block.
template <plan P, exact_monoid M, int Slot>
__device__ __forceinline__ auto& exact_room_of() {
  __shared__ exact_room<M, P.warps_per_block()> room;
  return room;
}

/// The states of the threads that hold one become one, in thread 0.
template <plan P, exact_monoid M, int Slot>
__device__ __forceinline__ typename M::state combine_exactly(typename M::state const& s, bool holds) {
  using room_type = exact_room<M, P.warps_per_block()>;
  room_type& room = exact_room_of<P, M, Slot>();
  int const warp = int(threadIdx.x / 32);
  bool const speaks = threadIdx.x % 32 == 0;
  __syncthreads(); // the room is free again
#pragma unroll(room_type::digits <= 24 ? room_type::digits : 1)
  for (int k = 0; k < room_type::digits; ++k) {
    u64 const sum = sum_of_warp(holds ? u32(s.sum.word[k / 2] >> (32 * (k % 2))) : 0u);
    if (speaks)
      room.digit[warp][k] = sum;
  }
  u32 const special = __reduce_or_sync(whole_warp, holds ? u32(s.special) : 0u);
  if (speaks)
    room.special[warp] = special;
  room.template total<P.threads_per_block>();
  return threadIdx.x == 0 ? room.state() : s;
}

/// At most 27 bits of an element, times 2^at: what the slow way adds. Calls add(bits, at, negative) for each piece.
template <exact_monoid M, class Add>
__device__ __forceinline__ void in_pieces(Add const& add, typename M::number x) {
  auto const a = take_apart(x);
  add(u32(a.fraction) & 0x7ffffffu, a.bit, a.negative);
  if constexpr (sizeof(x) == 8)
    add(u32(a.fraction >> 27), a.bit + 27, a.negative);
}
template <exact_monoid M, class Add>
__device__ __forceinline__ void in_pieces(Add const& add, typename M::number x, typename M::number y) {
  auto const a = take_apart(x), b = take_apart(y);
  bool const negative = a.negative != b.negative;
  u64 const low = a.fraction * b.fraction;
  int const at = a.bit + b.bit;
  add(u32(low) & 0x7ffffffu, at, negative);
  if constexpr (sizeof(x) == 4) {
    add(u32(low >> 27), at + 27, negative);
  } else {
    u64 const high = __umul64hi(a.fraction, b.fraction);
    add(u32(low >> 27) & 0x7ffffffu, at + 27, negative);
    add(u32((low >> 54) | (high << 10)) & 0x7ffffffu, at + 54, negative);
    add(u32(high >> 17), at + 81, negative);
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

/// A window over doubles, which are elements or products of two floats: 43 binades and more, in two digits, of 45 and of 50
/// bits.
template <class M>
  requires(M::factors == 1 ? sizeof(typename M::number) == 8 : sizeof(typename M::number) == 4)
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
  __device__ __forceinline__ static u32 key(float x, float y) { return key(product_of(x, y)); }
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

/// No window: products of doubles, whose 106 bits go the slow way.
template <class M>
  requires(M::factors == 2 && sizeof(typename M::number) == 8)
struct window_of<M> {
  static constexpr int spare = 0, exponent_at = 21, binades = 1, headroom = 0, lowest_base = 0, highest_base = 0, additions = 1;
  int base = -1;
  __device__ __forceinline__ static u32 key(double, double) { return 0xffffffffu; }
  __device__ __forceinline__ u32 key_of_base() const { return u32(1) << exponent_at; }
  __device__ __forceinline__ void aim(int at) { base = at; }
  __device__ __forceinline__ void add(double, double) {}
  template <class Room>
  __device__ __forceinline__ void flush(Room&, int, int) {}
};

/// What an expression sees that feeds the slow way: numbers that pass are handed on.
template <exact_monoid M, class F>
struct passing {
  F const& f;
  template <class... Vs>
  __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) const {
    if (on)
      f(static_cast<typename M::number>(values)...);
  }
};

/// One exact sum in one thread.
template <plan P, exact_monoid M, int Slot>
struct exact_lanes {
  using window_type = window_of<M>;
  window_type window;
  u32 least, most; ///< of the keys of a batch: of those that are not zero, and of all
  u32 special = 0;
  int added = 0;

  using room_type = exact_room<M, P.warps_per_block()>;
  __device__ __forceinline__ static auto& room() { return exact_room_of<P, M, Slot>(); }
  __device__ __forceinline__ static int warp() { return int(threadIdx.x / 32); }
  __device__ __forceinline__ exact_lanes() {
    for (int k = int(threadIdx.x % 32); k < room_type::digits; k += 32)
      room().digit[warp()][k] = 0;
    __syncwarp();
  }
  /// What an expression sees that feeds the window.
  template <class... Vs>
  __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) {
    window.add(on ? static_cast<typename M::number>(values) : typename M::number(0)...);
  }
  /// What it sees that looks at an element before.
  struct look {
    exact_lanes& of;
    template <class... Vs>
    __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) const {
      of.take_note(window_type::key(on ? static_cast<typename M::number>(values) : typename M::number(0)...));
    }
  };
  __device__ __forceinline__ void take_note(u32 key) {
    u32 const without_zero = key - 1;
    least = without_zero < least ? without_zero : least;
    most = key > most ? key : most;
  }
  __device__ __forceinline__ void look_afresh() { least = 0xffffffffu, most = 0; }
  /// Whether the batch of every lane lies in the window of the warp, which then has room for it. If not, the window is aimed
  /// at it, for the next one. Whoever adds the batch counts it in `added`: another fold may have sent it the slow way.
  __device__ __forceinline__ bool fits(int elements) {
    if (window.base < 0)
      aim();
    u32 const bottom = window.key_of_base();
    u32 const above = bottom + (u32(window_type::binades + window_type::spare) << window_type::exponent_at);
    bool const fit = __all_sync(whole_warp, least >= bottom - 1 && most < above);
    if (!fit || added + elements > window_type::additions) {
      window.flush(room(), warp(), added);
      added = 0;
      if (!fit)
        aim();
    }
    return fit;
  }
  __device__ __forceinline__ void aim() {
    u32 const exponent = __reduce_max_sync(whole_warp, most) >> window_type::exponent_at;
    int const at = int(exponent) + window_type::headroom - window_type::binades;
    window.aim(at < window_type::lowest_base ? window_type::lowest_base : at > window_type::highest_base ? window_type::highest_base : at);
  }
  /// Adds a batch whatever it holds; each(f) calls f(values...) for every element of this thread.
  template <class Each>
  __device__ __forceinline__ void add_slowly(Each const& each) {
    int above = 0x7fffffff; // pieces from here on have been added
    for (;;) {
      int highest = -1;
      each([&](auto... values) {
        if (!(is_finite(values) && ...))
          special |= u32(special_of((values * ...)));
        else
          in_pieces<M>([&](u32 bits, int at, bool) { highest = bits != 0 && at < above && at > highest ? at : highest; }, values...);
      });
      highest = __reduce_max_sync(whole_warp, highest);
      if (highest < 0)
        return;
      int const base = highest > 29 ? highest - 29 : 0;
      i64 sum = 0;
      each([&](auto... values) {
        if ((is_finite(values) && ...))
          in_pieces<M>(
              [&](u32 bits, int at, bool negative) {
                if (at >= base && at < above)
                  sum += (negative ? -i64(bits) : i64(bits)) << (at - base);
              },
              values...);
      });
      room().add(warp(), sum, base);
      above = base;
    }
  }
  /// What this warp has added is in its digits.
  __device__ __forceinline__ void close() {
    if (window.base >= 0)
      window.flush(room(), warp(), added);
    u32 const of_warp = __reduce_or_sync(whole_warp, special);
    if (threadIdx.x % 32 == 0)
      room().special[warp()] = of_warp;
  }
};

} // namespace tally::inline v0::kernel
