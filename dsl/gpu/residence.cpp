// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a pointer's memory lives. Asked for every column of every run, so a program that never touched a GPU is not
// made to start a driver for it. Compiled side, gpu.
#include "gpu/driver.hpp"

#include <tally/run/device.hpp>

namespace tally::v0::gpu {

residence residence_of(void const* pointer, int* ordinal) noexcept try {
  int ignored = -1;
  int& owner = ordinal == nullptr ? ignored : *ordinal;
  owner = -1;
  if (pointer == nullptr || !driver::is_loaded()) return residence::host;
  auto const* const call = driver::find();
  if (call == nullptr) return residence::host;
  unsigned type = 0;
  unsigned managed = 0; // the driver writes a bool, one byte, or an int: both fit
  int device = -1;
  int names[] = {driver::pointer_memory_type, driver::pointer_is_managed, driver::pointer_device_ordinal};
  void* values[] = {&type, &managed, &device};
  auto const where = reinterpret_cast<driver::address>(pointer);
  if (call->pointer_attributes(3, names, values, where) != driver::success || type == 0) return residence::host;
  owner = device;
  if ((managed & 0xffu) != 0) return residence::managed;
  return type == driver::memory_device ? residence::device : residence::pinned;
} catch (...) { return residence::host; }

} // namespace tally::v0::gpu
