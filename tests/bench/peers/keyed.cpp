// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key through pipelines, queued on a stream of the caller's, for tests/bench/keyed.py. A C interface. Test layer.
#include <tally/tally.hpp>

#include <cstdio>
#include <exception>
#include <limits>

using namespace tally::v0;

namespace {

/// Queues one keyed reduction of device memory, its answers in device memory.
template <bool Fast, class Out, class R>
void queue(R const& r, void* out, void* stream) {
  auto const there = on::gpu(0).stream(stream);
  if constexpr (Fast)
    enqueue(r, static_cast<Out*>(out), there, fast);
  else
    enqueue(r, static_cast<Out*>(out), there);
}
template <class Queue>
int guarded(Queue const& run) {
  try {
    run();
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "keyed: %s\n", e.what());
    return 1;
  }
}
template <class T, class Sum>
void queue_rows(bool any_order, void const* tile, void const* keys, i64 rows, i64 columns, i64 bins, void* out, void* stream) {
  auto const r = from(shaped(static_cast<T const*>(tile), rows, columns), along<0>(device(static_cast<i64 const*>(keys), rows))) |
                 by_key<0>(_2, bins, sum(_1).template in<Sum>()).dropping_strays();
  if constexpr (sizeof(Sum) == 2) // has no exact form
    queue<true, Sum>(r, out, stream);
  else if (any_order)
    queue<true, Sum>(r, out, stream);
  else
    queue<false, Sum>(r, out, stream);
}
/// Greatest of rows of bf16, where NaN takes no part or wins; of nothing, minus infinity.
template <class Greatest>
void queue_greatest(Greatest greatest, void const* tile, void const* keys, i64 rows, i64 columns, i64 bins, void* out, void* stream) {
  queue<false, bf16>(from(shaped(static_cast<bf16 const*>(tile), rows, columns), along<0>(device(static_cast<i64 const*>(keys), rows))) |
                         by_key<0>(_2, bins, greatest.or_else(bf16(-std::numeric_limits<float>::infinity()))).dropping_strays(),
                     out, stream);
}
template <class Keys>
void queue_matrix(bool any_order, void const* x, Keys const& keys, i64 rows, i64 columns, i64 bins, void* out, void* stream) {
  auto const r = from(shaped(static_cast<float const*>(x), rows, columns), keys) | by_key(_2, bins, sum(_1)).dropping_strays();
  if (any_order)
    queue<true, float>(r, out, stream);
  else
    queue<false, float>(r, out, stream);
}
/// Where the answers of a grouping are, in host memory.
struct groups_met {
  long long count;
  void const *keys, *sums, *counts;
};
/// Sums and counts by keys that are not known; they stay until the next call.
template <class K>
groups_met group(bool any_order, void const* keys, void const* x, i64 n, void* stream) {
  auto const r = from(device(static_cast<K const*>(keys), n), device(static_cast<float const*>(x), n)) | group_by(_1, sum(_2), count);
  static decltype(run(r, on::gpu)) kept;
  kept = any_order ? run(r, on::gpu(0).stream(stream), fast) : run(r, on::gpu(0).stream(stream));
  auto const& [found, sums, counts] = kept;
  return {static_cast<long long>(found.size()), found.data(), sums.data(), counts.data()};
}

} // namespace

/// Sums of rows (type 0 f32, 1 bf16, 2 bf16 kept in bf16) by i64 keys into bins x columns floats, or bf16; fast or exact. Types 3 and 4: the greatest
/// of bf16 instead, NaN left out or not.
extern "C" __attribute__((visibility("default"))) int keyed_rows(int type, int any_order, void const* tile, void const* keys, long long rows,
                                                                 long long columns, long long bins, void* out, void* stream) {
  return guarded([&] {
    if (type == 0)
      queue_rows<float, float>(any_order != 0, tile, keys, rows, columns, bins, out, stream);
    else if (type == 1)
      queue_rows<bf16, float>(any_order != 0, tile, keys, rows, columns, bins, out, stream);
    else if (type == 3)
      queue_greatest(max(_1).ignoring_nan(), tile, keys, rows, columns, bins, out, stream);
    else if (type == 4)
      queue_greatest(max(_1), tile, keys, rows, columns, bins, out, stream);
    else
      queue_rows<bf16, bf16>(true, tile, keys, rows, columns, bins, out, stream);
  });
}
/// Counts: what 0: of u32 keys; 1: of f32 in even bins over [0, 1]; 2: f32 sums of u32 keys, fast; 3: the same, exact. Into bins i64
/// or f32.
extern "C" __attribute__((visibility("default"))) int keyed_counts(int what, void const* x, void const* weights, long long n, long long bins,
                                                                   void* out, void* stream) {
  return guarded([&] {
    auto const keys = device(static_cast<u32 const*>(x), n);
    auto const numbers = device(static_cast<float const*>(x), n);
    auto const added = device(static_cast<float const*>(weights), n);
    if (what == 0)
      queue<false, i64>(from(keys) | by_key(_1, bins, count).dropping_strays(), out, stream);
    else if (what == 1)
      queue<false, i64>(from(numbers) | histogram(0, 1, bins), out, stream);
    else if (what == 2)
      queue<true, float>(from(keys, added) | by_key(_1, bins, sum(_2)).dropping_strays(), out, stream);
    else
      queue<false, float>(from(keys, added) | by_key(_1, bins, sum(_2)).dropping_strays(), out, stream);
  });
}
/// Sums of the f32 of a matrix by i64 keys of its rows or of its columns into bins floats, fast or exact.
extern "C" __attribute__((visibility("default"))) int keyed_matrix(int by_rows, int any_order, void const* x, void const* keys, long long rows,
                                                                   long long columns, long long bins, void* out, void* stream) {
  return guarded([&] {
    auto const keys_of = [&](i64 n) { return device(static_cast<i64 const*>(keys), n); };
    if (by_rows != 0)
      queue_matrix(any_order != 0, x, along<0>(keys_of(rows)), rows, columns, bins, out, stream);
    else
      queue_matrix(any_order != 0, x, along<1>(keys_of(columns)), rows, columns, bins, out, stream);
  });
}
/// Sums and counts of f32 by keys of 4 or 8 signed bytes that are not known, fast or exact.
extern "C" __attribute__((visibility("default"))) int keyed_groups(int bytes, int any_order, void const* keys, void const* x, long long n,
                                                                   groups_met* out, void* stream) {
  return guarded([&] { *out = bytes == 4 ? group<i32>(any_order != 0, keys, x, n, stream) : group<i64>(any_order != 0, keys, x, n, stream); });
}
