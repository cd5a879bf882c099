// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of one thread while what comes lies near each other. Layer 4. Sums of numbers and of products of two are expansions, those of more factors a window
// that is aimed at the first product, as many binades below it as above. What neither keeps, or is no number, is told: whoever can read the elements
// again adds them up in a whole state.
#pragma once

#include <tally/fold/expansion.hpp>
#include <tally/kernel/exact_window.cuh>

namespace tally::v0::kernel {

template <exact_monoid M>
class near_sum {
public:
  using window_type = window_of<M>;
  using quick_state = near_sum_state<4>;

  template <class... Vs>
  __device__ __forceinline__ void add(Vs... x) {
    u32 const key = window_type::key(x...), without_zero = key - 1;
    if (most_ == 0) // of zeros the window keeps nothing
      aim_below(window_, key, window_type::binades - window_type::binades / 2);
    least_ = without_zero < least_ ? without_zero : least_;
    most_ = key > most_ ? key : most_;
    window_.add(x...);
    ++added_;
  }
  /// Whether something that was added is not kept.
  __device__ __forceinline__ bool far() const {
    u32 const bottom = window_.key_of_base();
    return most_ != 0 && (least_ < bottom - 1 || most_ - bottom >= u32(window_type::binades + window_type::spare) << window_type::exponent_at);
  }
  __device__ __forceinline__ quick_state quick() const {
    sink to{};
    window_type w = window_;
    if (added_ > 0)
      w.flush(to, 0, added_);
    return to.s;
  }
  __device__ __forceinline__ typename M::state whole(M const&) const {
    quick_state const s = quick();
    typename M::state w{};
    auto const size = detail::size_of(s.sum);
#pragma unroll 1
    for (int i = 0; i < size.words; ++i)
      if (size.word[i] != 0)
        w.sum.add_at(s.base + 64 * i, size.word[i], s.sum.negative());
    return w;
  }

private:
  /// What a window is flushed to, from its lowest integer on: integers of a thread, times 2^at.
  struct sink {
    quick_state s;
    bool begun;
    __device__ __forceinline__ void add(int, i64 x, int at) {
      if (!begun)
        s.base = at, begun = true;
      s.sum.add_at(at - s.base, static_cast<u64>(x < 0 ? -x : x), x < 0);
    }
  };
  window_type window_;
  u32 least_ = ~u32(0), most_ = 0; ///< of the keys: of those that are not zero, less one, and of all
  int added_ = 0;
};

template <exact_monoid M>
  requires(M::factors <= 2)
class near_sum<M> {
public:
  using number = typename M::number;
  using held = cuda::std::conditional_t<M::factors == 1, number, double>; ///< which has all bits of a product of floats
  using quick_state = sum_of_numbers<held>;

  __device__ __forceinline__ void add(held x) { sum_.add(x); }
  __device__ __forceinline__ void add(float x, float y) { sum_.add(double(x) * double(y)); }
  __device__ __forceinline__ void add(double x, double y) {
    double const product = x * y;
    sum_.add(product);
    sum_.add(__fma_rn(x, y, -product));
    if ((product < 0 ? -product : product) < 0x1p-960 && x != 0 && y != 0) // whose rest may be no double
      sum_.lose();
  }
  __device__ __forceinline__ bool far() const { return sum_.lost(); }
  __device__ __forceinline__ quick_state quick() const { return {sum_.high(), sum_.middle(), sum_.low()}; }
  /// Calls add(number) for numbers whose sum it is.
  template <class Add>
  __device__ __forceinline__ void in_numbers(Add const& add) const {
    add(sum_.high());
    if (sum_.middle() != held(0))
      add(sum_.middle());
    if (sum_.low() != held(0))
      add(sum_.low());
  }
  __device__ __forceinline__ typename M::state whole(M const& m) const { return m.whole(quick()); }

private:
  expansion<held> sum_;
};

} // namespace tally::v0::kernel
