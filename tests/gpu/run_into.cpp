// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run_into with outputs in the memory of a GPU.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

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
