// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The standard library of the compiler at hand, as stl: libcu++ where kernels are compiled, the host's own elsewhere, which
// spares a host program libcu++ and every CUDA header that it looks for. Only what means the same in both is named through
// it. Layer 0.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include <cuda/std/concepts>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/limits>

namespace tally::v0 {
namespace stl = cuda::std;
}
#else
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tally::v0 {
namespace stl = std;
}
#endif
