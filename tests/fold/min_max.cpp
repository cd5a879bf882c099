// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds min, max and minmax: minimum and maximum of IEEE 754-2019, or with ignoring_nan() minimumNumber and
// maximumNumber.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <vector>

using namespace tally;
using testing::same_bits;

namespace {
constexpr float infinity = std::numeric_limits<float>::infinity(), not_a_number = std::numeric_limits<float>::quiet_NaN();
auto ends(std::vector<float> const& x) { return run(from(x) | minmax); }
auto numbers_only(std::vector<float> const& x) { return run(from(x) | reduce(min.ignoring_nan(), max.ignoring_nan())); }

/// Both ends of what a type can hold, hidden among others.
template <class T>
void check_limits() {
  T const least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  std::vector<T> x(5000, T(1));
  x[1234] = least, x[4321] = most;
  auto const found = run(from(x) | minmax);
  static_assert(std::is_same_v<decltype(found.min), T>);
  CHECK(found == extent_of_values<T>{least, most});
  std::vector<T> const ends_only{most, least};
  CHECK(run(from(ends_only) | minmax) == extent_of_values<T>{least, most});
}
} // namespace

TEST_CASE("min and max are the least and the greatest element, in the element's type") {
  std::vector<int> const x{3, -1, 4};
  CHECK(run(from(x) | min) == -1);
  CHECK(run(from(x) | max) == 4);
  CHECK(run(from(x) | max(_1 * _1)) == 16);
  auto const both = run(from(x) | minmax);
  CHECK(both.min == -1);
  CHECK(both.max == 4);
}

TEST_CASE("every value of a type can be an answer, the outermost ones too") {
  check_limits<i8>();
  check_limits<u16>();
  check_limits<i64>();
  check_limits<u64>();
  check_limits<double>();
}

TEST_CASE("f16, bf16 and bool have a least and a greatest element") {
  std::vector<f16> const h{f16(3.f), f16(-65504.f), f16(-infinity)};
  auto const of_h = run(from(h) | minmax);
  CHECK(float(of_h.min) == -infinity);
  CHECK(float(of_h.max) == 3.f);
  std::vector<bf16> const b{bf16(3.f), bf16(-2.f)};
  CHECK(float(run(from(b) | min)) == -2.f);
  bool const flags[] = {true, false, true};
  CHECK(run(from(flags) | minmax) == extent_of_values<bool>{false, true});
}

TEST_CASE("infinities are values like others") {
  CHECK(ends({-infinity, -infinity}) == extent_of_values<float>{-infinity, -infinity});
  CHECK(ends({infinity}) == extent_of_values<float>{infinity, infinity});
  CHECK(ends({1.f, infinity, -infinity}) == extent_of_values<float>{-infinity, infinity});
}

TEST_CASE("-0 is less than +0, wherever they stand") {
  CHECK(same_bits(ends({0.f, -0.f}), extent_of_values<float>{-0.f, 0.f}));
  CHECK(same_bits(ends({-0.f, 0.f}), extent_of_values<float>{-0.f, 0.f}));
  CHECK(same_bits(ends({-0.f, -0.f}), extent_of_values<float>{-0.f, -0.f}));
  std::vector<float> zeros(3000, 0.f);
  zeros[2222] = -0.f;
  CHECK(same_bits(ends(zeros), extent_of_values<float>{-0.f, 0.f}));
  for (float& z : zeros) z = -z;
  CHECK(same_bits(ends(zeros), extent_of_values<float>{-0.f, 0.f}));
}

TEST_CASE("one NaN anywhere is the answer, as the one quiet NaN") {
  CHECK(same_bits(ends({1.f, -not_a_number, infinity}), extent_of_values<float>{not_a_number, not_a_number}));
  for (std::size_t at : {0u, 1u, 127u, 1023u, 1024u, 70000u}) {
    std::vector<float> x(70001, 1.f);
    x[at] = not_a_number;
    CHECK(same_bits(ends(x), extent_of_values<float>{not_a_number, not_a_number}));
  }
}

TEST_CASE("ignoring_nan() looks at numbers only; of NaN alone, the answer is NaN") {
  CHECK((numbers_only({not_a_number, 2.f, -3.f, not_a_number}) == std::tuple(-3.f, 2.f)));
  CHECK((numbers_only({not_a_number, infinity}) == std::tuple(infinity, infinity)));
  CHECK(same_bits(numbers_only({not_a_number, not_a_number}), std::tuple(not_a_number, not_a_number)));
  std::vector<int> const whole{3, -1};
  CHECK(run(from(whole) | min.ignoring_nan()) == -1);
}

TEST_CASE("of nothing there is no least element: an error, or what or_else and maybe say") {
  std::vector<float> const nothing;
  CHECK_THROWS_AS(ends(nothing), empty_input);
  CHECK_THROWS_AS(numbers_only(nothing), empty_input);
  CHECK_THROWS_WITH_AS(run(from(nothing) | max), "[tally-E1] max(_1) met no element among 0. docs/errors.md#E1", empty_input);
  CHECK(run(from(nothing) | max.or_else(-1.f)) == -1.f);
  CHECK_FALSE(run(from(nothing) | max.maybe()).has_value());
  CHECK_FALSE(run(from(nothing) | minmax.maybe()).has_value());
}

TEST_CASE("a filter that lets nothing through leaves no least element either") {
  std::vector<float> const x{1.f, 2.f};
  auto const passing = [&](float limit) { return run(from(x) | filter(_1 > limit) | max.maybe()); };
  CHECK(passing(0.f) == 2.f);
  CHECK_FALSE(passing(5.f).has_value());
  CHECK_THROWS_AS(run(from(x) | max.where(_1 > 5.f)), empty_input);
  CHECK(run(from(x) | max.where(_1 > 5.f).or_else(7.f)) == 7.f);
  std::vector<float> const below(3, -infinity); // what passes may be the outermost value
  CHECK(run(from(below) | max.where(_1 < 0.f)) == -infinity);
}

TEST_CASE("ignoring_nan() tells NaN alone, whose answer is NaN, from nothing at all, which has none") {
  std::vector<float> const x{1.f, not_a_number, 2.f, not_a_number};
  auto const below = [&](float limit) { return run(from(x) | filter(_1 < limit) | min.ignoring_nan().maybe()); };
  auto const not_below = [&](float limit) { return run(from(x) | filter(!(_1 < limit)) | max.ignoring_nan().maybe()); };
  CHECK(below(5.f) == 1.f);
  CHECK_FALSE(below(0.f).has_value());
  CHECK(not_below(2.f) == 2.f);
  CHECK(same_bits(not_below(5.f), std::optional(not_a_number)));
  CHECK_THROWS_AS(run(from(x) | filter(_1 < 0.f) | min.ignoring_nan()), empty_input);
  CHECK_THROWS_AS(run(from(x) | minmax.ignoring_nan().where(_1 < 0.f)), empty_input);
  CHECK(run(from(x) | filter(_1 < 0.f) | max.ignoring_nan().or_else(7.f)) == 7.f);
  CHECK(same_bits(run(from(x) | max.ignoring_nan().where(tally::index == 3)), not_a_number));
}

TEST_CASE("and so wherever the one number, the one NaN or nothing at all stands in a long column") {
  for (std::size_t at : {0u, 5u, 127u, 1024u, 70000u}) {
    std::vector<float> x(70001, -1.f);
    auto const found = [&] { return run(from(x) | filter(!(_1 < 0.f)) | minmax.ignoring_nan().maybe(), on::cpu.threads(2)); };
    CHECK_FALSE(found().has_value());
    x[at] = not_a_number;
    REQUIRE(found().has_value());
    CHECK(same_bits(*found(), extent_of_values<float>{not_a_number, not_a_number}));
    x[70000 - at] = -0.f;
    CHECK(same_bits(*found(), extent_of_values<float>{-0.f, -0.f}));
    x[at] = infinity;
    CHECK(same_bits(*found(), extent_of_values<float>{-0.f, infinity}));
  }
}

TEST_CASE("min.ignoring_nan() is printed as it is written") {
  std::vector<float> const x{1.f};
  CHECK(text_of(from(x) | min.ignoring_nan()) == "from(f32[1]) | reduce(min(_1).ignoring_nan())");
  CHECK(text_of(from(x) | minmax.ignoring_nan().where(_1 > 0.f)) ==
        "from(f32[1]) | reduce(minmax(_1).where(_1 > 0).ignoring_nan())");
}
