// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments on a GPU: bit for bit the answers of the CPU, whatever the sizes, the offsets and the folds.
#include "fold/own_folds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <atomic>
#include <random>
#include <thread>

using namespace tally::v0;

namespace {

template <class Offset>
std::vector<Offset> offsets_of(std::vector<i64> const& sizes, i64 from = 0) {
  std::vector<Offset> o{static_cast<Offset>(from)};
  for (i64 const n : sizes)
    o.push_back(static_cast<Offset>(from += n));
  return o;
}
/// Sizes of every kind: around the borders of lanes, leaves, tiles and parts; tiny, also among a few of a lane's rounds; uniform; skewed; empty; giants.
std::vector<std::vector<i64>> kinds_of_sizes() {
  std::mt19937 g(7);
  std::vector<std::vector<i64>> all(11);
  for (i64 n = 0; n <= 40; ++n)
    all[0].push_back(n);
  for (i64 const border : {64, 128, 256, 512, 1024, 2048, 8192, 16384, 65536, 524288})
    for (i64 const by : {-1, 0, 1})
      all[0].push_back(border + by);
  for (int k = 0; k < 200000; ++k)
    all[1].push_back(1 + i64(g() % 64));
  for (int k = 0; k < 100000; ++k)
    all[2].push_back(i64(g() % 5));
  for (int k = 0; k < 20000; ++k) { // geometric, with a long tail
    i64 n = 1;
    while (g() % 3 != 0 && n < 100000)
      n *= 2;
    all[3].push_back(i64(g() % unsigned(2 * n)));
  }
  all[4].assign(5000, 0);
  for (int k = 0; k < 3000; ++k)
    all[5].push_back(128 + i64(g() % 1500));
  all[6].assign(1000, 3);
  all[6].push_back(5000001);
  all[6].insert(all[6].end(), 1000, 2);
  all[6].push_back(4000000);
  all[6].push_back(0);
  all[7] = {1};
  all[8] = {0, 0, 700000, 0, 8193, 8192, 1, 0};
  for (int k = 0; k < 100000; ++k) // long ones among short ones
    all[9].push_back(g() % 200 != 0 ? i64(g() % 9) : i64(g() % (g() % 64 != 0 ? 40 : 9000)));
  for (int k = 0; k < 100003; ++k)
    all[10].push_back(i64(g() % 15));
  return all;
}

} // namespace

TEST_CASE("sums, extremes, positions, wide states and folds of any law, of segments of every size") {
  if (no_kernels()) return;
  for (auto const& sizes : kinds_of_sizes()) {
    auto const offsets = offsets_of<i64>(sizes, 5);
    CAPTURE(sizes.size());
    auto const x = uneven_numbers<float>(std::size_t(offsets.back() + 3));
    same_on_both<3>(from(x) | by_segment(offsets, sum));
    same_on_both<3>(from(x) | by_segment(offsets, max, argmin, count, first));
    same_on_both<3>(from(x) | filter(_1 > 0.f) | by_segment(offsets, mean.or_else(-1.f), variance.or_else(0.f), min.or_else(7.f), count));
    same_on_both<3>(from(x) | by_segment(offsets, own_rows_in_order, own_lanes_side_by_side, sum(_1 * _1)));
  }
}

TEST_CASE("offsets of every type, strided, small and computed columns, several at once") {
  if (no_kernels()) return;
  for (auto const& sizes : kinds_of_sizes()) {
    CAPTURE(sizes.size());
    auto const narrow = offsets_of<std::int32_t>(sizes);
    auto const narrow_unsigned = offsets_of<std::uint32_t>(sizes);
    auto const wide_unsigned = offsets_of<std::uint64_t>(sizes);
    auto const n = i64(narrow.back()) + 1;
    auto const x = uneven_numbers<float>(std::size_t(2 * n));
    std::vector<bf16> b(static_cast<std::size_t>(n));
    std::vector<i8> c(static_cast<std::size_t>(n));
    std::vector<double> d(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = bf16(x[i]), c[i] = i8(i * 37), d[i] = double(x[i]) * 1.1;
    same_on_both<3>(from(b) | by_segment(narrow, sum, max));
    same_on_both<3>(from(c, d) | by_segment(narrow_unsigned, sum(_1), sum(_2), sum(_1 * _2)));
    same_on_both<3>(from(every(x.data(), n, 2), iota(n)) | by_segment(wide_unsigned, sum(_1 * _2), max(_2), min(tally::index)));
  }
}

TEST_CASE("exact sums and means of segments, and other groupings beside them") {
  if (no_kernels()) return;
  for (auto const& sizes : kinds_of_sizes()) {
    CAPTURE(sizes.size());
    auto const offsets = offsets_of<std::int32_t>(sizes);
    auto const x = uneven_numbers<float>(std::size_t(offsets.back()));
    same_on_both<3>(from(x) | by_segment(offsets, sum, mean, variance), exact);
    same_on_both(from(x) | by_segment(offsets, moments<4>), exact);
    auto const d = uneven_numbers<double>(x.size());
    same_on_both(from(d) | by_segment(offsets, moments<4>), exact);
    if (!x.empty())
      same_on_both<3>(from(x) | reduce(sum, by_segment(offsets, sum), over<0>(max)));
  }
}

TEST_CASE("offsets and columns in device memory are read there, and what is wrong with offsets is reported from there") {
  if (no_kernels()) return;
  for (auto const& sizes : kinds_of_sizes()) {
    auto const offsets = offsets_of<i64>(sizes);
    auto const x = uneven_numbers<float>(std::size_t(offsets.back()));
    on_device const there(x);
    on_device const cuts(offsets);
    auto const host = run(from(x) | by_segment(offsets, sum, count), on::cpu);
    if (offsets.back() > 0)
      CHECK(same_arrays(host, run(from(lying_in(there)) | by_segment(lying_in(cuts), sum, count))));
    CHECK(same_arrays(host, run(from(x) | by_segment(lying_in(cuts), sum, count), on::gpu)));
    CHECK(same_arrays(std::get<1>(host), run(from(x) | by_segment(lying_in(cuts), count), on::gpu)));
  }
  auto const x = uneven_numbers<float>(100000);
  on_device const there(x);
  auto const with = [&](std::vector<int> const& o) {
    on_device const cuts(o);
    run(from(lying_in(there)) | by_segment(lying_in(cuts), sum), on::gpu);
  };
  for (int again = 0; again < 2; ++again) {
    CHECK_THROWS_WITH_AS(with({0, 4, 3, 10}), "[tally-E20] offset 2 is 3, the one before it is 4. docs/errors.md#E20", bad_offsets);
    CHECK_THROWS_WITH_AS(with({-1, 4}), "[tally-E20] offset 0 is -1, below 0. docs/errors.md#E20", bad_offsets);
    CHECK_THROWS_WITH_AS(with({0, 4, 100001}), "[tally-E20] offset 2 is 100001, the source has 100000 elements. docs/errors.md#E20", bad_offsets);
    std::vector<int> many(60000, 70000);
    many[0] = 0;
    many[30000] = 60000;
    CHECK_THROWS_WITH_AS(with(many), "[tally-E20] offset 30000 is 60000, the one before it is 70000. docs/errors.md#E20", bad_offsets);
    std::vector<int> const good{0, 70000, 100000};
    CHECK(same_arrays(run(from(x) | by_segment(good, sum), on::cpu), run(from(x) | by_segment(good, sum), on::gpu)));
  }
}

TEST_CASE("wrong offsets in one thread leave the rows of another as they are") {
  if (no_kernels()) return;
  std::vector<float> const x(1 << 20, 1.f);
  std::vector<i64> const falling{0, 500'000, 400'000, i64(x.size())};
  on_device const there(x);
  on_device const offsets(falling);
  auto const column = device(static_cast<float const*>(there.data()), i64(x.size()));
  std::atomic<bool> done{false};
  std::atomic<int> refused{0};
  std::thread wrong([&] {
    while (!done) try {
        (void)run(from(column) | by_segment(device(static_cast<i64 const*>(offsets.data()), 4), sum), on::gpu);
        refused = -1;
        break;
      } catch (bad_offsets const&) {
        ++refused;
      }
  });
  bool right = true;
  for (int again = 0; again < 300; ++again) {
    auto const rows = run(from(shaped(static_cast<float const*>(there.data()), 2, 1 << 19)) | over<1>(sum), on::gpu);
    right = right && rows[0] == float(1 << 19) && rows[1] == float(1 << 19);
  }
  done = true;
  wrong.join();
  CHECK(right);
  CHECK(refused > 0);
}

TEST_CASE("a checked sum that overflows in a segment is an overflow on the device too") {
  if (no_kernels()) return;
  std::vector<i64> const x{std::numeric_limits<i64>::max(), 1, 2, 3};
  std::vector<int> const apart{0, 1, 4}, together{0, 2, 4};
  same_on_both<3>(from(x) | by_segment(apart, sum.checked()));
  CHECK_THROWS_AS(run(from(x) | by_segment(together, sum.checked()), on::gpu), overflow);
  same_on_both<3>(from(x) | by_segment(apart, sum.checked()));
}
