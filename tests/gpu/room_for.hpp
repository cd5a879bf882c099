// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests of what is queued: room for answers in device memory, and what has come there.
#pragma once

#include "gpu/on_device.hpp"
#include "gpu/watchdog.hpp"

#include <tally/run/device.hpp>

#include <cstddef>
#include <vector>

/// n answers in device memory, none of them written yet.
template <class T>
on_device<T> room_for(std::size_t n) {
  return on_device<T>(std::vector<T>(n, T(-77)));
}
template <class T>
std::vector<T> after(tally::v0::gpu::stream_ref stream, on_device<T> const& there) {
  tally::v0::gpu::wait(0, stream);
  tally_test_progress();
  return there.back();
}
