// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The macros of the library, all of them: what a compiler must be told and the language has no word for. Layer 0.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TALLY_HD __host__ __device__
#else
#define TALLY_HD
#endif

/// The caller's instruction set must reach the innermost loop, so these functions may not become calls.
#if defined(__GNUC__) && !defined(__CUDACC_RTC__)
#define TALLY_INLINE TALLY_HD __attribute__((always_inline)) inline
#else
#define TALLY_INLINE TALLY_HD __forceinline__
#endif

#define TALLY_VERSION_MAJOR 0
#define TALLY_VERSION_MINOR 1
#define TALLY_VERSION_PATCH 0

#if defined(__FAST_MATH__)
#error "[tally-B1] tally needs IEEE arithmetic: compile without -ffast-math. docs/errors.md#B1"
#endif
