// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream whose work becomes a graph, for tests on a GPU.
#pragma once

#include "gpu/launch.hpp"
#include "jit/library.hpp"

#include <doctest/doctest.h>

/// A stream of the test's own, and what it captures.
class captured_stream {
public:
  captured_stream() {
    auto const library = tally::v0::jit::open_first({"libcuda.so.1"});
    REQUIRE(tally::v0::jit::bind(library, "cuStreamBeginCapture_v2", begin_));
    REQUIRE(tally::v0::jit::bind(library, "cuStreamEndCapture", end_));
    REQUIRE(tally::v0::jit::bind(library, "cuGraphInstantiateWithFlags", instantiate_));
    REQUIRE(tally::v0::jit::bind(library, "cuGraphLaunch", launch_));
    tally::v0::gpu::current_device const in_scope(tally::v0::gpu::device_of(0));
    REQUIRE(tally::v0::gpu::driver_or_throw().stream_create(&stream_, 1) == 0);
  }
  void* handle() const { return stream_; }
  tally::v0::gpu::stream_ref ref() const { return {stream_}; }
  static constexpr int global = 0, relaxed = 2;
  template <class Work>
  void capture(int mode, Work const& work) {
    tally::v0::gpu::current_device const in_scope(tally::v0::gpu::device_of(0));
    REQUIRE(begin_(stream_, mode) == 0);
    work();
    void* graph = nullptr;
    REQUIRE(end_(stream_, &graph) == 0);
    REQUIRE(instantiate_(&made_, graph, 0) == 0);
  }
  void launch() {
    tally::v0::gpu::current_device const in_scope(tally::v0::gpu::device_of(0));
    REQUIRE(launch_(made_, stream_) == 0);
  }

private:
  int (*begin_)(void*, int) = nullptr;
  int (*end_)(void*, void**) = nullptr;
  int (*instantiate_)(void**, void*, unsigned long long) = nullptr;
  int (*launch_)(void*, void*) = nullptr;
  tally::v0::gpu::driver::stream stream_ = nullptr;
  void* made_ = nullptr;
};
