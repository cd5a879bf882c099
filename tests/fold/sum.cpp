// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fold sum: its accumulator, its rounding, and its forms in<T>(), checked() and compensated().
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <vector>

using namespace tally;

namespace {
template <class T>
std::vector<T> filled(std::size_t n, T value) {
  return std::vector<T>(n, value);
}
template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
} // namespace

TEST_CASE("sum adds the elements") {
  std::vector<int> const x{1, 2, 3, 4};
  CHECK(run(from(x) | sum) == 10);
  CHECK(run(from(x) | sum(_1 * _1)) == 30);
  CHECK(run(from(x) | sum.where(_1 > 2)) == 7);
}

TEST_CASE("the sum of nothing is zero") {
  std::vector<float> const nothing;
  CHECK(testing::same_bits(run(from(nothing) | sum), 0.f));
  std::vector<float> const x{1, 2};
  CHECK(testing::same_bits(run(from(x) | filter(_1 > 5.f) | sum), 0.f));
}

TEST_CASE("integers are summed in 64 bits of their signedness, and wrap only there") {
  auto const bytes = filled<i8>(100000, -128);
  auto const of_bytes = run(from(bytes) | sum);
  static_assert(std::is_same_v<decltype(of_bytes), i64 const>);
  CHECK(of_bytes == -12800000);
  auto const small = filled<u16>(100000, 65535);
  auto const of_small = run(from(small) | sum);
  static_assert(std::is_same_v<decltype(of_small), u64 const>);
  CHECK(of_small == 6553500000u);
  std::vector<i64> const wide{std::numeric_limits<i64>::max(), 1};
  CHECK(run(from(wide) | sum) == std::numeric_limits<i64>::min());
  std::vector<u64> const widest{std::numeric_limits<u64>::max(), 2};
  CHECK(run(from(widest) | sum) == 1);
}

TEST_CASE("a sum of bool counts") {
  bool const x[] = {true, false, true};
  CHECK(run(from(x) | sum) == 2);
}

TEST_CASE("f16 and bf16 are summed in float, so they neither overflow nor stand still") {
  auto const large = filled(1000, f16(65504.f));
  auto const of_large = run(from(large) | sum);
  static_assert(std::is_same_v<decltype(of_large), float const>);
  CHECK(of_large == 65504000.f);
  auto const ones = filled(1000, bf16(1.f)); // in bf16, 256 + 1 is 256
  CHECK(run(from(ones) | sum) == 1000.f);
}

TEST_CASE("a sum of float does not stand still at 2^24, as a running one does") {
  CHECK(run(from(iota(i64(1) << 25)) | sum(1.f)) == 33554432.f);
}

TEST_CASE("in<T>() keeps the sum in another type, and rounds once at the end") {
  auto const x = filled(1 << 20, 0.1f);
  double const right = double(0.1f) * (1 << 20);
  auto const in_double = run(from(x) | sum.in<double>());
  static_assert(std::is_same_v<decltype(in_double), double const>);
  CHECK(in_double == right);
  std::vector<int> const whole{1 << 30, 1 << 30, 1};
  CHECK(run(from(whole) | sum.in<float>()) == 2147483648.f);
  CHECK(run(from(whole) | sum.in<double>()) == 2147483649.0);
}

TEST_CASE("compensated() is right to the last bit where a plain sum has lost everything") {
  std::vector<float> x(100001, 1e-4f);
  x[50000] = 1e8f;
  x.push_back(-1e8f);
  CHECK(run(from(x) | sum) != testing::exact_sum(x));
  CHECK(run(from(x) | sum.compensated()) == testing::exact_sum(x));
  std::vector<float> const overflowing{1.f, infinity<float>, 2.f};
  CHECK(run(from(overflowing) | sum.compensated()) == infinity<float>);
}

TEST_CASE("checked() reports a sum that leaves 64 bits, and lets pass one that comes back") {
  i64 const most = std::numeric_limits<i64>::max(), least = std::numeric_limits<i64>::min();
  auto const total = [](std::vector<i64> const& x) { return run(from(x) | sum.checked()); };
  CHECK(total({most, 1, -1}) == most);
  CHECK(total({most, most, -most, -most, 5}) == 5);
  CHECK(total({least, most, 1}) == 0);
  CHECK_THROWS_AS(total({most, 1}), overflow);
  CHECK_THROWS_AS(total({least, -1}), overflow);
  CHECK_THROWS_WITH(total(filled<i64>(5000, most)),
                    "[tally-E15] a checked sum left the range of its accumulator. docs/errors.md#E15");
  auto const unsigned_total = [](std::vector<u64> const& x) { return run(from(x) | sum.checked()); };
  CHECK(unsigned_total({std::numeric_limits<u64>::max()}) == std::numeric_limits<u64>::max());
  CHECK_THROWS_AS(unsigned_total({std::numeric_limits<u64>::max(), 1}), overflow);
}

TEST_CASE("NaN and infinities follow IEEE, and the NaN is the one quiet NaN") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const total = [](std::vector<float> const& x) { return run(from(x) | sum); };
  CHECK(testing::same_bits(total({1.f, -nan, 2.f}), nan));
  CHECK(total({1.f, infinity<float>, -5.f}) == infinity<float>);
  CHECK(testing::same_bits(total({infinity<float>, -infinity<float>}), nan));
  CHECK(total({std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}) == infinity<float>);
  CHECK(testing::same_bits(total({-0.f, -0.f}), 0.f)); // a sum begins with 0
  std::vector<float> const x{1.f, nan, 2.f};
  CHECK(run(from(x) | sum.ignoring_nan()) == 3.f);
}

TEST_CASE("checked() knows the accumulator that in<T>() names") {
  std::vector<u8> const bytes(300, 255);
  CHECK_THROWS_AS(run(from(bytes) | sum.in<u16>().checked()), overflow);
  CHECK(run(from(bytes) | sum.in<u32>().checked()) == 76500u);
  std::vector<i32> const pair{2147483647, 1};
  CHECK_THROWS_AS(run(from(pair) | sum.checked().in<i32>()), overflow);
  CHECK(run(from(pair) | sum.checked()) == 2147483648);
  std::vector<i64> const wide(3, std::numeric_limits<i64>::min());
  CHECK(run(from(wide) | sum.checked().in<double>()) == -3 * 0x1p63);
  std::vector<i64> const five{-5};
  CHECK(run(from(five) | sum.checked().in<double>()) == -5.0);
}

TEST_CASE("real numbers that are added up as integers are cut and saturate like cast, by every route alike") {
  std::vector<float> x;
  for (int i = 0; i < 4101; ++i) x.push_back(-static_cast<float>(i % 7));
  CHECK(run(from(x) | sum.in<i32>()) == -12300);
  CHECK(run(from(x) | sum.in<i64>()) == -12300);
  CHECK(run(from(x) | filter(_1 < 0.f) | sum.in<i32>()) == -12300);
  x[5] = std::numeric_limits<float>::quiet_NaN(), x[6] = 5e9f, x[7] = -5e9f, x[4100] = std::numeric_limits<float>::infinity();
  std::vector<int> const key(x.size(), 0), offsets{0, 4101};
  i32 const expected = run(from(x) | sum(cast<i32>(_1)).in<i32>());
  CHECK(run(from(x) | sum.in<i32>()) == expected);
  CHECK(run(from(shaped(x, 1, 4101)) | over<1>(sum.in<i32>()))[0] == expected);
  CHECK(run(from(shaped(x, 4101, 1)) | over<0>(sum.in<i32>()))[0] == expected);
  CHECK(run(from(x, key) | by_key(_2, 1, sum(_1).in<i32>()))[0] == expected);
  CHECK(run(from(x) | by_segment(offsets, sum.in<i32>()))[0] == expected);
}
