// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fold product.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace tally;

TEST_CASE("product multiplies the elements") {
  std::vector<int> const x{2, 3, 7};
  CHECK(run(from(x) | product) == 42);
  CHECK(run(from(x) | product(_1 + 1)) == 96);
  CHECK(run(from(x) | product.where(_1 > 2)) == 21);
}

TEST_CASE("the product of nothing is one") {
  std::vector<double> const nothing;
  CHECK(run(from(nothing) | product) == 1.0);
  std::vector<u8> const x{7};
  CHECK(run(from(x) | filter(_1 > 9) | product) == 1);
}

TEST_CASE("integers are multiplied in 64 bits, and wrap only there") {
  std::vector<i8> const x(9, -128);
  auto const of_bytes = run(from(x) | product);
  static_assert(std::is_same_v<decltype(of_bytes), i64 const>);
  CHECK(of_bytes == std::numeric_limits<i64>::min());
  std::vector<u64> odd(100000);
  u64 expected = 1;
  for (std::size_t i = 0; i < odd.size(); ++i) odd[i] = 2 * i + 1, expected *= odd[i];
  CHECK(run(from(odd) | product) == expected);
}

TEST_CASE("f16 is multiplied in float; in<T>() chooses another accumulator") {
  std::vector<f16> const x(3, f16(1000.f));
  CHECK(run(from(x) | product) == 1e9f);
  std::vector<float> const y(10, 1e10f);
  CHECK(run(from(y) | product) == std::numeric_limits<float>::infinity());
  CHECK(run(from(y) | product.in<double>()) == doctest::Approx(std::pow(double(1e10f), 10)));
}

TEST_CASE("signs, zeros, infinities and NaN follow IEEE") {
  float const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  auto const of = [](std::vector<float> const& x) { return run(from(x) | product); };
  CHECK(of({-2.f, 3.f, -4.f}) == 24.f);
  CHECK(testing::same_bits(of({-1.f, 0.f}), -0.f));
  CHECK(of({infinity, -2.f}) == -infinity);
  CHECK(testing::same_bits(of({infinity, 0.f}), nan));
  CHECK(testing::same_bits(of({nan, 0.f}), nan));
}
