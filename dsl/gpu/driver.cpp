// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding and starting the driver once. TALLY_DRIVER_LIBRARY names another library, and a name that cannot be opened is
// a machine without a GPU. Compiled side, gpu.
#include "gpu/driver.hpp"

#include "jit/library.hpp"

#include <tally/run/log.hpp>

#include <atomic>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <vector>

namespace tally::v0::gpu::driver {
namespace {

struct state {
  std::once_flag once;
  api call{};
  std::string why_not = "the driver was not asked yet";
  std::atomic<bool> usable{false}, asked{false};
  std::atomic<unsigned long long> loaded_without{0}; ///< libraries that the process had loaded when the driver's was not among them
};

state& the_state() {
  static auto& only = *new state; // never destroyed: device memory may be released by static objects of a program
  return only;
}

/// How many libraries the process has ever loaded.
unsigned long long libraries_loaded() noexcept {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1; // the first has it
      },
      &count);
  return count;
}

std::vector<std::string> candidates() {
  char const* const named = std::getenv("TALLY_DRIVER_LIBRARY");
  if (named != nullptr && *named != '\0') return {named};
  return {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
}

/// The first required function that is missing; null when all are there.
char const* bind_all(jit::library const& from, api& call) noexcept {
  char const* missing = nullptr;
  auto const need = [&](char const* name, auto*& place) {
    if (!bind(from, name, place)) missing = name;
  };
  need("cuInit", call.init);
  need("cuDriverGetVersion", call.version);
  need("cuGetErrorName", call.error_name);
  need("cuGetErrorString", call.error_string);
  need("cuDeviceGetCount", call.device_count);
  need("cuDeviceGet", call.device_get);
  need("cuDeviceGetName", call.device_name);
  need("cuDeviceTotalMem_v2", call.device_total_memory);
  need("cuDeviceGetAttribute", call.device_attribute);
  need("cuDevicePrimaryCtxRetain", call.primary_retain);
  need("cuCtxPushCurrent_v2", call.push);
  need("cuCtxPopCurrent_v2", call.pop);
  need("cuCtxGetCurrent", call.current);
  need("cuCtxSynchronize", call.synchronize);
  need("cuModuleLoadDataEx", call.module_load);
  need("cuModuleGetFunction", call.module_function);
  need("cuFuncGetAttribute", call.function_attribute);
  need("cuFuncSetAttribute", call.function_set_attribute);
  need("cuOccupancyMaxActiveBlocksPerMultiprocessor", call.occupancy);
  need("cuLaunchKernel", call.launch);
  need("cuStreamCreate", call.stream_create);
  need("cuStreamQuery", call.stream_query);
  need("cuStreamSynchronize", call.stream_synchronize);
  need("cuStreamIsCapturing", call.stream_is_capturing);
  need("cuEventCreate", call.event_create);
  need("cuEventRecord", call.event_record);
  need("cuEventQuery", call.event_query);
  need("cuEventSynchronize", call.event_synchronize);
  need("cuEventElapsedTime", call.event_elapsed);
  need("cuMemGetInfo_v2", call.memory_info);
  need("cuMemAlloc_v2", call.allocate);
  need("cuMemFree_v2", call.free);
  need("cuMemHostAlloc", call.host_allocate);
  need("cuMemHostGetDevicePointer_v2", call.host_device_address);
  need("cuMemcpyAsync", call.copy);
  need("cuMemcpyHtoDAsync_v2", call.copy_from_host);
  need("cuMemsetD8Async", call.fill);
  need("cuPointerGetAttributes", call.pointer_attributes);
  bind(from, "cuLaunchKernelEx", call.launch_with);
  bind(from, "cuOccupancyMaxActiveClusters", call.active_clusters);
  bind(from, "cuStreamGetId", call.stream_id);
  bind(from, "cuStreamGetCaptureInfo_v3", call.capture_info);
  bind(from, "cuMemPoolCreate", call.pool_create);
  bind(from, "cuMemPoolSetAttribute", call.pool_set_attribute);
  bind(from, "cuMemPoolTrimTo", call.pool_trim);
  bind(from, "cuMemAllocFromPoolAsync", call.pool_allocate);
  bind(from, "cuMemFreeAsync", call.pool_free);
  return missing;
}

std::string start(api& call) {
  auto const file = jit::open_first(candidates());
  if (file.handle == nullptr) return "no CUDA driver could be opened: " + file.tried;
  if (auto const* missing = bind_all(file, call)) return file.path + " has no function " + missing;
  if (int const answer = call.init(0); answer != success) {
    char const* name = nullptr;
    call.error_name(answer, &name);
    return "the driver of " + file.path +
           " did not start: " + (name == nullptr ? std::to_string(answer) : std::string(name));
  }
  return {};
}

void ask_once(state& s) {
  std::call_once(s.once, [&s] {
    s.why_not = start(s.call);
    s.usable.store(s.why_not.empty());
    s.asked.store(true);
    log_line("gpu", s.why_not.empty() ? "the driver is ready" : s.why_not);
  });
}

} // namespace

api const* find(std::string const** why) {
  auto& s = the_state();
  ask_once(s);
  if (why != nullptr) *why = &s.why_not;
  return s.usable.load(std::memory_order_relaxed) ? &s.call : nullptr;
}

bool is_loaded() noexcept {
  auto& s = the_state();
  if (s.asked.load(std::memory_order_acquire)) return s.usable.load(std::memory_order_relaxed);
  auto const now = libraries_loaded();
  if (s.loaded_without.load(std::memory_order_relaxed) == now) return false;
  void* const present = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD); // looks through all folders: 17 us where it is not there
  if (present == nullptr) {
    s.loaded_without.store(now, std::memory_order_relaxed);
    return false;
  }
  dlclose(present);
  return true;
}

void replace(api const& other) {
  auto& s = the_state();
  std::call_once(s.once, [] {});
  s.call = other;
  s.why_not.clear();
  s.usable.store(true);
  s.asked.store(true);
}

} // namespace tally::v0::gpu::driver
