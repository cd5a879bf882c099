// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The macros of the library, all of them: what a compiler must be told and the language has no word for. Layer 0.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TALLY_HD __host__ __device__
#else
#define TALLY_HD
#endif

/// The caller's instruction set must reach the innermost loop, so where the compiler optimises these functions may not become
/// calls. Where it does not, there is nothing to gain, and what g++ spends on the copies is most of its time.
#if defined(__CUDACC_RTC__)
#define TALLY_INLINE TALLY_HD __forceinline__
#elif defined(__CUDACC__) || defined(__OPTIMIZE__)
#define TALLY_INLINE TALLY_HD __attribute__((always_inline)) inline
#else
#define TALLY_INLINE TALLY_HD inline
#endif
/// The same for a lambda, behind its parameters; the compilers of kernels inline them anyway.
#if defined(__OPTIMIZE__) && !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define TALLY_INLINE_LAMBDA __attribute__((always_inline))
#else
#define TALLY_INLINE_LAMBDA
#endif

/// Keeps a loop of known length a loop in kernels, where its copies would cost the compiler seconds.
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define TALLY_ROLLED _Pragma("unroll 1")
#else
#define TALLY_ROLLED
#endif

/// Marks a loop for the registers and the fused instructions that nearly every x86 since 2013 has, in a program compiled for any
/// x86; whether this one has them, cpu_runs_wide_loops() says. Fused is what tally::math fuses and nothing else. Below -O2 g++ has to be
/// told to leave the upper halves empty: where they are not, every SSE instruction of the program after the loop waits for them.
#if defined(__x86_64__) && defined(__GNUC__) && !(defined(__AVX2__) && defined(__FMA__)) && !defined(__CUDACC_RTC__)
#if defined(__clang__)
#define TALLY_WIDE_LOOP [[gnu::target("avx2,fma"), gnu::noinline]]
#else
#define TALLY_WIDE_LOOP \
  [[gnu::target("avx2,fma"), gnu::optimize("fp-contract=off", "expensive-optimizations"), gnu::noinline]]
#endif
namespace tally::v0::detail {
inline bool cpu_runs_wide_loops() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
} // namespace tally::v0::detail
#endif

#define TALLY_VERSION_MAJOR 0
#define TALLY_VERSION_MINOR 1
#define TALLY_VERSION_PATCH 0

/// A multiplication and an addition stay two roundings, from here to the end of the file that includes this: clang fuses within an
/// expression unless told not to. g++ is told by -ffp-contract=off, and in TALLY_WIDE_LOOP without.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

#if defined(__FAST_MATH__)
#error "[tally-B1] tally needs IEEE arithmetic: compile without -ffast-math. docs/errors.md#B1"
#endif

/// Declares a function of the user's own, at namespace scope, usable on the host, in expressions and in kernels:
/// TALLY_FUNCTION(clamped, (float r), { return r < 0 ? 0 : r; }). Its body may use its parameters and tally::math.
#define TALLY_FUNCTION(function_name, parameters, ...)                                                                 \
  struct function_name##_function {                                                                                    \
    [[maybe_unused]] static constexpr char const* spelling = #function_name;                                           \
    [[maybe_unused]] static constexpr char const* device_parameters = #parameters;                                     \
    [[maybe_unused]] static constexpr char const* device_body = #__VA_ARGS__;                                          \
    TALLY_HD constexpr auto operator() parameters const __VA_ARGS__                                                    \
  };                                                                                                                   \
  inline constexpr ::tally::v0::user_function<function_name##_function> function_name {}

/// Declares a trivially copyable struct of the user's own, at namespace scope, that kernels know too:
/// TALLY_STRUCT(point, { float x, y; }).
#define TALLY_STRUCT(struct_name, ...)                                                                                 \
  struct struct_name __VA_ARGS__;                                                                                      \
  [[maybe_unused]] constexpr char const* tally_device_text(struct_name const*) { return #__VA_ARGS__; }
