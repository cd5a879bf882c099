// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of elements that are partitioned by slot, on a GPU: bit for bit the answers of the CPU, whatever the number of bins, the keys, the folds,
// the widths of elements and keys, and where they lie.
#include "gpu/keys_of_kinds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace tally::v0;

namespace {

constexpr i64 enough = (1 << 21) + 4093; // elements that are partitioned

constexpr kind_of_keys all_kinds[] = {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one, kind_of_keys::zipf, kind_of_keys::sorted};
/// Whether the planner partitions: what is tested here is nothing else.
template <class R, class... Options>
bool partitions(R const& r, Options... options) {
  return explain(r, targets::h200, options...).json().find("partitioned_keys_plan") != std::string::npos;
}
template <class R, class... Options>
void partitioned_and_same(R const& r, Options... options) {
  tally_test_progress();
  CHECK(partitions(r, options...));
  same_on_both(r, options...);
}

} // namespace

TEST_CASE("partitioned keys: exact sums of every number of bins and kind of keys") {
  if (no_kernels()) return;
  auto const x = numbers_for_keys(enough);
  for (i64 const bins : {76'000, 100'000, 180'000, 500'000})
    for (auto const kind : all_kinds) {
      CAPTURE(bins);
      CAPTURE(int(kind));
      auto const keys = keys_of(kind, enough, bins);
      partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(_1)));
    }
}

TEST_CASE("partitioned keys: every kind of fold, with masks and filters, and elements and keys of every width") {
  if (no_kernels()) return;
  i64 const bins = 30'000;
  for (auto const kind : all_kinds) {
    auto const keys = keys_of<i32>(kind, enough, bins);
    auto const x = numbers_for_keys(enough);
    auto const y = numbers_for_keys<bf16>(enough);
    auto const wide = numbers_for_keys<double>(enough);
    auto const whole = numbers_for_keys<i32>(enough);
    auto const bytes = numbers_for_keys<i8>(enough);
    partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(_1), mean(_1), max(_1), min(_1).where(_1 > 3.f), count_if(_1 > 1.f)));
    partitioned_and_same(from(x, keys) | filter(_2 % 3 != 0) | by_key(_2, bins, sum(_1 * _1), sum(_1).where(_1 < 3.f)));
    partitioned_and_same(from(x, keys, y) | by_key(_2, bins, sum(_1 * _3), variance(_3)));
    partitioned_and_same(from(wide, keys) | by_key(_2, bins, sum(_1), max(_1)));
    partitioned_and_same(from(whole, keys) | by_key(_2, bins, sum(_1), sum(_1).checked(), min(_1), count));
    partitioned_and_same(from(bytes, keys) | by_key(_2, 4 * bins, sum(_1), bit_xor(_1), all(_1 > 3)));
    partitioned_and_same(from(x, keys) | by_key(_2 - 100, 3 * bins, sum(_1), count).dropping_strays());
    auto const few = keys_of<u16>(kind, enough, 2 * bins);
    partitioned_and_same(from(y, few) | by_key(_2, 2 * bins, sum(_1), mean(_1)));
  }
}

TEST_CASE("partitioned keys: numbers far from each other, and those that are none") {
  if (no_kernels()) return;
  i64 const bins = 20'000;
  for (unsigned const one_in : {4u, 300u}) { // so many that all digits are kept, or that slots say which have them
    auto const [x, wide] = far_numbers_for_keys(enough, one_in);
    for (auto const kind : all_kinds) {
      auto const keys = keys_of(kind, enough, bins);
      partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(_1), sum(_1 * _1), max(_1)));
      partitioned_and_same(from(wide, keys) | by_key(_2, bins, sum(_1), mean(_1), min(_1)));
      if (kind == all_kinds[0]) partitioned_and_same(from(wide, x, keys) | by_key(_3, bins, covariance(_1, _2), variance(_2)));
    }
  }
}

TEST_CASE("partitioned keys: runs that are longer and shorter than what a warp takes at once") {
  if (no_kernels()) return;
  i64 const bins = 77'000;
  auto const near = numbers_for_keys(enough);
  auto const [far, wide] = far_numbers_for_keys(enough, 50);
  for (std::size_t const run : {5000u, 700u, 230u, 100u}) {
    std::vector<i64> keys(static_cast<std::size_t>(enough));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i64(i / (i % 4096 < 2048 ? run : run / 3) * 3 % std::size_t(bins));
    for (auto const& x : {near, far}) {
      partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(_1), count));
      partitioned_and_same(from(x, keys) | filter(_1 > -2.f) | by_key(_2, bins, mean(_1), max(_1), sum(_1 * _1)));
    }
    partitioned_and_same(from(wide, keys) | by_key(_2, bins, sum(_1), min(_1)));
  }
}

TEST_CASE("partitioned keys: sums as they come, beside others") {
  if (no_kernels()) return;
  i64 const bins = 400'000;
  auto const x = numbers_for_keys(enough);
  for (auto const kind : all_kinds) {
    auto const keys = keys_of(kind, enough, bins);
    auto const r = from(x, keys) | by_key(_2, bins, sum(_1), count, max(_1));
    CHECK(partitions(r, fast));
    auto const [right, right_counts, right_most] = run(r, on::cpu);
    auto const [sums, counts, most] = run(r, on::gpu, fast);
    CHECK(same_arrays(right_counts, counts));
    CHECK(same_arrays(right_most, most));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < right.size(); ++i)
      wrong += std::abs(double(right.data()[i]) - double(sums.data()[i])) > 0.1 + 1e-6 * double(right_counts.data()[i]) ? 1 : 0;
    CHECK(wrong == 0);
    tally_test_progress();
  }
}

TEST_CASE("partitioned keys: every length, device memory at every place, strays, overflow, and keys that are found") {
  if (no_kernels()) return;
  i64 const bins = 77'000;
  auto const x = numbers_for_keys(enough + 64);
  auto keys = keys_of(kind_of_keys::zipf, enough + 64, bins);
  on_device const dx(x);
  on_device const dk(keys);
  for (i64 const skip : {0, 1, 2, 4})
    for (i64 const more : {0, 1, 3, 17, 60 - 4}) {
      i64 const n = enough + more;
      std::vector<float> const own(x.begin() + skip, x.begin() + skip + n);
      std::vector<i64> const own_keys(keys.begin() + skip, keys.begin() + skip + n);
      auto const there = from(device<float>(dx.data() + skip, n), device<i64>(dk.data() + skip, n));
      CHECK(same_arrays(run(from(own, own_keys) | by_key(_2, bins, sum(_1), count), on::cpu), run(there | by_key(_2, bins, sum(_1), count), on::gpu)));
      tally_test_progress();
    }
  for (std::size_t const at : {std::size_t(0), std::size_t(1'333'333), std::size_t(enough + 62)}) {
    auto strays = keys;
    strays[std::size_t(enough) + 63] = bins;
    strays[at] = -7;
    std::string const first_stray = "[tally-E16] the key at position " + std::to_string(at) + " is -7, the bins are [0, 77000). docs/errors.md#E16";
    CHECK_THROWS_WITH_AS(run(from(x, strays) | by_key(_2, bins, sum(_1)), on::gpu), first_stray.c_str(), key_out_of_range);
    partitioned_and_same(from(x, strays) | by_key(_2, bins, sum(_1)).dropping_strays());
  }
  std::vector<i64> large(std::size_t(enough), 1);
  large[7] = std::numeric_limits<i64>::max();
  for (auto const kind : {kind_of_keys::one, kind_of_keys::sorted}) {
    auto const some = keys_of(kind, enough, 90'000);
    auto const r = from(large, some) | by_key(_2, 90'000, sum(_1).checked());
    CHECK(partitions(r));
    CHECK_THROWS_AS(run(r, on::gpu), overflow);
    tally_test_progress();
  }
  partitioned_and_same(from(x, keys) | group_by(_2 * 7, sum(_1), max(_1)));
  on_device const sums(std::vector<float>(static_cast<std::size_t>(bins)));
  auto const again = from(x, keys) | by_key(_2, bins, sum(_1)).dropping_strays();
  for (int k = 0; k < 3; ++k)
    enqueue(from(device<float>(dx.data(), enough + 64), device<i64>(dk.data(), enough + 64)) | by_key(_2, bins, sum(_1)).dropping_strays(), sums.data());
  gpu::wait(0);
  auto const right = run(again, on::cpu);
  CHECK(std::memcmp(right.data(), sums.back().data(), right.size() * sizeof(float)) == 0);
}

TEST_CASE("partitioned keys: a read that has several parts") {
  if (no_kernels()) return;
  i64 const bins = 65'000, n = planning::most_elements_of_part + (1 << 20) + 5;
  std::vector<u16> keys(static_cast<std::size_t>(n));
  std::vector<i8> x(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = static_cast<u16>(i * 2654435769u % std::size_t(bins));
    x[i] = static_cast<i8>(i % 251);
  }
  partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(cast<float>(_1)), count));
  tally_test_progress();
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<u16>(i * std::size_t(bins) / keys.size() / 2 * 2 + i % 2); // nearly sorted, so that a partition is in few tiles
  partitioned_and_same(from(x, keys) | by_key(_2, bins, sum(cast<float>(_1)), count));
  tally_test_progress();
  for (std::size_t i = 0, run = 0, left = 0; i < keys.size(); ++i, --left) { // runs of any length, of which a block folds several tables full
    if (left == 0) ++run, left = 1 + run * 2654435769u % 4096;
    keys[i] = static_cast<u16>(run * 7 % std::size_t(bins));
  }
  partitioned_and_same(from(x, keys) | filter(_1 != 3) | by_key(_2, bins, sum(cast<float>(_1)), count));
}
