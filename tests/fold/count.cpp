// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds that count: count, count_if, any, all, none, count_modulo, countdown_modulo.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <vector>

using namespace tally::v0;

TEST_CASE("count is the number of elements, and reads none of them") {
  std::vector<float> const x(1000);
  auto const n = run(from(x) | count);
  static_assert(std::is_same_v<decltype(n), i64 const>);
  CHECK(n == 1000);
  CHECK(run(from(device(x.data(), i64(1) << 50)) | count) == i64(1) << 50);
  std::vector<float> const nothing;
  CHECK(run(from(nothing) | count) == 0);
}

TEST_CASE("behind a filter, and with where, count counts what passes") {
  std::vector<int> const x{3, -1, 4, -1, 5};
  CHECK(run(from(x) | filter(_1 > 0) | count) == 3);
  CHECK(run(from(x) | count.where(_1 == -1)) == 2);
  CHECK(run(from(x) | count_if(_1 == -1)) == 2);
  CHECK(run(from(x) | filter(_1 > 0) | count_if(_1 > 3)) == 2);
}

TEST_CASE("any, all and none ask about a condition") {
  std::vector<int> const x{3, -1, 4};
  CHECK(run(from(x) | any(_1 < 0)));
  CHECK_FALSE(run(from(x) | any(_1 > 4)));
  CHECK(run(from(x) | all(_1 < 5)));
  CHECK_FALSE(run(from(x) | all(_1 > 0)));
  CHECK(run(from(x) | none(_1 > 4)));
  CHECK_FALSE(run(from(x) | none(_1 < 0)));
}

TEST_CASE("of a bool column they ask about the elements themselves") {
  bool const x[] = {true, false};
  bool const a = run(from(x) | any), b = run(from(x) | all), c = run(from(x) | none);
  CHECK(a);
  CHECK_FALSE(b);
  CHECK_FALSE(c);
}

TEST_CASE("of nothing, any is false, all and none are true") {
  std::vector<int> const nothing;
  CHECK((run(from(nothing) | reduce(any(_1 > 0), all(_1 > 0), none(_1 > 0))) == std::tuple(false, true, true)));
  std::vector<int> const x{-5};
  CHECK((run(from(x) | filter(_1 > 0) | reduce(any(_1 > 0), all(_1 < 0), none(_1 > 0))) == std::tuple(false, true, true)));
}

TEST_CASE("no comparison with NaN holds but !=") {
  std::vector<float> const x(3, std::numeric_limits<float>::quiet_NaN());
  CHECK((run(from(x) | reduce(any(_1 > 0.f), any(_1 <= 0.f), any(_1 == _1), all(_1 != _1), count_if(is_nan(_1)))) ==
         std::tuple(false, false, false, true, i64(3))));
}

TEST_CASE("count_modulo counts up and countdown_modulo down, modulo m") {
  std::vector<u8> const x(1000, 1);
  auto const answer = run(from(x) | reduce(count_modulo(7), countdown_modulo(7), count_modulo(1), countdown_modulo(1),
                                           count_modulo(4294967295u), countdown_modulo(4294967295u), count_modulo(1000)));
  static_assert(std::is_same_v<std::tuple_element_t<0, decltype(answer)>, u32 const>);
  CHECK((answer == std::tuple(1000u % 7, (7 - 1000u % 7) % 7, 0u, 0u, 1000u, 4294967295u - 1000u, 0u)));
  CHECK(run(from(x) | count_modulo(300).where(tally::index < 500)) == 200u);
}

TEST_CASE("a modulus below one, or that 32 bits do not hold, is refused") {
  std::vector<int> const x(10);
  for (i64 const m : {i64(0), i64(-3), i64(1) << 32}) CHECK_THROWS_AS(run(from(x) | count_modulo(m)), zero_modulus);
  CHECK(run(from(x) | count_modulo((i64(1) << 32) - 1)) == 10u);
}
