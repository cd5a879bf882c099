// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programmatic dependent launch: a grid that was started early, the one behind it and the one in front. Layer 4.
#pragma once

namespace tally::inline v0::kernel {

/// Nothing of this grid, and nothing that it reads of those in front, may be seen before.
__device__ __forceinline__ void wait_for_launch_in_front() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

__device__ __forceinline__ void let_launch_behind_begin() { asm volatile("griddepcontrol.launch_dependents;"); }

} // namespace tally::inline v0::kernel
