// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines as people read them.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <vector>

TALLY_FUNCTION(clamped, (float v), { return v < 0 ? 0.f : v; });

namespace {
using namespace tally;
std::vector<float> const x(1000);
std::vector<int> const k(1000);
} // namespace

TEST_CASE("a pipeline reads as it was written") {
  CHECK(text_of(from(x) | reduce(sum)) == "from(f32[1000]) | reduce(sum(_1))");
  CHECK(text_of(from(x, k) | filter(_1 > 0.f) | reduce(sum(_1 * _2), max(_1), count)) ==
        "from(f32[1000], i32[1000]) | filter(_1 > 0) | reduce(sum(_1 * _2), max(_1), count)");
}

TEST_CASE("map reads as it was written, too") {
  CHECK(text_of(from(x) | map(_1 * _1) | reduce(sum)) == "from(f32[1000]) | map(_1 * _1) | reduce(sum(_1))");
}

TEST_CASE("columns say what they are") {
  std::deque<double> const d(7);
  CHECK(text_of(from(d) | sum) == "from(host(f64[7])) | reduce(sum(_1))");
  CHECK(text_of(from(iota(9)) | sum) == "from(iota(i64[9])) | reduce(sum(_1))");
  CHECK(text_of(from(every(x.data(), 3, 2)) | sum) == "from(every(f32[3])) | reduce(sum(_1))");
}

TEST_CASE("expressions keep their parentheses and their numbers") {
  CHECK(text_of((_1 + 2.5f) * -_2) == "(_1 + 2.5) * -_2");
  CHECK(text_of(select(_1 > 0 && _2 < 1, sqrt(_1), 0.f)) == "select((_1 > 0) && (_2 < 1), sqrt(_1), 0)");
  CHECK(text_of(clamped(_1) + tally::index) == "clamped(_1) + index");
}

TEST_CASE("folds read by the names people know") {
  CHECK(text_of(mean) == "mean(_1)");
  CHECK(text_of(mean(_1 * 2).where(_2 > 0)) == "mean(_1 * 2).where(_2 > 0)");
  CHECK(text_of(sum / count) == "sum(_1) / count");
  CHECK(text_of(max.or_else(0)) == "max(_1).or_else(0)");
  CHECK(text_of(min.maybe()) == "min(_1).maybe()");
  CHECK(text_of(count_modulo(7)) == "count_modulo(7)");
}
