// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The request for one read by segment. Layer 5.
#pragma once

#include <tally/run/gpu_segments.hpp>
#include <tally/run/group_type_of.hpp>

namespace tally::v0::detail {

template <class Offset>
constexpr char const* offset_text() {
  if constexpr (std::same_as<Offset, evenly>)
    return "tally::v0::evenly";
  else
    return sizeof(Offset) == 8 ? (Offset(-1) < Offset(0) ? "tally::v0::i64" : "tally::v0::u64") : (Offset(-1) < Offset(0) ? "tally::v0::i32" : "tally::v0::u32");
}

/// The request for what a kernel is told, which must outlive it.
template <class Offset, class Program, class... Nodes>
gpu::segments_request segments_request_for(segments_read<Program, pack<Nodes...>, Offset>& read, i64 base, on::gpu_place where, contract c) {
  static gpu::kernels_of<segments_plan> kernels;
  gpu::segments_request r{&group_type_of<Program, pack<Nodes...>>(), &kernels, offset_text<Offset>(),
                          words_of(static_cast<typename Program::states const*>(nullptr)), &read, sizeof read, &read.memory, {},
                          facts_of(read.program, target{}, c), read.at.segments(), read.at.count != nullptr, base, where.ordinal, where.queue};
  if (read.program.extent > 0)
    places_of(read.program, r.columns);
  return r;
}

} // namespace tally::v0::detail
