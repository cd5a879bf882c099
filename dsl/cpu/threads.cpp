// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spreads tiles over cores with Thrust's OpenMP system, or with threads of the language where OpenMP is missing. Every
// thread starts on a run of neighbouring tiles of its own (near its memory) and then helps the others with theirs, so
// that a core that is busy elsewhere does not hold up the read. Layer 5.

#include <tally/run/cpu_door.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(_OPENMP)
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/omp/execution_policy.h>

#include <omp.h>
#endif

namespace tally::v0::cpu {

void lock(int& word) noexcept {
  std::atomic_ref<int> const taken(word);
  while (taken.exchange(1, std::memory_order_acquire) != 0) taken.wait(1, std::memory_order_relaxed);
}

void unlock(int& word) noexcept {
  std::atomic_ref<int> const taken(word);
  taken.store(0, std::memory_order_release);
  taken.notify_one();
}

namespace {

/// The tiles of one thread that nobody has taken yet; alone on its cache lines.
struct alignas(128) share {
  std::atomic<i64> next{0};
  i64 end = 0;
};

/// One call of for_each_tile.
class work {
public:
  work(i64 tiles, void (*body)(void*, i64), void* context, int threads)
      : body_(body), context_(context), threads_(threads), shares_(std::make_unique<share[]>(std::size_t(threads))) {
    i64 begin = 0;
    for (int t = 0; t < threads; ++t) {
      shares_[std::size_t(t)].next = begin;
      shares_[std::size_t(t)].end = begin += tiles / threads + (t < tiles % threads ? 1 : 0);
    }
  }
  /// What thread t does: its own share, then what is left of the others'.
  void run(int t) noexcept {
    try {
      for (int k = 0; k < threads_; ++k) {
        auto& of = shares_[std::size_t((t + k) % threads_)];
        for (i64 tile; !stopped_ && (tile = of.next++) < of.end;) body_(context_, tile);
      }
    } catch (...) {
      stopped_ = true;
      std::scoped_lock const lock(guard_);
      if (!thrown_) thrown_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

private:
  void (*body_)(void*, i64);
  void* context_;
  int threads_;
  std::unique_ptr<share[]> shares_;
  std::atomic<bool> stopped_{false};
  std::mutex guard_;
  std::exception_ptr thrown_;
};

#if defined(_OPENMP)
/// Makes the next parallel region of this thread exactly as wide as asked, whatever OMP_NUM_THREADS says.
class exact_threads {
public:
  explicit exact_threads(int threads) : threads_(omp_get_max_threads()), dynamic_(omp_get_dynamic()) {
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
  }
  ~exact_threads() {
    omp_set_num_threads(threads_);
    omp_set_dynamic(dynamic_);
  }
  exact_threads(exact_threads const&) = delete;
  exact_threads& operator=(exact_threads const&) = delete;

private:
  int threads_, dynamic_;
};
#endif

void on_threads(work& w, int threads) {
#if defined(_OPENMP)
  exact_threads const exactly(threads);
  thrust::for_each_n(thrust::omp::par, thrust::counting_iterator<int>(0), threads, [&w](int t) { w.run(t); });
#else
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back([&w, t] { w.run(t); });
  w.run(0);
#endif
}

} // namespace

int core_count() {
#if defined(_OPENMP)
  int const n = omp_get_max_threads();
#else
  int const n = static_cast<int>(std::thread::hardware_concurrency());
#endif
  return n < 1 ? 1 : n;
}

void for_each_tile(i64 tiles, void (*body)(void* context, i64 tile), void* context, int threads) {
  if (threads <= 0) threads = core_count();
  if (threads > tiles) threads = static_cast<int>(tiles);
  if (threads <= 1) {
    for (i64 tile = 0; tile < tiles; ++tile) body(context, tile);
    return;
  }
  work w(tiles, body, context, threads);
  on_threads(w, threads);
  w.rethrow();
}

} // namespace tally::v0::cpu
