// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How launches that read ahead are told where they stand. What the launches of a stream that may not be done yet write is kept; a stream
// that is made where another one was inherits it, which makes a launch wait that need not. Compiled side, gpu.
#include "gpu/launch_order.hpp"

#include "gpu/launch.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace tally::v0::gpu {
namespace {

constexpr std::size_t most_ranges = 64; // the launch that would add more waits, and with it all are finished

/// The capture that a stream is under, 0 for none, and the node that the next one of it depends on, null where that is not one alone or the
/// driver does not say.
struct capture_place {
  unsigned long long capture = 0;
  driver::graph_node in_front = nullptr;
  friend bool operator==(capture_place const&, capture_place const&) = default;
};
capture_place capture_place_of(device_state& d, driver::stream stream) noexcept {
  constexpr int active = 1;
  constexpr capture_place unknown{~0ull, nullptr};
  if (d.call.capture_info == nullptr) return capturing(d, stream) ? unknown : capture_place{};
  int status = 0;
  unsigned long long capture = 0;
  driver::graph_node const* nodes = nullptr;
  void const* edges = nullptr;
  std::size_t count = 0;
  if (d.call.capture_info(stream, &status, &capture, nullptr, &nodes, &edges, &count) != driver::success) return unknown;
  if (status != active) return {};
  return {capture, count == 1 ? nodes[0] : nullptr};
}

/// What the launches of a stream write, or of what it captures, that may not be done when the next one begins.
struct unfinished {
  int ordinal;
  driver::stream stream;
  capture_place behind; ///< where the last of them left the stream
  std::vector<byte_range> ranges;
  bool next_waits = false; ///< a launch that should have waited failed
};
/// One entry a stream, and one for the graph that it captured last.
struct all_unfinished {
  std::mutex busy;
  std::vector<unfinished> streams;

  unfinished& of(int ordinal, driver::stream stream, unsigned long long capture) {
    auto const found = std::find_if(streams.begin(), streams.end(), [&](auto const& s) {
      return s.ordinal == ordinal && s.stream == stream && (s.behind.capture != 0) == (capture != 0);
    });
    return found != streams.end() ? *found : streams.emplace_back(unfinished{ordinal, stream, {capture, nullptr}, {}});
  }
};
all_unfinished& writes_of_streams() {
  static auto& all = *new all_unfinished; // launches may outlive static objects
  return all;
}

bool overlap(byte_range const& a, byte_range const& b) noexcept { return a.first < b.first + b.count && b.first < a.first + a.count; }

/// Whether the launch in front is one of these, and none of them writes a byte of what the next one reads; else all of them are finished.
bool reads_nothing_unfinished(unfinished& u, capture_place const& here, launch_in_order const& next) {
  auto const is_written = [&](byte_range const& r) { return std::any_of(u.ranges.begin(), u.ranges.end(), [&](auto const& w) { return overlap(r, w); }); };
  bool const in_row = here.capture == 0 || (here.in_front != nullptr && here == u.behind);
  bool const ahead = in_row && !u.next_waits && u.ranges.size() + next.writes.size() <= most_ranges && std::none_of(next.reads.begin(), next.reads.end(), is_written);
  if (!ahead) u.ranges.clear();
  for (auto const& w : next.writes)
    if (std::find(u.ranges.begin(), u.ranges.end(), w) == u.ranges.end()) u.ranges.push_back(w);
  return ahead;
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

void launch(kernel const& k, launch_shape const& shape, void** arguments, stream_ref on, launch_order& order, launch_in_order const& next) {
  static std::atomic<u64> launches{0};
  auto& d = *k.device;
  auto const stream = d.stream_of(on);
  auto& all = writes_of_streams();
  capture_place const here = capture_place_of(d, stream);
  std::lock_guard const lock(all.busy); // until it is launched: what is kept is in the order of the stream
  unfinished& u = all.of(d.ordinal, stream, here.capture);
  bool const ahead = reads_nothing_unfinished(u, here, next);
  order.first_blocks = ahead ? static_cast<unsigned>(next.at_once) : 0;
  if (here.capture == 0) {
    order.last = next.head + mark_at;
    order.number = launches.fetch_add(1, std::memory_order_relaxed);
  }
  u.next_waits = true;
  launch(k, shape, arguments, on);
  u.next_waits = false;
  if (here.capture != 0) {
    capture_place const behind = capture_place_of(d, stream);
    all.of(d.ordinal, stream, behind.capture).behind = behind;
  }
}

} // namespace tally::v0::gpu
