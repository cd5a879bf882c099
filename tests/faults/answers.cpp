// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the answers of a run come to the host: few are written there by the kernels, many are copied. The driver is made of host memory and
// the kernels are host functions, so on every machine with NVRTC. What it takes is tests/bench/answers.cpp.
#include "faults/fake_driver.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

using namespace tally::v0;

/// Rows of two floats in the memory of the device that the fake is, whose kernel gives row g the answers g and -g.
struct rows_there {
  static constexpr i64 rows = 1 << 18, width = 2;
  fake_driver& fake = fake_driver::in_place();
  gpu::device_memory memory = gpu::allocate(std::size_t(rows * width) * sizeof(float), 0);
  std::size_t allocated_by_run = 0;
  rows_there() {
    std::size_t const before = fake.allocated.size();
    fake.kernel = [this, before](void** arguments) {
      allocated_by_run = fake.allocated.size() - before;
      i64 const groups = static_cast<axes_layout const*>(arguments[1])->groups;
      auto const& to = *static_cast<answer_arrays const*>(arguments[4]);
      for (i64 g = 0; g < groups; ++g) static_cast<float*>(to.at[0])[g] = float(g), static_cast<float*>(to.at[1])[g] = -float(g);
    };
  }
  ~rows_there() {
    fake.kernel = [](void**) {};
  }
  auto run_of(i64 n) { return run(from(shaped(static_cast<float const*>(memory.data()), n, width)) | over<1>(sum, min), on::gpu); }
  bool is_right(i64 n) {
    auto const [up, down] = run_of(n);
    bool right = true;
    for (i64 g = 0; g < n; ++g) right = right && up[std::size_t(g)] == float(g) && down[std::size_t(g)] == -float(g);
    return right;
  }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("answers: up to 1 MiB a run needs no memory of the device, and more is in one piece") {
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    rows_there of;
    for (i64 const n : {i64(1), i64(5), i64(1000), planning::bytes_written_home / 8}) {
      CAPTURE(n);
      CHECK(of.is_right(n));
      CHECK(of.allocated_by_run == 0);
    }
    for (i64 const n : {planning::bytes_written_home / 8 + 1, of.rows}) {
      CAPTURE(n);
      CHECK(of.is_right(n));
      CHECK(of.allocated_by_run == 1);
    }
  }

  TEST_CASE("answers: groupings are all queued before one is waited for, unless their columns are on the way") {
    if (!gpu::can_compile()) return;
    auto& fake = fake_driver::in_place();
    std::vector<int> asked; // how often the host has looked at the stream before each launch
    fake.kernel = [&](void**) { asked.push_back(fake.queries); };
    auto const memory = gpu::allocate(3000 * sizeof(float), 0);
    auto const folds = reduce(over<0>(sum), over<1>(sum, max), sum, histogram(0.f, 1.f, 10));
    (void)run(from(shaped(static_cast<float const*>(memory.data()), 100, 30)) | folds, on::gpu);
    CHECK(asked.size() > 4);
    CHECK(asked.front() == asked.back());
    asked.clear();
    std::vector<float> const here(3000);
    (void)run(from(shaped(here, 100, 30)) | folds, on::gpu);
    CHECK(asked.size() > 4);
    CHECK(asked.front() < asked.back());
    fake.kernel = [](void**) {};
  }

  TEST_CASE("answers: memory that a stream may still write goes back when the stream has passed, however it is left") {
    if (!gpu::can_compile()) return;
    rows_there of;
    auto& fake = of.fake;
    int stream = 0;
    auto const looks = [&](auto const& at_scope) {
      int const before = fake.queries;
      at_scope();
      return fake.queries - before;
    };
    CHECK(looks([&] { gpu::readback const r(64, 0, {&stream}); }) == 1);
    CHECK(looks([&] {
            gpu::readback r(64, 0, {&stream});
            CHECK(r.wait() == r.wait());
          }) == 1);
    CHECK(looks([&] {
            gpu::readback r(64, 0, {&stream});
            CHECK(r.come() != nullptr);
          }) == 0);
    CHECK(looks([&] {
            gpu::readback r(64, 0, {&stream}), other(64, 0, {&stream});
            (void)r.wait();
            other = std::move(r); // each memory keeps whether it was waited for
            CHECK(looks([&] { (void)other.wait(); }) == 0);
          }) == 2);
    CHECK(looks([] { gpu::readback const none; }) == 0);
    fake.kernel = [](void**) {};
    auto const column = from(device(static_cast<float const*>(of.memory.data()), of.rows)), large = from(device(static_cast<float const*>(of.memory.data()), i64(1) << 20));
    auto const launches_twice = [&](auto const& several) {
      (void)run(several, on::gpu);
      fake.answers["launch"] = {0, 719}; // the first is queued, the second fails
      CHECK(looks([&] { CHECK_THROWS_AS(run(several, on::gpu), error); }) >= 1);
      fake.answers.erase("launch");
    };
    launches_twice(batch(large | sum, large | max));
    launches_twice(batch(column | sum, column | max, large | sum)); // two share a launch
  }

  TEST_CASE("answers: a run under capture, no page-locked memory, a launch that fails and a device that breaks are errors, and the next run works") {
    if (!gpu::can_compile()) return;
    rows_there of;
    auto& fake = of.fake;
    CHECK(of.is_right(1000));
    auto const before = fake.allocated.size();
    for (i64 const n : {i64(1000), of.rows}) {
      CAPTURE(n);
      fake.capturing = true;
      CHECK_THROWS_AS(of.run_of(n), not_prepared);
      fake.capturing = false;
      fake.answers["launch"] = {701};
      CHECK_THROWS_AS(of.run_of(n), launch_failed);
      fake.answers["stream_query"] = {700};
      CHECK_THROWS_AS(of.run_of(n), device_lost);
      fake.answers.clear();
      CHECK(of.is_right(n));
      CHECK(fake.allocated.size() == before);
    }
    fake.answers["host_allocate"] = {2};
    std::vector<gpu::result_slot> all; // until a block is wanted
    CHECK_THROWS_AS([&] {
      for (int i = 0; i < 10'000; ++i) all.push_back(gpu::take_result_slot(0, 8000));
    }(), out_of_memory);
    fake.answers["host_allocate"] = {2};
    CHECK_THROWS_AS(of.run_of(1000), out_of_memory);
    all.clear();
    CHECK(of.is_right(1000));
  }
}
