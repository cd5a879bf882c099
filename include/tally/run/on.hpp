// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a reduction runs: on::any, on::cpu, on::gpu. Layer 5. Places are types, so that a pipeline no kernel can be made of
// is refused where it is written and not where it runs.
#pragma once

#include <tally/plan/plan.hpp>
#include <tally/run/device.hpp>

namespace tally::v0 {

/// The same bits everywhere, the default.
inline constexpr contract reproducible = contract::reproducible;
/// IEEE per operation, any order.
inline constexpr contract fast = contract::fast;
/// Sums of floats, their products and means are rounded once, at the end: free of order and correctly rounded. A type of its
/// own, because it changes what is kept while folding.
struct exact_contract {
  constexpr operator contract() const { return contract::exact; }
};
inline constexpr exact_contract exact{};

namespace on {

/// A GPU where the data already is, else the CPU.
struct any_place {};
/// The host's cores; threads = 0 means all.
struct cpu_place {
  int thread_count = 0;
  /// On exactly n threads (n >= 1); the answer does not depend on it.
  constexpr cpu_place threads(int n) const { return {n}; }
};
/// One GPU; ordinal -1 means the one where the data is, else the first. Host columns are staged through pinned memory.
struct gpu_place {
  int ordinal = -1;
  tally::v0::gpu::stream_ref queue{};
  /// The GPU with this ordinal.
  constexpr gpu_place operator()(int k) const { return {k, queue}; }
  /// How many GPUs there are; 0 where there is no driver.
  static int device_count() noexcept { return tally::v0::gpu::device_count(); }
  /// Why there is none, as a sentence; empty where there is one.
  static std::string why_no_device() { return tally::v0::gpu::why_no_device(); }
  /// Queued on a cudaStream_t or CUstream.
  constexpr gpu_place stream(void* handle) const { return {ordinal, {handle}}; }
};

inline constexpr any_place any{};
inline constexpr cpu_place cpu{};
inline constexpr gpu_place gpu{};

} // namespace on

template <class T>
concept place = std::same_as<T, on::any_place> || std::same_as<T, on::cpu_place> || std::same_as<T, on::gpu_place>;

} // namespace tally::v0
