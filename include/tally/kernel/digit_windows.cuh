// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums in a block's own table as windows: some neighbouring digits of each, from one on that a sample finds before the read. Layer 4. Numbers
// with bits in other digits, and those that are not finite, go to the cells of all, so that nothing but time depends on the sample.
#pragma once

#include <tally/fold/hot_keys.hpp>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/digit_cells.cuh>

namespace tally::inline v0::kernel {

/// A finite number or product as a whole number of 128 bits: sign and fraction * 2^bit.
struct whole_number {
  u64 low, high;
  int bit;
  bool negative;
  /// 28 bits of those that are left when the lowest are brought to the place in a digit that is theirs: number i of them.
  __device__ __forceinline__ u64 part(int i, int shift) const {
    constexpr u64 of_digit = (u64(1) << bits_of_digit) - 1;
    if (i == 0)
      return low << shift & of_digit;
    int const from = bits_of_digit * i - shift;
    return (from < 64 ? low >> from | high << 1 << (63 - from) : high >> (from - 64)) & of_digit;
  }
};
template <class M, class... Vs>
__device__ __forceinline__ whole_number whole_number_of(Vs... values) {
  static_assert(M::factors == int(sizeof...(Vs)) && M::factors <= 4);
  taken_apart const x[4] = {take_apart(static_cast<typename M::number>(values))...};
  whole_number out{x[0].fraction, 0, x[0].bit, x[0].negative};
#pragma unroll
  for (int k = 1; k < M::factors; ++k)
    out.bit += x[k].bit, out.negative = out.negative != x[k].negative;
  constexpr bool fits = M::factors * float_shape<typename M::number>::precision <= 64;
  if constexpr (M::factors == 2 && fits)
    out.low *= x[1].fraction;
  else if constexpr (M::factors == 2)
    multiply(x[0].fraction, x[1].fraction, out.low, out.high);
  else if constexpr (M::factors == 3)
    multiply(x[0].fraction * x[1].fraction, x[2].fraction, out.low, out.high);
  else if constexpr (M::factors == 4)
    multiply(x[0].fraction * x[1].fraction, x[2].fraction * x[3].fraction, out.low, out.high);
  return out;
}

/// The cell of all of one fold, of a slot that an element has bits for which are in no window, the first of its digits being there.
struct cell_of_all {
  char* base;
  i64 slots, g;
  int first;
  u32 *beyond, *claimed; ///< null: nothing is marked
  __device__ __forceinline__ u32 bit() const { return u32(1) << (g & 31); }
  __device__ __forceinline__ bool is_reached() const { return has_bit(beyond + g / 32, bit()); }
};

/// What a block keeps of an exact sum of one slot. Cells that it is given to begin with the first digit of the window.
template <class M>
struct window_cell {
  static constexpr int pieces = digits_of_number<M>, digits = digits_of_window<M>, bytes = digits * int(sizeof(u64));
  static_assert(pieces > 0 && digits <= cell_of<M>::digits);
  using word = u64;
  using of_all = keyed_cell<M, owner::all>;

  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) {
    for (int d = 0; d < digits; ++d)
      *cells::word<word>(base, slots, g, d) = 0;
  }
  template <class I, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, int first, cell_of_all const& beyond, M const& m, Vs... values) {
    whole_number const x = whole_number_of<M>(values...);
    unsigned const d = unsigned(x.bit) / bits_of_digit, here = d - unsigned(first);
    bool const finite = are_finite(static_cast<typename M::number>(values)...);
    if (finite && here <= unsigned(digits - pieces)) {
      int const shift = x.bit - int(d) * bits_of_digit;
      word part[pieces];
#pragma unroll
      for (int i = 0; i < pieces; ++i)
        part[i] = x.negative ? word(0) - x.part(i, shift) : x.part(i, shift);
      add_halves(cells::word<word>(base, slots, g, int(here)), slots, part);
    } else if (!finite || (x.low | x.high) != 0) {
      if (beyond.beyond != nullptr) {
        cell_of_all const seldom = beyond; // which is in memory here alone, not for every element
        reach(seldom);
      }
      add_beyond(beyond.base, beyond.slots, beyond.g, m, static_cast<typename M::number>(values)...);
    }
  }
  /// The floats of a whole warp, V a lane.
  template <class I, int V>
  __device__ __forceinline__ static void add_of_warp(char* base, I slots, I g, int first, cell_of_all const& beyond, floats_of_lane<V> const& x) {
    of_all::add_digits_of_warp(digits_beside<I>{base, slots, g, first, beyond}, x);
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    for (int d = 0; d < digits; ++d)
      if (word const n = *cells::word<word>(own, own_slots, from, d))
        fold_into<operation::add, owner::all>(cells::word<word>(base, slots, g, d), n);
  }
  __device__ static void give_in_bulk(char* own, unsigned own_slots, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    if (int const d = int(threadIdx.x); d < digits)
      fold_words_into<operation::add>(cells::word<word>(base, slots, g, d), cells::word<word>(own, own_slots, 0u, d), n, turned);
  }

  /// Makes a cell ready for what is in no window: the first who comes empties the other digits, where they are not.
  __device__ __noinline__ static void reach(cell_of_all const& to) {
    if (to.beyond == nullptr || to.is_reached())
      return;
    if (to.claimed == nullptr)
      return publish_bit(to.beyond + to.g / 32, to.bit());
    if ((atomicOr(to.claimed + to.g / 32, to.bit()) & to.bit()) == 0) {
      for (int d = 0; d <= cell_of<M>::digits; ++d)
        if (unsigned(d - to.first) >= unsigned(digits))
          *cells::word<word>(to.base, to.slots, to.g, d) = 0;
      publish_bit(to.beyond + to.g / 32, to.bit());
    }
    while (!to.is_reached())
      ;
  }
  /// What a slot has whose window nothing passed by; base: as blocks give to it. In registers.
  __device__ static auto read(char* base, i64 slots, i64 g, int first) {
    constexpr int words = words_of_window<M>;
    wide_integer<words> sum{};
    for_each_index<digits>([&](auto d) {
      constexpr int at = decltype(d)::value * bits_of_digit, w = at / 64, shift = at % 64;
      i64 const n = static_cast<i64>(*cells::word<word>(base, slots, g, decltype(d)::value));
      u64 carry = 0;
#pragma unroll
      for (int k = w; k < words; ++k) {
        u64 const part = k == w ? u64(n) << shift : k == w + 1 ? u64(n >> 1 >> (63 - shift)) : u64(n >> 63), one = sum.word[k] + part;
        sum.word[k] = one + carry;
        carry = u64(one < part) | u64(sum.word[k] < carry);
      }
    });
    int const bit = first * bits_of_digit, lowest = bit / 64 * 64, up = bit - lowest;
    near_sum_state<words> s{{}, lowest};
#pragma unroll
    for (int w = 0; w < words; ++w)
      s.sum.word[w] = sum.word[w] << up | (w > 0 ? sum.word[w - 1] >> 1 >> (63 - up) : 0);
    return s;
  }

private:
  /// Seldom, so its code stands once.
  template <class... Vs>
  __device__ __noinline__ static void add_beyond(char* base, i64 slots, i64 g, M const& m, Vs... values) {
    of_all::add(base, slots, g, nullptr, m, 0, values...);
  }
  /// Digits of a slot, each in the window or in the cell of all.
  template <class I>
  struct digits_beside {
    char* base;
    I slots, g;
    int first;
    cell_of_all beyond;
    __device__ __forceinline__ void add(int d, word sum) const {
      if (unsigned const here = unsigned(d - first); here < unsigned(digits))
        fold_into<operation::add, owner::block>(cells::word<word>(base, slots, g, int(here)), sum);
      else
        reach(beyond), fold_into<operation::add, owner::all>(cells::word<word>(beyond.base, beyond.slots, beyond.g, d), sum);
    }
    __device__ __forceinline__ void special(word came) const {
      reach(beyond);
      fold_into<operation::bit_or, owner::all>(cells::word<word>(beyond.base, beyond.slots, beyond.g, cell_of<M>::digits), came);
    }
  };
};

/// What is said of a window whose sum has more in other digits than is worth a bit for every slot: one in far_of_sample of a sample.
inline constexpr u32 is_scattered = 256;
inline constexpr int far_of_sample = 64;

/// One block looks at some of the elements, at least sampled_elements, evenly apart but for a little chance, and says of every exact sum which window has
/// the most of them, and whether it is scattered. The room is bytes_to_aim_windows of shared memory. All threads of the block call it.
template <class Where, class Program, class RowOf>
__device__ void aim_windows(u32* windows, unsigned* count, Where const& where, Program const& p, i64 elements, RowOf const& row_of) {
  i64 const apart = elements / sampled_elements;
  for_each_index<Program::leaf_count>([&](auto k) {
    auto const& l = get<k>(p.leaves);
    using M = cuda::std::remove_cvref_t<decltype(l.monoid)>;
    if constexpr (cell_of<M>::kind == cell_kind::digits) {
      constexpr int digits = cell_of<M>::digits, windows_there = digits - digits_of_window<M> + 1, other = digits_of_window<M> - digits_of_number<M>;
      static_assert((digits + other) * int(sizeof(unsigned)) <= bytes_to_aim_windows);
      __syncthreads();
      for (int d = int(threadIdx.x); d < digits + other; d += int(blockDim.x))
        count[d] = 0;
      __syncthreads();
#pragma unroll 1
      for (unsigned s = threadIdx.x; s < unsigned(sampled_elements); s += blockDim.x) {
        if (apart == 0 && s >= elements)
          break;
        auto const r = row_of(apart == 0 ? i64(s) : s * apart + scattered(s) % apart);
        if (!look_at(where, r).inside || !l.mask.eval(r))
          continue;
        unpack([&](auto const&... v) {
          auto const look = [&](auto... x) {
            if (whole_number const n = whole_number_of<M>(x...); are_finite(x...) && (n.low | n.high) != 0)
              atomicAdd(count + n.bit / bits_of_digit, 1u);
          };
          look(static_cast<typename M::number>(v.eval(r))...);
        }, l.values);
      }
      __syncthreads();
      if (threadIdx.x < 32) {
        u32 best = 0;
        for (int first = int(threadIdx.x); first < windows_there; first += 32) {
          u32 held = 0;
          for (int d = 0; d <= other; ++d)
            held += count[first + d];
          u32 const one = held << 8 | u32(255 - first);
          best = best < one ? one : best;
        }
        u32 all = 0;
        for (int d = int(threadIdx.x); d < digits; d += 32)
          all += count[d];
        best = __reduce_max_sync(whole_warp, best);
        all = __reduce_add_sync(whole_warp, all);
        if (threadIdx.x == 0)
          windows[k] = 255 - (best & 255) + ((all - (best >> 8)) * far_of_sample > all ? is_scattered : 0);
      }
    }
  });
}

} // namespace tally::inline v0::kernel
