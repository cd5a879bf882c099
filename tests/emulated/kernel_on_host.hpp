// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernel headers as host code, so that their values can be checked where there is no GPU: the words of CUDA C++ that they use, and the
// threads of a block as contexts of one thread, which change where they meet. So atomics are atomic, and every run is the same. Include it
// before the kernel's header.
#pragma once

#include <vector_types.h>

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <memory>
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
#undef __shared__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
#define __shared__ static // one block runs at a time

namespace cuda::std {
using namespace ::std;
}

namespace emulated {
struct index {
  unsigned x;
};
} // namespace emulated

inline emulated::index threadIdx{}, blockIdx{}, blockDim{}, gridDim{};

namespace emulated {

using tally::i64;
using tally::u64;

/// Threads that wait for each other.
struct meeting {
  unsigned all = 0, arrived = 0, times = 0;
};
/// A warp, and what its lanes show each other.
struct warp {
  meeting lanes;
  u64 shown[32];
};

/// The shared memory of a block, where a kernel has any.
inline char *shared_begin = nullptr, *shared_end = nullptr;

/// Shared memory that blocks of a cluster show each other: of the one that runs in its place, of the others kept aside.
struct shown_memory {
  char *begin, *end;
  std::vector<std::vector<char>> kept;
  bool holds(char const* place) const { return place >= begin && place < end; }
};
/// The blocks of a cluster: how many, and which one runs.
struct cluster_of_blocks {
  unsigned all = 1, rank = 0, met = 0; ///< how often all have met
  std::vector<shown_memory> shown;
  void share(char* begin, char* end) {
    if (std::none_of(shown.begin(), shown.end(), [&](auto const& m) { return m.holds(begin); }))
      shown.push_back({begin, end, std::vector<std::vector<char>>(all, std::vector<char>(begin, end))});
  }
  /// What the running block has at `own`, as the block of a rank has it.
  char* as_of(unsigned of, char* own) {
    for (auto& m : shown)
      if (m.holds(own)) return of == rank ? own : m.kept[of].data() + (own - m.begin);
    return nullptr;
  }
  bool keeps(char const* place) const {
    return std::any_of(shown.begin(), shown.end(), [&](auto const& m) {
      return m.holds(place) ||
             std::any_of(m.kept.begin(), m.kept.end(), [&](auto const& k) { return place >= k.data() && place < k.data() + k.size(); });
    });
  }
  /// Block r runs until it is done or waits; true where it is done.
  template <class Run>
  bool turn(unsigned r, Run const& run) {
    rank = r;
    for (auto& m : shown) std::copy(m.kept[r].begin(), m.kept[r].end(), m.begin);
    bool const done = run();
    for (auto& m : shown) m.kept[r].assign(m.begin, m.end);
    return done;
  }
};
inline cluster_of_blocks& cluster() {
  static cluster_of_blocks only;
  return only;
}

class block {
public:
  /// `number` among those whose threads are there at once.
  template <class Kernel>
  block(unsigned threads, Kernel const& kernel, unsigned number = 0) : warps_(threads / 32), threads_(threads) {
    all_.all = threads;
    for (auto& w : warps_) w.lanes.all = 32;
    run_ = [](void const* k) { (*static_cast<Kernel const*>(k))(); };
    kernel_ = &kernel;
    static std::unique_ptr<char[]> const stacks(new char[most_threads * stack_bytes]); // of every block or cluster, which come one after the other
    for (unsigned t = 0; t < threads; ++t) {
      ucontext_t& context = threads_[t].context;
      getcontext(&context);
      context.uc_stack.ss_sp = stacks.get() + (number * threads + t) * stack_bytes;
      context.uc_stack.ss_size = stack_bytes;
      context.uc_link = &home_;
      makecontext(&context, &block::enter, 0);
    }
  }
  block(block const&) = delete;
  /// Until all threads are done, or wait for the other blocks of the cluster; true where they are done.
  bool run() {
    running() = this;
    waiting_ = 0;
    for (bool any = true; any && waiting_ < threads_.size();) {
      any = false;
      for (unsigned t = 0; t < threads_.size(); ++t)
        if (!threads_[t].done) {
          any = true;
          threadIdx.x = t;
          swapcontext(&home_, &threads_[t].context);
        }
    }
    return waiting_ == 0;
  }
  void meet_cluster() {
    unsigned const now = cluster().met;
    ++waiting_;
    while (cluster().met == now) let_others_run();
  }
  static block*& running() {
    static block* one = nullptr;
    return one;
  }
  meeting& everyone() { return all_; }
  warp& own_warp() { return warps_[threadIdx.x / 32]; }
  void meet(meeting& m) {
    unsigned const now = m.times;
    if (++m.arrived == m.all) m.arrived = 0, ++m.times;
    else
      while (m.times == now) let_others_run();
  }
  void let_others_run() { swapcontext(&threads_[threadIdx.x].context, &home_); }
  /// What every lane shows, as long as none goes on.
  template <class T, class F>
  auto shown(T value, F const& look) {
    warp& own = own_warp();
    std::memcpy(&own.shown[threadIdx.x % 32], &value, sizeof value);
    meet(own.lanes);
    auto const seen = look([&](unsigned lane) {
      T of{};
      std::memcpy(&of, &own.shown[lane], sizeof of);
      return of;
    });
    meet(own.lanes);
    return seen;
  }

private:
  static constexpr std::size_t most_threads = 8192, stack_bytes = 64 * 1024;
  struct thread {
    ucontext_t context;
    bool done = false;
  };
  static void enter() {
    block& own = *running();
    own.run_(own.kernel_);
    own.threads_[threadIdx.x].done = true;
  }
  meeting all_;
  unsigned waiting_ = 0; ///< for the other blocks of the cluster
  std::vector<warp> warps_;
  std::vector<thread> threads_;
  void (*run_)(void const*);
  void const* kernel_;
  ucontext_t home_;
};

/// Runs a kernel, block after block.
template <class Kernel>
void launch(i64 blocks, unsigned threads, Kernel const& kernel) {
  gridDim.x = static_cast<unsigned>(blocks);
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) block(threads, kernel).run();
}
/// The same of clusters, whose blocks begin with the shared memory that there is, and take turns where they meet.
template <class Kernel>
void launch_clusters(i64 blocks, unsigned threads, unsigned of_cluster, Kernel const& kernel) {
  gridDim.x = static_cast<unsigned>(blocks);
  blockDim.x = threads;
  std::vector<char> const as_it_was(shared_begin, shared_end);
  for (unsigned first = 0; first < gridDim.x; first += of_cluster) {
    std::copy(as_it_was.begin(), as_it_was.end(), shared_begin);
    cluster() = {of_cluster, 0, 0, {}};
    cluster().share(shared_begin, shared_end);
    std::vector<std::unique_ptr<block>> all;
    for (unsigned r = 0; r < of_cluster; ++r) all.push_back(std::make_unique<block>(threads, kernel, r));
    for (bool done = false; !done; ++cluster().met)
      for (unsigned r = 0; r < of_cluster; ++r) {
        blockIdx.x = first + r;
        done = cluster().turn(r, [&] { return all[r]->run(); });
      }
  }
}

} // namespace emulated

inline void __syncthreads() { emulated::block::running()->meet(emulated::block::running()->everyone()); }
inline int __syncthreads_or(int said) {
  static int any;
  auto const all = [] { __syncthreads(); };
  if (said != 0) any = 1;
  all();
  int const answer = any;
  all();
  any = 0;
  all();
  return answer;
}
inline void __syncwarp() { emulated::block::running()->meet(emulated::block::running()->own_warp().lanes); }
inline unsigned __ballot_sync(unsigned, bool said) {
  return emulated::block::running()->shown(said, [](auto const& of) {
    unsigned lanes = 0;
    for (unsigned l = 0; l < 32; ++l) lanes |= unsigned(of(l)) << l;
    return lanes;
  });
}
inline bool __all_sync(unsigned, bool said) { return __ballot_sync(~0u, said) == ~0u; }
inline bool __any_sync(unsigned, bool said) { return __ballot_sync(~0u, said) != 0; }
/// A fold of what all lanes of a warp have.
template <class T, class Fold>
T fold_of_lanes(T value, Fold const& fold) {
  return emulated::block::running()->shown(value, [&](auto const& of) {
    T all = of(0);
    for (unsigned l = 1; l < 32; ++l) all = static_cast<T>(fold(all, of(l)));
    return all;
  });
}
template <class T>
T __reduce_add_sync(unsigned, T value) {
  return fold_of_lanes(value, [](T a, T b) { return static_cast<unsigned>(a) + static_cast<unsigned>(b); });
}
template <class T>
T __reduce_min_sync(unsigned, T value) {
  return fold_of_lanes(value, [](T a, T b) { return std::min(a, b); });
}
template <class T>
T __reduce_max_sync(unsigned, T value) {
  return fold_of_lanes(value, [](T a, T b) { return std::max(a, b); });
}
template <class T>
T __reduce_or_sync(unsigned, T value) {
  return fold_of_lanes(value, [](T a, T b) { return a | b; });
}
template <class T>
T __shfl_sync(unsigned, T value, int lane) {
  return emulated::block::running()->shown(value, [&](auto const& of) { return of(unsigned(lane)); });
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int by) {
  unsigned const lane = threadIdx.x % 32;
  return emulated::block::running()->shown(value, [&](auto const& of) { return of(lane ^ unsigned(by)); });
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned by) {
  unsigned const lane = threadIdx.x % 32;
  return emulated::block::running()->shown(value, [&](auto const& of) { return of(lane + by < 32 ? lane + by : lane); });
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned by) {
  unsigned const lane = threadIdx.x % 32;
  return emulated::block::running()->shown(value, [&](auto const& of) { return of(lane < by ? lane : lane - by); });
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using wide = unsigned __int128;
  return static_cast<unsigned long long>((wide(a) * b) >> 64);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) >> (by & 31));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32) | low) << (by < 32 ? by : 32) >> 32);
}
inline void __threadfence() {}
template <class T>
T __ldcs(T const* at) {
  return *at;
}
template <class T>
T __ldcg(T const* at) {
  return *at;
}
template <class T, class U>
void __stcg(T* at, U value) {
  *at = static_cast<T>(value);
}
template <class T>
T __ldg(T const* at) {
  return *at;
}
template <class T>
void __stwb(T* at, T value) {
  *at = value;
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
inline unsigned atomicInc(unsigned* at, unsigned last) {
  return changed(at, [&](unsigned old) { return old >= last ? 0 : old + 1; });
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
