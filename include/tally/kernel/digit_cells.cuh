// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells of exact sums: digits to which numbers are added in any order, and what came that has none. Layer 4.
#pragma once

#include <tally/kernel/keyed_cells.cuh>
#include <tally/kernel/whole_number.cuh>

namespace tally::v0::kernel {

/// The digits of an exact sum; their carries stay where they are until the sum is read.
template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::digits> {
  static constexpr int digits = cell_of<M>::digits;
  static constexpr int bytes = cell_of<M>::bytes;
  static constexpr u64 of_digit = (u64(1) << bits_of_digit) - 1;
  using word = u64;
  template <class I>
  struct digit_words {
    char* base;
    I slots, g;
    __device__ __forceinline__ void add_at(int bit, u64 magnitude, bool negative) {
      int const d = bit / bits_of_digit, shift = bit - d * bits_of_digit;
      if constexpr (float_in_two) {
        u64 const both = magnitude << shift; // of at most 24 bits
        if constexpr (Of == owner::block) {
          word const part[2] = {negative ? word(0) - (both & of_digit) : both & of_digit, negative ? word(0) - (both >> bits_of_digit) : both >> bits_of_digit};
          add_halves(cells::word<word>(base, slots, g, d), slots, part);
        } else {
          add_part(d, both & of_digit, negative);
          add_part(d + 1, both >> bits_of_digit, negative);
        }
      } else {
        add_digits(d, shift, magnitude, negative);
      }
    }
    __device__ __forceinline__ void add_word(int bit, u64 magnitude, bool negative) {
      add_digits(bit / bits_of_digit, bit % bits_of_digit, magnitude, negative);
    }

  private:
    static constexpr bool float_in_two = M::factors == 1 && cuda::std::same_as<typename M::number, float>;
    __device__ __forceinline__ void add_part(int d, u64 part, bool negative) {
      if (part != 0)
        fold_into<operation::add, Of>(cells::word<word>(base, slots, g, d), negative ? word(0) - word(part) : word(part));
    }
    __device__ __noinline__ void add_digits(int d, int shift, u64 magnitude, bool negative) {
      u64 low = magnitude << shift, high = shift != 0 ? magnitude >> (64 - shift) : 0;
#pragma unroll 1
      for (; (low | high) != 0; ++d) {
        add_part(d, low & of_digit, negative);
        low = low >> bits_of_digit | high << (64 - bits_of_digit);
        high >>= bits_of_digit;
      }
    }
  };
  template <class I>
  struct special_word {
    char* base;
    I slots, g;
    __device__ __forceinline__ void operator|=(u64 bits) { fold_into<operation::bit_or, Of>(cells::word<word>(base, slots, g, digits), word(bits)); }
  };
  template <class I>
  struct sink {
    digit_words<I> sum;
    special_word<I> special;
  };
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) {
    for (int d = 0; d <= digits; ++d)
      *cells::word<word>(base, slots, g, d) = 0;
  }
  template <class I, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const& m, i64, Vs... values) {
    sink<I> s{{base, slots, g}, {base, slots, g}};
    m.add(s, static_cast<typename M::number>(values)...);
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, typename M::state const& s) {
    digit_words<I> to{base, slots, g};
    auto const size = detail::size_of(s.sum);
#pragma unroll 1
    for (int w = 0; w < size.words; ++w)
      to.add_word(64 * w, size.word[w], s.sum.negative());
    if (s.special != 0)
      special_word<I>{base, slots, g} |= s.special;
  }
  /// The numbers of a whole warp, V a lane. Away from the loop that asks for it, whose loads in flight need the registers.
  template <class I, int V>
  __device__ __noinline__ static void add_of_warp(char* base, I slots, I g, numbers_of_lane<M, V> const x) {
    u32 apart;
    auto const normal = x.those_that([](whole_number& n, auto... of) { return are_normal<M>(n, of...); }, apart);
    add_up_warp<64 * M::range::words>(normal, 0, [&](sized_number const& sum, int bit) {
      int const lane = int(threadIdx.x % 32), down = lane * bits_of_digit - bit % bits_of_digit;
      u64 const part = (down < 0 ? sum.low << -down : down < 64 ? sum.low >> down | sum.high << 1 << (63 - down) : down < 128 ? sum.high >> (down - 64) : 0) & of_digit;
      if (part != 0)
        fold_into<operation::add, Of>(cells::word<word>(base, slots, g, bit / bits_of_digit + lane), sum.negative ? word(0) - part : part);
    });
    x.each_of(apart, [&](auto... of) { add_apart(base, slots, g, of...); });
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    for (int d = 0; d < digits; ++d)
      if (word const n = *cells::word<word>(own, own_slots, from, d))
        fold_into<operation::add, owner::all>(cells::word<word>(base, slots, g, d), n);
    if (word const n = *cells::word<word>(own, own_slots, from, digits))
      fold_into<operation::bit_or, owner::all>(cells::word<word>(base, slots, g, digits), n);
  }
  __device__ static void give_in_bulk(char* own, unsigned own_slots, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    for (int d = int(threadIdx.x); d <= digits; d += int(blockDim.x)) {
      auto* const to = cells::word<word>(base, slots, g, d);
      auto* const from = cells::word<word>(own, own_slots, 0u, d);
      if (d < digits)
        fold_words_into<operation::add>(to, from, n, turned);
      else
        fold_words_into<operation::bit_or>(to, from, n, turned);
    }
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) {
    constexpr int together = 8; // loads on their way at once
    constexpr int bits = 64 * M::range::words, rounds = bits / (bits_of_digit * together) + 1;
    typename M::state s{};
    i64 carry = 0;
#pragma unroll(rounds <= 3 ? rounds : 1)
    for (int first = 0; first * bits_of_digit < bits; first += together) {
      i64 n[together];
#pragma unroll
      for (int d = 0; d < together; ++d)
        n[d] = first + d < digits ? static_cast<i64>(*cells::word<word>(base, slots, g, first + d)) : 0;
#pragma unroll
      for (int d = 0; d < together; ++d) {
        i64 const low = (n[d] & i64(of_digit)) + carry;
        put_digit(s.sum, (first + d) * bits_of_digit, u64(low) & of_digit);
        carry = (n[d] >> bits_of_digit) + (low >> bits_of_digit);
      }
    }
    s.special = *cells::word<word>(base, slots, g, digits);
    return s;
  }

private:
  template <class I, class... Vs>
  __device__ __noinline__ static void add_apart(char* base, I slots, I g, Vs... values) {
    add(base, slots, g, nullptr, M{}, 0, values...);
  }
  /// Bits of a digit into a number that has none from `bit` on.
  template <int Words>
  __device__ __forceinline__ static void put_digit(wide_integer<Words>& to, int bit, u64 of) {
    int const w = bit / 64, shift = bit % 64;
    if (w < Words)
      to.word[w] |= of << shift;
    if (shift > 64 - bits_of_digit && w + 1 < Words)
      to.word[w + 1] |= of >> (64 - shift);
  }
};

} // namespace tally::v0::kernel
