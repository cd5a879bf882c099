// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The PTX of all kernels of an explanation, and what is in it; empty where there is no NVRTC.
#pragma once

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

inline std::string ptx_of(tally::grouped_explanation const& e) {
  static bool const able = tally::v0::gpu::can_compile();
  if (!able) {
    static bool const said = std::printf("skipped: no NVRTC on this machine\n") != 0;
    (void)said;
    return {};
  }
  std::string ptx;
  CHECK_NOTHROW(ptx = e.ptx());
  return ptx;
}
inline bool has(std::string const& text, char const* what) { return text.empty() || text.find(what) != text.npos; }
