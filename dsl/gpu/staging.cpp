// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pageable memory to the device: host threads fill page-locked chunks, two per thread, while the copy engine empties
// the others. One thread copies about 10 GB/s and the bus takes several times that, so large inputs get several.
// Compiled side, gpu.
#include "gpu/staging.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace tally::v0::gpu {
namespace {

/// Up to here the driver's own way (through its command buffer) is the shorter one.
constexpr std::size_t small_bytes = 64 * 1024;
constexpr std::size_t bytes_per_thread = 4 * staging_lane::chunk_bytes;
constexpr unsigned max_threads = 6;

struct transfer {
  device_state& device;
  char const* from;
  driver::address to;
  std::size_t bytes;
  driver::stream stream;
  std::atomic<std::size_t> next_chunk{0};
  std::atomic<int> answer{driver::success}; // the first that is not success
  std::atomic<char const*> call{""};

  bool good(int given, char const* what) noexcept {
    int expected = driver::success;
    if (given != driver::success && answer.compare_exchange_strong(expected, given)) call.store(what);
    return given == driver::success;
  }
};

std::unique_ptr<staging_lane> take_lane(device_state& d) {
  {
    std::lock_guard const lock(d.lanes->busy);
    if (auto& idle = d.lanes->idle; !idle.empty()) {
      auto lane = std::move(idle.back());
      idle.pop_back();
      return lane;
    }
  }
  return std::make_unique<staging_lane>();
}

void give_back(device_state& d, std::unique_ptr<staging_lane> lane) {
  std::lock_guard const lock(d.lanes->busy);
  d.lanes->idle.push_back(std::move(lane));
}

/// Makes what a chunk needs on its first use, and waits until it is empty.
bool make_ready(transfer& t, staging_lane& lane, int which) {
  auto const& call = t.device.call;
  if (lane.chunk[which] == nullptr) {
    void* memory = nullptr;
    if (!t.good(call.host_allocate(&memory, staging_lane::chunk_bytes, driver::host_portable), "cuMemHostAlloc"))
      return false;
    lane.chunk[which] = static_cast<char*>(memory);
  }
  if (lane.sent[which] == nullptr) {
    if (!t.good(call.event_create(&lane.sent[which], driver::event_disable_timing), "cuEventCreate")) return false;
  }
  return t.good(call.event_synchronize(lane.sent[which]), "cuEventSynchronize");
}

/// One host thread: takes chunk after chunk until none is left or something failed.
void run_lane(transfer& t, staging_lane& lane) try {
  current_device const in_scope(t.device);
  constexpr auto chunk = staging_lane::chunk_bytes;
  for (int which = 0; t.answer.load() == driver::success; which ^= 1) {
    auto const at = t.next_chunk.fetch_add(1) * chunk;
    if (at >= t.bytes) return;
    auto const count = std::min(chunk, t.bytes - at);
    if (!make_ready(t, lane, which)) return;
    std::memcpy(lane.chunk[which], t.from + at, count);
    auto const& call = t.device.call;
    if (!t.good(call.copy_from_host(t.to + at, lane.chunk[which], count, t.stream), "cuMemcpyHtoDAsync")) return;
    if (!t.good(call.event_record(lane.sent[which], t.stream), "cuEventRecord")) return;
  }
} catch (error const&) { t.good(driver::error_context_is_destroyed, "cuCtxPushCurrent"); }

unsigned threads_for(std::size_t bytes) {
  auto const useful = std::max<std::size_t>(1, bytes / bytes_per_thread);
  auto const present = std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<std::size_t>({useful, present, max_threads}));
}

void run_lanes(transfer& t) {
  auto const count = threads_for(t.bytes);
  std::vector<std::unique_ptr<staging_lane>> lanes;
  for (unsigned i = 0; i < count; ++i) lanes.push_back(take_lane(t.device));
  {
    std::vector<std::jthread> threads;
    try {
      for (unsigned i = 1; i < count; ++i) threads.emplace_back([&t, &lane = *lanes[i]] { run_lane(t, lane); });
    } catch (std::system_error const&) { // no more threads: those that run take all chunks
    }
    run_lane(t, *lanes.front());
  }
  for (auto& lane : lanes) give_back(t.device, std::move(lane));
}

} // namespace

device_memory stage(void const* host, std::size_t bytes, int ordinal, stream_ref on) {
  auto memory = allocate(bytes, ordinal, on);
  if (bytes == 0) return memory;
  auto& d = device_of(ordinal);
  if (residence_of(host) != residence::host) return copy(memory.data(), host, bytes, ordinal, on), std::move(memory);
  current_device const in_scope(d);
  auto const to = reinterpret_cast<driver::address>(memory.data());
  if (bytes <= small_bytes) {
    check(d.call.copy_from_host(to, host, bytes, d.stream_of(on)), "cuMemcpyHtoDAsync", ordinal);
    return memory;
  }
  transfer t{d, static_cast<char const*>(host), to, bytes, d.stream_of(on)};
  run_lanes(t);
  check(t.answer.load(), t.call.load(), ordinal);
  return memory;
}

} // namespace tally::v0::gpu
