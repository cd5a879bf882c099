// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key on the host beside the loop that everybody writes: seconds of processor time of one thread, and of the wall with all. Behind them what other
// folds take of one thread. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <vector>

using namespace tally::v0;

namespace {

struct seconds {
  double wall, processor;
};
template <class F>
seconds least(F const& f) {
  seconds best{1e9, 1e9};
  for (int i = 0; i < 5; ++i) {
    timespec a, b;
    auto const begun = std::chrono::steady_clock::now();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    f();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    best.wall = std::min(best.wall, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    best.processor = std::min(best.processor, double(b.tv_sec - a.tv_sec) + 1e-9 * double(b.tv_nsec - a.tv_nsec));
  }
  return best;
}
template <class T, class Sum>
[[gnu::noinline]] void add_by_hand(std::vector<T> const& x, std::vector<int> const& k, std::vector<Sum>& table) {
  for (std::size_t i = 0; i < x.size(); ++i) table[std::size_t(k[i])] += static_cast<Sum>(x[i]);
}
/// In even bins over [0, high].
template <class T>
[[gnu::noinline]] void count_by_hand(std::vector<T> const& x, float high, int bins, std::vector<i64>& table) {
  float const scale = float(bins) / high;
  for (T const v : x)
    if (float const f = float(v); f >= 0 && f <= high) ++table[std::min(std::size_t(f * scale), std::size_t(bins - 1))];
}
/// Nanoseconds an element: one thread's processor time, then the wall with all threads.
template <class One, class All>
void say(char const* what, std::size_t n, seconds const& hand, One const& one, All const& all) {
  double const alone = least(one).processor * 1e9 / double(n), together = least(all).wall * 1e9 / double(n);
  double const by_hand = hand.processor * 1e9 / double(n), wall_by_hand = hand.wall * 1e9 / double(n);
  std::printf(" %s %.2f/%.2f/%.2f (%.2fx, %.2fx)", what, by_hand, alone, together, by_hand / alone, wall_by_hand / together);
}

/// Nanoseconds an element of one thread's processor time: uniform numbers, or those whose logarithms are normal with so much spread.
void say_other_folds(std::size_t n, double spread) {
  std::vector<float> x(n);
  std::vector<double> y(n);
  std::vector<int> k(n);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < n; ++i) y[i] = spread > 0 ? std::exp(spread * normal(random)) : double(random() >> 11) * 0x1p-53, x[i] = float(spread > 0 ? y[i] : double(random() >> 40) * 0x1p-24);
  std::printf("%s, one thread: sum, filtered sum, mean, variance of f32, sum, variance of f64, covariance of both, group_by with a sum of f32\n",
              spread > 0 ? "log-normal numbers" : "uniform numbers");
  for (int const bins : {1000, 100'000, 1'000'000}) {
    for (int& key : k) key = int(random() % unsigned(bins));
    std::printf("%8d bins:", bins);
    auto const time = [&](auto const& p) { std::printf(" %.2f", least([&] { (void)run(p, on::cpu.threads(1)); }).processor * 1e9 / double(n)); };
    time(from(x, k) | by_key(_2, bins, sum(_1)));
    time(from(x, k) | filter(_1 > 0.5f) | by_key(_2, bins, sum(_1)));
    time(from(x, k) | by_key(_2, bins, mean(_1)));
    time(from(x, k) | by_key(_2, bins, variance(_1)));
    time(from(y, k) | by_key(_2, bins, sum(_1)));
    time(from(y, k) | by_key(_2, bins, variance(_1)));
    time(from(x, y, k) | by_key(_3, bins, covariance(_1, _2)));
    time(from(x, k) | group_by(_2, sum(_1)));
    std::printf("\n");
  }
}

} // namespace

int main(int, char** arguments) {
  std::size_t const n = std::size_t(1) << (arguments[1] != nullptr ? std::atoi(arguments[1]) : 25);
  std::vector<float> x(n);
  std::vector<int> k(n), whole(n);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < n; ++i) x[i] = float(random() >> 8) * 0x1p-24f, whole[i] = int(random() & 1023);
  std::printf("2^%d elements; ns an element: by hand / one thread / wall of %d threads (by hand over each)\n",
              int(63 - __builtin_clzll(n)), cpu::core_count());
  for (int const bins : {100, 1000, 10'000, 100'000, 1'000'000}) {
    for (int& key : k) key = int(random() % unsigned(bins));
    std::vector<float> sums(static_cast<std::size_t>(bins));
    std::vector<i64> wide(sums.size());
    auto const floats = from(x, k) | by_key(_2, bins, sum(_1));
    auto const integers = from(whole, k) | by_key(_2, bins, sum(_1));
    auto const counts = from(x) | histogram(0, 1, bins);
    auto const counts_of_integers = from(k) | histogram(0, bins, bins); // each on an edge
    auto const by_hand = least([&] { add_by_hand(x, k, sums); });
    std::printf("%8d bins:", bins);
    say("f32 fast", n, by_hand, [&] { (void)run(floats, fast, on::cpu.threads(1)); }, [&] { (void)run(floats, fast, on::cpu); });
    say(" f32 exact", n, by_hand, [&] { (void)run(floats, on::cpu.threads(1)); }, [&] { (void)run(floats, on::cpu); });
    say(" i32", n, least([&] { add_by_hand(whole, k, wide); }), [&] { (void)run(integers, on::cpu.threads(1)); },
        [&] { (void)run(integers, on::cpu); });
    say(" histogram", n, least([&] { count_by_hand(x, 1, bins, wide); }), [&] { (void)run(counts, on::cpu.threads(1)); },
        [&] { (void)run(counts, on::cpu); });
    say(" of i32", n, least([&] { count_by_hand(k, float(bins), bins, wide); }), [&] { (void)run(counts_of_integers, on::cpu.threads(1)); },
        [&] { (void)run(counts_of_integers, on::cpu); });
    std::printf("\n");
  }
  say_other_folds(n, 0);
  say_other_folds(n, 2);
}
