// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nanoseconds an element of one pipeline after the other on the CPU, every domain with cheap and dear elements: a line far above its
// neighbours is a loop that no compiler makes vectors of. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using namespace tally;

constexpr i64 n = 1 << 24;

template <class R>
void survey(char const* what, R const& r) {
  double least = 1e9;
  for (int trial = 0; trial < 5; ++trial) {
    auto const began = std::chrono::steady_clock::now();
    (void)run(r, on::cpu);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  std::printf("%-28s %7.2f ns\n", what, least * 1e9 / double(n));
  std::fflush(stdout);
}

std::vector<float> numbers() {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 7919 % 2001) - 1000) / 200.f;
  return x;
}
std::vector<i32> keys() {
  std::vector<i32> k(n);
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = static_cast<i32>(i * 7919 % 1000);
  return k;
}
std::vector<i64> every(i64 step) {
  std::vector<i64> offsets;
  for (i64 i = 0; i < n; i += step) offsets.push_back(i);
  offsets.push_back(n);
  return offsets;
}

} // namespace

int main() {
  auto const x = numbers();
  auto const k = keys();
  auto const column = from(x);
  std::vector<float> y(n); // in no order that a processor foresees
  std::ranges::generate(y, [random = std::mt19937(1)]() mutable { return static_cast<float>(random() % 4); });
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7919 % 251);
  survey("sum", column | sum);
  survey("sum of exp", column | sum(exp(_1)));
  survey("sum of sin", column | sum(sin(_1)));
  survey("sum behind a filter", column | filter(_1 > 0.f) | sum);
  survey("variance", column | variance);
  survey("argmax", column | argmax);
  survey("argmax of bytes", from(bytes) | argmax);
  survey("first behind a filter", column | filter(_1 > 5.f) | first(_1).maybe());
  survey("three folds under conditions", from(x, y) | filter(!is_nan(_2)) | reduce(count, count.where(_1 > 0.f && _2 <= 1.f), max(_1 - _2).where(_1 > 0.f)));
  survey("logsumexp", column | logsumexp);
  survey("moments<4>", column | moments<4>);
  for (i64 const width : {32, 1024}) {
    std::printf("rows of %lld\n", static_cast<long long>(width));
    auto const rows = from(shaped(x, n / width, width));
    survey("  sum", rows | over<1>(sum));
    survey("  sum of exp", rows | over<1>(sum(exp(_1))));
    survey("  sum behind a filter", rows | filter(_1 > 0.f) | over<1>(sum));
    survey("  variance", rows | over<1>(variance));
    survey("  argmax", rows | over<1>(argmax));
    survey("  logsumexp", rows | over<1>(logsumexp));
    survey("  columns: sum of exp", rows | over<0>(sum(exp(_1))));
    survey("  columns: logsumexp", rows | over<0>(logsumexp));
    survey("  less their mean, written", rows | map(_1 - let(rows | over<1>(mean))) | collect);
  }
  auto const others = every(3000);
  for (i64 const length : {20, 500}) {
    std::printf("segments of %lld\n", static_cast<long long>(length));
    auto const offsets = every(length);
    survey("  sum", column | by_segment(offsets, sum));
    survey("  sum of exp", column | by_segment(offsets, sum(exp(_1))));
    survey("  max", column | by_segment(offsets, max));
    survey("  max of exp", column | by_segment(offsets, max(exp(_1))));
    survey("  sum, and of the whole", column | reduce(by_segment(offsets, sum), sum));
    survey("  sum, and max of others", column | reduce(by_segment(offsets, sum), by_segment(others, max)));
    survey("  sum behind a filter", column | filter(_1 > 0.f) | by_segment(offsets, sum));
  }
  auto const keyed = from(x, k);
  survey("by key: sum", keyed | by_key(_2, 1000, sum(_1)));
  survey("by key: sum of exp", keyed | by_key(_2, 1000, sum(exp(_1))));
  survey("by key, behind a filter", keyed | filter(_1 > 0.f) | by_key(_2, 1000, count, max(_1)));
  survey("by unknown keys: sum", keyed | group_by(_2, sum(_1)));
  survey("histogram", column | histogram(_1, -5.f, 5.f, 100));
  survey("written: exp", column | map(exp(_1)) | collect);
  survey("written: clamped", column | map(least(most(_1, 0.f), 1.f)) | collect);
  survey("written: transposed", from(shaped(x.data(), {1024, n / 1024}, {1, 1024})) | map(_1 * 2.f) | collect);
}
