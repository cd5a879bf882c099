// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key in the read of other folds on a GPU: bit for bit the answers of the CPU, and read together where they can be.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <random>

using namespace tally;

/// Associative and not commutative: the second of two, unless it is nothing.
TALLY_FUNCTION(beside_turn, (unsigned a, unsigned b), { return b == 0 ? a : b; });
TALLY_FUNCTION(beside_bits, (float x), { return static_cast<unsigned>(x > 0 ? x : -x); });
TALLY_FUNCTION(beside_itself, (unsigned a), { return a; });

namespace {

std::vector<int> some_keys(std::size_t n, int bins, bool hot) {
  std::mt19937 random(17);
  std::vector<int> keys(n);
  for (int& k : keys) k = hot ? bins / 2 : static_cast<int>(random() % static_cast<unsigned>(bins));
  return keys;
}

/// The domains of a reduction that are folded in the read of another.
template <class R, class... Options>
int sharing(R const& r, Options... options) {
  int n = 0;
  auto const e = explain(r, on::gpu, options...);
  for (auto const& d : e.details().domains) n += d.shares_read ? 1 : 0;
  return n;
}
template <class R, class... Options>
void same_and_shared(R const& r, int shared, Options... options) {
  CAPTURE(text_of(r));
  CHECK(sharing(r, options...) == shared);
  same_on_both<2>(r, options...);
}

} // namespace

TEST_CASE("keys beside folds of the whole, of every size, with keys that are spread and that are one") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 3u, 100u, 1024u, 4097u, 70'001u, 3'000'000u})
    for (bool const hot : {false, true})
      for (int const bins : {1, 64, 500}) {
        CAPTURE(n);
        CAPTURE(hot);
        CAPTURE(bins);
        auto const x = uneven_numbers<float>(n);
        auto const keys = some_keys(n, bins, hot);
        same_and_shared(from(x, keys) | reduce(sum(_1), by_key(_2, bins, sum(_1), count)), 1);
        same_and_shared(from(x, keys) | reduce(by_key(_2, bins, count), variance(_1), max(_2)), 1);
      }
}

TEST_CASE("histograms beside each other, of one, two and three dimensions, with weights, masks and folds of their own") {
  if (no_kernels()) return;
  std::size_t const n = 500'003;
  auto const x = uneven_numbers<float>(n, 3), y = uneven_numbers<float>(n, 4);
  auto const keys = some_keys(n, 100, false);
  same_and_shared(from(x) | reduce(histogram(-2, 2, 64), histogram(0, 1, 1000)), 1);
  same_and_shared(from(x, y) | reduce(histogram(_1, -2, 2, 16).of(sum(_2), max(_2)), mean(_1), count), 1);
  same_and_shared(from(x, y, keys) | filter(_1 > 0.f) | reduce(by_key(_3, 100, sum(_1 * _2), min(_2).where(_2 > 1.f)), sum(_1), stddev(_2), first(_1)), 1);
  same_and_shared(from(x, keys) | reduce(by_key(_2, 100, sum(_1)), by_key(_2 % 7, 7, count), histogram(_1, -1, 1, 10), by_key(_2 / 10, 10, max(_1)), sum(_1)), 4);
  same_and_shared(from(x, keys) | reduce(by_key(_2 - 50, 20, count).dropping_strays(), sum(_2)), 1);
}

TEST_CASE("keys beside folds of the whole whatever the types, alignments and strides") {
  if (no_kernels()) return;
  std::size_t const n = 200'011;
  auto const f64 = uneven_numbers<double>(n);
  auto const ints = uneven_numbers<int>(n);
  auto const keys = some_keys(n, 30, false);
  std::vector<bf16> small(n);
  for (std::size_t i = 0; i < n; ++i) small[i] = bf16(static_cast<float>(f64[i]));
  same_and_shared(from(f64, keys) | reduce(sum(_1), by_key(_2, 30, sum(_1), mean(_1))), 1);
  same_and_shared(from(small, keys) | reduce(sum(_1), by_key(_2, 30, sum(_1), max(_1))), 1);
  same_and_shared(from(ints, keys) | reduce(sum(_1), bit_xor(_1), by_key(_2, 30, sum(_1), bit_or(_1), sum(_1).checked())), 1);
  on_device<float> const d(uneven_numbers<float>(n));
  auto const host = d.back();
  for (int skipped = 0; skipped < 5; ++skipped) {
    CAPTURE(skipped);
    auto const whole = [&](float const* p) { return from(device(p + skipped, i64(n) - 8)) | reduce(sum(_1), by_key(cast<int>(abs(_1)) % 5, 5, sum(_1))); };
    auto const on_gpu = run(whole(d.data()), on::gpu);
    auto const on_host = run(from(std::span<float const>(host).subspan(std::size_t(skipped), n - 8)) | reduce(sum(_1), by_key(cast<int>(abs(_1)) % 5, 5, sum(_1))), on::cpu);
    CHECK(same_arrays(on_host, on_gpu));
  }
}

TEST_CASE("an image's rows, columns, total, histogram and keys from one read") {
  if (no_kernels()) return;
  struct matrix {
    i64 rows, columns;
  };
  for (auto const& m : {matrix{128, 1024}, {1024, 2048}, {1000, 4096}, {5000, 1028}, {1025, 1500}, {300, 2047}, {1000, 3072}, {2048, 8192}}) {
    CAPTURE(m.rows);
    CAPTURE(m.columns);
    auto const x = uneven_numbers<float>(std::size_t(m.rows * m.columns));
    auto const image = from(shaped(x.data(), m.rows, m.columns));
    same_and_shared(image | reduce(over<0>(sum), over<1>(mean, max), histogram(-2, 2, 256), by_key(index_along<1> % 7, 7, sum(_1), count), sum), 4);
    same_and_shared(image | filter(_1 > 0.f) | reduce(by_key(index_along<0> % 16, 16, max(_1), sum(_1 * _1)), over<1>(sum), over<0>(variance)), 2);
  }
  auto const b = uneven_numbers<float>(1200 * 2048);
  std::vector<bf16> small(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) small[i] = bf16(b[i]);
  same_and_shared(from(shaped(small.data(), 1200, 2048)) | reduce(over<0>(sum), over<1>(sum), histogram(-2, 2, 64), sum), 3);
}

TEST_CASE("rows or columns alone share their read with keys, and rows with the whole") {
  if (no_kernels()) return;
  for (auto const& extents : {std::pair<i64, i64>{2048, 2048}, {1000, 1500}, {300, 2047}, {20'000, 1700}}) {
    i64 const rows = extents.first, columns = extents.second;
    CAPTURE(rows);
    CAPTURE(columns);
    auto const x = uneven_numbers<float>(std::size_t(rows * columns));
    auto const image = from(shaped(x.data(), rows, columns));
    same_and_shared(image | reduce(over<1>(mean, max), histogram(-2, 2, 64)), rows == 20'000 ? 1 : 0); // twice what L2 holds
    same_and_shared(image | reduce(histogram(-2, 2, 64), over<0>(mean, min), by_key(index_along<1> % 3, 3, sum(_1))), 2);
  }
  std::vector<bf16> large(std::size_t(20'000) * 2048); // more than L2 holds
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = bf16(float(int(i % 977) - 400) / 64);
  same_and_shared(from(shaped(large.data(), 20'000, 2048)) | reduce(over<1>(sum), sum, max), 1);
}

TEST_CASE("sources of several axes, in order and not, have keys beside the whole too") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(700 * 300);
  auto const folds = [](auto const& source) { return from(source) | reduce(sum(_1), histogram(_1, -2, 2, 32), by_key(index_along<0> % 5, 5, sum(_1), max(_1))); };
  same_and_shared(folds(shaped(x.data(), 700, 300)), 2);
  same_and_shared(folds(shaped(x.data(), {300, 700}, {1, 300})), 2);
  same_and_shared(folds(shaped(x.data(), {100, 7, 100}, {2100, 300, 3})), 2);
  same_and_shared(folds(shaped(x.data() + x.size() - 1, {700, 300}, {-300, -1})), 2);
}

TEST_CASE("what fast gives up is the same, keys beside or not") {
  if (no_kernels()) return;
  auto const ints = uneven_numbers<int>(1'000'001);
  auto const keys = some_keys(ints.size(), 64, false);
  same_and_shared(from(ints, keys) | reduce(sum(_1), max(_1), by_key(_2, 64, sum(_1), max(_1), count)), 1, fast);
  auto const x = uneven_numbers<float>(ints.size());
  auto const r = from(x, keys) | reduce(sum(_1), by_key(_2, 64, sum(_1)));
  CHECK(sharing(r, fast) == 1);
  auto const [total, by] = run(r, on::gpu, fast);
  auto const [right, right_by] = run(r, on::cpu);
  CHECK(total == doctest::Approx(right).epsilon(1e-4));
  for (i64 k = 0; k < 64; ++k) CHECK(by(k) == doctest::Approx(right_by(k)).epsilon(1e-4));
}

TEST_CASE("a key that names no bin is told whatever is beside it, by the position that comes first") {
  if (no_kernels()) return;
  std::size_t const n = 300'000;
  auto const x = uneven_numbers<float>(n);
  auto keys = some_keys(n, 10, false);
  keys[7777] = 10, keys[9000] = -1;
  auto const r = from(x, keys) | reduce(sum(_1), by_key(_2, 10, sum(_1)), histogram(_1, -2, 2, 8));
  auto const message = [&](auto place) {
    try {
      run(r, place);
    } catch (key_out_of_range const& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  CHECK(message(on::gpu).find("position 7777 is 10") != std::string::npos);
  CHECK(message(on::gpu) == message(on::cpu));
}

TEST_CASE("keys beside exact sums of the whole, that fit their windows and that do not") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 33u, 5000u, 70'001u, 3'000'000u}) {
    CAPTURE(n);
    auto x = uneven_numbers<float>(n);
    auto const f64 = uneven_numbers<double>(n, 5);
    auto const keys = some_keys(n, 9, false);
    for (std::size_t i = 0; i < n; i += 1001) x[i] *= 1e30f;
    same_and_shared(from(x, keys) | reduce(sum(_1), by_key(_2, 9, sum(_1), count)), 0, exact);
    same_and_shared(from(x, keys) | reduce(max(_1), by_key(_2, 9, sum(_1), count)), 1, exact);
    same_and_shared(from(x, f64, keys) | reduce(by_key(_3, 9, count), sum(_1 * _1), mean(_2), max(_1), histogram(_1, -2, 2, 64)), 2, exact);
  }
}

TEST_CASE("what is not folded beside others is read apart, to the same bits") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300'000);
  auto const keys = some_keys(x.size(), 100'000, false);
  same_and_shared(from(x, keys) | reduce(sum(_1), by_key(_2, 100'000, count)), 0);
  same_and_shared(from(x, keys) | reduce(sum(_1), by_key(_2 % 9, 9, logsumexp(_1))), 0);
  same_and_shared(from(x, keys) | reduce(sum(_1), by_key(_2 % 9, 9, fold_of(0u, beside_turn, beside_bits, beside_itself, associative)(_1))), 0);
  same_and_shared(from(x, keys) | reduce(by_key(_2 % 9, 9, sum(_1)), count), 0);
  same_and_shared(from(shaped(x.data(), 1000, 300)) | reduce(sum, by_key<0>(index_along<0> % 9, 9, sum(_1))), 0);
  same_and_shared(from(shaped(x.data(), 1000, 300)) | reduce(over<1>(sum), histogram(-1, 1, 9)), 0);
  auto const none = std::vector<float>();
  same_and_shared(from(none) | reduce(sum, histogram(0, 1, 8)), 0);
}
