// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by keys that are not known, on a GPU: the keys and the answers of the CPU, bit for bit, whatever the keys are and however many.
#include "fold/unmixed.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_arrays.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <limits>
#include <random>

using namespace tally::v0;

TALLY_FUNCTION(gpu_last_digits, (long long x), { return x % 1000; });

namespace {

template <class R>
void same_on_both(R const& r) {
  auto const host = run(r, on::cpu);
  auto const device = run(r, on::gpu);
  CAPTURE(text_of(r));
  CHECK(same_arrays(host, device));
  tally_test_progress();
}
/// n keys, of `different` ones that lie anywhere.
template <class K>
std::vector<K> some_keys(std::size_t n, unsigned different) {
  std::mt19937_64 random(n + different);
  std::vector<K> all(different), keys(n);
  for (auto& k : all) k = static_cast<K>(random());
  for (auto& k : keys) k = all[random() % different];
  return keys;
}

} // namespace

TEST_CASE("sums and counts by keys of every width, few and many, of every size") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 3u, 100u, 4097u, 70'001u, 1'000'000u}) {
    auto const x = uneven_numbers<float>(n);
    for (unsigned const different : {1u, 2u, 64u, 1000u, 30'000u, 300'000u}) {
      CAPTURE(n);
      CAPTURE(different);
      auto const narrow = some_keys<i32>(n, different);
      auto const wide = some_keys<u64>(n, different);
      same_on_both(from(x, narrow) | group_by(_2, sum(_1)));
      same_on_both(from(x, wide) | group_by(_2, sum(_1), count));
    }
  }
}

TEST_CASE("bytes, half words, conditions, and signs: keys come sorted as numbers") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(100'001);
  auto const bytes = some_keys<i8>(x.size(), 1000);
  auto const unsigned_bytes = some_keys<u8>(x.size(), 1000);
  auto const half_words = some_keys<i16>(x.size(), 100'000);
  auto const words = some_keys<u32>(x.size(), 5000);
  auto const doubled = some_keys<i64>(x.size(), 5000);
  same_on_both(from(x, bytes) | group_by(_2, sum(_1), count));
  same_on_both(from(x, unsigned_bytes) | group_by(_2, sum(_1)));
  same_on_both(from(x, half_words) | group_by(_2, sum(_1)));
  same_on_both(from(x, words) | group_by(_2, max(_1)));
  same_on_both(from(x, doubled) | group_by(_2, min(_1)));
  same_on_both(from(x) | group_by(_1 > 0.f, sum(_1), count));
}

TEST_CASE("all keys distinct: the table grows, and every group has one element") {
  if (no_kernels()) return;
  for (std::size_t const n : {50'000u, 65'537u, 600'000u, 5'000'000u}) {
    std::vector<i64> keys(n);
    std::vector<i32> narrow(n);
    for (std::size_t i = 0; i < n; ++i) {
      keys[i] = static_cast<i64>(i * 0x9e3779b97f4a7c15u);
      narrow[i] = static_cast<i32>(i) - 12345;
    }
    same_on_both(from(keys) | group_by(_1, count, sum(_1)));
    same_on_both(from(narrow) | group_by(_1, sum(_1)));
  }
}

TEST_CASE("the keys that an empty entry looks like are keys as others, and absent where they were not met") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(10'000);
  auto narrow = some_keys<u32>(x.size(), 300);
  auto wide = some_keys<u64>(x.size(), 300);
  for (bool const inverted : {false, true})
    for (int const times : {0, 1, 700}) {
      for (int i = 0; i < times; ++i) {
        u32 const a = key_table<u32>::nobody;
        u64 const b = key_table<u64>::nobody;
        narrow[std::size_t(i * 13)] = inverted ? ~a : a;
        wide[std::size_t(i * 13)] = inverted ? ~b : b;
      }
      same_on_both(from(x, narrow) | group_by(_2, sum(_1), count));
      same_on_both(from(x, wide) | group_by(_2, sum(_1), count));
    }
  std::vector<u32> const alone(1000, key_table<u32>::nobody);
  same_on_both(from(alone) | group_by(_1, count));
}

TEST_CASE("keys made to collide, extremes, and powers of two") {
  if (no_kernels()) return;
  std::vector<u32> colliding(40'000);
  for (std::size_t i = 0; i < colliding.size(); ++i) colliding[i] = unmixed(static_cast<u32>(i % 4000) << 17);
  same_on_both(from(colliding) | group_by(_1, count, sum(_1)));
  std::vector<i64> extremes{std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max(), 0, -1, 1};
  for (int k = 0; k < 63; ++k) extremes.push_back(i64(1) << k), extremes.push_back(-(i64(1) << k));
  same_on_both(from(extremes) | group_by(_1, count, last(_1)));
}

TEST_CASE("filters, expressions as keys, and several folds of every kind of cell") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(200'003);
  auto const d = uneven_numbers<double>(x.size());
  auto const keys = some_keys<i32>(x.size(), 700);
  same_on_both(from(x, keys) | filter(_1 > 0.f) | group_by(_2, mean(_1), sum(_2), max(_1), min(_2).or_else(-1)));
  same_on_both(from(x, keys) | group_by(_2, argmin(_1), argmax(_1), first(_1), last(_1), bit_xor(_2), sum(_2).checked()));
  same_on_both(from(d, keys) | group_by(_2, sum(_1), variance(_1), sum(_1 * _1), count.where(_1 > 0.0)));
  same_on_both(from(x, keys) | map(_2 / 7, _1 * 2.f) | group_by(_1 + 3, sum(_2), count));
  same_on_both(from(keys) | group_by(gpu_last_digits(_1), count));
  same_on_both(from(x, keys) | filter(_1 > 1e30f) | group_by(_2, sum(_1), count));
}

TEST_CASE("matrices: keys of rows, of elements, and of their axes; strided columns") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300 * 200);
  auto const of_row = some_keys<i32>(300, 20);
  auto const of_element = some_keys<i64>(x.size(), 5000);
  same_on_both(from(shaped(x, 300, 200), along<0>(of_row)) | group_by(_2, sum(_1), count, max(_1)));
  same_on_both(from(shaped(x, 300, 200), shaped(of_element, 300, 200)) | group_by(_2, sum(_1)));
  same_on_both(from(shaped(x, 300, 200)) | group_by(index_along<0> + index_along<1>, sum(_1)));
  same_on_both(from(shaped(x.data(), {200, 300}, {1, 200}), along<1>(of_row)) | group_by(_2, sum(_1), argmax(_1)));
  same_on_both(from(every(x.data(), 20'000, 3), every(of_element.data(), 20'000, 3)) | group_by(_2, sum(_1)));
}

TEST_CASE("several keys beside each other, of every width") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 5000u, 300'000u}) {
    auto const x = uneven_numbers<float>(n);
    auto const town = some_keys<i32>(n, 300);
    auto const day = some_keys<i16>(n, 40);
    auto const kind = some_keys<u8>(n, 9);
    same_on_both(from(town, day, x) | group_by(_1, _2, sum(_3), count));
    same_on_both(from(kind, day, town, x) | group_by(_2, _1 > 100, _3, mean(_4), max(_4)));
    same_on_both(from(kind, town, x) | filter(_3 > 0.f) | group_by(_1, cast<i32>(_2 / 7), min(_3)));
  }
}

TEST_CASE("nothing: no elements, and beside other groupings") {
  if (no_kernels()) return;
  std::vector<float> const nothing;
  std::vector<i32> const no_keys;
  same_on_both(from(nothing, no_keys) | group_by(_2, sum(_1), count));
  auto const x = uneven_numbers<float>(50'000);
  auto const keys = some_keys<i32>(x.size(), 99);
  same_on_both(from(x, keys) | reduce(group_by(_2, sum(_1)), sum(_1), by_key(cast<int>(_1) & 15, 16, count), group_by(_2 & 3, max(_1))));
}

TEST_CASE("under fast, keys and counts are right, and sums of whole numbers") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300'000);
  for (unsigned const different : {10u, 20'000u, 200'000u}) {
    auto const keys = some_keys<i32>(x.size(), different);
    auto const r = from(x, keys) | map(cast<float>(cast<int>(_1) & 7), _2) | group_by(_2, sum(_1), count);
    CHECK(same_arrays(run(r, on::cpu), run(r, on::gpu, fast)));
  }
}

TEST_CASE("data on the device is used in place, wherever it begins; on::any finds it there; run_into takes keys and answers") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(100'003);
  auto const keys = some_keys<i32>(x.size(), 50);
  on_device const dx(x);
  on_device const dk(keys);
  auto const n = static_cast<i64>(x.size());
  for (i64 const skip : {0, 1, 2, 3, 5}) {
    std::vector<float> const own_x(x.begin() + skip, x.end());
    std::vector<i32> const own_keys(keys.begin() + skip, keys.end());
    auto const host = run(from(own_x, own_keys) | group_by(_2, sum(_1), count), on::cpu);
    auto const there = from(device(dx.data() + skip, n - skip), device(dk.data() + skip, n - skip)) | group_by(_2, sum(_1), count);
    CHECK(same_arrays(host, run(there)));
    std::vector<i32> into_keys(std::get<0>(host).size());
    std::vector<float> into_sums(into_keys.size());
    std::vector<i64> into_counts(into_keys.size());
    run_into(there, into_keys, into_sums, into_counts, on::gpu);
    CHECK(into_keys == std::vector<i32>(std::get<0>(host).begin(), std::get<0>(host).end()));
    CHECK(into_sums == std::vector<float>(std::get<1>(host).begin(), std::get<1>(host).end()));
    CHECK(into_counts == std::vector<i64>(std::get<2>(host).begin(), std::get<2>(host).end()));
  }
}

TEST_CASE("an overflow of a checked sum by a found key is an error") {
  if (no_kernels()) return;
  std::vector<i64> const large{std::numeric_limits<i64>::max(), 1, 1};
  std::vector<i32> const together{-9, -9, 1};
  CHECK_THROWS_AS(run(from(large, together) | group_by(_2, sum(_1).checked()), on::gpu), overflow);
}
