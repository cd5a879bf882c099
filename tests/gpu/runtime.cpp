// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The doors to devices on a real GPU: facts, residence, staging, a launched kernel, workspace, result slots, streams.
// The kernels are a few lines each, compiled here from the text of a unit.
#include "faults/child.hpp"
#include "gpu/launch.hpp"
#include "jit/library.hpp"

#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tally::v0;

bool no_kernels() {
  if (gpu::device_count() > 0 && gpu::can_compile()) return false;
  MESSAGE("skipped: " << (gpu::device_count() > 0 ? "no NVRTC" : gpu::why_no_device()));
  return true;
}

/// The driver itself, for what the doors have no word for.
gpu::driver::api const& raw() { return gpu::driver_or_throw(); }

std::vector<char> pattern(std::size_t bytes) {
  std::vector<char> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>((i * 2654435761u) >> 13);
  return data;
}

gpu::unit unit_of(std::string const& name, std::string const& text) {
  gpu::unit u;
  u.header = "tally/base/config.hpp";
  u.definitions = text;
  u.name_expression = name;
  return u;
}

/// Writes a * b + c of three scalars to `to`, as one thread.
gpu::unit arithmetic() {
  return unit_of("arithmetic<float>",
                 "template <class T> __global__ void arithmetic(T* to, T a, T b, T c) { *to = a * b + c; }");
}

/// Sums 32-bit words over a grid: partial sums in the workspace, the last block finishes and leaves the workspace
/// clean.
gpu::unit last_block_sum() {
  return unit_of("last_block_sum", R"(
__global__ void last_block_sum(unsigned long long* workspace, unsigned const* from, unsigned long long n,
                               unsigned long long* to) {
  unsigned long long mine = 0;
  auto const step = 1ull * gridDim.x * blockDim.x;
  for (auto i = blockIdx.x * 1ull * blockDim.x + threadIdx.x; i < n; i += step) mine += from[i];
  atomicAdd(&workspace[1], mine);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&workspace[0], 1ull) == gridDim.x - 1) {
    *to = atomicExch(&workspace[1], 0ull);
    __threadfence_system();
    workspace[0] = 0;
  }
})");
}

/// Every block of a cluster writes its rank and its cluster's size; dynamic shared memory is touched to its end.
gpu::unit cluster_ranks() {
  return unit_of("cluster_ranks", R"(
__global__ void cluster_ranks(unsigned* to, unsigned shared_bytes) {
  extern __shared__ unsigned char tile[];
  if (shared_bytes > 0) tile[shared_bytes - 1] = 1;
  unsigned rank, size;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  if (threadIdx.x == 0) to[blockIdx.x] = rank * 100 + size + (shared_bytes > 0 ? tile[shared_bytes - 1] - 1 : 0);
})");
}

gpu::unit spin_for() {
  return unit_of("spin_for", R"(
__global__ void spin_for(unsigned long long nanoseconds, unsigned* to) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - begin < nanoseconds);
  *to = 7;
})");
}

template <class... Arguments>
void launch(gpu::kernel const& k, gpu::launch_shape const& shape, gpu::stream_ref stream, Arguments... arguments) {
  void* places[] = {&arguments...};
  gpu::launch(k, shape, places, stream);
}

std::vector<char> bytes_on_device(void const* at, std::size_t bytes) {
  std::vector<char> result(bytes);
  gpu::copy(result.data(), at, bytes, 0);
  gpu::wait(0);
  return result;
}

double microseconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

TEST_CASE("a device's facts are those of a real chip") {
  REQUIRE(gpu::device_count() > 0);
  auto const& facts = gpu::facts_of(0);
  MESSAGE(facts.name << ", compute capability " << facts.compute_major << "." << facts.compute_minor << ", "
                     << facts.multiprocessors << " multiprocessors, " << facts.l2_bytes << " bytes of L2, "
                     << facts.memory_bytes << " bytes of memory, clusters of " << facts.max_cluster);
  CHECK(facts.compute_major >= 7);
  CHECK(facts.multiprocessors > 0);
  CHECK(facts.shared_bytes_per_block_optin >= 48 * 1024);
  CHECK(facts.shared_bytes_per_multiprocessor >= facts.shared_bytes_per_block_optin);
  CHECK(facts.l2_bytes > 0);
  CHECK(facts.memory_bytes > (std::size_t{1} << 30));
  CHECK(facts.max_cluster == (facts.compute_major >= 9 ? 8 : 1));
  CHECK_FALSE(facts.name.empty());
  CHECK_THROWS_AS(gpu::facts_of(gpu::device_count()), no_gpu);
}

TEST_CASE("the driver says where memory lives") {
  int owner = 7;
  int on_stack = 0;
  CHECK(gpu::residence_of(&on_stack, &owner) == gpu::residence::host);
  CHECK(owner == -1);
  std::vector<int> const on_heap(100);
  CHECK(gpu::residence_of(on_heap.data()) == gpu::residence::host);
  CHECK(gpu::residence_of(nullptr) == gpu::residence::host);
  auto const memory = gpu::allocate(1000, 0);
  CHECK(gpu::residence_of(memory.data(), &owner) == gpu::residence::device);
  CHECK(owner == 0);
  CHECK(gpu::residence_of(static_cast<char*>(memory.data()) + 999, &owner) == gpu::residence::device);
  CHECK(gpu::residence_of(gpu::workspace(0, {}, 100)) == gpu::residence::device);
  auto const slot = gpu::take_result_slot(0, 64);
  CHECK(gpu::residence_of(slot.host()) == gpu::residence::pinned);
}

TEST_CASE("staged input arrives whole, at every odd size and misalignment, and may change afterwards") {
  auto data = pattern((std::size_t{64} << 20) + 37);
  auto const kept = data;
  for (std::size_t const bytes : {std::size_t{1}, std::size_t{3}, std::size_t{65536}, std::size_t{65537},
                                  (std::size_t{4} << 20) + 1, (std::size_t{33} << 20) + 5, std::size_t{64} << 20})
    for (std::size_t const skip : {0u, 1u, 4u, 15u}) {
      CAPTURE(bytes);
      CAPTURE(skip);
      auto const memory = gpu::stage(data.data() + skip, bytes, 0);
      std::memset(data.data() + skip, 0x55, bytes);
      auto const arrived = bytes_on_device(memory.data(), bytes);
      CHECK(std::memcmp(arrived.data(), kept.data() + skip, bytes) == 0);
      std::memcpy(data.data() + skip, kept.data() + skip, bytes);
    }
}

TEST_CASE("many threads stage at once") {
  auto const data = pattern((std::size_t{20} << 20) + 1);
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 5; ++i) {
          auto const memory = gpu::stage(data.data(), data.size(), 0);
          if (bytes_on_device(memory.data(), data.size()) != data) ++wrong;
        }
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("a gibibyte is staged at a good part of the bus's speed") {
  std::size_t const bytes = std::size_t{1} << 30;
  std::vector<char> const data(bytes, 1);
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    auto const memory = gpu::stage(data.data(), bytes, 0);
    gpu::wait(0);
    best = std::max(best, static_cast<double>(bytes) / microseconds_since(begin) * 1e-3);
  }
  MESSAGE("staging: " << best << " GB/s");
  CHECK(best > 1);
}

TEST_CASE("a kernel from a unit's text runs and rounds twice") {
  if (no_kernels()) return;
  auto const& k = gpu::load(arithmetic(), 0);
  auto const slot = gpu::take_result_slot(0, sizeof(float));
  float const a = 1.0f + 0x1p-12f, c = -1.0f;
  launch(k, {}, {}, static_cast<float*>(slot.device()), a, a, c);
  gpu::wait(0);
  float const volatile product = a * a;
  CHECK(*static_cast<float*>(slot.host()) == product + c);
  auto const facts = gpu::facts_of(k);
  CHECK(facts.registers_per_thread > 0);
  CHECK(facts.max_threads_per_block >= 256);
  CHECK(gpu::resident_blocks(k, 256, 0) >= gpu::facts_of(0).multiprocessors);
  CHECK(&gpu::load(arithmetic(), 0) == &k);
}

TEST_CASE("a workspace is zero when first seen and as the kernels left it afterwards") {
  if (no_kernels()) return;
  gpu::current_device const in_scope(gpu::device_of(0));
  gpu::driver::stream fresh = nullptr; // the library's own stream may have served other tests
  REQUIRE(raw().stream_create(&fresh, 1) == 0);
  auto* const space = gpu::workspace(0, {fresh}, 4096);
  auto const clean = bytes_on_device(space, 4096);
  CHECK(clean == std::vector<char>(4096));
  std::vector<unsigned> data(1'000'003);
  unsigned long long expected = 0;
  for (std::size_t i = 0; i < data.size(); ++i) expected += data[i] = static_cast<unsigned>(i * 2654435761u);
  auto const memory = gpu::stage(data.data(), data.size() * sizeof(unsigned), 0);
  auto const& k = gpu::load(last_block_sum(), 0);
  for (int i = 0; i < 20; ++i) {
    auto const slot = gpu::take_result_slot(0, 8);
    *static_cast<unsigned long long*>(slot.host()) = 0;
    launch(k, {.grid_blocks = 100, .block_threads = 256}, {}, gpu::workspace(0, {fresh}, 4096), memory.data(),
           static_cast<unsigned long long>(data.size()), slot.device());
    gpu::wait(0);
    CHECK(*static_cast<unsigned long long*>(slot.host()) == expected);
  }
  CHECK(gpu::workspace(0, {fresh}, 4096) == space);
  CHECK(bytes_on_device(space, 4096) == clean);
  auto const large = std::size_t{40} << 20;
  CHECK(bytes_on_device(gpu::workspace(0, {fresh}, large), large) == std::vector<char>(large));
}

TEST_CASE("clusters and shared memory beyond 48 KiB are launched, and impossible shapes refused without harm") {
  if (no_kernels()) return;
  auto const& facts = gpu::facts_of(0);
  auto const& k = gpu::load(cluster_ranks(), 0);
  auto const slot = gpu::take_result_slot(0, 16 * sizeof(unsigned));
  auto* const ranks = static_cast<unsigned*>(slot.host());
  for (unsigned cluster = 1; cluster <= static_cast<unsigned>(facts.max_cluster); cluster *= 2) {
    launch(k, {.grid_blocks = 16, .block_threads = 64, .cluster_blocks = cluster}, {}, slot.device(), 0u);
    gpu::wait(0);
    for (unsigned block = 0; block < 16; ++block) CHECK(ranks[block] == block % cluster * 100 + cluster);
  }
  auto const shared = facts.shared_bytes_per_block_optin;
  launch(k, {.grid_blocks = 16, .block_threads = 64, .dynamic_shared_bytes = shared}, {}, slot.device(),
         static_cast<unsigned>(shared));
  gpu::wait(0);
  CHECK(ranks[15] == 1);
  CHECK_THROWS_AS(launch(k, {.grid_blocks = 1, .block_threads = 4096}, {}, slot.device(), 0u), launch_failed);
  CHECK_THROWS_AS(
      launch(k, {.grid_blocks = 1, .block_threads = 64, .dynamic_shared_bytes = shared + 1}, {}, slot.device(), 0u),
      launch_failed);
  launch(k, {.grid_blocks = 16, .block_threads = 64}, {}, slot.device(), 0u);
  gpu::wait(0);
  CHECK(ranks[3] == 1);
}

TEST_CASE("streams are the caller's: marks, waits and answers follow them") {
  if (no_kernels()) return;
  auto const& k = gpu::load(spin_for(), 0);
  auto const slot = gpu::take_result_slot(0, 4);
  auto const begin = gpu::record(0, {}, true);
  launch(k, {}, {}, 20'000'000ull, slot.device());
  auto const end = gpu::record(0, {}, true);
  CHECK_FALSE(end.ready());
  CHECK_FALSE(gpu::ready(0));
  CHECK(gpu::seconds_between(begin, end) == doctest::Approx(0.020).epsilon(0.2));
  CHECK(end.ready());
  CHECK(gpu::ready(0));
  CHECK(*static_cast<unsigned*>(slot.host()) == 7);

  gpu::current_device const in_scope(gpu::device_of(0));
  gpu::driver::stream theirs = nullptr;
  REQUIRE(raw().stream_create(&theirs, 1) == 0);
  launch(k, {}, {theirs}, 20'000'000ull, slot.device());
  CHECK(gpu::ready(0));
  CHECK_FALSE(gpu::ready(0, {theirs}));
  gpu::wait(0, {theirs});
  CHECK(gpu::ready(0, {theirs}));
  CHECK(gpu::workspace(0, {theirs}, 100) != gpu::workspace(0, {}, 100));
  CHECK(gpu::workspace(0, {theirs}, 100) == gpu::workspace(0, {theirs}, 100));
  auto* const per_thread = reinterpret_cast<void*>(2);
  void* other = nullptr;
  std::jthread([&] { other = gpu::workspace(0, {per_thread}, 100); }).join();
  CHECK(gpu::workspace(0, {per_thread}, 100) != other);
}

TEST_CASE("no context is left current that was not before") {
  std::jthread([] {
    gpu::wait(0);
    gpu::driver::context now = nullptr;
    CHECK(raw().current(&now) == 0);
    CHECK(now == nullptr);
  }).join();
}

TEST_CASE("a stream under capture is launched into, and whatever was not prepared is refused") {
  if (no_kernels()) return;
  int (*begin_capture)(void*, int) = nullptr;
  int (*end_capture)(void*, void**) = nullptr;
  auto const library = jit::open_first({"libcuda.so.1"});
  REQUIRE(jit::bind(library, "cuStreamBeginCapture_v2", begin_capture));
  REQUIRE(jit::bind(library, "cuStreamEndCapture", end_capture));
  gpu::current_device const in_scope(gpu::device_of(0));
  gpu::driver::stream theirs = nullptr;
  REQUIRE(raw().stream_create(&theirs, 1) == 0);
  auto const& k = gpu::load(arithmetic(), 0);
  auto const slot = gpu::take_result_slot(0, sizeof(float));
  auto* const space = gpu::workspace(0, {theirs}, 100);
  constexpr int relaxed = 2;
  REQUIRE(begin_capture(theirs, relaxed) == 0);
  CHECK(gpu::workspace(0, {theirs}, 100) == space);
  CHECK_THROWS_AS(gpu::workspace(0, {theirs}, std::size_t{1} << 30), not_prepared);
  CHECK_THROWS_AS(gpu::allocate(100, 0, {theirs}), not_prepared);
  launch(k, {}, {theirs}, static_cast<float*>(slot.device()), 1.0f, 2.0f, 3.0f);
  void* graph = nullptr;
  CHECK(end_capture(theirs, &graph) == 0);
  CHECK(graph != nullptr);
  CHECK(gpu::allocate(100, 0, {theirs}).data() != nullptr);
}

TEST_CASE("a kernel that breaks the device is device_lost, from then on and without a crash") {
  if (no_kernels()) return;
  auto const result = run_suite("broken device", "TALLY_CACHE_DIR=");
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("1 passed") != std::string::npos);
}

TEST_SUITE("broken device" * doctest::skip()) {
  TEST_CASE("an illegal address") {
    auto const& k = gpu::load(arithmetic(), 0);
    auto memory = gpu::allocate(1000, 0);
    auto slot = gpu::take_result_slot(0, 8);
    auto const mark = gpu::record(0);
    launch(k, {}, {}, reinterpret_cast<float*>(8), 1.0f, 2.0f, 3.0f);
    CHECK_THROWS_AS(gpu::wait(0), device_lost);
    CHECK_THROWS_AS(gpu::wait(0), device_lost);
    CHECK_THROWS_AS(gpu::allocate(1000, 0), device_lost);
    CHECK_THROWS_AS(launch(k, {}, {}, reinterpret_cast<float*>(8), 1.0f, 2.0f, 3.0f), device_lost);
  }
}

TEST_CASE("memory that does not fit is out_of_memory with both numbers, and the device goes on") {
  auto const& facts = gpu::facts_of(0);
  CHECK_THROWS_AS(gpu::allocate(facts.memory_bytes * 2, 0), out_of_memory);
  try {
    gpu::allocate(facts.memory_bytes * 2, 0);
  } catch (error const& e) {
    MESSAGE(e.what());
    CHECK(std::string(e.what()).find(std::to_string(facts.memory_bytes * 2)) != std::string::npos);
  }
  CHECK_THROWS_AS(gpu::workspace(0, {}, facts.memory_bytes * 2), out_of_memory);
  CHECK(gpu::allocate(1000, 0).data() != nullptr);
}

TEST_CASE("device memory is used again instead of asked for again") {
  { auto const warm = gpu::allocate(std::size_t{256} << 20, 0); }
  gpu::wait(0);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) auto const memory = gpu::allocate(std::size_t{256} << 20, 0);
  auto const each = microseconds_since(begin) / 100;
  MESSAGE("256 MiB taken and given back in " << each << " us");
  CHECK(each < 1000);
}

TEST_CASE("a warm launch costs the host little beside the driver's own work") {
  if (no_kernels()) return;
  auto const& k = gpu::load(arithmetic(), 0);
  auto const slot = gpu::take_result_slot(0, sizeof(float));
  auto* to = static_cast<float*>(slot.device());
  float a = 1, b = 2, c = 3;
  void* arguments[] = {&to, &a, &b, &c};
  auto& d = gpu::device_of(0);
  double ours = 1e9, drivers = 1e9, doors = 1e9;
  for (int round = 0; round < 20; ++round) {
    constexpr int times = 200;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) gpu::launch(k, {}, arguments);
    ours = std::min(ours, microseconds_since(begin) / times);
    gpu::wait(0);
    {
      gpu::current_device const in_scope(d);
      begin = std::chrono::steady_clock::now();
      for (int i = 0; i < times; ++i) d.call.launch(k.function, 1, 1, 1, 1, 1, 1, 0, d.own_stream, arguments, nullptr);
      drivers = std::min(drivers, microseconds_since(begin) / times);
    }
    gpu::wait(0);
    begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i) {
      auto const taken = gpu::take_result_slot(0, 8);
      gpu::workspace(0, {}, 4096);
      gpu::residence_of(&a);
      gpu::residence_of(to);
    }
    doors = std::min(doors, microseconds_since(begin) / times);
  }
  MESSAGE("launch " << ours << " us, the driver alone " << drivers << " us; slot, workspace and two residences "
                    << doors << " us");
  CHECK(ours - drivers < 1.0);
  CHECK(doors < 2.0);
  gpu::kernel_cell cell;
  CHECK(&cell.get(0, [] { return arithmetic(); }) == &k);
}

TEST_CASE("a launch and its answer come back in microseconds") {
  if (no_kernels()) return;
  auto const& k = gpu::load(arithmetic(), 0);
  auto const slot = gpu::take_result_slot(0, sizeof(float));
  double best = 1e9;
  for (int i = 0; i < 200; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    launch(k, {}, {}, static_cast<float*>(slot.device()), 1.0f, 2.0f, static_cast<float>(i));
    gpu::wait(0);
    best = std::min(best, microseconds_since(begin));
    CHECK(*static_cast<float*>(slot.host()) == 2.0f + static_cast<float>(i));
  }
  MESSAGE("launch, wait and read: " << best << " us");
  CHECK(best < 100);
}
