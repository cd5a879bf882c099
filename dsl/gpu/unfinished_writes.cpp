// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the reductions of a stream that may not be done yet write. A stream that is made where another one was inherits its ranges,
// which makes a launch wait that need not. Compiled side, gpu.
#include "gpu/unfinished_writes.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace tally::inline v0::gpu {
namespace {

constexpr std::size_t most_ranges = 64; // the launch that would add more waits, and with it all are finished

struct writes_of_stream {
  int ordinal;
  driver::stream stream;
  std::vector<byte_range> ranges;
};

bool overlap(byte_range const& a, byte_range const& b) noexcept { return a.first < b.first + b.count && b.first < a.first + a.count; }

} // namespace

bool reads_nothing_unfinished(int ordinal, driver::stream stream, std::span<byte_range const> reads, std::span<byte_range const> writes) {
  static std::mutex busy;
  static auto& streams = *new std::vector<writes_of_stream>; // launches may outlive static objects
  std::lock_guard const lock(busy);
  auto found = std::find_if(streams.begin(), streams.end(), [&](auto const& s) { return s.ordinal == ordinal && s.stream == stream; });
  if (found == streams.end()) found = streams.insert(found, {ordinal, stream, {}});
  auto& ranges = found->ranges;
  bool const finished = ranges.size() + writes.size() <= most_ranges && std::none_of(reads.begin(), reads.end(), [&](auto const& r) {
    return std::any_of(ranges.begin(), ranges.end(), [&](auto const& w) { return overlap(r, w); });
  });
  if (!finished) ranges.clear();
  for (auto const& w : writes)
    if (std::find(ranges.begin(), ranges.end(), w) == ranges.end()) ranges.push_back(w);
  return finished;
}

} // namespace tally::inline v0::gpu
