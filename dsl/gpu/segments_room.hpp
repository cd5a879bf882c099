// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of one read by segment: where parts of long segments meet, and zeros that faults and arrivals begin with. Compiled side, gpu.
#pragma once

#include <tally/run/gpu_segments.hpp>

#include <cstddef>

namespace tally::v0::gpu {

class segments_room {
public:
  segments_room(segments_launch const& l, segments_request const& r) : l_(l), r_(r) {}
  std::size_t bytes_of_parts() const { return whole_lines(static_cast<std::size_t>(l_.places * r_.words_per_place) * 4); }
  std::size_t bytes_of_zeros() const { return line + whole_lines(static_cast<std::size_t>(l_.places) * 4); }
  /// Tells the kernel where they are, and how its work is cut.
  void lay_out(void* parts, void* zeros) const {
    r_.memory->cut = l_.cut;
    r_.memory->parts = static_cast<u32*>(parts);
    r_.memory->fault = static_cast<u64*>(zeros);
    r_.memory->arrivals = reinterpret_cast<u32*>(static_cast<char*>(zeros) + line); // on cache lines of their own
  }

private:
  static constexpr std::size_t line = 128;
  static constexpr std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }
  segments_launch const& l_;
  segments_request const& r_;
};

} // namespace tally::v0::gpu
