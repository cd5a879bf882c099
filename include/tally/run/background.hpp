// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to a thread of one's own: what start() does on the CPU. Type-erased and compiled in dsl/cpu, so that a user's
// file does not pay for <thread>. Layer 5.
#pragma once

#include <utility>

namespace tally::v0::cpu {

/// One function on its way on another thread. Destroying it waits.
class background {
public:
  background() = default;
  /// Calls body(context) on another thread, or here and now where no thread is to be had; body must not throw.
  background(void (*body)(void* context), void* context);
  background(background&& other) noexcept : task_(std::exchange(other.task_, nullptr)) {}
  background& operator=(background&& other) noexcept { return std::swap(task_, other.task_), *this; }
  ~background();
  /// True when the function has returned; what it wrote is then seen.
  bool done() const noexcept;
  /// Returns when the function has; may be called again.
  void wait() noexcept;

private:
  struct task;
  task* task_ = nullptr;
};

} // namespace tally::v0::cpu
