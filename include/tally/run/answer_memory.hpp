// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that kernels put the answers of a run into, and how they come from there to the host. Layer 5.
#pragma once

#include <tally/plan/answers_home.hpp>
#include <tally/run/device.hpp>

namespace tally::v0::gpu {

/// Page-locked memory of the host where a kernel writes the answers there itself; else memory of the device.
class answer_memory {
public:
  /// Throws out_of_memory, not_prepared.
  answer_memory(std::size_t bytes, bool written_home, int ordinal, stream_ref);
  answer_memory(answer_memory const&) = delete;
  /// For kernels; 256-byte aligned.
  void* data() const noexcept { return written_home_.device() != nullptr ? written_home_.device() : there_.data(); }
  /// Waits, and gives the host the bytes from `begin` on.
  void fetch(void* to, std::size_t begin, std::size_t bytes);

private:
  readback written_home_;
  device_memory there_;
  int ordinal_;
  stream_ref stream_;
};

} // namespace tally::v0::gpu
