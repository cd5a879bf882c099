// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a verb needs and no type can say (where an address lies, how it is aligned, which block it belongs to) is asked
// here, in builds with TALLY_CHECKED defined: the kernel ends, and the driver prints the sentence with the block and the
// thread, as for a failed assert. Other builds ask nothing and pay nothing. Layer 2.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0::primitive {

/// Whether preconditions are asked at run time: compile with -DTALLY_CHECKED.
#if defined(TALLY_CHECKED)
inline constexpr bool checked = true;
#else
inline constexpr bool checked = false;
#endif

/// In a checked build, ends the kernel with the sentence unless `holds`.
__device__ __forceinline__ void demand([[maybe_unused]] bool holds, [[maybe_unused]] char const* sentence) {
  if constexpr (checked) {
    if (holds) return;
#if defined(__CUDACC_RTC__)
    __assertfail(sentence, "tally/primitive", 0, "demand", 1);
#else
    __assert_fail(sentence, "tally/primitive", 0, "demand");
#endif
  }
}

} // namespace tally::v0::primitive
