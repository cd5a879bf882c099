// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of pipelines: n floats between -3 and 3.8, in no order, other ones for every seed.
#pragma once

#include <vector>

inline std::vector<float> uneven(std::size_t n, unsigned seed = 1) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = float((i * 2654435761u + seed * 40503u) >> 7 & 0xffff) / 9773.f - 3.f;
  return x;
}
