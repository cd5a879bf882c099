// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel headers as host code, so that their values can be checked where there is no GPU: the words of CUDA C++ that they use, lanes of a
// warp that meet as threads with a barrier, and atomics for threads that come one after the other. Include it before the kernel's header.
#pragma once

#include <vector_types.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <tally/tally.hpp>

#undef __device__
#undef __global__
#undef __forceinline__
#undef __noinline__
#undef __grid_constant__
#undef __launch_bounds__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)

namespace cuda::std {
using namespace ::std;
}

namespace emulated {
struct index {
  unsigned x;
};
/// What the lanes of one warp meet at.
struct warp {
  std::barrier<> meet{32};
  bool said[32];
};
inline thread_local warp* own_warp = nullptr;
} // namespace emulated

inline thread_local emulated::index threadIdx{0}, blockIdx{0}, blockDim{32}, gridDim{1};

inline unsigned __ballot_sync(unsigned, bool said) {
  auto& warp = *emulated::own_warp;
  warp.said[threadIdx.x] = said;
  warp.meet.arrive_and_wait();
  unsigned lanes = 0;
  for (unsigned l = 0; l < 32; ++l) lanes |= unsigned(warp.said[l]) << l;
  warp.meet.arrive_and_wait();
  return lanes;
}
inline int __ffs(int x) { return __builtin_ffs(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>((wide(a) * b) >> 64);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (by & 31));
}
inline void __threadfence() {}
template <class T>
T __ldcs(T const* at) {
  return *at;
}
template <class T>
T __ldg(T const* at) {
  return *at;
}
template <class T, class F>
T changed(T* at, F const& f) {
  T const before = *at;
  *at = f(before);
  return before;
}
template <class T, class U>
T atomicAdd(T* at, U by) {
  return changed(at, [&](T old) { return static_cast<T>(old + static_cast<T>(by)); });
}
template <class T, class U>
T atomicOr(T* at, U bits) {
  return changed(at, [&](T old) { return static_cast<T>(old | static_cast<T>(bits)); });
}
template <class T, class U>
T atomicMin(T* at, U other) {
  return changed(at, [&](T old) { return std::min(old, static_cast<T>(other)); });
}
template <class T, class U>
T atomicMax(T* at, U other) {
  return changed(at, [&](T old) { return std::max(old, static_cast<T>(other)); });
}
template <class T, class U>
T atomicExch(T* at, U next) {
  return changed(at, [&](T) { return static_cast<T>(next); });
}
template <class T, class U, class V>
T atomicCAS(T* at, U expected, V next) {
  return changed(at, [&](T old) { return old == static_cast<T>(expected) ? static_cast<T>(next) : old; });
}

namespace emulated {

/// Runs a kernel in blocks of one warp. Where lanes meet they are threads; else they come one after the other.
template <class Kernel>
void launch(unsigned blocks, bool lanes_meet, Kernel const& kernel) {
  auto const lane = [&](unsigned block, unsigned thread, warp* of) {
    threadIdx.x = thread, blockIdx.x = block, blockDim.x = 32, gridDim.x = blocks, own_warp = of;
    kernel();
  };
  for (unsigned block = 0; block < blocks; ++block) {
    warp own;
    std::vector<std::jthread> lanes;
    for (unsigned t = 0; t < 32; ++t)
      if (lanes_meet) lanes.emplace_back(lane, block, t, &own);
      else lane(block, t, &own);
  }
}

} // namespace emulated
