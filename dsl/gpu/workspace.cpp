// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that kernels find clean and leave clean: cleared once when it is made. It grows by doubling and the smaller
// block is kept for ever, because a launch that was already given its address may still be on its way. Compiled side,
// gpu.
#include "gpu/workspace.hpp"

#include <tally/run/log.hpp>

#include <algorithm>
#include <bit>

namespace tally::v0::gpu {
namespace {

/// The smallest block: the partials of every block of a full chip, so that most streams allocate once. Up to the
/// largest doubled block sizes are powers of two, and beyond it multiples of the driver's own granularity.
constexpr std::size_t smallest_bytes = 256 * 1024, largest_doubled_bytes = std::size_t{64} << 20,
                      granularity = std::size_t{2} << 20;

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  if (bytes <= largest_doubled_bytes) return std::bit_ceil(std::max(bytes, smallest_bytes));
  return bytes > ~granularity ? bytes : (bytes + granularity - 1) / granularity * granularity;
}

driver::address cleared_memory(device_state& d, driver::stream on, std::size_t bytes) {
  if (capturing(d, on))
    throw not_prepared("a workspace of " + std::to_string(bytes) +
                       " bytes is needed while the stream is being captured: run once "
                       "on this stream before the capture.");
  driver::address memory = 0;
  int const answer = d.call.allocate(&memory, bytes);
  if (answer == driver::error_out_of_memory)
    throw out_of_memory("a workspace of " + std::to_string(bytes) + " bytes does not fit on device " +
                        std::to_string(d.ordinal) + ".");
  check(answer, "cuMemAlloc", d.ordinal);
  if (int const cleared = d.call.fill(memory, 0, bytes, on); cleared != driver::success) {
    d.call.free(memory);
    throw_answer(cleared, "cuMemsetD8Async", d.ordinal);
  }
  if (logs("gpu"))
    log_line("gpu", "workspace of " + std::to_string(bytes) + " bytes on device " + std::to_string(d.ordinal));
  return memory;
}

/// 0 for the library's own stream, which lives for ever, and where the driver does not tell: cuStreamGetId would end a
/// capture.
unsigned long long id_of(device_state& d, driver::stream s) noexcept {
  unsigned long long id = 0;
  if (s != d.own_stream && !capturing(d, s) && d.call.stream_id != nullptr) d.call.stream_id(s, &id);
  return id;
}

/// cudaStreamPerThread: one handle that stands for a stream per thread.
bool per_thread(driver::stream s) noexcept { return s == reinterpret_cast<driver::stream>(2); }

} // namespace

void* workspace(int ordinal, stream_ref on, std::size_t bytes, workspace_kind kind) {
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  auto const stream = d.stream_of(on);
  auto const id = id_of(d, stream);
  auto& spaces = *d.spaces;
  std::lock_guard const lock(spaces.busy);
  auto const mine = [&](auto const& p) { return p.stream == stream && p.kind == kind && (p.id == id || !per_thread(stream)); };
  auto found = std::find_if(spaces.places.begin(), spaces.places.end(), mine);
  if (found == spaces.places.end()) found = spaces.places.insert(found, {stream, kind, id, 0, 0});
  if (id != 0 && found->id != id) {
    // The stream at this address is another one now: the old one's kernels must have left the block clean.
    if (capturing(d, stream))
      found->bytes = 0;
    else
      check(d.call.synchronize(), "cuCtxSynchronize", ordinal);
    found->id = id;
  }
  if (found->bytes < bytes) {
    found->memory = cleared_memory(d, stream, rounded(bytes));
    found->bytes = rounded(bytes);
  }
  return reinterpret_cast<void*>(found->memory);
}

void clear(void* memory, std::size_t bytes, int ordinal, stream_ref on) {
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  check(d.call.fill(reinterpret_cast<driver::address>(memory), 0, bytes, d.stream_of(on)), "cuMemsetD8Async", ordinal);
}

} // namespace tally::v0::gpu
