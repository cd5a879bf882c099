// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a unit to a function of one device: compile, load, allow it all the shared memory the chip has. Compiled side,
// gpu.
#include "gpu/launch.hpp"
#include "jit/nvrtc.hpp"

#include <tally/run/log.hpp>

#include <array>

namespace tally::v0::gpu {
namespace {

std::string key_of(unit const& u) {
  auto key = std::to_string(u.name_expression.size()) + " " + u.name_expression + "\n";
  for (auto const& option : u.options) key += option + "\n";
  return key + text_of(u);
}

/// Loads the cubin, or the PTX where there is no cubin for this chip or the driver does not take it.
driver::module load_module(device_state& d, compiled const& c) {
  driver::module loaded = nullptr;
  if (!c.cubin.empty()) {
    int const answer = d.call.module_load(&loaded, c.cubin.data(), 0, nullptr, nullptr);
    if (answer == driver::success) return loaded;
    if (answer != driver::error_no_binary_for_gpu && answer != driver::error_invalid_image &&
        answer != driver::error_unsupported_ptx_version)
      throw_answer(answer, "cuModuleLoadData", d.ordinal);
    log_line("gpu", "the driver refuses the cubin, trying the PTX");
  }
  std::array<char, 2048> words{};
  int names[] = {driver::jit_error_log_buffer, driver::jit_error_log_buffer_bytes};
  void* values[] = {words.data(), reinterpret_cast<void*>(words.size() - 1)};
  int const answer = d.call.module_load(&loaded, c.ptx.c_str(), 2, names, values);
  if (answer == driver::success) return loaded;
  if (answer != driver::error_unsupported_ptx_version && words.front() == '\0')
    throw_answer(answer, "cuModuleLoadData", d.ordinal);
  throw launch_failed("the driver of device " + std::to_string(d.ordinal) + " does not take what NVRTC " +
                      jit::nvrtc().build + " makes (is the driver older than the toolkit?): " + words.data() + ".");
}

std::unique_ptr<kernel> load_now(unit const& u, device_state& d) {
  int version = 0;
  if (d.call.version(&version) == driver::success) jit::prefer_nvrtc_major(version / 1000);
  auto const& facts = facts_of(d.ordinal);
  auto made = std::make_unique<kernel>();
  made->device = &d;
  made->unit = compile(u, facts.compute_major, facts.compute_minor);
  current_device const in_scope(d);
  auto const module = load_module(d, made->unit);
  check(d.call.module_function(&made->function, module, made->unit.lowered_name.c_str()), "cuModuleGetFunction",
        d.ordinal);
  auto const attribute = [&](int which, int& value) {
    check(d.call.function_attribute(&value, which, made->function), "cuFuncGetAttribute", d.ordinal);
  };
  attribute(driver::function_registers, made->registers);
  attribute(driver::function_max_threads, made->max_threads);
  attribute(driver::function_shared_bytes, made->shared_bytes);
  // Once here, so that a launch has nothing left to set.
  int const dynamic = static_cast<int>(facts.shared_bytes_per_block_optin) - made->shared_bytes;
  check(d.call.function_set_attribute(made->function, driver::function_max_dynamic_shared_bytes, dynamic),
        "cuFuncSetAttribute", d.ordinal);
  if (facts.most_cluster > facts.max_cluster)
    check(d.call.function_set_attribute(made->function, driver::function_any_cluster_size, 1), "cuFuncSetAttribute", d.ordinal);
  return made;
}

} // namespace

kernel const& load(unit const& u, int ordinal) {
  auto& d = device_of(ordinal);
  auto const key = key_of(u);
  loaded_kernels::place* place = nullptr;
  {
    std::lock_guard const lock(d.kernels->busy);
    auto& found = d.kernels->places[key];
    if (!found) found = std::make_unique<loaded_kernels::place>();
    place = found.get();
  }
  std::lock_guard const lock(place->busy);
  if (!place->loaded) place->loaded = load_now(u, d);
  return *place->loaded;
}

kernel_facts facts_of(kernel const& k) {
  return {k.registers, k.max_threads, static_cast<std::size_t>(k.shared_bytes), k.unit};
}

int resident_blocks(kernel const& k, unsigned block_threads, std::size_t dynamic_shared_bytes) {
  auto& d = *k.device;
  current_device const in_scope(d);
  int per_multiprocessor = 0;
  check(d.call.occupancy(&per_multiprocessor, k.function, static_cast<int>(block_threads), dynamic_shared_bytes),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", d.ordinal);
  return per_multiprocessor * facts_of(d.ordinal).multiprocessors;
}

} // namespace tally::v0::gpu
