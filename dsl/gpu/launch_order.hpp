// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How launches that read ahead of the one in front are told where they stand (kernel/launch_order.cuh), and that nothing they read may
// still be on its way. Compiled side, gpu.
#pragma once

#include "gpu/device.hpp"

#include <tally/plan/group_facts.hpp>
#include <tally/run/gpu_door.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace tally::v0::gpu {

/// The head of a workspace that launches of a stream share: a cache line, with the epoch and then the mark of the launch in front.
inline constexpr std::size_t head_bytes = 64, mark_at = 8;

/// What kernel/launch_order.cuh calls launch_order: as it is, of a launch that waits.
struct launch_order {
  void* last = nullptr;
  u64 number = 0;
  unsigned first_blocks = 0;
};

/// Bytes in device memory.
struct byte_range {
  std::uintptr_t first;
  std::size_t count;
  friend bool operator==(byte_range const&, byte_range const&) = default;
};
/// What a launch reads, or what it writes: columns, memory, arrays of one size.
class byte_ranges {
public:
  void add(void const* first, std::size_t bytes);
  void add(column_place const* columns, int sources);
  void add(void* const* arrays, int arrays_there, std::size_t bytes);
  operator std::span<byte_range const>() const { return {at_, count_}; }

private:
  byte_range at_[3 * max_answers];
  std::size_t count_ = 0;
};

/// A launch whose plan reads ahead: the head of its workspace, how many of its blocks run at the same time, what it reads and what it writes.
struct launch_in_order {
  char* head;
  int at_once;
  std::span<byte_range const> reads, writes;
};
/// Launches a kernel, one of whose arguments is `order`. It waits where one in front that may not be done writes what it reads; what it
/// writes is noted for those behind.
void launch(kernel const&, launch_shape const&, void** arguments, stream_ref, launch_order& order, launch_in_order const&);

} // namespace tally::v0::gpu
