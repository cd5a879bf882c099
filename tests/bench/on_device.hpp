// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns in the memory of a GPU, room for answers there, whether those are equal, and the microseconds of a call of enqueue between them. Test layer.
#pragma once

#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tuple>
#include <vector>

namespace bench {

using namespace tally::v0;

template <class T>
struct column_there {
  gpu::device_memory memory;
  i64 n;
  explicit column_there(std::vector<T> const& v) : memory(gpu::stage(v.data(), v.size() * sizeof(T), 0)), n(i64(v.size())) { gpu::wait(0); }
  auto column() const { return device(static_cast<T const*>(memory.data()), n); }
};
inline column_there<u64> room(i64 words) { return column_there<u64>(std::vector<u64>(static_cast<std::size_t>(words))); }

/// The least of three turns of three calls each, of twenty where a call is short.
template <class R, class... Outs, class... Contract>
double least(i64 n, R const& r, std::tuple<Outs*...> to, Contract... c) {
  auto const once = [&] { std::apply([&](auto*... out) { enqueue(r, out..., c...); }, to); };
  int const calls = n < 1 << 20 ? 20 : 3;
  double best = 1e30;
  for (int turn = 0; turn < 4; ++turn) { // the first compiles
    auto const begun = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) once();
    gpu::wait(0);
    if (turn > 0) best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / calls);
  }
  return best;
}
/// Whether two arrays of answers are equal, a NaN and a NaN too.
template <class Array>
bool alike(Array const& a, Array const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

} // namespace bench
