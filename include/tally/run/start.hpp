// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb start: begins a reduction and gives a handle to its answers. Layer 5. On a GPU the kernel is queued on the
// place's stream and nothing waits; on the CPU another thread does the read.
#pragma once

#include <exception>
#include <stdexcept>

#include <tally/run/background.hpp>
#include <tally/run/run.hpp>

namespace tally::v0 {

namespace detail {

/// A reduction on its way; destroying it waits.
template <class Answers>
struct on_its_way {
  on_its_way() = default;
  on_its_way(on_its_way const&) = delete;
  on_its_way& operator=(on_its_way const&) = delete;
  virtual ~on_its_way() = default;
  virtual bool ready() const = 0;
  virtual Answers get() = 0;
};

template <class Answers, class R, class Bound>
struct on_a_thread final : on_its_way<Answers> {
  R reduction;
  Bound bound;
  on::cpu_place where;
  typename decltype(Bound::program)::states states;
  std::exception_ptr thrown;
  cpu::background thread; // last: it stops before what it uses goes

  on_a_thread(R const& r, Bound const& b, on::cpu_place w)
      : reduction(r), bound(b), where(w), states(b.program.identity()),
        thread([](void* self) { static_cast<on_a_thread*>(self)->fold(); }, this) {}
  bool ready() const override { return thread.done(); }
  Answers get() override {
    thread.wait();
    if (thrown)
      std::rethrow_exception(thrown);
    return answers_of(reduction, bound, states);
  }

private:
  void fold() noexcept {
    try {
      states = compute(bound.program, where, contract::reproducible);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
};

template <class Answers, class R, class Bound>
struct on_a_stream final : on_its_way<Answers> {
  using States = typename decltype(Bound::program)::states;
  R reduction;
  Bound bound;
  gpu::queued_run queued{};
  gpu::mark finished;

  on_a_stream(R const& r, Bound const& b, on::gpu_place where, contract c) : reduction(r), bound(b) {
    if (gpu::device_count() == 0)
      throw no_gpu(gpu::why_no_device());
    if (nothing_to_do())
      return;
    auto staged = bound.program; // its pointers are replaced by those of the staged columns
    auto request = request_for(staged, where, c);
    request.f.queued = true;
    queued = gpu::enqueue(request);
    finished = gpu::record(queued.ordinal, queued.stream);
  }
  ~on_a_stream() override {
    try {
      wait();
    } catch (error const&) { // the device is lost, and with it the kernel
    }
  }
  bool ready() const override { return finished.ready(); }
  Answers get() override {
    auto const* const come = wait();
    return answers_of(reduction, bound, come == nullptr ? bound.program.identity() : *static_cast<States const*>(come));
  }

private:
  /// Waits for the run, not for what stands behind it in the stream.
  void const* wait() {
    finished.wait();
    return queued.states.come();
  }
  bool nothing_to_do() const { return bound.program.extent == 0 || decltype(Bound::program)::leaf_count == 0; }
};

} // namespace detail

/// Answers that are on their way: of start(). Moves, does not copy; destroying it waits. Not for several threads at once.
template <class Answers>
class pending {
public:
  pending() = default;
  explicit pending(detail::on_its_way<Answers>* own) noexcept : own_(own) {}
  pending(pending&& other) noexcept : own_(std::exchange(other.own_, nullptr)) {}
  pending& operator=(pending&& other) noexcept { return std::swap(own_, other.own_), *this; }
  ~pending() { delete own_; }
  /// True when there is something to get: not for a default-constructed handle, nor for one that was moved from.
  explicit operator bool() const noexcept { return own_ != nullptr; }
  /// True when get() would not wait.
  bool ready() const { return held().ready(); }
  /// Waits and gives what run gives, or throws what run throws; may be called again.
  Answers get() const { return held().get(); }

private:
  detail::on_its_way<Answers>& held() const {
    if (own_ == nullptr)
      throw std::logic_error("tally::pending: nothing was started with this handle.");
    return *own_;
  }
  detail::on_its_way<Answers>* own_ = nullptr;
};

/// Begins a reduction and returns a pending<Answers> at once; options as for run. What is wrong with the input, and what a
/// GPU refuses when it is asked, is thrown here; what happens later, and empty_input or overflow, by get(). The columns
/// must stay as they are until ready(): pageable memory on its way to a GPU has been read when start returns.
template <class R, class... Options>
  requires detail::runnable<R, Options...>
auto start(R const& r, Options... options) {
  auto const where = detail::place_in(options...);
  using Place = std::remove_cvref_t<decltype(where)>;
  using Answers = decltype(run(r, options...));
  auto b = bind_checked<Options...>(r);
  using Bound = decltype(b);
  [[maybe_unused]] auto const c = detail::contract_in(options...);
  if constexpr (std::same_as<Place, on::cpu_place>) {
    if (b.program.extent > 0)
      detail::check_host_can_read(b.program);
    return pending<Answers>(new detail::on_a_thread<Answers, R, Bound>(r, b, where));
  } else if constexpr (std::same_as<Place, on::gpu_place>) {
    return pending<Answers>(new detail::on_a_stream<Answers, R, Bound>(r, b, where, c));
  } else {
    if constexpr (decltype(b.program)::lowerable)
      if (int const ordinal = gpu_for(b.program); ordinal >= 0)
        return pending<Answers>(new detail::on_a_stream<Answers, R, Bound>(r, b, on::gpu(ordinal), c));
    return pending<Answers>(new detail::on_a_thread<Answers, R, Bound>(r, b, on::cpu));
  }
}

/// What run refuses is refused, and the type says why.
template <class R, class... Options>
  requires(!detail::runnable<R, Options...>)
auto start(R const&, Options const&...) -> typename decltype(detail::judge_call<R, Options...>())::type {
  return {};
}

} // namespace tally::v0
