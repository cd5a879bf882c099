// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs of the bench do where a call of the CUDA runtime fails: they say so and end. Test layer.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define REQUIRE_CUDA(call)                                                                                             \
  do {                                                                                                                 \
    if (cudaError_t const said_ = (call); said_ != cudaSuccess)                                                                \
      std::printf("%s: %s\n", #call, cudaGetErrorString(said_)), std::exit(1);                                             \
  } while (false)
