// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every line of docs/tutorial/first.md and of the how-to pages, compiled and checked.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

using namespace tally;

TALLY_FUNCTION(discounted, (float price, float percent), {
  float const paid = price * (100 - percent) / 100;
  return paid < 1 ? 1.f : paid;
});

namespace {
std::vector<float> const price{4, 10, 2.5f, 0, 8};
std::vector<float> const sold{10, 1, 20, 5, 2};
} // namespace

TEST_CASE("a sum") {
  float const total = run(from(price) | reduce(sum));
  CHECK(total == 24.5f);
}

TEST_CASE("several answers") {
  auto const [total, dearest, where, n] = run(from(price) | reduce(sum, max, argmax, count));
  CHECK(std::tuple(total, dearest, where, n) == std::tuple(24.5f, 10.f, 1, 5));
}

TEST_CASE("expressions") {
  float const revenue = run(from(price, sold) | reduce(sum(_1 * _2)));
  CHECK(revenue == 116.f);
  auto const with_tax = run(from(price, sold) | map(_1 * 1.19f, _2) | reduce(sum(_1 * _2)));
  CHECK(with_tax == doctest::Approx(138.04));
}

TEST_CASE("conditions") {
  auto const [revenue, n, bulk] = run(from(price, sold)
                                      | filter(_1 > 0.f)
                                      | reduce(sum(_1 * _2), count, sum(_1 * _2).where(_2 >= 10.f)));
  CHECK(std::tuple(revenue, n, bulk) == std::tuple(116.f, 4, 90.f));
}

TEST_CASE("formulas") {
  auto const weighted_mean = sum(_1 * _2) / sum(_2);
  auto const spread = max - min;
  auto const [average, range, deviation] = run(from(price, sold) | reduce(weighted_mean, spread, sqrt(variance)));
  CHECK(average == doctest::Approx(116.0 / 38));
  CHECK(range == 10.f);
  CHECK(deviation == doctest::Approx(3.63868));
}

TEST_CASE("nothing") {
  auto const expensive = from(price) | filter(_1 > 100.f);
  CHECK(run(expensive | reduce(sum, count)) == std::tuple(0.f, 0));
  CHECK(run(expensive | reduce(max.or_else(0.f))) == 0.f);
  CHECK(run(expensive | reduce(max.maybe())) == std::nullopt);
  CHECK_THROWS_AS(run(expensive | reduce(max)), empty_input);
}

TEST_CASE("a function of one's own") {
  std::vector<float> const percent{0, 50, 0, 0, 90};
  CHECK(discounted(8.f, 90.f) == 1.f);
  CHECK(run(from(price, percent) | map(discounted(_1, _2)) | reduce(sum)) == 13.5f);
}

TEST_CASE("where") {
  auto const question = from(price) | reduce(sum, mean);
  CHECK(run(question, on::cpu.threads(1)) == run(question));
}

TEST_CASE("why") {
  std::ostringstream out;
  out << explain(from(price) | reduce(sum), targets::h200);
  CHECK(out.str().find("why not") != std::string::npos);
}

TEST_CASE("choose where it runs") {
  auto const total = from(price) | reduce(sum);
  auto const here = run(total, on::cpu);
  auto const alone = run(total, on::cpu.threads(1));
  auto const loosely = run(total, fast);
  CHECK(here == alone);
  CHECK(here == loosely);
  auto const carefully = [&] {
    try {
      return run(total, on::gpu);
    } catch (no_gpu const&) {
      return run(total, on::cpu);
    }
  }();
  CHECK(carefully == here);
}
