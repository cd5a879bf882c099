// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to its states, on the CPU or on a GPU: the same tree either way. Layer 5.
#pragma once

#include <cstring>

#include <tally/base/error.hpp>
#include <tally/element/spread.hpp>
#include <tally/plan/facts_of.hpp>
#include <tally/run/cpu_fold.hpp>
#include <tally/run/device_text.hpp>
#include <tally/run/gpu_door.hpp>
#include <tally/run/on.hpp>

namespace tally::v0 {

namespace detail {

/// Where the columns of a program lie; the pointers may be replaced through it.
template <class Program>
void places_of(Program& p, gpu::column_place* out) {
  for_each_index<decltype(p.columns)::size>([&](auto i) {
    auto& c = get<i>(p.columns);
    using Column = std::remove_cvref_t<decltype(c)>;
    if constexpr (axes_of_column<Column> > 0) {
      i64 const size = sizeof(typename Column::value_type);
      i64 low = 0, high = 0;
      for (int k = 0; k < Column::rank; ++k) {
        i64 const reach = (c.extents[k] - 1) * c.strides[k];
        (reach < 0 ? low : high) += reach;
      }
      out[i] = {reinterpret_cast<void const**>(&c.data), low * size, (high - low + 1) * size};
    } else if constexpr (memory_column<Column>) {
      i64 stride = 1;
      if constexpr (requires { c.stride; })
        stride = c.stride;
      i64 const size = sizeof(typename Column::value_type);
      i64 const reach = (p.extent - 1) * stride * size;
      out[i] = {reinterpret_cast<void const**>(&c.data),
                reach < 0 ? reach : 0, (reach < 0 ? -reach : reach) + size};
    } else {
      out[i] = {nullptr, 0, 0};
    }
  });
}

/// 32-bit words of states, each in words of its own.
template <class... States>
constexpr int words_of(pack<States...> const*) {
  return int((0 + ... + ((sizeof(States) + 3) / 4)));
}

/// The constants of a program's type, one object per type.
template <class Program>
gpu::program_type const& type_of() {
  static gpu::program_type const type{&name_of<Program>,
                                      &definitions_of<Program>,
                                      sizeof(Program),
                                      alignof(Program),
                                      sizeof(typename Program::states),
                                      words_of(static_cast<typename Program::states const*>(nullptr))};
  return type;
}

/// A request to run a program on a GPU; the program must outlive it.
template <class Program>
gpu::full_request request_for(Program& p, on::gpu_place where, contract c) {
  static gpu::kernels_of<plan> kernels;
  gpu::full_request r{&type_of<Program>(), &kernels, &p, facts_of(p, target{}, c), {}, where.ordinal, where.queue, nullptr};
  places_of(p, r.columns);
  return r;
}

/// Compiled in dsl/run/check.cpp.
void check_host_can_read(gpu::column_place const* places, int count);
void check_gpu_can_keep(void const* memory, char const* what, int number, int ordinal);
void check_gpu_can_keep(gpu::column_place const* places, int count, int ordinal);
/// Device memory cannot be read by the host.
template <class Program>
void check_host_can_read(Program& p) {
  gpu::column_place places[max_sources]{};
  places_of(p, places);
  check_host_can_read(places, decltype(p.columns)::size);
}

} // namespace detail

/// The states of a program on the host.
template <class Program>
typename Program::states compute(Program p, [[maybe_unused]] on::cpu_place where, contract) {
  if constexpr (Program::leaf_count > 0)
    if (p.extent > 0) {
      detail::check_host_can_read(p);
      return cpu::fold(p, where.thread_count);
    }
  return p.identity(); // nothing to read, or nothing to fold: count alone is the extent
}

/// The states of a program on a GPU.
template <class Program>
typename Program::states compute(Program p, on::gpu_place where, contract c) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  if (p.extent == 0 || Program::leaf_count == 0)
    return p.identity();
  auto request = detail::request_for(p, where, c);
  auto s = p.identity();
  gpu::run(request, &s, sizeof s);
  return s;
}

namespace detail {
/// The states of a program that a GPU computes: queued when it is made, given later. `enqueue` queues it, where there is something to read and fold.
template <class Program>
class whole_on_gpu {
public:
  template <class Enqueue>
  whole_on_gpu(Program const& p, Enqueue const& enqueue) : states_(p.identity()) {
    if (p.extent == 0 || Program::leaf_count == 0)
      return;
    queued_ = enqueue();
    if (queued_.staged.any())
      (void)states(), queued_.staged = {};
  }
  whole_on_gpu(Program p, on::gpu_place where, contract c)
      : whole_on_gpu(p, [&] {
          auto request = request_for(p, where, c);
          return gpu::enqueue(request);
        }) {}
  whole_on_gpu(whole_on_gpu const&) = delete;
  /// Waits.
  typename Program::states const& states() {
    if (auto const* const come = queued_.states.wait())
      std::memcpy(&states_, come, sizeof states_);
    return states_;
  }

private:
  typename Program::states states_;
  gpu::queued_run queued_{};
};
} // namespace detail

/// Where on::any goes: the GPU that holds the columns, else the CPU.
template <class Program>
int gpu_for([[maybe_unused]] Program& p) {
  if constexpr (Program::lowerable && Program::leaf_count > 0) {
    if (p.extent == 0 || gpu::device_count() == 0)
      return -1;
    gpu::column_place places[max_sources]{};
    detail::places_of(p, places);
    return gpu::home_of(places, decltype(p.columns)::size);
  } else {
    return -1;
  }
}

/// The states of a program wherever it is quickest to get them.
template <class Program>
typename Program::states compute(Program p, on::any_place, contract c) {
  if constexpr (Program::lowerable)
    if (int const ordinal = gpu_for(p); ordinal >= 0)
      return compute(p, on::gpu(ordinal), c);
  return compute(p, on::cpu, c);
}

} // namespace tally::v0
