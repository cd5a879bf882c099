// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long L2 should keep what an instruction touches: a policy made once per thread and given to verbs as their last
// argument. A hint for speed, never a change of meaning. sm_80 and later. Layer 2.
#pragma once

#include <tally/base/numbers.hpp>

namespace tally::v0::primitive {

/// A cache policy for verbs that reach global memory.
class cache_policy {
public:
  /// What is read or written once: leaves first. `fraction` of the accesses, the rest unchanged.
  __device__ static __forceinline__ cache_policy evict_first(float fraction = 1) {
    u64 made;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, %1;" : "=l"(made) : "f"(fraction));
    return cache_policy(made);
  }
  /// What is met again: bins, tables, partial results.
  __device__ static __forceinline__ cache_policy evict_last(float fraction = 1) {
    u64 made;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, %1;" : "=l"(made) : "f"(fraction));
    return cache_policy(made);
  }
  __device__ static __forceinline__ cache_policy evict_normal(float fraction = 1) {
    u64 made;
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, %1;" : "=l"(made) : "f"(fraction));
    return cache_policy(made);
  }
  __device__ static __forceinline__ cache_policy evict_unchanged(float fraction = 1) {
    u64 made;
    asm("createpolicy.fractional.L2::evict_unchanged.b64 %0, %1;" : "=l"(made) : "f"(fraction));
    return cache_policy(made);
  }
  __device__ __forceinline__ u64 word() const { return word_; }

private:
  __device__ __forceinline__ explicit cache_policy(u64 word) : word_(word) {}
  u64 word_;
};

/// No policy: the form without .L2::cache_hint.
struct no_policy {};

namespace verbs {
template <class Hint>
inline constexpr bool hinted = cuda::std::same_as<Hint, cache_policy>;
}

} // namespace tally::v0::primitive

namespace tally {
namespace primitive = v0::primitive;
} // namespace tally
