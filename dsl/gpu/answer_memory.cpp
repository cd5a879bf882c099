// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a run's answers: written into the host's by kernels, or copied to where the host wants it.
#include "gpu/device.hpp"

#include <tally/run/answer_memory.hpp>

#include <cstring>

namespace tally::v0::gpu {

answer_memory::answer_memory(std::size_t bytes, bool written_home, int ordinal, stream_ref on) : ordinal_(ordinal), stream_(on) {
  if (!written_home) {
    there_ = allocate(bytes, ordinal, on);
    return;
  }
  refuse_while_capturing(device_of(ordinal), on, bytes);
  written_home_ = readback(bytes, ordinal, on);
}

void answer_memory::fetch(void* to, std::size_t begin, std::size_t bytes) {
  if (bytes == 0) return;
  if (auto const* const home = static_cast<char const*>(written_home_.wait())) {
    std::memcpy(to, home + begin, bytes);
  } else {
    copy(to, static_cast<char const*>(there_.data()) + begin, bytes, ordinal_, stream_);
    wait(ordinal_, stream_);
  }
}

} // namespace tally::v0::gpu
