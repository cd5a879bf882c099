// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Units of 64-bit lanes: no sum of the promised rows overflows, what is no multiple of the unit or above the bound is marked
// and nothing else is, and sums are rounded once, to nearest even.
#include <tally/base/exact_unit.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tally::v0;

namespace {

template <class V>
V infinity() {
  return std::numeric_limits<V>::infinity();
}

template <class V>
void sums_keep_within_a_lane() {
  for (V bound : {V(0), std::numeric_limits<V>::denorm_min(), std::numeric_limits<V>::min(), V(0.5), V(0.75), V(1), V(1.25), V(3), V(1e30),
                  std::numeric_limits<V>::max()})
    for (i64 rows : {i64(0), i64(1), i64(2), i64(3), i64(1) << 21, (i64(1) << 21) + 1, i64(1) << 60}) {
      if (bound > V(1e30) && rows > (i64(1) << 50)) continue; // the unit would be larger than its type
      auto const u = exact_unit<V>::of(bound, rows);
      CAPTURE(bound);
      CAPTURE(rows);
      CHECK(u.bound == bound);
      CHECK(u.weight * u.per_one == V(1));
      long double const total = static_cast<long double>(bound) / u.weight * static_cast<long double>(rows);
      CHECK(total <= 0x1p62L);
      // half the unit would not do for twice the rows, unless the unit is the least there is
      if (bound > V(0) && rows > 0 && u.weight > std::numeric_limits<V>::min()) CHECK(total > 0x1p60L);
    }
}

} // namespace

TEST_CASE("a unit leaves room for every sum, and is not much coarser than that") {
  sums_keep_within_a_lane<float>();
  sums_keep_within_a_lane<double>();
}

TEST_CASE("what is no bound lets nothing in, not even zero") {
  for (float bound : {-1.f, infinity<float>(), __builtin_nanf("")}) {
    u32 marks = 0;
    CHECK(exact_unit<float>::of(bound, 10).lane(0.f, marks) == 0);
    CHECK(marks == above_bound);
  }
  u32 marks = 0;
  CHECK(exact_unit<float>::of(std::numeric_limits<float>::max(), i64(1) << 61).lane(1.f, marks) == 0);
  CHECK(marks == above_bound);
}

TEST_CASE("multiples of the unit within the bound enter, as they are") {
  std::mt19937 random(1);
  for (float bound : {0.5f, 1e-30f, 1e30f, 3e38f, 1e-38f})
    for (int i = 0; i < 20'000; ++i) {
      auto const u = exact_unit<float>::of(bound, 1 + i % 3000);
      float const x = std::ldexp(float(int(random())), int(random() % 300) - 170);
      double const units = double(x) / double(u.weight);
      bool const within = std::abs(x) <= bound, whole = within && units == std::floor(units);
      u32 marks = 0;
      i64 const lane = u.lane(x, marks);
      CHECK(marks == (!within ? above_bound : whole ? 0u : finer_than_unit));
      CHECK(lane == (whole ? i64(units) : 0));
    }
}

TEST_CASE("what has no bits is marked") {
  auto const u = exact_unit<double>::of(1e10, 5);
  for (double x : {infinity<double>(), -infinity<double>(), __builtin_nan("")}) {
    u32 marks = 0;
    CHECK(u.lane(x, marks) == 0);
    CHECK(marks == above_bound);
  }
  u32 marks = 0;
  CHECK(u.lane(std::numeric_limits<double>::denorm_min(), marks) == 0); // smaller than the unit by more than a double spans
  CHECK(marks == finer_than_unit);
  marks = 0;
  CHECK(u.lane(-0.0, marks) == 0);
  CHECK(marks == 0);
}

TEST_CASE("sums are rounded once, to nearest even") {
  auto const u = exact_unit<float>::of(1.f, 1);
  i64 const one = i64(1) << 40;
  CHECK(u.value<float>((one << 1) + (one >> 23)) == u.weight * 0x1p41f); // half of the last bit: to even
  CHECK(u.value<float>((one << 1) + (one >> 23) + 1) == u.weight * (0x1p41f + 0x1p18f));
  CHECK(u.value<float>(-(one << 1) - (one >> 23) - 1) == -u.weight * (0x1p41f + 0x1p18f));
  CHECK_FALSE(std::signbit(u.value<float>(0)));
  // Through float first, half of the last bit of bf16 and a little would lose the little.
  CHECK(float(u.value<bf16>((one << 1) + (one >> 7) + 1)) == u.weight * (0x1p41f + 0x1p34f));
  CHECK(float(u.value<bf16>((one << 1) + (one >> 7))) == u.weight * 0x1p41f);
  CHECK(float(exact_unit<float>::of(0x1p62f, 1).value<f16>(65519)) == 65504.f);
  CHECK(float(exact_unit<float>::of(0x1p62f, 1).value<f16>(65520)) == infinity<float>());
  CHECK(exact_unit<float>::of(std::numeric_limits<float>::max(), 4).value<float>(i64(1) << 62) == infinity<float>());
}

TEST_CASE("rows on a host: sums of a key, in any order, and refused as one") {
  float const tile[]{0.5f, -0.25f, 1.f, 0.75f, -1.f, 0.f}, turned[]{-1.f, 0.f, 1.f, 0.75f, 0.5f, -0.25f};
  i32 const keys[]{1, 0, 1}, keys_turned[]{1, 0, 1};
  auto const unit = exact_unit<float>::of(1.f, 64); // sums of 64 ones, and 40 before
  for (bool other : {false, true}) {
    i64 lanes[4]{};
    float table[]{10.f, 20.f, -0.f, 40.f};
    u32 const marks = add_rows_exactly(lanes, other ? turned : tile, 2, 3, 2, other ? keys_turned : keys, unit);
    CHECK(finish_rows_exactly(table, 2, 2, 2, lanes, unit, marks) == 0);
    CHECK(table[0] == 11.f);
    CHECK(table[1] == 20.75f);
    CHECK(table[2] == -0.5f);
    CHECK(table[3] == 39.75f);
    CHECK(lanes[2] == 0);
    CHECK(finish_rows_exactly(table, 2, 2, 2, lanes, unit, u32(above_bound)) == above_bound);
    for (float x : table) CHECK(x != x);
  }
}
