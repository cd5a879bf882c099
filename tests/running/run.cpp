// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb run: answers, places, contracts, and what happens to input that is at fault. Runs on any machine; what needs a
// GPU is in tests/gpu.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {
using namespace tally::v0;

std::vector<float> rough_floats(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = std::sin(float(i) * 0.7f) * float(1u << (i % 24));
  return x;
}
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
} // namespace

TEST_CASE("run gives the answer of one fold as a value and those of several as a tuple") {
  std::vector<int> const x{4, 8, 15, 16, 23, 42};
  i64 const total = run(from(x) | reduce(sum));
  CHECK(total == 108);
  auto const [greatest, where, n] = run(from(x) | reduce(max, argmax, count));
  CHECK(greatest == 42);
  CHECK(where == 5);
  CHECK(n == 6);
}

TEST_CASE("the same pipeline may run again and again") {
  std::vector<int> x{1, 2, 3};
  auto const total = from(x) | reduce(sum);
  CHECK(run(total) + run(total) == 12);
}

TEST_CASE("a place and a contract follow the pipeline, in any order") {
  std::vector<float> const x{1, 2, 3};
  auto const total = from(x) | reduce(sum);
  CHECK(run(total, on::cpu) == 6.f);
  CHECK(run(total, on::cpu.threads(3), reproducible) == 6.f);
  CHECK(run(total, fast, on::any) == 6.f);
}

TEST_CASE("the number of threads changes no bit") {
  auto const x = rough_floats(1'000'003);
  auto const question = from(x) | reduce(sum, sum(_1 * _1), mean, variance, product(1.f + _1 * 1e-9f), norm<2>);
  auto const answers = run(question, on::cpu.threads(1));
  for (int threads : {2, 3, 8})
    CHECK((run(question, on::cpu.threads(threads)) == answers));
  CHECK((run(question) == answers));
}

TEST_CASE("where the elements lie in memory changes no bit") {
  auto const x = rough_floats(70'001);
  auto const answers = run(from(x) | reduce(sum, variance));
  std::vector<float> room(x.size() + 4);
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::copy(x.begin(), x.end(), room.begin() + std::ptrdiff_t(shift));
    CHECK((run(from(std::span(room).subspan(shift, x.size())) | reduce(sum, variance)) == answers));
  }
}

TEST_CASE("fast gives up the order of the sum and nothing else") {
  auto const x = rough_floats(100'000);
  auto const [total, greatest, n] = run(from(x) | reduce(sum.in<double>(), max, count_if(_1 > 0.f)), fast);
  auto const [same_total, same_greatest, same_n] = run(from(x) | reduce(sum.in<double>(), max, count_if(_1 > 0.f)));
  CHECK(total == doctest::Approx(same_total).epsilon(1e-12));
  CHECK(greatest == same_greatest);
  CHECK(n == same_n);
}

TEST_CASE("an empty range: folds with an identity give it") {
  std::vector<float> const nothing;
  CHECK(run(from(nothing) | reduce(sum, product, count, any(_1 > 0.f), all(_1 > 0.f))) ==
        std::tuple(0.f, 1.f, i64(0), false, true));
  CHECK(run(from(nothing) | norm<2>) == 0.f);
  CHECK(run(from(nothing) | norm_inf) == 0.f);
  CHECK(run(from(nothing) | logsumexp) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(run(from(nothing) | mean)));
  CHECK(std::isnan(run(from(nothing) | variance)));
}

TEST_CASE("an empty range: folds without an identity throw empty_input, unless an answer was prepared") {
  std::vector<float> const nothing;
  CHECK_THROWS_AS(run(from(nothing) | min), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | max), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | minmax), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | argmin), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | argmax), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | first), empty_input);
  CHECK_THROWS_AS(run(from(nothing) | last), empty_input);
  CHECK(run(from(nothing) | min.or_else(7.f)) == 7.f);
  CHECK(run(from(nothing) | argmax.maybe()) == std::optional<i64>());
}

TEST_CASE("a range that a mask empties counts as empty") {
  std::vector<float> const x{1, 2};
  CHECK_THROWS_AS(run(from(x) | reduce(max.where(_1 > 5.f))), empty_input);
  CHECK(run(from(x) | reduce(max.where(_1 > 5.f).or_else(0.f))) == 0.f);
}

TEST_CASE("every error is a tally::error that knows its code, its sentence and its page") {
  std::vector<int> const nothing;
  try {
    run(from(nothing) | min);
    FAIL("no error");
  } catch (error const& e) {
    CHECK(e.code() == error_code::empty_input);
    CHECK(e.sentence() == "min(_1) met no element among 0.");
    CHECK(std::string(e.what()) == "[tally-E1] min(_1) met no element among 0. docs/errors.md#E1");
  }
}

TEST_CASE("a null pointer with a size is refused, with the size 0 it is an empty range") {
  float const* const null = nullptr;
  CHECK_THROWS_AS(run(from(device(null, 10)) | sum), null_column);
  CHECK_THROWS_AS(run(from(every(null, 10, 2)) | sum), null_column);
  CHECK(run(from(device(null, 0)) | sum) == 0.f);
}

TEST_CASE("columns of different lengths are refused, whichever is longer") {
  std::vector<float> const x(10), y(9);
  CHECK_THROWS_AS(run(from(x, y) | reduce(sum(_1 * _2))), extent_mismatch);
  CHECK_THROWS_AS(run(from(y, x) | reduce(count)), extent_mismatch);
  CHECK_THROWS_AS(run(from(x, iota(11)) | reduce(sum(_1))), extent_mismatch);
  CHECK_THROWS_AS(run(from(device(x.data(), -1)) | sum), extent_mismatch);
}

TEST_CASE("a stride of zero is refused as soon as it would read one element twice") {
  std::vector<float> const x(10);
  CHECK_THROWS_AS(run(from(every(x.data(), 10, 0)) | sum), zero_stride);
  CHECK(run(from(every(x.data(), 1, 0)) | sum) == 0.f);
}

TEST_CASE("nothing but NaN: sums and extremes are NaN, ignoring it leaves nothing to sum and no least number") {
  std::vector<float> const x(1000, not_a_number);
  CHECK(std::isnan(run(from(x) | sum)));
  CHECK(std::isnan(run(from(x) | min)));
  CHECK(std::isnan(run(from(x) | variance)));
  CHECK(run(from(x) | argmin) == 0);
  CHECK(run(from(x) | reduce(sum.ignoring_nan(), count_if(is_nan(_1)))) == std::tuple(0.f, i64(1000)));
  CHECK(std::isnan(run(from(x) | min.ignoring_nan())));
}

TEST_CASE("infinities and overflow follow IEEE 754") {
  float const infinity = std::numeric_limits<float>::infinity();
  std::vector<float> const x{infinity, 1.f, -infinity};
  CHECK(std::isnan(run(from(x) | sum)));
  CHECK(run(from(x) | minmax) == extent_of_values<float>{-infinity, infinity});
  std::vector<float> const huge(3, std::numeric_limits<float>::max());
  CHECK(run(from(huge) | sum) == infinity);
  CHECK(run(from(huge) | sum.in<double>()) == 3.0 * double(huge[0]));
}

TEST_CASE("more than 2^31 elements: positions and counts are 64 bits wide") {
  i64 const n = (i64(1) << 31) + 3;
  auto const [where, many] = run(from(iota(n)) | reduce(argmax, count_if(_1 >= (i64(1) << 31))));
  CHECK(where == n - 1);
  CHECK(many == 3);
  CHECK(run(from(iota(n)) | reduce(count)) == n);
}

TEST_CASE("a sum over 2^31 + 3 computed bytes is exact") {
  i64 const n = (i64(1) << 31) + 3;
  CHECK(run(from(iota(i8(1), n, i8(0))) | sum) == n);
}

TEST_CASE("without a GPU, on::gpu says why and on::any runs on the CPU") {
  std::vector<float> const x{1, 2};
  CHECK(run(from(x) | sum, on::any) == 3.f);
  if (gpu::device_count() == 0) {
    CHECK_THROWS_AS(run(from(x) | sum, on::gpu), no_gpu);
    CHECK(!gpu::why_no_device().empty());
  }
}

TEST_CASE("an exception of a host lambda comes out of run") {
  std::vector<int> const x(100'000, 1);
  auto const broken = from(x) | map([](int v) -> int { return v == 1 ? throw std::domain_error("one") : v; }) | reduce(sum);
  CHECK_THROWS_AS(run(broken), std::domain_error);
}
