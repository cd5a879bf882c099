// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb start: a reduction that goes on while the caller does something else.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace tally::v0;

TEST_CASE("start gives what run gives, later") {
  std::vector<float> x(300001);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 1000) * 0.37f;
  auto const r = from(x) | reduce(sum, mean, max, argmax);
  auto const expected = run(r, on::cpu);
  auto const on_its_way = start(r);
  auto const on_two_threads = start(r, on::cpu.threads(2));
  CHECK((on_two_threads.get() == expected));
  CHECK(on_two_threads.ready());
  CHECK((on_its_way.get() == expected));
  CHECK((on_its_way.get() == expected)); // once more
}

TEST_CASE("start does not wait for the read") {
  std::atomic<bool> go{false};
  auto const slow = [&](float v) {
    while (!go)
      std::this_thread::yield();
    return v;
  };
  std::vector<float> const x{1.f, 2.f};
  auto const total = start(from(x) | map(slow) | sum);
  CHECK_FALSE(total.ready());
  go = true;
  CHECK(total.get() == 3.f);
  CHECK(total.ready());
}

TEST_CASE("a pending answer moves, and its destructor waits") {
  std::atomic<int> seen{0};
  std::vector<float> const x(5, 1.f);
  {
    auto const counted = [&](float v) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++seen;
      return v;
    };
    auto a = start(from(x) | map(counted) | sum);
    auto b = std::move(a);
    CHECK_FALSE(bool(a));
    CHECK(bool(b));
    pending<float> c;
    CHECK_THROWS_AS(c.get(), std::logic_error);
    c = std::move(b);
  }
  CHECK(seen >= 5);
}

TEST_CASE("what is wrong with the input is thrown at once") {
  std::vector<float> const x{1.f, 2.f}, y{1.f};
  CHECK_THROWS_AS((void)start(from(x, y) | sum(_1 * _2)), extent_mismatch);
  CHECK_THROWS_AS((void)start(from(device(static_cast<float*>(nullptr), 3)) | sum), null_column);
}

TEST_CASE("what is found out by reading is thrown by get, every time") {
  std::vector<float> const nothing;
  std::vector<i64> const large(3, std::numeric_limits<i64>::max());
  auto const empty = start(from(nothing) | min);
  CHECK_THROWS_AS((void)empty.get(), empty_input);
  CHECK_THROWS_AS((void)empty.get(), empty_input);
  CHECK_THROWS_AS((void)start(from(large) | sum.checked()).get(), overflow);
  std::vector<float> const x{1.f};
  auto const throwing = start(from(x) | map([](float v) -> float { return v > 0 ? throw std::runtime_error("host") : v; }) | sum);
  CHECK_THROWS_WITH((void)throwing.get(), "host");
}

TEST_CASE("a count alone has nothing to read") {
  std::vector<float> const x(7);
  CHECK(start(from(x) | count).get() == 7);
}

TEST_CASE("a GPU that is not there is an error") {
  if (gpu::device_count() > 0) return;
  std::vector<float> const x{1.f, 2.f};
  CHECK_THROWS_AS((void)start(from(x) | sum, on::gpu), no_gpu);
}
