// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How launches that read ahead are told where they stand. What the launches of a stream that may not be done yet write is kept; a stream
// that is made where another one was inherits it, which makes a launch wait that need not. Compiled side, gpu.
#include "gpu/launch_order.hpp"

#include <algorithm>
#include <atomic>
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

/// Whether none of the launches in front, since the last of which this was false, writes a byte of what the next one reads.
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

} // namespace

void byte_ranges::add(void const* first, std::size_t bytes) { at_[count_++] = {reinterpret_cast<std::uintptr_t>(first), bytes}; }
void byte_ranges::add(column_place const* columns, int sources) {
  for (int i = 0; i < sources; ++i)
    if (auto const& c = columns[i]; c.pointer != nullptr) add(static_cast<char const*>(*c.pointer) + c.low_bytes, static_cast<std::size_t>(c.bytes));
}
void byte_ranges::add(void* const* arrays, int arrays_there, std::size_t bytes) {
  for (int i = 0; i < arrays_there; ++i) add(arrays[i], bytes);
}

launch_order order_of_launch(int ordinal, driver::stream stream, char* head, unsigned at_once, std::span<byte_range const> reads,
                             std::span<byte_range const> writes) {
  static std::atomic<u64> launches{0};
  bool const ahead = reads_nothing_unfinished(ordinal, stream, reads, writes);
  return {head + mark_at, launches.fetch_add(1, std::memory_order_relaxed), ahead ? at_once : 0};
}

} // namespace tally::inline v0::gpu
