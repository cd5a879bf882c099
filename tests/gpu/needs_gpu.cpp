// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tests of this folder need an NVIDIA GPU with a driver: asked here by dlopen, once, before any of them runs.
#include <dlfcn.h>

char const* tally_test_skip_reason();

char const* tally_test_skip_reason() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) return "no NVIDIA driver (libcuda.so.1) on this machine";
  auto* initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  auto* count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  if (initialise == nullptr || count_devices == nullptr) return "libcuda.so.1 lacks cuInit";
  if (initialise(0) != 0 || count_devices(&devices) != 0 || devices == 0) return "the NVIDIA driver finds no GPU";
  return nullptr;
}
