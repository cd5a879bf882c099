// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact sums of one thread while what comes lies near the first number. Layer 4. The window is aimed at that number, as many binades below
// it as above; what lies elsewhere, or is no number, is told and not kept: whoever can read the elements again adds them up in a whole
// state.
#pragma once

#include <tally/kernel/exact_window.cuh>

namespace tally::inline v0::kernel {

template <exact_monoid M>
class near_sum {
public:
  using window_type = window_of<M>;
  using state_type = near_sum_state<M::factors <= 2 ? 2 : 4>;

  template <class... Vs>
  __device__ __forceinline__ void add(Vs... x) {
    u32 const key = window_type::key(x...), without_zero = key - 1;
    if (most_ == 0) // of zeros the window keeps nothing
      aim(key);
    least_ = without_zero < least_ ? without_zero : least_;
    most_ = key > most_ ? key : most_;
    window_.add(x...);
  }
  /// Whether something that was added is not kept.
  __device__ __forceinline__ bool far() const {
    u32 const bottom = window_.key_of_base();
    return most_ != 0 && (least_ < bottom - 1 || most_ - bottom >= u32(window_type::binades + window_type::spare) << window_type::exponent_at);
  }
  /// What is kept, where `added` elements were added.
  __device__ __forceinline__ state_type state(int added) const {
    sink to{};
    window_type w = window_;
    if (added > 0)
      w.flush(to, 0, added);
    return to.s;
  }

private:
  /// What a window is flushed to, from its lowest integer on: integers of a thread, times 2^at.
  struct sink {
    state_type s;
    bool begun;
    __device__ __forceinline__ void add(int, i64 x, int at) {
      if (!begun)
        s.base = at, begun = true;
      s.sum.add_at(at - s.base, static_cast<u64>(x < 0 ? -x : x), x < 0);
    }
  };
  window_type window_;
  u32 least_ = ~u32(0), most_ = 0; ///< of the keys: of those that are not zero, less one, and of all

  __device__ __forceinline__ void aim(u32 key) {
    int const at = int(key >> window_type::exponent_at) - window_type::binades / 2;
    window_.aim(at < window_type::lowest_base ? window_type::lowest_base : at > window_type::highest_base ? window_type::highest_base : at);
  }
};

/// The same as a whole state.
template <exact_monoid M>
__device__ __forceinline__ typename M::state whole_state(typename near_sum<M>::state_type const& s) {
  typename M::state whole{};
  auto const size = detail::size_of(s.sum);
#pragma unroll 1
  for (int w = 0; w < size.words; ++w)
    if (size.word[w] != 0)
      whole.sum.add_at(s.base + 64 * w, size.word[w], s.sum.negative());
  return whole;
}

} // namespace tally::inline v0::kernel
