// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread per background function: the work of one is a whole read, so what a thread costs does not show. Layer 5.
#include <tally/run/background.hpp>

#include <atomic>
#include <system_error>
#include <thread>

namespace tally::v0::cpu {

struct background::task {
  std::atomic<bool> done{false};
  std::thread thread;
};

background::background(void (*body)(void* context), void* context) : task_(new task) {
  auto const run = [to = task_, body, context] {
    body(context);
    to->done.store(true, std::memory_order_release);
  };
  try {
    task_->thread = std::thread(run);
  } catch (std::system_error const&) { // the system has no more threads
    run();
  }
}

background::~background() {
  wait();
  delete task_;
}

bool background::done() const noexcept { return task_ == nullptr || task_->done.load(std::memory_order_acquire); }

void background::wait() noexcept {
  if (task_ != nullptr && task_->thread.joinable()) task_->thread.join();
}

} // namespace tally::v0::cpu
