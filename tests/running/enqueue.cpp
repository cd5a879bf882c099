// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs enqueue and prepare as far as there need be no GPU: what they take, and what is told before anything is queued. What they
// compute is in tests/gpu/enqueue.cpp.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tally::v0;

namespace {

template <class R, class... Arguments>
constexpr bool takes(R const&, Arguments...) {
  return detail::enqueueable<R, Arguments&...>;
}

} // namespace

TEST_CASE("a pointer to the type of each answer, and a GPU as the place") {
  std::vector<float> x(12);
  std::vector<int> const offsets{0, 12};
  float* f = x.data();
  i64* n = nullptr;
  CHECK(takes(from(x) | sum, f));
  CHECK(takes(from(x) | reduce(sum, count), f, n, on::gpu(0).stream(nullptr), fast));
  CHECK(takes(from(shaped(x, 3, 4)) | over<1>(mean, argmax), f, n, exact));
  CHECK(takes(from(x) | by_segment(offsets, sum, count), f, n));
  CHECK_FALSE(takes(from(x) | reduce(sum, count), f));
  CHECK_FALSE(takes(from(x) | sum, n));
  CHECK_FALSE(takes(from(x) | sum, f, on::cpu));
  CHECK_FALSE(takes(from(x) | max.maybe(), f));
  CHECK_FALSE(takes(from(x) | sum(cast<i64>(_1)).checked(), n));
  CHECK_FALSE(takes(from(x) | by_key(cast<int>(_1), 4, sum(_1)), f));
  CHECK(takes(from(shaped(x, 3, 4)) | reduce(over<1>(sum), count, over<0>(mean, argmax), max), f, n, f, n, f));
  CHECK_FALSE(takes(from(shaped(x, 3, 4)) | reduce(over<1>(sum), count, over<0>(mean, argmax), max), f, n, f, n));
  CHECK_FALSE(takes(from(shaped(x, 3, 4)) | reduce(over<1>(sum), count, over<0>(mean, argmax), max), f, f, f, n, f));
  CHECK_FALSE(takes(from(shaped(x, 3, 4)) | reduce(over<1>(sum), max.maybe()), f, f));
  CHECK_FALSE(takes(from(x, x) | reduce(sum(_1), by_key(cast<int>(_2), 4, sum(_1))), f, f));
}

TEST_CASE("what is wrong is told at once") {
  std::vector<float> const x(12), y(11);
  float* nowhere = nullptr;
  float total = -1.f;
  CHECK_THROWS_AS(enqueue(from(x) | sum, nowhere), null_column);
  CHECK_THROWS_AS(enqueue(from(x, y) | sum(_1 * _2), &total), extent_mismatch);
  if (gpu::device_count() == 0)
    CHECK_THROWS_AS(prepare(from(x) | sum, &total), no_gpu);
  else
    CHECK_THROWS_AS(prepare(from(x) | sum, &total), wrong_residence);
  CHECK(total == -1.f);
}

TEST_CASE("as many segments as are counted") {
  std::vector<float> const x{1, 2, 3, 4, 5, 6};
  std::vector<int> const offsets{0, 2, 2, 5, 6};
  int n = 2;
  auto const r = from(x) | by_segment(offsets, sum).as_many_as(&n);
  auto const two = run(r, on::cpu);
  CHECK(std::vector<float>(two.begin(), two.end()) == std::vector<float>{3, 0});
  n = 4;
  CHECK(run(r, on::cpu).size() == 4);
  n = 0;
  CHECK(run(r, on::cpu).size() == 0);
  n = 5;
  CHECK_THROWS_WITH_AS(run(r, on::cpu), "[tally-E20] 5 segments are counted, and there are offsets for 4. docs/errors.md#E20", bad_offsets);
  n = -1;
  CHECK_THROWS_AS(run(r, on::cpu), bad_offsets);
}
