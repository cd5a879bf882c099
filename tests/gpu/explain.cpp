// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain and run_timed beside a real GPU: what was said is what is done.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

using namespace tally::v0;

TEST_CASE("a column in device memory sends on::any to its GPU, and explain says so") {
  if (no_kernels()) return;
  on_device<float> const x(uneven_numbers<float>(100'000));
  auto const e = explain(from(device(x.data(), x.size())) | sum);
  CHECK(e.details().on_gpu);
  CHECK_FALSE(e.details().sources[0].staged);
  CHECK(e.details().facts.target.multiprocessors == gpu::facts_of(0).multiprocessors);
  REQUIRE(e.details().why_not.size() > 0);
  CHECK(e.details().why_not[0].choice == "the CPU");
}

TEST_CASE("a column in host memory stays on the CPU under on::any and is shown as staged under on::gpu") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(100'000);
  CHECK_FALSE(explain(from(x) | sum).details().on_gpu);
  auto const e = explain(from(device(x.data() + 1, 99'999)) | sum, on::gpu);
  CHECK(e.details().sources[0].staged);
  CHECK(e.details().planned.plan.sources[0].load == load_primitive::vector_ldg); // the copy is aligned
}

TEST_CASE("run_timed on a GPU has the bits of run, a time of the device, and a rate below the chip's") {
  if (no_kernels()) return;
  on_device<float> const x(uneven_numbers<float>(std::size_t(1) << 24));
  auto const r = from(device(x.data(), x.size())) | reduce(sum, max);
  (void)run(r);
  auto const timed = run_timed(r);
  CHECK(same_bits(timed.answers, run(r, on::gpu)));
  auto const& d = timed.explained.details();
  CHECK(d.measured_seconds > 0);
  CHECK(d.measured_seconds <= d.whole_seconds);
  CHECK(d.measured_seconds > 0.5 * double(d.bytes_read()) / d.facts.target.read_bytes_per_second);
  MESSAGE(timed.explained.text());
}

TEST_CASE("wide states that take turns in one room under fast agree with the tree") {
  if (no_kernels()) return;
  on_device<double> const x(uneven_numbers<double>(300'001)), y(uneven_numbers<double>(300'001, 2));
  auto const r = from(device(x.data(), x.size()), device(y.data(), y.size())) |
                 reduce(moments<4>(_1), moments<4>(_2), covariance(_1, _2), variance(_1), variance(_2), sum(_1));
  auto const kept = run(r, on::gpu);
  auto const quick = run(r, on::gpu, fast);
  auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-9 * (1 + std::abs(a)); };
  CHECK(near(std::get<2>(kept), std::get<2>(quick)));
  CHECK(near(std::get<3>(kept), std::get<3>(quick)));
  CHECK(near(std::get<4>(kept), std::get<4>(quick)));
  CHECK(near(std::get<5>(kept), std::get<5>(quick)));
  CHECK(near(std::get<0>(kept).mean, std::get<0>(quick).mean));
  CHECK(near(std::get<1>(kept).mean, std::get<1>(quick).mean));
}
