// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the doors to devices do when the driver answers badly, and the accounts they keep: seen through a driver made of
// host memory, so on every machine.
#include "faults/child.hpp"
#include "faults/fake_driver.hpp"

#include <tally/base/error.hpp>
#include <tally/plan/targets.hpp>
#include <tally/run/device.hpp>
#include <tally/run/gpu_door.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace {

using namespace tally::v0;

std::vector<char> pattern(std::size_t bytes) {
  std::vector<char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>((i * 2654435761u) >> 13);
  return data;
}

gpu::unit tiny_unit(std::string const& name = "tiny") {
  gpu::unit u;
  u.definitions = "__global__ void " + name + "(int* p) { *p = 1; }";
  u.name_expression = name;
  return u;
}

std::string message_of(auto&& call) {
  try {
    call();
  } catch (error const& e) { return e.what(); }
  return "nothing was thrown";
}

constexpr int broken = 700, out_of_device_memory = 2;

} // namespace

TEST_CASE("a driver's bad answers become typed errors and cost nothing afterwards") {
  auto const result = run_suite("fake driver", "TALLY_CACHE_DIR=");
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("| 0 passed") == std::string::npos);
}

TEST_CASE("a driver without NVRTC throws no_nvrtc when a kernel is wanted") {
  auto const result = run_suite("fake driver without NVRTC", "TALLY_CACHE_DIR= TALLY_NVRTC_LIBRARY=/nowhere");
  INFO(result.output);
  CHECK(result.status == 0);
}

TEST_SUITE("fake driver without NVRTC" * doctest::skip()) {
  TEST_CASE("load throws no_nvrtc, and device memory still works") {
    fake_driver::in_place();
    CHECK_THROWS_AS(gpu::load(tiny_unit(), 0), no_nvrtc);
    CHECK(gpu::allocate(100, 0).data() != nullptr);
  }
}

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("facts are those of the driver, and an ordinal beyond the devices is named with their number") {
    fake_driver::in_place();
    CHECK(gpu::device_count() == 2);
    CHECK(gpu::why_no_device().empty());
    auto const& facts = gpu::facts_of(1);
    CHECK(facts.ordinal == 1);
    CHECK(facts.compute_major == 9);
    CHECK(facts.multiprocessors == 132);
    CHECK(facts.shared_bytes_per_block_optin == 232448);
    CHECK(facts.max_cluster == 8);
    CHECK(facts.most_cluster == 16);
    CHECK(facts.memory_bytes_per_second == doctest::Approx(4.917e12).epsilon(0.001)); // of an H200
    CHECK(gpu::target_of(1).read_bytes_per_second == targets::part_of_rate_read * facts.memory_bytes_per_second);
    CHECK(facts.name == "fake");
    CHECK(&facts == &gpu::facts_of(1));
    CHECK(message_of([] { gpu::facts_of(2); }) ==
          "[tally-E7] device 2 was asked for, and there are 2. docs/errors.md#E7");
    CHECK_THROWS_AS(gpu::wait(-1), no_gpu);
  }

  TEST_CASE("a chip that has no place for clusters of 16 blocks takes smaller ones, or a pass for each let") {
    if (!gpu::can_compile()) return;
    auto& fake = fake_driver::in_place();
    std::vector<float> const x(300'000);
    std::vector<float> out(x.size());
    auto const cluster_of = [&](i64 n) {
      fake.launches.clear();
      auto const source = from(shaped(x.data(), i64(1), n));
      run_into(source | map(_1 - let(source | over<1>(mean))) | collect, std::span(out.data(), static_cast<std::size_t>(n)), on::gpu);
      return fake.launches.back().cluster;
    };
    CHECK(cluster_of(262'144) == 16);
    CHECK(fake.any_cluster_size == 1);
    fake.large_clusters = 0;
    CHECK(cluster_of(262'144) == 8);
    CHECK(fake.launches.size() == 1);
    CHECK(cluster_of(300'000) <= 1);
    CHECK(fake.launches.size() == 2);
    fake.large_clusters = 7;
  }

  TEST_CASE("a caller's current context is the same before and after every door") {
    fake_driver::in_place();
    int theirs = 0;
    auto& stack = fake_driver::contexts_of_thread();
    stack.push_back(&theirs);
    gpu::workspace(0, {}, 100);
    gpu::wait(1);
    { auto const memory = gpu::allocate(100, 1); }
    CHECK_THROWS_AS(gpu::workspace(2, {}, 100), no_gpu);
    REQUIRE(stack.size() == 1);
    CHECK(stack.back() == &theirs);
    stack.clear();
  }

  TEST_CASE("a workspace is cleared once, kept as it was left, and its old address stays good when it grows") {
    auto& fake = fake_driver::in_place();
    auto* const first = static_cast<char*>(gpu::workspace(0, {}, 1000));
    CHECK(std::all_of(first, first + 1000, [](char c) { return c == 0; }));
    first[7] = 1;
    fake.clears = 0;
    CHECK(gpu::workspace(0, {}, 1000) == first);
    CHECK(first[7] == 1);
    CHECK(fake.clears == 0);
    auto* const larger = static_cast<char*>(gpu::workspace(0, {}, 3'000'000));
    CHECK(larger != first);
    CHECK(larger[7] == 0);
    CHECK(larger[2'999'999] == 0);
    CHECK(first[7] == 1);
    CHECK(gpu::workspace(0, {}, 1000) == larger);
    CHECK(gpu::workspace(1, {}, 1000) != larger);
  }

  TEST_CASE("each stream has its own workspace, and a new stream at an old address waits for the old one's work") {
    auto& fake = fake_driver::in_place();
    int a = 0, b = 0;
    fake.stream_ids = {{&a, 11}, {&b, 12}};
    auto* const of_a = gpu::workspace(0, {&a}, 100);
    CHECK(gpu::workspace(0, {&b}, 100) != of_a);
    CHECK(gpu::workspace(0, {&a}, 100) == of_a);
    CHECK(fake.synchronisations == 0);
    fake.stream_ids[&a] = 13;
    CHECK(gpu::workspace(0, {&a}, 100) == of_a);
    CHECK(fake.synchronisations == 1);
    CHECK(gpu::workspace(0, {&a}, 100) == of_a);
    CHECK(fake.synchronisations == 1);
    fake.capturing = true; // a captured stream may not be asked for its number: a real driver ends the capture
    CHECK(gpu::workspace(0, {&a}, 100) == of_a);
    CHECK_THROWS_AS(gpu::workspace(0, {&a}, std::size_t{1} << 30), not_prepared);
    fake.capturing = false;
    fake.stream_ids[&a] = 14;
    CHECK(gpu::workspace(0, {&a}, 100) == of_a);
    CHECK(fake.synchronisations == 2);
  }

  TEST_CASE("the stream per thread is a stream per thread") {
    auto& fake = fake_driver::in_place();
    auto* const per_thread = reinterpret_cast<void*>(2);
    fake.stream_ids[per_thread] = 100;
    auto* const here = gpu::workspace(0, {per_thread}, 100);
    fake.stream_ids[per_thread] = 101;
    auto* const there = gpu::workspace(0, {per_thread}, 100);
    CHECK(there != here);
    fake.stream_ids[per_thread] = 100;
    CHECK(gpu::workspace(0, {per_thread}, 100) == here);
  }

  TEST_CASE("a workspace that does not fit is out_of_memory, and the next one works") {
    auto& fake = fake_driver::in_place();
    fake.answers["allocate"] = {out_of_device_memory};
    CHECK_THROWS_AS(gpu::workspace(0, {}, std::size_t{1} << 27), out_of_memory);
    auto const before = fake.allocated.size();
    fake.answers["fill"] = {broken};
    CHECK_THROWS_AS(gpu::workspace(0, {}, std::size_t{1} << 27), device_lost);
    CHECK(fake.allocated.size() == before);
    CHECK(gpu::workspace(0, {}, std::size_t{1} << 25) != nullptr);
  }

  TEST_CASE("result slots are aligned, apart from each other, and come back without the driver") {
    auto& fake = fake_driver::in_place();
    auto first = gpu::take_result_slot(0, 8);
    auto const second = gpu::take_result_slot(0, 8);
    CHECK(first.bytes() == 64);
    CHECK(reinterpret_cast<std::uintptr_t>(first.host()) % 64 == 0);
    CHECK(first.host() != second.host());
    CHECK(first.device() != nullptr);
    auto* const place = first.host();
    auto moved = std::move(first);
    CHECK(first.host() == nullptr);
    CHECK(moved.host() == place);
    moved = gpu::result_slot();
    fake.host_allocations = 0;
    fake.answers["host_allocate"] = {out_of_device_memory};
    CHECK(gpu::take_result_slot(0, 64).host() == place);
    CHECK(fake.host_allocations == 0);
    CHECK_THROWS_AS(gpu::take_result_slot(0, 100'000), out_of_memory);
    CHECK(gpu::take_result_slot(0, 100'000).bytes() == 131072);
    CHECK_THROWS_AS(gpu::take_result_slot(0, ~std::size_t{0}), out_of_memory);
  }

  TEST_CASE("more slots than a block holds are all different") {
    fake_driver::in_place();
    std::vector<gpu::result_slot> slots;
    for (int i = 0; i < 3000; ++i) slots.push_back(gpu::take_result_slot(1, 100));
    std::vector<void*> places;
    for (auto const& slot : slots) places.push_back(slot.host());
    std::sort(places.begin(), places.end());
    CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
  }

  TEST_CASE("staged memory holds the input, at every odd size and misalignment") {
    fake_driver::in_place();
    auto const data = pattern(21'000'003);
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{3}, std::size_t{65536}, std::size_t{65537},
                                    std::size_t{4} << 20, (std::size_t{4} << 20) + 1, std::size_t{20'999'999}})
      for (std::size_t const skip : {0u, 1u, 4u}) {
        CAPTURE(bytes);
        auto const memory = gpu::stage(data.data() + skip, bytes, 0);
        CHECK(memory.bytes() == bytes);
        CHECK(std::memcmp(memory.data(), data.data() + skip, bytes) == 0);
      }
    CHECK(gpu::stage(nullptr, 0, 0).data() == nullptr);
  }

  TEST_CASE("page-locked input is not copied twice") {
    auto& fake = fake_driver::in_place();
    auto const slot = gpu::take_result_slot(0, 1 << 20);
    std::memset(slot.host(), 5, 1 << 20);
    fake.host_memory.insert(slot.host());
    fake.copies_from_host = 0;
    CHECK(gpu::residence_of(slot.host()) == gpu::residence::pinned);
    auto const memory = gpu::stage(slot.host(), 1 << 20, 0);
    CHECK(fake.copies_from_host == 0);
    CHECK(static_cast<char*>(memory.data())[(1 << 20) - 1] == 5);
  }

  TEST_CASE("a transfer that fails half way is an error, gives its memory back, and the next one works") {
    auto& fake = fake_driver::in_place();
    auto const data = pattern(40'000'000);
    auto const before = fake.allocated.size();
    for (auto const* call : {"copy_from_host", "event_record"}) {
      CAPTURE(call);
      fake.answers[call] = {0, 0, 0, broken};
      CHECK_THROWS_AS(gpu::stage(data.data(), data.size(), 0), device_lost);
      CHECK(fake.allocated.size() == before);
    }
    fake.answers.clear();
    fake.answers["push"] = {201};
    CHECK_THROWS_AS(gpu::stage(data.data(), data.size(), 0), error);
    fake.answers.clear();
    auto const memory = gpu::stage(data.data(), data.size(), 0);
    CHECK(std::memcmp(memory.data(), data.data(), data.size()) == 0);
  }

  TEST_CASE("no page-locked memory is out_of_memory") {
    auto& fake = fake_driver::in_place();
    auto const data = pattern(100'000);
    fake.answers["host_allocate"] = {out_of_device_memory};
    CHECK_THROWS_AS(gpu::stage(data.data(), data.size(), 1), out_of_memory);
    CHECK(std::memcmp(gpu::stage(data.data(), data.size(), 1).data(), data.data(), data.size()) == 0);
  }

  TEST_CASE(
      "an allocation that does not fit is tried again after idle memory was given back, then names both numbers") {
    auto& fake = fake_driver::in_place();
    fake.answers["pool_allocate"] = {out_of_device_memory};
    CHECK(gpu::allocate(5000, 0).data() != nullptr);
    CHECK(fake.trims == 1);
    fake.answers["pool_allocate"] = {out_of_device_memory, out_of_device_memory};
    CHECK(message_of([] { gpu::allocate(5000, 0); }) ==
          "[tally-E12] 5000 bytes do not fit on device 0, where 1000 of 2000 are free. docs/errors.md#E12");
  }

  TEST_CASE("device memory is given back exactly once, through every move") {
    auto& fake = fake_driver::in_place();
    auto const before = fake.allocated.size();
    {
      auto a = gpu::allocate(100, 0);
      auto b = gpu::allocate(200, 0);
      CHECK(fake.allocated.size() == before + 2);
      CHECK(gpu::residence_of(static_cast<char*>(b.data()) + 199) == gpu::residence::device);
      a = std::move(b);
      CHECK(a.bytes() == 200);
      auto c = std::move(a);
      CHECK(a.data() == nullptr);
    }
    CHECK(fake.allocated.size() == before);
  }

  TEST_CASE("a wait asks again until the stream is idle, and a broken device is device_lost") {
    auto& fake = fake_driver::in_place();
    fake.busy_queries = 5;
    CHECK_FALSE(gpu::ready(0));
    gpu::wait(0);
    CHECK(fake.waits == 0);
    CHECK(gpu::ready(0));
    fake.busy_queries = 1 << 30;
    gpu::wait(0);
    CHECK(fake.waits == 1);
    for (int const answer : {700, 715, 716, 719, 214, 709}) {
      CAPTURE(answer);
      fake.answers["stream_query"] = {answer};
      CHECK_THROWS_AS(gpu::wait(0), device_lost);
    }
    fake.answers["stream_query"] = {1};
    CHECK_THROWS_AS(gpu::wait(0), launch_failed);
    fake.answers["stream_query"] = {900};
    CHECK_THROWS_AS(gpu::ready(0), not_prepared);
  }

  TEST_CASE("marks are waited for, asked and measured between, and their events are used again") {
    auto& fake = fake_driver::in_place();
    auto const first = gpu::record(0, {}, true), second = gpu::record(0, {}, true);
    CHECK(gpu::seconds_between(first, second) == doctest::Approx(0.0025));
    auto third = gpu::record(0);
    fake.answers["event_query"] = {600};
    CHECK_FALSE(third.ready());
    CHECK(third.ready());
    fake.answers["event_query"] = {600, 600, broken};
    CHECK_THROWS_AS(third.wait(), device_lost);
    third = gpu::mark();
    CHECK(third.ready());
  }

  TEST_CASE("nothing is allocated while a stream is being captured") {
    auto& fake = fake_driver::in_place();
    fake.capturing = true;
    char byte = 0;
    CHECK_THROWS_AS(gpu::allocate(100, 0), not_prepared);
    CHECK_THROWS_AS(gpu::stage(&byte, 1, 0), not_prepared);
    CHECK_THROWS_AS(gpu::workspace(0, {}, std::size_t{1} << 28), not_prepared);
  }

  TEST_CASE("a kernel is loaded once per device, allowed all shared memory, and launched with its arguments") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    auto const& k = gpu::load(tiny_unit(), 0);
    CHECK(fake.loaded_name == "_Z4tinyPi");
    CHECK(fake.max_dynamic_shared_bytes == 232448 - 1024);
    CHECK(&gpu::load(tiny_unit(), 0) == &k);
    CHECK(&gpu::load(tiny_unit(), 1) != &k);
    CHECK(&gpu::load(tiny_unit("other"), 0) != &k);
    CHECK(gpu::facts_of(k).static_shared_bytes == 1024);
    CHECK(gpu::resident_blocks(k, 256, 0) == 2 * 132);

    int value = 41, *pointer = &value, stream = 0;
    void* arguments[] = {&pointer};
    fake.kernel = [](void** a) { ++**static_cast<int**>(a[0]); };
    gpu::launch(k, {.grid_blocks = 7, .block_threads = 256, .dynamic_shared_bytes = 99}, arguments, {&stream});
    gpu::launch(k, {.grid_blocks = 8, .block_threads = 128, .cluster_blocks = 4}, arguments);
    CHECK(value == 43);
    REQUIRE(fake.launches.size() == 2);
    CHECK(fake.launches[0].grid == 7);
    CHECK(fake.launches[0].block == 256);
    CHECK(fake.launches[0].shared == 99);
    CHECK(fake.launches[0].stream == &stream);
    CHECK(fake.launches[1].cluster == 4);
    CHECK(fake.launches[1].stream != nullptr);

    fake.answers["launch"] = {701};
    auto const what = message_of([&] { gpu::launch(k, {.grid_blocks = 7, .block_threads = 2048}, arguments); });
    CHECK(what.starts_with("[tally-E11] a launch of 7 blocks of 2048 threads"));
    fake.answers["launch"] = {broken};
    CHECK_THROWS_AS(gpu::launch(k, {}, arguments), device_lost);

    static gpu::kernel_cell cell;
    int made = 0;
    for (int i = 0; i < 3; ++i) CHECK(&cell.get(0, [&] { return ++made, tiny_unit(); }) == &k);
    CHECK(made == 1);
  }

  TEST_CASE("a cubin that the driver does not know is tried as PTX, and then the versions are named") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) return;
    fake.answers["module_load"] = {209};
    gpu::load(tiny_unit("as_ptx"), 0);
    fake.answers["module_load"] = {200, 222};
    auto const what = message_of([] { gpu::load(tiny_unit("refused"), 0); });
    CHECK(what.find("older than the toolkit") != std::string::npos);
    gpu::load(tiny_unit("refused"), 0);
    fake.answers["module_load"] = {2};
    CHECK_THROWS_AS(gpu::load(tiny_unit("large"), 0), out_of_memory);
  }

  TEST_CASE("many threads at once keep the accounts right") {
    auto& fake = fake_driver::in_place();
    auto const before = fake.allocated.size();
    auto const data = pattern(9'000'001);
    std::atomic<int> wrong{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
          for (int i = 0; i < 20; ++i) {
            auto const slot = gpu::take_result_slot(0, 8);
            auto const mark = gpu::record(0);
            auto const memory = gpu::stage(data.data(), data.size(), 0);
            *static_cast<int volatile*>(slot.host()) = i;
            if (std::memcmp(memory.data(), data.data(), data.size()) != 0) ++wrong;
            if (*static_cast<int volatile*>(slot.host()) != i) ++wrong;
            if (gpu::workspace(0, {}, 100) != gpu::workspace(0, {}, 100)) ++wrong;
            mark.wait();
            gpu::wait(0);
          }
        });
    }
    CHECK(wrong == 0);
    CHECK(fake.allocated.size() == before);
  }
}
