// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns that nothing names are not touched on the host, by whatever verb: here they lie where nothing can be read. And their width is still
// that of the tree.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace tally;

namespace {

constexpr i64 height = 64, width = 1000, n = height * width;

/// Nobody's memory.
template <class T>
T const* nowhere() {
  return reinterpret_cast<T const*>(std::uintptr_t(4096));
}

struct input {
  std::vector<float> x = std::vector<float>(std::size_t(n));
  std::vector<int> k = std::vector<int>(std::size_t(n));
  std::vector<i64> offsets{0, 10, 10, 777, n};
  input() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = float(i % 1000) * 0.37f - 100.f;
      k[i] = int(i * 7 % 50);
    }
  }
  auto line() const { return from(device(nowhere<float>(), n), x, k, device(nowhere<float>(), n)); }
  auto matrix() const {
    return from(shaped(nowhere<float>(), height, width), shaped(x.data(), height, width), shaped(nowhere<float>(), {height, width}, {1, height}));
  }
};

/// Whether a reduction of the columns beside two of nobody's is that of the columns alone.
template <class R, class Alone, class... Options>
bool same(R const& r, Alone const& alone, Options... options) {
  return run(r, on::cpu, options...) == run(alone, on::cpu, options...);
}

} // namespace

TEST_CASE("folds of the whole do not touch what they do not name") {
  input const in;
  auto const alone = from(in.x, in.k);
  CHECK(same(in.line() | reduce(sum(_2), max(_3), argmin(_2)), alone | reduce(sum(_1), max(_2), argmin(_1))));
  CHECK(same(in.line() | filter(_3 > 10) | reduce(variance(_2), count), alone | filter(_2 > 10) | reduce(variance(_1), count)));
  CHECK(same(in.line() | reduce(sum(_2)), alone | reduce(sum(_1)), exact));
  CHECK(same(in.line() | reduce(sum(_2)), alone | reduce(sum(_1)), fast));
  CHECK(run(in.line() | count, on::cpu) == n);
  CHECK(start(in.line() | sum(_2), on::cpu).get() == run(alone | sum(_1), on::cpu));
  float into = 0;
  run_into(in.line() | sum(_2), into, on::cpu);
  CHECK(into == run(alone | sum(_1), on::cpu));
  CHECK((run(std::vector{in.line() | sum(_2), in.line() | sum(_2)}, on::cpu) == std::vector<float>(2, into)));
}

TEST_CASE("nor do folds along axes, by key, by segment, and what is folded with them") {
  input const in;
  auto const alone = from(in.x, in.k);
  auto const matrix = from(shaped(in.x.data(), height, width));
  CHECK(same(in.matrix() | over<0>(sum(_2)), matrix | over<0>(sum(_1))));
  CHECK(same(in.matrix() | over<1>(sum(_2 * _2)), matrix | over<1>(sum(_1 * _1))));
  CHECK(same(in.matrix() | over<0>(mean(_2 + 1.f)), matrix | over<0>(mean(_1 + 1.f))));
  CHECK(same(in.matrix() | reduce(over<0>(sum(_2)), over<1>(max(_2)), sum(_2)), matrix | reduce(over<0>(sum(_1)), over<1>(max(_1)), sum(_1))));
  CHECK(same(in.line() | by_key(_3, 50, sum(_2)), alone | by_key(_2, 50, sum(_1))));
  CHECK(same(in.line() | by_key(_3, 50, sum(_2), count), alone | by_key(_2, 50, sum(_1), count), fast));
  CHECK(same(in.line() | group_by(_3, max(_2)), alone | group_by(_2, max(_1))));
  CHECK(same(in.line() | reduce(sum(_2), by_key(_3, 50, count)), alone | reduce(sum(_1), by_key(_2, 50, count))));
  CHECK(same(in.line() | by_segment(in.offsets, sum(_2), max(_3)), alone | by_segment(in.offsets, sum(_1), max(_2))));
  CHECK(same(in.line() | reduce(by_segment(in.offsets, sum(_2)), sum(_3)), alone | reduce(by_segment(in.offsets, sum(_1)), sum(_2))));
}

TEST_CASE("nor do elements that are written, and lets beside them") {
  input const in;
  auto const matrix = from(shaped(in.x.data(), height, width));
  auto const written = [](auto const& from_what, auto of, auto mean_of) {
    return run(from_what | map(of - let(from_what | over<1>(mean_of))) | collect, on::cpu);
  };
  CHECK(written(in.matrix(), _2, mean(_2)) == written(matrix, _1, mean(_1)));
  CHECK(run(in.line() | map(_2 * 2.f) | collect, on::cpu) == run(from(in.x) | map(_1 * 2.f) | collect, on::cpu));
}

TEST_CASE("few groups that lie apart, beside a column of nobody's") {
  std::vector<float> const x(std::size_t(3 * 70000), 0.37f);
  auto const turned = shaped(x.data(), {3, 70000}, {1, 3});
  CHECK(run(from(shaped(nowhere<float>(), 3, 70000), turned) | over<1>(sum(_2)), on::cpu) == run(from(turned) | over<1>(sum(_1)), on::cpu));
}

TEST_CASE("a wide column that is not read makes the leaves of the others as short as if it were") {
  std::vector<float> const x = input().x;
  std::vector<double> const wide(x.size(), 1.0);
  auto const both = run(from(x, wide) | reduce(sum(_1), max(_2)), on::cpu);
  CHECK(run(from(x, wide) | sum(_1), on::cpu) == std::get<0>(both));
  CHECK(run(from(device(nowhere<double>(), n), x) | sum(_2), on::cpu) == std::get<0>(both));
}

TEST_CASE("bad input is refused whether it is named or not") {
  std::vector<float> const x{1.f, 2.f}, shorter{1.f};
  CHECK_THROWS_AS((void)run(from(x, shorter) | sum(_1), on::cpu), extent_mismatch);
  CHECK_THROWS_AS((void)run(from(x, device(static_cast<float const*>(nullptr), 2)) | sum(_1), on::cpu), null_column);
}
