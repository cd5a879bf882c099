// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows and columns of every length and width, as cores walk through them, against their elements alone.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace tally::v0;

namespace {

template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> x(n);
  u32 seed = 7;
  for (auto& v : x) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<int>(seed >> 12) - (1 << 19));
    if constexpr (!integer<T>) {
      v /= T(977);
      if (seed >> 24 == 3) v = -T(0);
      if (seed >> 20 == 77) v = std::numeric_limits<T>::quiet_NaN();
      if (seed >> 20 == 78) v = std::numeric_limits<T>::infinity();
    }
  }
  return x;
}
template <class T>
bool same(T const& a, T const& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
/// How a matrix lies: elements between neighbours in a row, and between rows.
struct lie {
  i64 rows, columns, across, down;
  i64 first() const { return (across < 0 ? (1 - columns) * across : 0) + (down < 0 ? (1 - rows) * down : 0); }
  i64 size() const { return 1 + (columns - 1) * (across < 0 ? -across : across) + (rows - 1) * (down < 0 ? -down : down); }
};
/// Whether every group along Axis has the bits of its elements alone, for all of these folds.
template <int Axis, class T, class... Folds>
std::string wrong(lie const& at, Folds const&... folds) {
  auto const memory = numbers<T>(static_cast<std::size_t>(at.size())); // exactly, so that a tool sees what reads behind it
  T const* const x = memory.data() + at.first();
  std::string found;
  auto const check = [&](auto const& fold) {
    auto const all = run(from(shaped(x, {at.rows, at.columns}, {at.down, at.across})) | over<Axis>(fold), on::cpu);
    std::vector<T> alone(static_cast<std::size_t>(Axis == 0 ? at.rows : at.columns));
    i64 const groups = Axis == 0 ? at.columns : at.rows, step = groups < 40 ? 1 : groups / 23;
    for (i64 g = 0; g < groups && found.empty(); g = g + step < groups || g == groups - 1 ? g + step : groups - 1) {
      for (std::size_t e = 0; e < alone.size(); ++e)
        alone[e] = x[Axis == 0 ? g * at.across + i64(e) * at.down : g * at.down + i64(e) * at.across];
      auto const own = answers::with_one_nan(run(from(alone) | reduce(fold), on::cpu));
      if (!same(all[static_cast<std::size_t>(g)], own))
        found = "group " + std::to_string(g) + " of " + std::to_string(at.rows) + " x " + std::to_string(at.columns) + " (" +
                std::to_string(at.down) + ", " + std::to_string(at.across) + ")";
    }
  };
  (check(folds), ...);
  return found;
}

} // namespace

TEST_CASE("rows of every length have the bits of their elements alone") {
  for (i64 n = 1; n <= 300; ++n)
    CHECK(wrong<1, float>({n % 37 + 1, n, 1, n}, sum) == "");
  for (i64 const n : {511, 512, 513, 900, 1000, 1023, 1024, 1025, 1500, 2048, 2500, 4096, 5000, 16384, 16385, 20000})
    for (i64 const rows : {1, 7, 8, 9, 33})
      CHECK(wrong<1, float>({rows, n, 1, n}, sum) == "");
}

TEST_CASE("rows apart, overlapping and from the last to the first") {
  for (i64 const n : {1, 2, 3, 4, 5, 8, 31, 64, 100, 128, 129, 1000, 1030})
    for (i64 const rows : {8, 9, 50})
      for (i64 const down : {n + 3, -n, -n - 5, i64(1), i64(0)})
        CHECK(wrong<1, float>({rows, n, 1, down}, sum) == "");
}

TEST_CASE("other numbers and other folds of rows") {
  for (i64 const n : {1, 2, 3, 4, 7, 8, 33, 64, 100, 128, 200, 1000, 1024, 1100, 3000}) {
    CHECK(wrong<1, float>({21, n, 1, n}, sum.compensated(), variance) == "");
    CHECK(wrong<1, double>({21, n, 1, n}, sum) == "");
    CHECK(wrong<1, i32>({21, n, 1, n}, max) == "");
  }
}

TEST_CASE("rows of computed elements, in memory without gaps and with") {
  for (i64 const n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 128, 129, 300, 1000, 1024, 1025, 2047, 2049, 3000, 16385})
    for (i64 const rows : {1, 7, 8, 9, 70, 300}) {
      CHECK(wrong<1, float>({rows, n, 1, n}, sum(_1 * _1), min(1.f - _1)) == "");
      if (rows < 70)
        CHECK(wrong<1, float>({rows, n, 1, n + 3}, sum(_1 * _1)) == "");
    }
  for (i64 const n : {1, 3, 8, 33, 128, 1000, 1100}) {
    CHECK(wrong<1, float>({90, n, 1, n}, sum(_1 + 2.f).compensated(), variance(_1 * 3.f)) == "");
    CHECK(wrong<1, double>({90, n, 1, n}, sum(-_1), max(_1 * _1)) == "");
    CHECK(wrong<1, i32>({90, n, 1, n}, max(_1 - 5)) == "");
    CHECK(wrong<1, i16>({90, n, 1, n}, sum, min(_1)) == "");
  }
}

TEST_CASE("rows of computed elements of several columns, one of them broadcast") {
  auto const x = numbers<float>(2500 * 24), y = numbers<float>(2500 * 24);
  for (i64 const n : {3, 24, 250}) {
    i64 const rows = 2500 * 24 / n;
    std::vector<float> const of_row(y.begin(), y.begin() + n);
    auto const whole = from(shaped(x, rows, n), shaped(y, rows, n));
    auto const beside = from(shaped(x, rows, n), along<1>(of_row));
    auto const a = run(whole | over<1>(sum(_1 * _2)), on::cpu), b = run(beside | over<1>(sum(_1 * _2)), on::cpu);
    auto const [c, d] = run(whole | over<1>(sum, max(_1 - _2)), on::cpu);
    for (i64 g = 0; g < rows; g += 7) {
      std::vector<float> const own(x.begin() + g * n, x.begin() + (g + 1) * n), other(y.begin() + g * n, y.begin() + (g + 1) * n);
      auto const at = static_cast<std::size_t>(g);
      CHECK(same(a[at], answers::with_one_nan(run(from(own, other) | sum(_1 * _2), on::cpu))));
      CHECK(same(b[at], answers::with_one_nan(run(from(own, of_row) | sum(_1 * _2), on::cpu))));
      CHECK(same(c[at], answers::with_one_nan(run(from(own) | sum, on::cpu))));
      CHECK(same(d[at], answers::with_one_nan(run(from(own, other) | max(_1 - _2), on::cpu))));
    }
  }
}

TEST_CASE("columns of every width and height have the bits of their elements alone") {
  for (i64 const rows : {1, 2, 5, 8, 9, 100, 128, 129, 300, 1023, 1024, 1025, 2500})
    for (i64 const columns : {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 128, 257, 1000, 1030})
      CHECK(wrong<0, float>({rows, columns, 1, columns}, sum) == "");
  for (i64 const columns : {4095, 4096, 4097, 5000, 8200})
    for (i64 const rows : {1, 7, 8, 33, 64, 129, 1030})
      CHECK(wrong<0, float>({rows, columns, 1, columns}, sum) == "");
}

TEST_CASE("columns of matrices that are parts of others") {
  for (i64 const columns : {1, 3, 8, 16, 20, 64, 200, 5000})
    for (i64 const rows : {1, 9, 130, 1100})
      for (i64 const down : {columns + 3, -columns, -columns - 1, i64(1), i64(0)})
        CHECK(wrong<0, float>({rows, columns, 1, down}, sum) == "");
}

TEST_CASE("other numbers and other folds of columns") {
  for (i64 const columns : {1, 3, 8, 16, 20, 64, 200, 1500, 4100})
    for (i64 const rows : {1, 8, 33, 130, 1100}) {
      CHECK(wrong<0, float>({rows, columns, 1, columns}, sum.compensated(), variance) == "");
      CHECK(wrong<0, double>({rows, columns, 1, columns}, sum) == "");
      CHECK(wrong<0, i32>({rows, columns, 1, columns}, max) == "");
    }
}

TEST_CASE("several folds and columns of one group at once") {
  auto const x = numbers<float>(700 * 90), y = numbers<float>(700 * 90);
  for (i64 const n : {2, 90, 700}) {
    i64 const rows = 700 * 90 / n;
    auto const m = from(shaped(x, rows, n), shaped(y, rows, n));
    auto const [a, b] = run(m | over<1>(sum, max(_2)), on::cpu);
    auto const [d, e] = run(m | over<0>(sum, max(_2)), on::cpu);
    CHECK(std::memcmp(a.data(), run(m | over<1>(sum), on::cpu).data(), a.size() * 4) == 0);
    CHECK(std::memcmp(b.data(), run(from(shaped(y, rows, n)) | over<1>(max), on::cpu).data(), b.size() * 4) == 0);
    CHECK(std::memcmp(d.data(), run(m | over<0>(sum), on::cpu).data(), d.size() * 4) == 0);
    CHECK(std::memcmp(e.data(), run(from(shaped(y, rows, n)) | over<0>(max), on::cpu).data(), e.size() * 4) == 0);
  }
}

TEST_CASE("one thread and many give the same bits") {
  auto const x = numbers<float>(1 << 20);
  for (i64 const n : {1, 4, 64, 1000, 4096, 100000}) {
    auto const m = from(shaped(x.data(), (1 << 20) / n, n));
    auto const rows = run(m | over<1>(sum), on::cpu.threads(1)), columns = run(m | over<0>(sum), on::cpu.threads(1));
    for (int const threads : {2, 5}) {
      CHECK(std::memcmp(rows.data(), run(m | over<1>(sum), on::cpu.threads(threads)).data(), rows.size() * 4) == 0);
      CHECK(std::memcmp(columns.data(), run(m | over<0>(sum), on::cpu.threads(threads)).data(), columns.size() * 4) == 0);
    }
  }
}
