// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory from a pool of our own, so that the settings of the device's default pool stay a program's own
// business. Compiled side, gpu.
#include "gpu/device.hpp"

namespace tally::v0::gpu {
namespace {

int try_allocate(device_state& d, driver::address& memory, std::size_t bytes, driver::stream on) {
  return d.pool != nullptr ? d.call.pool_allocate(&memory, bytes, d.pool, on) : d.call.allocate(&memory, bytes);
}

[[noreturn]] void refuse(device_state& d, std::size_t bytes) {
  std::size_t unused = 0, total = 0;
  d.call.memory_info(&unused, &total);
  throw out_of_memory(std::to_string(bytes) + " bytes do not fit on device " + std::to_string(d.ordinal) + ", where " +
                      std::to_string(unused) + " of " + std::to_string(total) + " are free.");
}

} // namespace

void refuse_while_capturing(device_state& d, stream_ref on, std::size_t bytes) {
  if (capturing(d, d.stream_of(on)))
    throw not_prepared(std::to_string(bytes) +
                       " bytes have to be allocated while the stream is being captured: keep the input on "
                       "the device.");
}

device_memory allocate(std::size_t bytes, int ordinal, stream_ref on) {
  auto& d = device_of(ordinal);
  if (bytes == 0) return {};
  current_device const in_scope(d);
  auto const stream = d.stream_of(on);
  refuse_while_capturing(d, on, bytes);
  driver::address memory = 0;
  int answer = try_allocate(d, memory, bytes, stream);
  if (answer == driver::error_out_of_memory && d.pool != nullptr && d.call.pool_trim != nullptr) {
    check(d.call.synchronize(), "cuCtxSynchronize", ordinal); // what was freed in stream order is free only now
    d.call.pool_trim(d.pool, 0);
    answer = try_allocate(d, memory, bytes, stream);
  }
  if (answer == driver::error_out_of_memory) refuse(d, bytes);
  check(answer, "cuMemAllocFromPoolAsync", ordinal);
  return device_memory(reinterpret_cast<void*>(memory), bytes, ordinal, on);
}

device_memory::~device_memory() {
  if (data_ == nullptr) return;
  try {
    auto& d = device_of(ordinal_);
    current_device const in_scope(d);
    auto const memory = reinterpret_cast<driver::address>(data_);
    if (d.pool == nullptr)
      d.call.free(memory);
    else if (d.call.pool_free(memory, d.stream_of(stream_)) != driver::success)
      d.call.free(memory); // its stream is gone
  } catch (...) {          // a lost device has nothing to give back to
  }
}

void copy(void* to, void const* from, std::size_t bytes, int ordinal, stream_ref on) {
  if (bytes == 0) return;
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  check(d.call.copy(reinterpret_cast<driver::address>(to), reinterpret_cast<driver::address>(from), bytes,
                    d.stream_of(on)),
        "cuMemcpyAsync", ordinal);
}

} // namespace tally::v0::gpu
