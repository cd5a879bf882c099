// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_into with outputs in the memory of a GPU.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <span>

using namespace tally;

TEST_CASE("answers go to device memory, whatever the place they were computed at") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1000003);
  on_device const d(x);
  auto const expected = run(from(x) | reduce(sum, max, count), on::cpu);
  auto const into = [&](auto const& r, auto... options) {
    on_device<float> const totals({-1.f, -2.f, -3.f});
    on_device<i64> const n({-1});
    run_into(r, totals.data() + 1, totals.data() + 2, n.data(), options...);
    CHECK(totals.back() == std::vector<float>{-1.f, std::get<0>(expected), std::get<1>(expected)});
    CHECK(n.back()[0] == std::get<2>(expected));
  };
  into(from(device(d.data(), d.size())) | reduce(sum, max, count), on::gpu);
  into(from(device(d.data(), d.size())) | reduce(sum, max, count));
  into(from(x) | reduce(sum, max, count), on::gpu);
  into(from(x) | reduce(sum, max, count), on::cpu);
}

TEST_CASE("outputs of host and device in one call, wider types included") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(10007);
  on_device const d(x);
  on_device<double> const wide({0.0});
  float greatest = 0;
  run_into(from(device(d.data(), d.size())) | reduce(sum, max), wide.data(), greatest, on::gpu);
  CHECK(wide.back()[0] == double(run(from(x) | sum, on::cpu)));
  CHECK(greatest == run(from(x) | max, on::cpu));
}

TEST_CASE("nothing is written to a device when an answer is missing") {
  if (no_kernels()) return;
  on_device<float> const x({1.f, 2.f}), out({-1.f, -2.f});
  CHECK_THROWS_AS(run_into(from(device(x.data(), 2)) | filter(_1 > 5.f) | reduce(sum, max), out.data(), out.data() + 1), empty_input);
  CHECK(out.back() == std::vector<float>{-1.f, -2.f});
}

TEST_CASE("groups go to device memory, by their own kernel or over the host, with the bits of the CPU") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300 * 700);
  on_device const d(x);
  auto const rows = run(from(shaped(x, 300, 700)) | reduce(over<1>(sum, max)), on::cpu);
  auto const columns = run(from(shaped(x, 300, 700)) | reduce(over<0>(sum)), on::cpu);
  auto const total = run(from(x) | sum, on::cpu);
  auto const at = shaped(d.data(), 300, 700);
  auto const same = [](auto const& a, auto const& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  on_device<float> const sums(std::vector<float>(300, -1.f)), most(std::vector<float>(300, -1.f)), beside(std::vector<float>(700, -1.f)), one({-1.f});
  run_into(from(at) | reduce(over<1>(sum, max)), sums.data(), most.data(), on::gpu); // straight from the kernel
  CHECK(same(sums.back(), std::get<0>(rows)));
  CHECK(same(most.back(), std::get<1>(rows)));
  on_device<float> const again(std::vector<float>(300, -1.f)), wide_most(std::vector<float>(300, -1.f));
  run_into(from(at) | reduce(over<1>(sum, max)), again.data(), wide_most.data()); // where the columns are
  CHECK(same(again.back(), std::get<0>(rows)));
  run_into(from(at) | reduce(over<0>(sum), sum), beside.data(), one.data(), on::gpu);
  CHECK(same(beside.back(), columns));
  CHECK(one.back()[0] == total);
  on_device<double> const wide(std::vector<double>(700, -1.0));
  run_into(from(at) | reduce(over<0>(sum)), wide.data(), on::gpu); // another type: over the host
  CHECK(same(wide.back(), columns));
  std::vector<float> here(700, -1.f);
  run_into(from(at) | reduce(over<0>(sum)), here, on::gpu);
  CHECK(same(here, columns));
}

TEST_CASE("a device array is untouched when the span over it has another size") {
  if (no_kernels()) return;
  on_device<float> const x(std::vector<float>(12, 1.f)), out({-1.f, -2.f, -3.f});
  CHECK_THROWS_AS(run_into(from(shaped(x.data(), 3, 4)) | over<0>(sum), std::span(out.data(), 3), on::gpu), extent_mismatch);
  CHECK(out.back() == std::vector<float>{-1.f, -2.f, -3.f});
}
