// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums in a block's own table as windows: an integer of some limbs of 32 bits each, from a bit on that a sample finds before the read. Layer 4. What does
// not fit, what carries out of one, and numbers that are not finite go to the cells of all, so that nothing but time depends on the sample.
#pragma once

#include <tally/kernel/digit_cells.cuh>

namespace tally::v0::kernel {

/// The cell of all of one fold, of a slot that has bits in no window, the first of its digits being there.
struct cell_of_all {
  char* base;
  i64 slots, g;
  int first;
  u32 *beyond, *claimed; ///< null: nothing is marked
  __device__ __forceinline__ u32 bit() const { return u32(1) << (g & 31); }
  __device__ __forceinline__ bool is_reached() const { return has_bit(beyond + g / 32, bit()); }
};

/// What a block keeps of an exact sum of one slot. Cells of all that it is given to begin with the first digit of the window.
template <class M>
struct window_cell {
  static constexpr int limbs = limbs_of_window<M>, of_number = limbs_of_number<M>, digits = digits_of_window<M>, bytes = limbs * int(sizeof(u32));
  static_assert(bits_of_number<M> > 0 && digits <= cell_of<M>::digits);
  using word = u64;
  using of_all = keyed_cell<M, owner::all>;

  /// What stands for nothing: sums that are now above zero and now below carry nothing to the next limb for that.
  __device__ __forceinline__ static u32 nothing(int limb) { return limb >= of_number - 1 ? u32(1) << 31 : 0; }
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) {
    for (int i = 0; i < limbs; ++i)
      *cells::word<u32>(base, slots, g, i) = nothing(i);
  }
  __device__ static void open_of_all(char* base, i64 slots, i64 g) {
    for (int d = 0; d < digits; ++d)
      *cells::word<word>(base, slots, g, d) = 0;
  }
  /// first: the bit that the window begins with; to_all() is the cell of all of the slot, asked for where that is needed: seldom.
  template <class I, class ToAll, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, int first, ToAll const& to_all, M const& m, Vs... values) {
    if (whole_number x; fits(x, first, static_cast<typename M::number>(values)...)) {
      if (u32 const above = add_limbs<of_number>(base, slots, g, x); above != 0)
        add_above(base, slots, g, x.bit / 32 + of_number, above, to_all(), first);
    } else if (!is_zero(static_cast<typename M::number>(values)...)) {
      add_beyond(to_all(), m, static_cast<typename M::number>(values)...);
    }
  }
  /// The numbers of a whole warp, V a lane.
  template <class I, class ToAll, int V>
  __device__ __forceinline__ static void add_of_warp(char* base, I slots, I g, int first, ToAll const& to_all, M const& m, numbers_of_lane<M, V> const& x) {
    if (left_of_warp const left = add_near_of_warp(base, slots, g, first, x); (left.far | u32(left.above)) != 0)
      add_left(to_all(), m, first, x, left);
  }
  /// Adds up to 32 cells of a slot, a power of two of them from `from` on, to that of all, of which base is the first digit of the window.
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, unsigned count, char* base, i64 slots, i64 g, int first) {
    u32 sum[limbs + 1]{}; // of which the last has a sign
#pragma unroll 1
    for (unsigned r = 0; r < count; ++r) { // neighbouring threads look into different banks
      I const one = from + I((threadIdx.x + r) & (count - 1));
      i64 carry = 0;
#pragma unroll
      for (int i = 0; i < limbs; ++i) {
        carry += i64(sum[i]) + *cells::word<u32>(own, own_slots, one, i) - nothing(i);
        sum[i] = u32(carry);
        carry >>= 32;
      }
      sum[limbs] += u32(carry);
    }
    bool const negative = sum[limbs] >> 31 != 0;
    u64 carry = negative;
    u32 below = 0, magnitude[limbs + 2];
#pragma unroll
    for (int i = 0; i <= limbs; ++i) {
      carry += negative ? ~sum[i] : sum[i];
      magnitude[i] = u32((carry << 32 | below) << first % bits_of_digit >> 32);
      below = u32(carry);
      carry >>= 32;
    }
    magnitude[limbs + 1] = u32(u64(below) << first % bits_of_digit >> 32);
    for_each_index<digits>([&](auto d) {
      constexpr int bit = bits_of_digit * decltype(d)::value, limb = bit / 32;
      u64 const two = limb <= limbs ? u64(magnitude[limb + 1]) << 32 | magnitude[limb] : magnitude[limb];
      if (word const part = two >> bit % 32 & of_all::of_digit; part != 0)
        fold_into<operation::add, owner::all>(cells::word<word>(base, slots, g, decltype(d)::value), negative ? word(0) - part : part);
    });
  }

  /// Makes a cell ready for what is in no window: the first who comes empties the other digits, where they are not.
  __device__ static void reach(cell_of_all const& to) {
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
  /// Whether numbers are normal and their product lies in the window, of which its bit is counted then.
  template <class... Vs>
  __device__ __forceinline__ static bool fits(whole_number& x, int first, Vs... values) {
    bool const normal = are_normal<M>(x, values...);
    x.bit -= first;
    return normal && unsigned(x.bit) <= unsigned(binades_of_window<M>);
  }
  /// Adds N limbs, or takes them away: what one carries goes with the next. What the last one carries.
  template <int N, class I>
  __device__ __forceinline__ static u32 add_limbs(char* base, I slots, I g, whole_number const& x) {
    u32 const sign = x.negative ? ~u32(0) : 0;
    u32 carry = x.negative ? 1 : 0;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      u32 const more = (x.limb(i, x.bit % 32) ^ sign) + carry, was = atomicAdd(cells::word<u32>(base, slots, g, x.bit / 32 + i), more);
      carry = (more < carry ? 1 : 0) | (was + more < more ? 1 : 0);
    }
    return sign + carry;
  }
  /// Adds one, up or down, from limb i on; what even the last one carries is one of a bit of the cell of all that blocks give to. Its code stands once, as that of
  /// add_beyond().
  template <class I>
  __device__ __noinline__ static void add_above(char* base, I slots, I g, int i, u32 one, cell_of_all const& to, int first) {
    bool const up = one == 1;
    for (; i < limbs; ++i)
      if (atomicAdd(cells::word<u32>(base, slots, g, i), one) != (up ? ~u32(0) : 0))
        return;
    carry_out(to, first, up);
  }
  /// Adds one of the bit behind the window, or takes it away.
  __device__ __forceinline__ static void carry_out(cell_of_all const& to, int first, bool up) {
    int const bit = first + 32 * limbs;
    word const one = word(1) << bit % bits_of_digit;
    fold_into<operation::add, owner::all>(cells::word<word>(to.base, to.slots, to.g, bit / bits_of_digit), up ? one : word(0) - one);
  }
  /// What a lane has of a warp's numbers that its cell does not take: a bit for each of the lane that lies in no window, and what limbs carried out.
  struct left_of_warp {
    u32 far;
    int above;
  };
  /// Away from the loop that asks for it, whose loads in flight need the registers.
  template <class I, int V>
  __device__ __noinline__ static left_of_warp add_near_of_warp(char* base, I slots, I g, int first, numbers_of_lane<M, V> const x) {
    static_assert(bits_of_number<M> + binades_of_window<M> + 8 <= 32 * limbs, "what a warp adds up ends in the window");
    left_of_warp left{};
    auto const near = x.those_that([&](whole_number& n, auto... of) { return fits(n, first, of...); }, left.far);
    add_up_warp<binades_of_window<M>>(near, first, [&](sized_number const& sum, int bit) {
      int const up = bit - first;
      if (threadIdx.x % 32 == 0)
        left.above += int(add_limbs<limbs>(base, slots, g, {sum.low << up, sum.high << up | sum.low >> 1 >> (63 - up), 0, sum.negative}));
    });
    return left;
  }
  template <int V>
  __device__ __noinline__ static void add_left(cell_of_all const& to, M const& m, int first, numbers_of_lane<M, V> const x, left_of_warp left) {
    for (; left.above != 0; left.above += left.above > 0 ? -1 : 1)
      carry_out(to, first, left.above > 0);
    x.each_of(left.far, [&](auto... of) { add_beyond(to, m, of...); });
  }
  template <class... Vs>
  __device__ __noinline__ static void add_beyond(cell_of_all const& to, M const& m, Vs... values) {
    reach(to);
    of_all::add(to.base, to.slots, to.g, nullptr, m, 0, values...);
  }
};

} // namespace tally::v0::kernel
