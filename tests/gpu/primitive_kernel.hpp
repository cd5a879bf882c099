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
    tally::v0::gpu::unit u;
    u.header = std::move(header);
    u.definitions = "using namespace tally::v0;\nusing namespace tally::v0::primitive;\n" + std::move(text);
    u.name_expression = std::move(name);
    u.options = std::move(options);
    kernel_ = &tally::v0::gpu::load(u, 0);
  }
  tally::v0::gpu::kernel_facts facts() const { return tally::v0::gpu::facts_of(*kernel_); }
  /// Launches, waits, and turns what went wrong on the device into an exception.
  template <class... Arguments>
  void operator()(tally::v0::gpu::launch_shape shape, Arguments... arguments) const {
    void* places[] = {static_cast<void*>(&arguments)...};
    tally::v0::gpu::launch(*kernel_, shape, places);
    tally::v0::gpu::wait(0);
  }

private:
  tally::v0::gpu::kernel const* kernel_;
};

/// The device's name of a type.
template <class T>
std::string device_name() {
  using namespace tally::v0;
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
inline std::string device_name(tally::v0::primitive::operation op) {
  char const* const words[]{"none", "add", "min", "max", "inc", "dec", "bit_and", "bit_or", "bit_xor"};
  return std::string("operation::") + words[int(op)];
}
