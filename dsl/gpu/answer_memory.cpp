// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a run's answers: written into the host's by kernels, or copied to where the host wants it.
#include "gpu/device.hpp"

#include <tally/run/answer_memory.hpp>

#include <cstring>

namespace tally::inline v0::gpu {

answer_memory::answer_memory(std::size_t bytes, bool written_home, int ordinal, stream_ref on) : ordinal_(ordinal), stream_(on) {
  if (!written_home) {
    there_ = allocate(bytes, ordinal, on);
    return;
  }
  refuse_while_capturing(device_of(ordinal), on, bytes);
  written_home_ = take_result_slot(ordinal, bytes);
}

answer_memory::~answer_memory() {
  if (written_home_.host() == nullptr || is_there_) return;
  try {
    wait(ordinal_, stream_); // a kernel may still write
  } catch (error const&) {   // the device is lost, and with it the kernel
  }
}

void answer_memory::fetch(void* to, std::size_t begin, std::size_t bytes) {
  if (bytes == 0) return;
  if (written_home_.host() == nullptr) copy(to, static_cast<char const*>(there_.data()) + begin, bytes, ordinal_, stream_);
  if (!is_there_) wait(ordinal_, stream_);
  is_there_ = written_home_.host() != nullptr;
  if (is_there_) std::memcpy(to, static_cast<char const*>(written_home_.host()) + begin, bytes);
}

} // namespace tally::inline v0::gpu
