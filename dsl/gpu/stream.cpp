// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waiting for streams and for points in them. A wait spins before it asks the driver to wait: answers of small folds
// come in microseconds, and a sleeping thread would add more than that. Compiled side, gpu.
#include "gpu/device.hpp"

#include <chrono>
#include <exception>

namespace tally::v0::gpu {
namespace {

/// How long a wait asks again and again before the driver waits instead.
constexpr auto spinning = std::chrono::microseconds(300);

/// True when `query` stopped answering not_ready in time; its answer is checked.
template <class Query>
bool spin(Query query, char const* call, int ordinal) {
  auto const begin = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 16; ++i) {
      int const answer = query();
      if (answer == driver::success) return true;
      if (answer != driver::error_not_ready) throw_answer(answer, call, ordinal);
    }
  } while (std::chrono::steady_clock::now() - begin < spinning);
  return false;
}

bool asked(int answer, char const* call, int ordinal) {
  if (answer != driver::error_not_ready) check(answer, call, ordinal);
  return answer == driver::success;
}

} // namespace

void wait(int ordinal, stream_ref on) {
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  auto const stream = d.stream_of(on);
  if (!spin([&] { return d.call.stream_query(stream); }, "cuStreamQuery", ordinal))
    check(d.call.stream_synchronize(stream), "cuStreamSynchronize", ordinal);
}

bool ready(int ordinal, stream_ref on) {
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  return asked(d.call.stream_query(d.stream_of(on)), "cuStreamQuery", ordinal);
}

mark::~mark() {
  if (event_ == nullptr) return;
  try {
    auto& d = device_of(ordinal_);
    std::lock_guard const lock(d.events_busy);
    d.idle_events[timed_ ? 1 : 0].push_back(event_);
  } catch (std::exception const&) { // no memory to remember it: the event is lost, nothing else
  }
}

bool mark::ready() const {
  if (event_ == nullptr) return true;
  auto& d = device_of(ordinal_);
  current_device const in_scope(d);
  return asked(d.call.event_query(event_), "cuEventQuery", ordinal_);
}

void mark::wait() const {
  if (event_ == nullptr) return;
  auto& d = device_of(ordinal_);
  current_device const in_scope(d);
  if (!spin([&] { return d.call.event_query(event_); }, "cuEventQuery", ordinal_))
    check(d.call.event_synchronize(event_), "cuEventSynchronize", ordinal_);
}

mark record(int ordinal, stream_ref on, bool timed) {
  auto& d = device_of(ordinal);
  current_device const in_scope(d);
  driver::event event = nullptr;
  {
    std::lock_guard const lock(d.events_busy);
    auto& idle = d.idle_events[timed ? 1 : 0];
    if (!idle.empty()) event = idle.back(), idle.pop_back();
  }
  if (event == nullptr)
    check(d.call.event_create(&event, timed ? 0u : driver::event_disable_timing), "cuEventCreate", ordinal);
  mark made(event, ordinal, timed);
  check(d.call.event_record(event, d.stream_of(on)), "cuEventRecord", ordinal);
  return made;
}

double seconds_between(mark const& first, mark const& second) {
  first.wait();
  second.wait();
  if (first.event_ == nullptr || second.event_ == nullptr) return 0;
  auto& d = device_of(first.ordinal_);
  current_device const in_scope(d);
  float milliseconds = 0;
  check(d.call.event_elapsed(&milliseconds, first.event_, second.event_), "cuEventElapsedTime", first.ordinal_);
  return static_cast<double>(milliseconds) * 1e-3;
}

} // namespace tally::v0::gpu
