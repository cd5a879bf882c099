// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds beside earlier answers, and elements, on a GPU: bit for bit those of the CPU, whatever the shape.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <cstring>

using namespace tally;

TALLY_STRUCT(let_two_doubles, { double a, b; });
TALLY_FUNCTION(let_both, (double a, double b), { return let_two_doubles{a, b}; });
TALLY_STRUCT(let_two_floats, { float a, b; });
TALLY_FUNCTION(let_both_floats, (float a, float b), { return let_two_floats{a, b}; });

namespace {

struct shape {
  i64 rows, n;
};
constexpr shape shapes[] = {{1, 1},   {7, 31},      {5, 128},   {1000, 129}, {17, 1000}, {40, 1024}, {40, 1025},
                            {6, 3000}, {13, 4096}, {5, 8191}, {3, 16384},  {2, 16385}, {3, 20001}, {2, 32767}, {2, 32768}, {2, 40000}, {70000, 4},
                            {3, 33 * 1024}, {5, 65537}, {2, 128256}, {40, 131072}, {90, 20001}, {3, 150001}, {2, 262144}, {1, 262145}, {3, 400001}, {1, 524289}};

template <class T>
std::vector<T> moderate(std::size_t n) {
  auto x = uneven_numbers<T>(n);
  for (auto& v : x)
    v = v > T(20) ? T(20) : v < T(-20) ? T(-20) : v;
  return x;
}

template <class T>
void rows_of(shape const& s) {
  CAPTURE(s.rows);
  CAPTURE(s.n);
  auto const x = moderate<T>(std::size_t(s.rows * s.n));
  auto const source = from(shaped(x, s.rows, s.n));
  auto const greatest = source | over<1>(max);
  auto const total = source | map(exp(_1 - let(greatest))) | over<1>(sum);
  same_on_both(source | map(exp(_1 - let(greatest)) / let(total)) | collect);
  same_on_both(source | over<1>(sum(exp(_1 - let(greatest)))));
  auto const mu = source | over<1>(mean);
  auto const spread_of_row = source | over<1>(mean(squared(_1 - let(mu))));
  same_on_both(source | map(_1 - let(mu)) | over<1>(sum(_1 * _1), max, argmin));
  std::vector<T> const weight(std::size_t(s.n), T(1.5)), bias(std::size_t(s.n), T(0.25));
  same_on_both(from(shaped(x, s.rows, s.n), along<1>(weight), along<1>(bias)) |
               map((_1 - let(mu)) / sqrt(let(spread_of_row) + T(1e-5)) * _2 + _3) | collect);
}

} // namespace

TEST_CASE("odd rows of bf16 come in aligned pieces, and are written in their order") {
  if (no_kernels()) return;
  for (i64 n : {300, 511, 1025, 2049, 5001, 20001, 150001}) {
    CAPTURE(n);
    auto const x = uneven_numbers<float>(std::size_t(23 * n));
    std::vector<bf16> b(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      b[i] = bf16(x[i]);
    auto const source = from(shaped(b, 23, n));
    auto const greatest = source | over<1>(max);
    same_on_both(source | map(cast<float>(_1) - cast<float>(let(greatest))) | collect);
    same_on_both(source | map(cast<bf16>(cast<float>(_1) - cast<float>(let(greatest)))) | collect);
    same_on_both(source | over<1>(sum(cast<float>(_1) - cast<float>(let(greatest))), argmin));
  }
}

TEST_CASE("softmax, layer norm and variance in two passes, rows of every length") {
  if (no_kernels()) return;
  for (auto const& s : shapes) rows_of<float>(s);
  for (auto const& s : {shape{5, 300}, shape{3, 5000}, shape{2, 20000}, shape{3, 100003}}) rows_of<double>(s);
}

TEST_CASE("answers of columns, of all, masks, mixed reductions and elements of other types") {
  if (no_kernels()) return;
  for (auto const& s : {shape{1, 1}, shape{33, 100}, shape{40, 1024}, shape{3, 8191}, shape{2, 40000}, shape{30000, 33}}) {
    CAPTURE(s.rows);
    CAPTURE(s.n);
    auto const x = moderate<float>(std::size_t(s.rows * s.n));
    auto const source = from(shaped(x, s.rows, s.n));
    auto const of_column = source | over<0>(mean);
    auto const of_all = source | over<0, 1>(max);
    auto const rows = source | over<1>(mean);
    same_on_both(source | map(_1 - let(of_column)) | collect);
    same_on_both(source | map(_1 - let(of_column), cast<double>(_1) - let(of_all), index_along<0>) | collect);
    same_on_both(source | filter(_1 > let(rows)) | reduce(over<1>(count, sum), over<0>(sum), sum));
    same_on_both(source | map(_1 - let(of_column)) | over<0>(sum(_1 * _1)));
    same_on_both(source | map(_1 - let(of_all)) | reduce(sum, over<1>(min.or_else(0.f))));
    same_on_both(from(x) | map(_1 / let(from(x) | sum)) | collect);
  }
}

TEST_CASE("elements behind lets go by keys, by bins and by segments") {
  if (no_kernels()) return;
  for (i64 n : {1, 1000, 200003}) {
    CAPTURE(n);
    auto const x = moderate<float>(std::size_t(n));
    std::vector<int> key(x.size());
    for (std::size_t i = 0; i < key.size(); ++i)
      key[i] = int(i * i % 1009);
    std::vector<i64> const offsets{0, n / 7, n / 7, n / 3, n};
    auto const source = from(x, key);
    auto const mu = source | mean(_1);
    auto const most = source | max(_1);
    same_on_both(source | map(_1 - let(mu), _2) | by_key(_2, 1009, sum(_1), count));
    same_on_both(source | by_key(_2 % 7, 7, sum(_1 - let(mu)), argmax(_1 * let(most))));
    same_on_both(source | map(_1 - let(mu), _2) | by_key(_2, i64(1) << 20, sum(_1)));
    same_on_both(from(x) | histogram((_1 - let(mu)) / let(most), -2, 2, 50));
    same_on_both(source | group_by(select(_1 > let(mu), _2, -1), max(_1 - let(mu)), count));
    same_on_both(from(x) | map(_1 - let(mu)) | by_segment(offsets, sum, min.or_else(0.f)));
    same_on_both(from(x) | reduce(by_segment(offsets, sum(_1 - let(mu))), max(_1 / let(most)), histogram(_1 - let(mu), -4, 4, 30)));
  }
  for (auto const& s : {shape{7, 31}, shape{300, 1024}, shape{2000, 129}}) {
    CAPTURE(s.rows);
    CAPTURE(s.n);
    auto const x = moderate<float>(std::size_t(s.rows * s.n));
    auto const source = from(shaped(x, s.rows, s.n));
    auto const of_row = source | over<1>(mean);
    same_on_both(source | histogram(_1 - let(of_row), -4, 4, 30));
    same_on_both(source | map(_1 - let(of_row)) | reduce(over<0>(sum), over<1>(max), histogram(-4, 4, 30), sum));
    same_on_both(source | map(_1 - let(source | over<0>(mean))) | by_key<0>(index_along<0> % 6, 6, sum(_1 * let(of_row)), count));
  }
}

TEST_CASE("folds behind lets go where the caller says, straight from the kernel where that can be") {
  if (no_kernels()) return;
  auto const x = moderate<float>(300 * 700);
  on_device const d(x);
  auto const squares = [](auto const& source) {
    auto const mu = source | over<1>(mean);
    return source | map(squared(_1 - let(mu)));
  };
  auto const host = squares(from(shaped(x, 300, 700))), there = squares(from(shaped(d.data(), 300, 700)));
  auto const expected = run(host | over<1>(sum, max), on::cpu);
  for (bool const named : {true, false}) {
    on_device<float> const sums(std::vector<float>(300, -1.f)), most(std::vector<float>(300, -1.f));
    if (named)
      run_into(there | over<1>(sum, max), sums.data(), most.data(), on::gpu);
    else
      run_into(there | over<1>(sum, max), sums.data(), most.data());
    CHECK(std::memcmp(sums.back().data(), std::get<0>(expected).data(), 1200) == 0);
    CHECK(std::memcmp(most.back().data(), std::get<1>(expected).data(), 1200) == 0);
  }
  on_device<double> const wide(std::vector<double>(300, -1.0)); // another type: over the host
  on_device<float> const total({-1.f});
  run_into(there | reduce(over<1>(sum), sum), wide.data(), total.data(), on::gpu);
  for (std::size_t r = 0; r < 300; r += 37)
    CHECK(wide.back()[r] == double(std::get<0>(expected)[r]));
  CHECK(total.back()[0] == run(host | sum, on::cpu));
  std::vector<float> here(300);
  run_into(host | over<1>(sum), here, on::gpu);
  CHECK(std::memcmp(here.data(), std::get<0>(expected).data(), 1200) == 0);
  on_device<i64> const bins(std::vector<i64>(40, -1));
  run_into(there | histogram(0, 100, 40), bins.data(), on::gpu);
  CHECK(std::memcmp(bins.back().data(), run(host | histogram(0, 100, 40), on::cpu).data(), 320) == 0);
}

TEST_CASE("what explain says of lets is what runs: one kernel for rows that fit") {
  if (no_kernels()) return;
  for (auto const& s : {shape{40, 1024}, shape{2, 40000}, shape{2, 262145}, shape{1, 524289}}) {
    auto const x = moderate<float>(std::size_t(s.rows * s.n));
    on_device const d(x);
    auto const source = from(shaped(d.data(), s.rows, s.n));
    auto const centred = source | map(_1 - let(source | over<1>(mean))) | collect;
    auto const e = explain(centred);
    CHECK(e.details().head.on_gpu);
    CHECK(e.details().passes() == (s.n <= 524288 ? 1 : 2));
    CHECK(!e.ptx().empty());
    auto const at_hand = explain(from(shaped(x, s.rows, s.n)) | map(_1 - let(from(shaped(x, s.rows, s.n)) | over<1>(mean))) | collect, on::gpu);
    CHECK(at_hand.details().domains.back().of.sources[0].staged);
  }
}

TEST_CASE("what is on the device stays there, in place too") {
  if (no_kernels()) return;
  auto const x = moderate<float>(40 * 1024);
  on_device const d(x), out(std::vector<float>(x.size()));
  auto const mu = from(shaped(d.data(), 40, 1024)) | over<1>(mean);
  auto const host_mu = from(shaped(x, 40, 1024)) | over<1>(mean);
  auto const expected = run(from(shaped(x, 40, 1024)) | map(_1 - let(host_mu)) | collect, on::cpu);
  auto const centred = from(shaped(d.data(), 40, 1024)) | map(_1 - let(mu)) | collect;
  CHECK(same_arrays(run(centred), expected));
  run_into(centred, out.data());
  CHECK(std::memcmp(out.back().data(), expected.data(), x.size() * 4) == 0);
  run_into(from(shaped(d.data(), {1024, 40}, {1, 1024})) | collect, out.data() + 0);
  CHECK(out.back()[1] == x[1024]);
  run_into(centred, d.data());
  CHECK(std::memcmp(d.back().data(), expected.data(), x.size() * 4) == 0);
  run_into(from(shaped(d.data(), {1024, 40}, {1, 1024})) | collect, d.data());
  CHECK(d.back()[1] == expected[1024]);
}

TEST_CASE("elements as wide as a store, and such that lie where their type allows and no store of all of them does") {
  if (no_kernels()) return;
  for (i64 n : {4096, 4097, 6001}) {
    CAPTURE(n);
    auto const x = moderate<double>(std::size_t(16 * n));
    on_device const d(x);
    auto const both = [](auto const& source) { return source | map(let_both(_1 - let(source | over<1>(mean)), _1)) | collect; };
    auto const expected = run(both(from(shaped(x, 16, n))), on::cpu);
    CHECK(same_arrays(run(both(from(shaped(d.data(), 16, n)))), expected));
    on_device<double> const out(std::vector<double>(std::size_t(2 * 16 * n + 1)));
    run_into(both(from(shaped(d.data(), 16, n))), reinterpret_cast<let_two_doubles*>(out.data() + 1)); // at 8 behind a multiple of 16 bytes
    CHECK(std::memcmp(out.back().data() + 1, expected.data(), std::size_t(16 * n) * 16) == 0);
    auto const y = moderate<float>(std::size_t(16 * n));
    on_device const e(y);
    on_device<float> const pairs(std::vector<float>(std::size_t(2 * 16 * n + 1)));
    auto* const at = reinterpret_cast<let_two_floats*>(pairs.data() + 1); // at 4 behind a multiple of 8 bytes
    run_into(from(device(e.data(), 16 * n)) | map(let_both_floats(_1, _1 + 1.f)) | collect, at);
    auto const flat = run(from(y) | map(let_both_floats(_1, _1 + 1.f)) | collect, on::cpu);
    CHECK(std::memcmp(pairs.back().data() + 1, flat.data(), std::size_t(16 * n) * 8) == 0);
    auto const rows = [](auto const& source) { return source | map(let_both_floats(_1 - let(source | over<1>(mean)), _1)) | collect; };
    run_into(rows(from(shaped(e.data(), 16, n))), at);
    auto const centred = run(rows(from(shaped(y, 16, n))), on::cpu);
    CHECK(std::memcmp(pairs.back().data() + 1, centred.data(), std::size_t(16 * n) * 8) == 0);
  }
}

TEST_CASE("answers of segments, from offsets of the host and of the device") {
  if (no_kernels()) return;
  for (i64 const most : {1, 3, 40, 1000, 30000, 400000})
    for (i64 const segments : {1, 70, 5000}) {
      if (most * segments > 4'000'000) continue;
      CAPTURE(most);
      CAPTURE(segments);
      std::vector<i64> offsets{0};
      std::vector<int> narrow{0};
      for (i64 s = 0; s < segments; ++s) {
        offsets.push_back(offsets.back() + (s * 7919 + most) % (most + 1));
        narrow.push_back(int(offsets.back()));
      }
      auto const x = moderate<float>(std::size_t(offsets.back()));
      on_device<float> const dx(x);
      on_device<i64> const there(offsets);
      auto const n = i64(x.size());
      auto const softmax = [](auto const& source, auto const& of) {
        auto const greatest = source | by_segment(of, max);
        auto const total = source | map(exp(_1 - let(greatest))) | by_segment(of, sum);
        return source | map(exp(_1 - let(greatest)) / let(total)) | collect;
      };
      auto const shares = run(softmax(from(x), offsets), on::cpu);
      CHECK(same_arrays(shares, run(softmax(from(x), narrow), on::gpu)));
      CHECK(same_arrays(shares, run(softmax(from(shaped(dx.data(), n)), device(there.data(), segments + 1)), on::gpu)));
      auto const source = from(x);
      auto const mu = source | by_segment(narrow, mean);
      same_on_both(source | filter(_1 > let(mu)) | reduce(count, sum(_1 - let(mu)), max.or_else(0.f)));
      same_on_both(source | map(_1 - let(mu)) | reduce(by_segment(offsets, mean(squared(_1)), argmax), sum));
      same_on_both(source | histogram(_1 - let(mu), -4, 4, 50));
      same_on_both(source | map(_1 - let(source | by_segment(narrow, count))) | collect);
      same_on_both(source | sum(_1 * let(mu)), exact);
    }
  std::vector<float> const x(100, 1.f);
  on_device<int> const wrong(std::vector<int>{0, 60, 40, 100}), early(std::vector<int>{0, 40, 99});
  auto const beside = [&](on_device<int> const& offsets, i64 entries) {
    return run(from(x) | map(_1 - let(from(x) | by_segment(device(offsets.data(), entries), max))) | collect, on::gpu);
  };
  CHECK_THROWS_AS(beside(wrong, 4), bad_offsets);
  CHECK_THROWS_AS(beside(early, 3), bad_offsets);
}

TEST_CASE("answers by key, of keys in memory and computed, of the host and of the device") {
  if (no_kernels()) return;
  for (i64 const n : {1, 100, 4099, 300000})
    for (int const bins : {1, 17, 40000}) {
      CAPTURE(n);
      CAPTURE(bins);
      auto const x = moderate<float>(std::size_t(n));
      std::vector<int> keys(x.size());
      for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = int(i * 2654435761u % unsigned(bins));
      on_device<float> const dx(x);
      on_device<int> const dk(keys);
      auto const scores = [&](auto const& source) {
        auto const mu = source | by_key(_2, bins, mean(_1));
        auto const apart = source | by_key(_2, bins, mean(squared(_1 - let(mu))));
        return source | map((_1 - let(mu)) / sqrt(let(apart) + 1.f)) | collect;
      };
      auto const host = from(x, keys);
      auto const expected = run(scores(host), on::cpu);
      CHECK(same_arrays(expected, run(scores(host), on::gpu)));
      CHECK(same_arrays(expected, run(scores(from(shaped(dx.data(), n), shaped(dk.data(), n))), on::gpu)));
      same_on_both(host | reduce(sum(_1 * let(host | by_key(_2, bins, max(_1)))), count));
      same_on_both(host | filter(_1 > let(host | by_key(_2, bins, mean(_1)))) | reduce(sum(_1), count));
      same_on_both(from(x) | map(let(from(x) | histogram(-3, 3, 50))) | collect);
      same_on_both(from(shaped(x, 1, n)) | map(_1 - let(from(shaped(x, 1, n)) | by_key(index_along<1> % 3, 3, sum(_1)))) | over<1>(sum));
    }
}
