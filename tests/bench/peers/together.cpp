// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions with keys beside other folds, in one run and in a run for each domain, for together.py; answers come to the host. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <cstdio>

namespace {

using namespace tally;

/// One run of all items, or a run for each.
template <class Pipe, class... Items>
auto computed(bool apart, Pipe const& pipe, Items const&... items) {
  auto const one = [&](auto const& item) { return run(pipe | reduce(item), on::gpu); };
  return apart ? std::tuple(one(items)...) : run(pipe | reduce(items...), on::gpu);
}

template <class Array>
void put(Array const& from, double* to) {
  std::copy(from.begin(), from.end(), to);
}

} // namespace

/// Column, row and total sums and a histogram over [0, 1] of `rows` x `columns` floats: the histogram and the total are written, as doubles.
extern "C" __attribute__((visibility("default"))) int image_together(int apart, float const* x, long long rows, long long columns, long long bins, double* out) {
  try {
    auto const [down, along, counts, total] = computed(apart != 0, from(shaped(x, rows, columns)), over<0>(sum), over<1>(sum), histogram(0, 1, bins), sum);
    put(counts, out);
    out[bins] = total;
    return 0;
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}

/// Means of the rows and, with bins, a histogram over [0, 1], else the sum of the whole: the histogram and the total are written.
extern "C" __attribute__((visibility("default"))) int rows_together(int apart, float const* x, long long rows, long long columns, long long bins, double* out) {
  try {
    auto const pipe = from(shaped(x, rows, columns));
    if (bins > 0) {
      auto const [means, counts] = computed(apart != 0, pipe, over<1>(mean), histogram(0, 1, bins));
      put(counts, out);
    } else {
      auto const [means, total] = computed(apart != 0, pipe, over<1>(mean), sum);
      out[0] = total;
    }
    return 0;
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}

/// The sum, the counts and sums of keys below `bins`, and a histogram over [0, 1] of 64 bins: the counts and the total are written.
extern "C" __attribute__((visibility("default"))) int table_together(int apart, float const* x, unsigned const* keys, long long n, long long bins, int sums, double* out) {
  try {
    auto const pipe = from(device(x, n), device(keys, n));
    if (sums != 0) {
      auto const [total, by, parts] = computed(apart != 0, pipe, sum(_1), by_key(_2, bins, count, sum(_1)), histogram(_1, 0, 1, 64));
      put(std::get<0>(by), out);
      out[bins] = total;
    } else {
      auto const [total, counts, parts] = computed(apart != 0, pipe, sum(_1), by_key(_2, bins, count), histogram(_1, 0, 1, 64));
      put(counts, out);
      out[bins] = total;
    }
    return 0;
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}

/// Sums of segments, written as doubles, and the sum of all behind them, with or without a histogram over [0, 16] of 64 bins; or, with other offsets, their
/// greatest elements instead of both.
extern "C" __attribute__((visibility("default"))) int segments_together(int apart, float const* x, long long n, int const* offsets, long long segments, int const* others,
                                                                        long long other_segments, int counts, double* out) {
  try {
    auto const pipe = from(device(x, n));
    auto const sums = by_segment(device(offsets, segments + 1), sum(_1));
    if (others != nullptr) {
      auto const [by, greatest] = computed(apart != 0, pipe, sums, by_segment(device(others, other_segments + 1), max(_1)));
      put(by, out);
      out[segments] = 0;
    } else if (counts != 0) {
      auto const [total, by, parts] = computed(apart != 0, pipe, sum(_1), sums, histogram(_1, 0, 16, 64));
      put(by, out);
      out[segments] = total;
    } else {
      auto const [total, by] = computed(apart != 0, pipe, sum(_1), sums);
      put(by, out);
      out[segments] = total;
    }
    return 0;
  } catch (std::exception const& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 1;
  }
}
