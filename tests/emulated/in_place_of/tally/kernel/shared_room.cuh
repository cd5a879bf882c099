// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kernel/shared_room.cuh as host code: the memory that a test has made.
#pragma once

namespace tally::v0::kernel {

inline unsigned char* room_of_block() { return reinterpret_cast<unsigned char*>(emulated::shared_begin); }

} // namespace tally::v0::kernel
