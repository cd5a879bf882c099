// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Input that no pipeline should be given, and input that looks wrong and is not: a typed error that names the column and
// both numbers, or the documented answer; never a crash, a hang or a wrong number.
#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <limits>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <vector>

using namespace tally::v0;
using testing::same_bits;

namespace {

/// n zeros that take no memory until they are written to.
class zeros {
public:
  explicit zeros(i64 n)
      : n_(static_cast<std::size_t>(n)),
        at_(mmap(nullptr, n_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  zeros(zeros const&) = delete;
  zeros& operator=(zeros const&) = delete;
  ~zeros() {
    if (ok()) munmap(at_, n_);
  }
  bool ok() const { return at_ != MAP_FAILED; }
  u8* data() const { return static_cast<u8*>(at_); }

private:
  std::size_t n_;
  void* at_;
};

/// Every verb that reads must say the same about its input.
template <class Error, class R>
void every_verb_throws(R const& r, char const* what) {
  CHECK_THROWS_WITH_AS(run(r), what, Error);
  CHECK_THROWS_WITH_AS(run(r, on::cpu.threads(2), fast), what, Error);
  CHECK_THROWS_WITH_AS(start(r, on::cpu), what, Error);
  CHECK_THROWS_WITH_AS(partial(r), what, Error);
  CHECK_THROWS_WITH_AS(explain(r, targets::h200), what, Error);
}

} // namespace

TEST_CASE("an empty range is no error, for folds that have an answer for it") {
  std::vector<double> const nothing;
  auto const [s, p, n, a, m] = run(from(nothing) | reduce(sum, product, count, all(_1 > 0.0), max.maybe()));
  CHECK(s == 0.0);
  CHECK(p == 1.0);
  CHECK(n == 0);
  CHECK(a);
  CHECK_FALSE(m.has_value());
  CHECK(run(from(device(static_cast<double const*>(nullptr), 0)) | sum) == 0.0);
  CHECK(run(from(every(static_cast<double const*>(nullptr), 0, 0)) | sum) == 0.0);
  CHECK(run(from(iota(0)) | sum) == 0);
}

TEST_CASE("an empty range is error E1 for folds that have none, and the error names the fold") {
  std::vector<double> const nothing;
  CHECK_THROWS_WITH_AS(run(from(nothing) | reduce(sum, argmin)),
                       "[tally-E1] argmin(_1) met no element among 0. docs/errors.md#E1", empty_input);
  try {
    run(from(nothing) | max);
    FAIL("no error");
  } catch (error const& e) {
    CHECK(e.code() == error_code::empty_input);
    CHECK(e.sentence() == "max(_1) met no element among 0.");
  }
}

TEST_CASE("a null pointer with a size is error E3") {
  CHECK_THROWS_WITH_AS(run(from(device(static_cast<float const*>(nullptr), 5)) | sum),
                       "[tally-E3] column _1 is a null pointer with 5 elements. docs/errors.md#E3", null_column);
  std::vector<float> const x(5);
  CHECK_THROWS_AS(run(from(x, every(static_cast<int const*>(nullptr), 5, 2)) | sum(_1 * _2)), null_column);
}

TEST_CASE("columns of different length are error E2, with both lengths") {
  std::vector<float> const x(1000), y(999);
  every_verb_throws<extent_mismatch>(from(x, y) | sum(_1 * _2),
                                     "[tally-E2] column _2 has 999 elements, column _1 has 1000. docs/errors.md#E2");
  CHECK_THROWS_AS(run(from(x, iota(1001)) | sum(_1 * _2)), extent_mismatch);
  std::vector<float> const nothing;
  CHECK_THROWS_AS(run(from(nothing, x) | sum(_1 * _2)), extent_mismatch);
  CHECK_THROWS_AS(run(from(x, y) | count), extent_mismatch);
}

TEST_CASE("a negative length is error E2") {
  std::vector<float> const x(5);
  CHECK_THROWS_WITH_AS(run(from(device(x.data(), -3)) | sum),
                       "[tally-E2] column _1 has a negative extent, -3. docs/errors.md#E2", extent_mismatch);
  CHECK_THROWS_AS(run(from(iota(-1)) | sum), extent_mismatch);
}

TEST_CASE("a stride of zero over several elements is error E4") {
  std::vector<float> const x(5);
  CHECK_THROWS_WITH_AS(run(from(every(x.data(), 5, 0)) | sum),
                       "[tally-E4] column _1 has a stride of 0 over 5 elements. docs/errors.md#E4", zero_stride);
  CHECK(run(from(every(x.data(), 1, 0)) | count_if(_1 == 0.f)) == 1); // one element is nowhere but at its start
}

TEST_CASE("counting modulo 0 is error E19, wherever in a formula") {
  std::vector<float> const x(5), nothing;
  char const* const what = "[tally-E19] a fold counts modulo 0. docs/errors.md#E19";
  every_verb_throws<zero_modulus>(from(x) | count_modulo(0), what);
  every_verb_throws<zero_modulus>(from(nothing) | reduce(sum, count_modulo(7) - countdown_modulo(0).where(_1 > 0.f)), what);
  CHECK(run(from(x) | count_modulo(1)) == 0u);
}

TEST_CASE("NaN everywhere: every fold answers what is documented") {
  float const quiet = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t n : {1u, 31u, 1024u, 70001u}) {
    std::vector<float> const x(n, -quiet);
    auto const [s, p, both, where, m, v, l, largest, n_positive, n_nan] =
        run(from(x) | reduce(sum, product, minmax, argmin, mean, variance, logsumexp, norm_inf, count_if(_1 > 0.f),
                             count_if(is_nan(_1))));
    for (float each : {s, p, both.min, both.max, m, v, l, largest}) CHECK(same_bits(each, quiet));
    CHECK(where == 0);
    CHECK(n_positive == 0);
    CHECK(n_nan == i64(n));
    auto const ignoring =
        run(from(x) | reduce(sum.ignoring_nan(), max.ignoring_nan(), argmax.ignoring_nan().maybe(), mean.ignoring_nan()));
    CHECK(same_bits(ignoring, std::tuple(0.f, quiet, std::optional<i64>(), quiet)));
  }
}

TEST_CASE("2^31 + 3 elements are counted, summed and found at their places") {
  i64 const n = (i64(1) << 31) + 3;
  zeros const x(n);
  if (!x.ok()) {
    MESSAGE("skipped: no address space for 2 GiB");
    return;
  }
  for (i64 at : {i64(0), (i64(1) << 31) - 1, i64(1) << 31, n - 1}) x.data()[at] = 200;
  x.data()[n - 2] = 201;
  auto const [s, where, n_large] = run(from(device(x.data(), n)) | reduce(sum, argmax, count_if(_1 >= 200)));
  CHECK(s == 1001);
  CHECK(where == n - 2);
  CHECK(n_large == 5);
  CHECK(run(from(iota(n)) | max) == n - 1);
}

TEST_CASE("an exception of a host function comes out of run, and the next run is as good as the first") {
  std::vector<float> x(300000, 1.f);
  x[200000] = -1.f;
  auto const root = [](float v) { return v < 0 ? throw std::domain_error("a negative number") : v; };
  for (int threads : {1, 3}) {
    CHECK_THROWS_WITH_AS(run(from(x) | map(root) | sum, on::cpu.threads(threads)), "a negative number", std::domain_error);
    CHECK(run(from(x) | filter(_1 > 0.f) | map(root) | sum, on::cpu.threads(threads)) == 299999.f);
  }
}
