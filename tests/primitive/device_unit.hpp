// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device text of a test through NVRTC, with the headers the library carries and no flag that a user would have to know.
// Test layer.
#pragma once

#include "jit/embedded.hpp"
#include "jit/nvrtc.hpp"
#include "jit/search_path.hpp"

#include <tally/base/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace device_unit {

/// True with an NVRTC; says once that the rest is skipped.
inline bool can_compile() {
  static bool const able = [] {
    try {
      return tally::v0::jit::nvrtc().major > 0;
    } catch (tally::v0::error const& refused) {
      std::printf("skipped: no NVRTC on this machine: %s\n", refused.what());
      return false;
    }
  }();
  return able;
}

/// Whether this NVRTC knows a chip, 90 for sm_90 and sm_90a.
inline bool knows(int architecture) {
  auto const& known = tally::v0::jit::nvrtc().architectures;
  return std::find(known.begin(), known.end(), architecture) != known.end();
}

/// What NVRTC made of a unit: PTX, or what was wrong.
struct compiled {
  std::string ptx, complaints;
};

/// Compiles a unit, named kernel.cu, to machine code for a chip such as "sm_90a".
inline compiled compile(std::string const& unit, std::string const& architecture,
                        std::vector<std::string> const& instances = {}) {
  using namespace tally::v0::jit;
  std::vector<char const*> names, texts;
  for (std::size_t i = 0; i < embedded_header_count; ++i)
    names.push_back(embedded_headers[i].name), texts.push_back(embedded_headers[i].text);
  auto const paths = find_include_paths(nvrtc().path);
  std::string const arch = "-arch=" + architecture, cccl = "-I" + paths.cccl, cuda = "-I" + paths.cuda;
  std::vector<char const*> const options{"-std=c++20", arch.c_str(), cccl.c_str(), cuda.c_str()};
  auto const& call = nvrtc().call;
  nvrtc_program program = nullptr;
  REQUIRE(call.create(&program, unit.c_str(), "kernel.cu", int(names.size()), texts.data(), names.data()) == 0);
  for (auto const& instance : instances) REQUIRE(call.add_name_expression(program, instance.c_str()) == 0);
  compiled result;
  bool const good = call.compile(program, int(options.size()), options.data()) == 0;
  std::size_t size = 0;
  REQUIRE((good ? call.ptx_size : call.log_size)(program, &size) == 0);
  std::string text(size, '\0');
  REQUIRE((good ? call.ptx : call.log)(program, text.data()) == 0);
  (good ? result.ptx : result.complaints) = text.c_str();
  if (good) {
    REQUIRE(call.cubin_size(program, &size) == 0);
    CHECK(size > 0);
  }
  call.destroy(&program);
  return result;
}

} // namespace device_unit
