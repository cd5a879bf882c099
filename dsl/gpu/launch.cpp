// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch: the hot path, so nothing is looked up, built or locked here. Compiled side, gpu.
#include "gpu/launch.hpp"

namespace tally::v0::gpu {
namespace {

[[noreturn]] void refuse(int answer, kernel const& k, launch_shape const& s) {
  auto const& d = *k.device;
  auto const shape = std::to_string(s.grid_blocks) + " blocks of " + std::to_string(s.block_threads) +
                     " threads, clusters of " + std::to_string(s.cluster_blocks) + ", " +
                     std::to_string(s.dynamic_shared_bytes) + " bytes of shared memory";
  throw_answer(answer, ("a launch of " + shape).c_str(), d.ordinal);
}

/// A launch whose shape says more than its blocks and threads; it points into itself.
struct described_launch {
  driver::launch_attribute attributes[2]{};
  driver::launch_config config;
  described_launch(launch_shape const& s, driver::stream on) {
    unsigned count = 0;
    if (s.cluster_blocks > 1) {
      auto& cluster = attributes[count++];
      cluster.id = driver::launch_cluster_dimension;
      cluster.cluster[0] = s.cluster_blocks;
      cluster.cluster[1] = cluster.cluster[2] = 1;
    }
    if (s.overlaps) {
      auto& early = attributes[count++];
      early.id = driver::launch_programmatic_stream_serialization;
      early.cluster[0] = 1; // the union's programmaticStreamSerializationAllowed
    }
    config = {{s.grid_blocks, 1, 1}, {s.block_threads, 1, 1}, static_cast<unsigned>(s.dynamic_shared_bytes), on, attributes, count};
  }
  described_launch(described_launch const&) = delete;
};

int launch_with_attributes(kernel const& k, launch_shape const& s, void** arguments, driver::stream on) {
  auto const& d = *k.device;
  if (d.call.launch_with == nullptr)
    throw launch_failed("a cluster of " + std::to_string(s.cluster_blocks) +
                        " blocks, or a launch that overlaps, needs a driver of CUDA 12 or newer.");
  described_launch const described(s, on);
  return d.call.launch_with(&described.config, k.function, arguments, nullptr);
}

} // namespace

void launch(kernel const& k, launch_shape const& s, void** arguments, stream_ref on) {
  auto const& d = *k.device;
  current_device const in_scope(d);
  auto const stream = d.stream_of(on);
  int const answer = s.cluster_blocks > 1 || s.overlaps
                         ? launch_with_attributes(k, s, arguments, stream)
                         : d.call.launch(k.function, s.grid_blocks, 1, 1, s.block_threads, 1, 1,
                                         static_cast<unsigned>(s.dynamic_shared_bytes), stream, arguments, nullptr);
  if (answer != driver::success) refuse(answer, k, s);
}

int resident_clusters(kernel const& k, launch_shape const& s) {
  auto const& d = *k.device;
  if (d.call.active_clusters == nullptr) return 0;
  current_device const in_scope(d);
  described_launch const described(s, nullptr);
  int clusters = 0;
  check(d.call.active_clusters(&clusters, k.function, &described.config), "cuOccupancyMaxActiveClusters", d.ordinal);
  return clusters;
}

} // namespace tally::v0::gpu
