// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two words of 64 bits at once: read, and compared and swapped. sm_90 (PTX ISA, atom, .b128). Layer 2. Written here because the load of 128 bits of
// libcu++'s atomics (CUDA 13.0) has its operands the wrong way round.
#pragma once

#include <tally/base/word_pair.hpp>
#include <tally/primitive/place.cuh>

namespace tally::v0::primitive {

/// What *at is, never half of one pair and half of another.
__device__ __forceinline__ word_pair load_pair(in_global<word_pair> at) {
  word_pair now;
  asm volatile("{ .reg .b128 now; ld.relaxed.gpu.global.b128 now, [%2]; mov.b128 {%0, %1}, now; }" : "=l"(now.first), "=l"(now.second) : "l"(at.address()) : "memory");
  return now;
}
__device__ __forceinline__ word_pair load_pair(in_shared<word_pair> at) {
  word_pair now;
  asm volatile("{ .reg .b128 now; ld.relaxed.cta.shared.b128 now, [%2]; mov.b128 {%0, %1}, now; }" : "=l"(now.first), "=l"(now.second) : "r"(at.address()) : "memory");
  return now;
}

/// What *at was; where that is what was expected it is `desired` now.
__device__ __forceinline__ word_pair compare_and_swap(in_global<word_pair> at, word_pair expected, word_pair desired) {
  word_pair was;
  asm volatile("{ .reg .b128 was, expected, desired; mov.b128 expected, {%3, %4}; mov.b128 desired, {%5, %6};\n"
               "  atom.relaxed.gpu.global.cas.b128 was, [%2], expected, desired; mov.b128 {%0, %1}, was; }"
               : "=l"(was.first), "=l"(was.second)
               : "l"(at.address()), "l"(expected.first), "l"(expected.second), "l"(desired.first), "l"(desired.second)
               : "memory");
  return was;
}
__device__ __forceinline__ word_pair compare_and_swap(in_shared<word_pair> at, word_pair expected, word_pair desired) {
  word_pair was;
  asm volatile("{ .reg .b128 was, expected, desired; mov.b128 expected, {%3, %4}; mov.b128 desired, {%5, %6};\n"
               "  atom.relaxed.cta.shared.cas.b128 was, [%2], expected, desired; mov.b128 {%0, %1}, was; }"
               : "=l"(was.first), "=l"(was.second)
               : "r"(at.address()), "l"(expected.first), "l"(expected.second), "l"(desired.first), "l"(desired.second)
               : "memory");
  return was;
}

} // namespace tally::v0::primitive
