// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little device memory on its way to the host.
#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

namespace tally::inline v0::gpu {

readback::readback(void const* from, std::size_t bytes, int ordinal, stream_ref stream)
    : slot_(take_result_slot(ordinal, bytes)), ordinal_(ordinal), stream_(stream) {
  copy(slot_.host(), from, bytes, ordinal, stream);
}

void const* readback::wait() {
  if (!is_there_ && slot_.host() != nullptr) gpu::wait(ordinal_, stream_);
  is_there_ = true;
  return slot_.host();
}

readback::~readback() {
  if (slot_.host() == nullptr || is_there_) return;
  try {
    gpu::wait(ordinal_, stream_); // it may still be written
  } catch (error const&) {        // the device is lost, and with it the copy
  }
}

} // namespace tally::inline v0::gpu
