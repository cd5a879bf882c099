// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The chart of achieved bandwidth: one bar a lesson, with the machine's own reading speed as a line across. Gallery, no
// part of the library.
#pragma once

#include <string>
#include <vector>

namespace gallery {

/// One bar: a label, the bytes that were read, and the rate in GB/s.
struct bar {
  std::string label;
  double bytes, gigabytes_per_second;
};

/// The rate in GB/s at which all cores read 256 MiB of memory with a plain loop: the median of several passes.
double plain_read_gigabytes_per_second();

/// Bars as one SVG element that keeps its letters at one size on any screen; `reference` in GB/s is drawn across them.
std::string chart_of(std::vector<bar> const& bars, double reference);

} // namespace gallery
