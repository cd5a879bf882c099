// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key that need the order of their elements, beside an exact sum in tables: from the call of run to answers on the host. Needs a
// GPU; answers are compared with the CPU's first. Test layer.
#include "on_device.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace tally::v0;
using bench::alike;

namespace {

/// The least microseconds of ten calls.
template <class F>
double least(F const& f) {
  double best = 1e30;
  for (int i = 0; i < 10; ++i) {
    auto const begun = std::chrono::steady_clock::now();
    f();
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
  }
  return best;
}

} // namespace

int main() {
  for (int const log2 : {20, 23, 26})
    for (int const keys : {1, 1000, 100'000}) {
      std::size_t const n = std::size_t(1) << log2;
      std::vector<float> x(n);
      std::vector<int> k(n);
      u64 state = 1;
      for (std::size_t i = 0; i < n; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        x[i] = static_cast<float>(state >> 40) * 0x1p-20f - 8.f;
        k[i] = static_cast<int>((state >> 33) % u64(keys));
      }
      auto const x_there = gpu::stage(x.data(), n * sizeof(float), 0), k_there = gpu::stage(k.data(), n * sizeof(int), 0);
      gpu::wait(0);
      auto const source = from(device(static_cast<float const*>(x_there.data()), i64(n)), device(static_cast<int const*>(k_there.data()), i64(n)));
      auto const ordered = source | by_key(_2, keys, logsumexp(_1));
      auto const summed = source | by_key(_2, keys, sum(_1));
      if (!alike(run(ordered, on::gpu), run(from(x, k) | by_key(_2, keys, logsumexp(_1)), on::cpu))) return std::printf("WRONG\n"), 2;
      std::printf("2^%d elements, %6d keys: logsumexp %7.0f us, an exact sum %7.0f us\n", log2, keys, least([&] { (void)run(ordered, on::gpu); }),
                  least([&] { (void)run(summed, on::gpu, exact); }));
      std::fflush(stdout);
    }
}
