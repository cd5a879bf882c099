// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device as the rest of dsl/gpu sees it: its primary context (shared with the CUDA runtime and with torch), its own
// stream, its pools; and how an answer of the driver becomes a typed error. Compiled side, gpu.
#pragma once

#include "gpu/driver.hpp"

#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace tally::v0::gpu {

/// The driver; throws no_gpu when there is none.
driver::api const& driver_or_throw();

/// The code that belongs to an answer other than success.
error_code code_of(int answer) noexcept;
/// Throws the typed error of an answer: "cuLaunchKernel answered CUDA_ERROR_X (words) on device 0".
[[noreturn]] void throw_answer(int answer, char const* call, int ordinal);
inline void check(int answer, char const* call, int ordinal) {
  if (answer != driver::success) throw_answer(answer, call, ordinal);
}

struct loaded_kernels;
struct workspaces;
struct staging_lanes;

/// A device in use; made on first use, never destroyed.
struct device_state {
  device_state(driver::api const& d, int ordinal_);
  device_state(device_state const&) = delete;
  device_state& operator=(device_state const&) = delete;
  ~device_state();

  driver::api const& call;
  int ordinal;
  driver::context context = nullptr;
  driver::stream own_stream = nullptr;
  driver::pool pool = nullptr; ///< null where the driver has no pools

  std::mutex events_busy;
  std::vector<driver::event> idle_events[2]; ///< [0] for order only, [1] for timing

  std::unique_ptr<loaded_kernels> kernels;
  std::unique_ptr<workspaces> spaces;
  std::unique_ptr<staging_lanes> lanes;

  driver::stream stream_of(stream_ref s) const noexcept { return s.handle == nullptr ? own_stream : s.handle; }
};

/// The device, ready for use: context retained, stream and pool made. Throws no_gpu, device_lost, out_of_memory.
device_state& device_of(int ordinal);
/// True when the stream is being captured into a graph.
bool capturing(device_state&, driver::stream) noexcept;
/// Throws not_prepared then, about so many bytes.
void refuse_while_capturing(device_state&, stream_ref, std::size_t bytes);

/// Makes the device's context current for one scope, and leaves whatever was current before as it was.
class current_device {
public:
  explicit current_device(device_state const& d) : call_(d.call) {
    driver::context now = nullptr;
    if (call_.current(&now) == driver::success && now == d.context) return;
    check(call_.push(d.context), "cuCtxPushCurrent", d.ordinal);
    pushed_ = true;
  }
  current_device(current_device const&) = delete;
  current_device& operator=(current_device const&) = delete;
  ~current_device() {
    driver::context ignored = nullptr;
    if (pushed_) call_.pop(&ignored);
  }

private:
  driver::api const& call_;
  bool pushed_ = false;
};

} // namespace tally::v0::gpu
