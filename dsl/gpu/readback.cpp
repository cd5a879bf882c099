// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little memory of the host that a stream writes.
#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

#include <utility>

namespace tally::v0::gpu {

readback::readback(std::size_t bytes, int ordinal, stream_ref stream)
    : slot_(take_result_slot(ordinal, bytes)), ordinal_(ordinal), stream_(stream) {}

readback::readback(void const* from, std::size_t bytes, int ordinal, stream_ref stream) : readback(bytes, ordinal, stream) {
  copy(slot_.host(), from, bytes, ordinal, stream);
}

readback& readback::operator=(readback&& other) noexcept {
  slot_ = std::move(other.slot_); // swaps
  std::swap(is_there_, other.is_there_);
  std::swap(ordinal_, other.ordinal_);
  std::swap(stream_, other.stream_);
  return *this;
}

void const* readback::wait() {
  if (!is_there_ && slot_.host() != nullptr) gpu::wait(ordinal_, stream_);
  return come();
}

void const* readback::come() noexcept {
  is_there_ = true;
  return slot_.host();
}

readback::~readback() {
  try {
    wait(); // it may still be written
  } catch (error const&) { // the device is lost, and with it what writes
  }
}

} // namespace tally::v0::gpu
