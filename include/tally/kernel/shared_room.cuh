// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared memory that a block was launched with. Layer 4.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0::kernel {

/// Where it begins: at a multiple of 128 bytes.
__device__ __forceinline__ unsigned char* room_of_block() {
  extern __shared__ __align__(128) unsigned char room[];
  return room;
}

} // namespace tally::v0::kernel
