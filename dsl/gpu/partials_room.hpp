// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of a full reduction are told of its leaves and of the memory where its blocks meet. Compiled side, gpu.
#pragma once

#include "gpu/launch_order.hpp"

#include <tally/run/gpu_door.hpp>

namespace tally::v0::gpu {

/// What kernel/leaf.cuh calls leaf_counts.
struct leaf_counts {
  i64 all, whole;
};
inline leaf_counts leaves_of(facts const& f) { return {f.leaves(), f.extent / f.elements_per_leaf()}; }

/// What kernel/shown_states.cuh calls partials_view.
struct partials_view {
  void* epoch;
  void* words;
};
/// In memory of the stream: the states of all levels.
inline partials_view room_for_partials(program_type const& t, i64 blocks, int ordinal, stream_ref stream) {
  std::size_t partials = 0;
  for (i64 level = blocks; level > 1; level = (level - 1) / 32 + 1) partials += static_cast<std::size_t>(level);
  auto* const room = static_cast<char*>(workspace(ordinal, stream, head_bytes + 8 * partials * static_cast<std::size_t>(t.words_per_partial)));
  return {room, room + head_bytes};
}

} // namespace tally::v0::gpu
