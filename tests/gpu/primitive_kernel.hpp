// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests of primitive/: one kernel from device text, compiled by NVRTC through the library's doors, launched on
// plain values.
#pragma once

#include "gpu/on_device.hpp"

#include <tally/primitive/reducible.hpp>

#include <string>

/// A kernel of a test: text of its own behind one header of the library.
class primitive_kernel {
public:
  primitive_kernel(std::string header, std::string text, std::string name, std::vector<std::string> options = {}) {
    tally::gpu::unit u;
    u.header = std::move(header);
    u.definitions = "using namespace tally;\nusing namespace tally::primitive;\n" + std::move(text);
    u.name_expression = std::move(name);
    u.options = std::move(options);
    kernel_ = &tally::gpu::load(u, 0);
  }
  tally::gpu::kernel_facts facts() const { return tally::gpu::facts_of(*kernel_); }
  /// Launches, waits, and turns what went wrong on the device into an exception.
  template <class... Arguments>
  void operator()(tally::gpu::launch_shape shape, Arguments... arguments) const {
    void* places[] = {static_cast<void*>(&arguments)...};
    tally::gpu::launch(*kernel_, shape, places);
    tally::gpu::wait(0);
  }

private:
  tally::gpu::kernel const* kernel_;
};

/// The device's name of a type.
template <class T>
std::string device_name() {
  using namespace tally;
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, f16>) return "f16";
  if constexpr (std::is_same_v<T, bf16>) return "bf16";
  if constexpr (std::is_same_v<T, i32>) return "i32";
  if constexpr (std::is_same_v<T, u32>) return "u32";
  if constexpr (std::is_same_v<T, i64>) return "i64";
  if constexpr (std::is_same_v<T, u64>) return "u64";
}

/// The device's name of an operation.
inline std::string device_name(tally::primitive::operation op) {
  char const* const words[]{"none", "add", "min", "max", "inc", "dec", "bit_and", "bit_or", "bit_xor"};
  return std::string("operation::") + words[int(op)];
}
