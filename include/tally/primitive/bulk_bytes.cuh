// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes and rooms the bulk engine takes. ptxas does not look into registers, and a size that is no multiple of 16 is
// undefined behaviour, so sizes are a type that holds no other, and rooms in shared memory are a type that is aligned.
// Layer 2.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/primitive/check.cuh>

namespace tally::v0::primitive {

/// A number of bytes that is a multiple of 16.
class bulk_bytes {
public:
  /// A size known when the kernel is compiled.
  template <u32 N>
  TALLY_HD static constexpr bulk_bytes of() {
    static_assert(N % 16 == 0, "[tally-D1] a bulk size is a multiple of 16 bytes. docs/errors.md#D1");
    return bulk_bytes(N);
  }
  /// The largest legal size that is not above n.
  TALLY_HD static constexpr bulk_bytes within(i64 n) { return bulk_bytes(u32(n / 16 * 16)); }
  /// The smallest legal size that is not below n.
  TALLY_HD static constexpr bulk_bytes around(i64 n) { return bulk_bytes(u32((n + 15) / 16 * 16)); }
  /// A size the caller knows to be legal; asked in a checked build.
  __device__ __forceinline__ static bulk_bytes exactly(i64 n) {
    demand(n % 16 == 0 && n >= 0 && n < (i64(1) << 32), "[tally-D1] a bulk size must be a multiple of 16 bytes");
    return bulk_bytes(u32(n));
  }
  TALLY_HD constexpr u32 count() const { return count_; }
  TALLY_HD friend constexpr bulk_bytes operator+(bulk_bytes a, bulk_bytes b) { return bulk_bytes(a.count_ + b.count_); }
  TALLY_HD friend constexpr bulk_bytes operator*(bulk_bytes a, u32 n) { return bulk_bytes(a.count_ * n); }

private:
  TALLY_HD explicit constexpr bulk_bytes(u32 n) : count_(n) {}
  u32 count_;
};

/// Room for N elements in shared memory that bulk loads can fill: declare it __shared__.
template <class T, int N>
struct alignas(128) stage {
  static_assert(N > 0 && N * sizeof(T) % 16 == 0, "[tally-D1] a stage holds a multiple of 16 bytes. docs/errors.md#D1");
  T elements[N];
  TALLY_HD static constexpr bulk_bytes bytes() { return bulk_bytes::of<u32(N * sizeof(T))>(); }
};

/// What both ends of a bulk operation need, asked in a checked build.
__device__ __forceinline__ void demand_bulk(void const* a, void const* b) {
  demand((u64(a) | u64(b)) % 16 == 0, "[tally-D2] both addresses of a bulk operation must be aligned to 16 bytes");
}

} // namespace tally::v0::primitive
