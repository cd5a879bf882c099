// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small pieces of page-locked memory that a kernel writes its answer into: taken and given back without the driver, cut
// from blocks that are never freed. Compiled side, gpu.
#include "gpu/device.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace tally::v0::gpu {

struct result_slot::place {
  char* host;
  driver::address device;
  std::size_t bytes;
  std::uint32_t size_class;
  int ordinal;
  place* next; ///< the next idle one of its size
};

namespace {

constexpr std::size_t smallest_bytes = 64, block_bytes = 64 * 1024;

struct idle_slots {
  std::mutex busy;
  result_slot::place* first[max_devices][48] = {}; // by device and by power of two
};

idle_slots& idle() {
  static auto& only = *new idle_slots;
  return only;
}

/// Locks and maps a new block and cuts it into slots of one size; the caller holds the lock.
void add_block(device_state& d, std::uint32_t size_class, result_slot::place*& first) {
  auto const slot_bytes = smallest_bytes << size_class;
  auto const bytes = std::max(block_bytes, slot_bytes);
  current_device const in_scope(d);
  void* host = nullptr;
  int const answer = d.call.host_allocate(&host, bytes, driver::host_portable | driver::host_device_map);
  if (answer == driver::error_out_of_memory)
    throw out_of_memory(std::to_string(bytes) + " bytes of page-locked memory are not to be had.");
  check(answer, "cuMemHostAlloc", d.ordinal);
  driver::address device = 0;
  check(d.call.host_device_address(&device, host, 0), "cuMemHostGetDevicePointer", d.ordinal);
  for (std::size_t at = bytes; at != 0; at -= slot_bytes)
    first = new result_slot::place{
        static_cast<char*>(host) + at - slot_bytes, device + at - slot_bytes, slot_bytes, size_class, d.ordinal, first};
}

} // namespace

result_slot take_result_slot(int ordinal, std::size_t bytes) {
  auto& d = device_of(ordinal);
  if (bytes > std::size_t{1} << 40)
    throw out_of_memory(std::to_string(bytes) + " bytes of page-locked memory are not to be had.");
  auto const wanted = std::bit_ceil(std::max(bytes, smallest_bytes));
  auto const size_class = static_cast<std::uint32_t>(std::countr_zero(wanted / smallest_bytes));
  auto& pool = idle();
  std::lock_guard const lock(pool.busy);
  auto& first = pool.first[ordinal][size_class];
  if (first == nullptr) add_block(d, size_class, first);
  return result_slot(std::exchange(first, first->next));
}

result_slot::~result_slot() {
  if (place_ == nullptr) return;
  auto& pool = idle();
  std::lock_guard const lock(pool.busy);
  auto& first = pool.first[place_->ordinal][place_->size_class];
  place_->next = std::exchange(first, place_);
}

void* result_slot::host() const noexcept { return place_ == nullptr ? nullptr : place_->host; }
void* result_slot::device() const noexcept {
  return place_ == nullptr ? nullptr : reinterpret_cast<void*>(place_->device);
}
std::size_t result_slot::bytes() const noexcept { return place_ == nullptr ? 0 : place_->bytes; }

} // namespace tally::v0::gpu
