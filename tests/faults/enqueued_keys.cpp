// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key that nobody waits for, from the host's side: what prepare makes ready, and what is launched, also under capture. The driver is
// made of host memory, so on every machine with NVRTC. What they compute is tests/gpu/enqueue_keys.cpp.
#include "faults/fake_driver.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using namespace tally::v0;

/// Keys and numbers in the memory of the device that the fake is, and streams of its own.
struct keys_there {
  static constexpr i64 most = 1 << 20;
  fake_driver& fake = fake_driver::in_place();
  gpu::device_memory numbers = gpu::allocate(most * sizeof(float), 0), keys = gpu::allocate(most * sizeof(i32), 0), out = gpu::allocate(1 << 16, 0);
  std::vector<std::string> launched;
  int streams[4]{}, *next_stream = streams;
  keys_there() {
    fake.kernel = [this](void**) { launched.push_back(fake.launched_name); };
  }
  ~keys_there() {
    fake.capturing = false;
    fake.kernel = [](void**) {};
  }
  template <class T>
  T* answers() {
    return static_cast<T*>(out.data());
  }
  auto both(i64 n) { return from(device(static_cast<float const*>(numbers.data()), n), device(static_cast<i32 const*>(keys.data()), n)); }
  /// Prepared, then queued under capture: it is never refused, launches so many kernels, and allocates nothing.
  template <class R, class T>
  void takes(R const& r, T* to, std::size_t launches) {
    auto const where = on::gpu.stream(next_stream++);
    auto const before = fake.allocated.size();
    launched.clear();
    fake.capturing = true;
    CHECK_THROWS_AS(enqueue(r, to, where), not_prepared);
    CHECK(launched.empty());
    fake.capturing = false;
    prepare(r, to, where);
    CHECK(launched.empty());
    auto const prepared = fake.allocated.size();
    CHECK(prepared > before);
    fake.capturing = true;
    enqueue(r, to, where);
    fake.capturing = false;
    CHECK(launched.size() == launches);
    CHECK(fake.allocated.size() == prepared);
  }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("enqueued keys: prepare makes tables and kernels ready, and then a stream under capture takes them") {
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    keys_there of;
    auto const pairs = of.both(of.most);
    // a table is emptied, folded into and read; elements are sorted in five steps and folded; rows are sorted, and their cells are three steps
    of.takes(from(device(static_cast<float const*>(of.numbers.data()), of.most)) | histogram(0.f, 1.f, 100), of.answers<i64>(), 3);
    of.takes(pairs | by_key(_2, 100, sum(_1)).dropping_strays(), of.answers<float>(), 3);
    of.takes(pairs | by_key(_2, 100, logsumexp(_1)).dropping_strays(), of.answers<float>(), 6);
    auto const rows = from(shaped(static_cast<float const*>(of.numbers.data()), 1 << 16, 16), along<0>(device(static_cast<i32 const*>(of.keys.data()), 1 << 16)));
    of.takes(rows | by_key<0>(_2, 1000, sum(_1)).dropping_strays(), of.answers<float>(), 8);
  }

  TEST_CASE("enqueued keys: clusters that keep slots together are as many as are resident at once") {
    if (!gpu::can_compile()) return;
    keys_there of;
    i64 const n = i64(1) << 24, bins = 1 << 20;
    auto const keys = gpu::allocate(static_cast<std::size_t>(n) * sizeof(i32), 0), counts = gpu::allocate(bins * sizeof(i64), 0);
    of.fake.launches.clear();
    enqueue(from(device(static_cast<i32 const*>(keys.data()), n)) | by_key(_1, bins, count).dropping_strays(), static_cast<i64*>(counts.data()));
    REQUIRE(of.fake.launches.size() == 3);
    CHECK(of.fake.launches[0].cluster == 1);
    CHECK(of.fake.launches[1].cluster == 8);
    CHECK(of.fake.launches[1].grid == 15 * 8);
    CHECK(of.fake.launches[2].cluster == 1);
  }

  TEST_CASE("enqueued keys: no elements take the answers of the identity, and no bins nothing") {
    if (!gpu::can_compile()) return;
    keys_there of;
    enqueue(of.both(0) | by_key(_2, 100, sum(_1)).dropping_strays(), of.answers<float>());
    CHECK(of.launched.size() == 1);
    enqueue(of.both(1000) | by_key(_2, 0, sum(_1)).dropping_strays(), of.answers<float>());
    CHECK(of.launched.size() == 1);
    std::vector<i32> const here(1000);
    CHECK_THROWS_AS(enqueue(from(here) | by_key(_1, 100, count).dropping_strays(), of.answers<i64>()), wrong_residence);
    CHECK_THROWS_AS(enqueue(of.both(1000) | by_key(_2, -1, sum(_1)).dropping_strays(), of.answers<float>()), extent_mismatch);
    CHECK(of.launched.size() == 1);
  }
}
