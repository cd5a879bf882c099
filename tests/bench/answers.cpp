// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run of groupings takes, from its call to answers on the host, where the data are small and on the device: most of it is the way of
// the answers. Needs a GPU; counts and sums of small integers are compared with the CPU's first. Test layer.
#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace tally::v0;

namespace {

/// The median and the 95th percentile of the microseconds of many calls.
template <class F>
void measure(char const* what, int rounds, F const& f) {
  std::vector<double> us;
  for (int i = 0; i < rounds + 20; ++i) {
    auto const begun = std::chrono::steady_clock::now();
    f();
    if (i >= 20) us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
  }
  std::sort(us.begin(), us.end());
  std::printf("%-62s median %8.1f us  p95 %8.1f us\n", what, us[us.size() / 2], us[us.size() * 95 / 100]);
  std::fflush(stdout);
}
template <class Here, class There>
void same(char const* what, Here const& here, There const& there) {
  if (here != there) std::printf("WRONG: %s\n", what), std::exit(2);
}

} // namespace

int main(int count, char** words) {
  int const rounds = count > 1 ? std::atoi(words[1]) : 400;
  for (i64 const rows : {i64(64), i64(1024), i64(16384), i64(262144)}) {
    i64 const columns = 64, n = rows * columns;
    std::vector<float> x(static_cast<std::size_t>(n));
    std::vector<int> k(static_cast<std::size_t>(n)), ends;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i * 7919 % 15) * 0.0625f, k[i] = int(i * 31 % 100);
    for (i64 r = 0; r <= rows; ++r) ends.push_back(int(r * columns));
    auto const x_there = gpu::stage(x.data(), x.size() * sizeof(float), 0), k_there = gpu::stage(k.data(), k.size() * sizeof(int), 0),
               ends_there = gpu::stage(ends.data(), ends.size() * sizeof(int), 0);
    gpu::wait(0);
    auto const* const data = static_cast<float const*>(x_there.data());
    auto const* const keys = static_cast<int const*>(k_there.data());
    auto const* const offsets = static_cast<int const*>(ends_there.data());
    std::printf("%lld x %lld f32\n", static_cast<long long>(rows), static_cast<long long>(columns));
    auto const compare = [&](char const* what, auto const& on_host, auto const& on_device) {
      same(what, run(on_host, on::cpu), run(on_device, on::gpu));
      measure(what, rounds, [&] { (void)run(on_device, on::gpu); });
    };
    auto const here = from(shaped(x.data(), rows, columns)), there = from(shaped(data, rows, columns));
    compare("sum", here | sum, there | sum);
    compare("sums of rows", here | over<1>(sum), there | over<1>(sum));
    compare("sums, least and greatest of rows", here | over<1>(sum, min, max), there | over<1>(sum, min, max));
    auto const all = [](auto const& pipe, auto const&... more) { return pipe | reduce(over<0>(sum), over<1>(sum), sum, more...); };
    compare("sums of columns, rows and all", all(here), all(there));
    compare("the same and a histogram of 64 bins", all(here, histogram(0.f, 1.f, 64)), all(there, histogram(0.f, 1.f, 64)));
    auto const by_keys = [](auto const& pipe, auto const&... folds) { return pipe | by_key(_2, 100, folds...); };
    auto const both_here = from(x, k), both_there = from(device(data, n), device(keys, n));
    compare("counts by 100 keys", by_keys(both_here, tally::count), by_keys(both_there, tally::count));
    compare("counts, sums and greatest by 100 keys", by_keys(both_here, tally::count, sum(_1), max(_1)), by_keys(both_there, tally::count, sum(_1), max(_1)));
    compare("sums and greatest of segments, offsets on the device", from(x) | by_segment(ends, sum, max),
            from(device(data, n)) | by_segment(device(offsets, rows + 1), sum, max));
  }
}
