// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few functions of the CUDA driver that the latency programs call beside tally, found at run time so that they build
// where there is no toolkit: a context, memory, a stream, and a bare launch to compare with. Test layer.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>

namespace bench {

using address = unsigned long long;

/// The driver, or an exit with one sentence.
class driver {
public:
  driver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) leave("no CUDA driver on this machine");
    find(init, "cuInit"), find(retain, "cuDevicePrimaryCtxRetain"), find(set_current, "cuCtxSetCurrent");
    find(allocate, "cuMemAlloc_v2"), find(copy_in, "cuMemcpyHtoD_v2"), find(load, "cuModuleLoadData");
    find(function_of, "cuModuleGetFunction"), find(launch, "cuLaunchKernel"), find(wait, "cuStreamSynchronize");
    find(make_stream, "cuStreamCreate"), find(begin_capture, "cuStreamBeginCapture_v2"), find(end_capture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags"), find(launch_graph, "cuGraphLaunch");
    find(make_event, "cuEventCreate"), find(record, "cuEventRecord"), find(milliseconds_between, "cuEventElapsedTime");
    check(init(0), "cuInit");
  }

  /// Makes the primary context of device 0 current.
  void open() {
    void* context = nullptr;
    check(retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check(set_current(context), "cuCtxSetCurrent");
  }

  static void check(int code, const char* what) {
    if (code != 0) std::printf("%s: CUDA error %d\n", what, code), std::exit(3);
  }

  int (*init)(unsigned);
  int (*retain)(void**, int);
  int (*set_current)(void*);
  int (*allocate)(address*, std::size_t);
  int (*copy_in)(address, const void*, std::size_t);
  int (*load)(void**, const void*);
  int (*function_of)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*wait)(void*);
  int (*make_stream)(void**, unsigned);
  int (*begin_capture)(void*, int);
  int (*end_capture)(void*, void**);
  int (*instantiate)(void**, void*, unsigned long long);
  int (*launch_graph)(void*, void*);
  int (*make_event)(void**, unsigned);
  int (*record)(void*, void*);
  int (*milliseconds_between)(float*, void*, void*);

private:
  template <class Function> void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(dlsym(library_, symbol));
    if (function == nullptr) leave(symbol);
  }
  [[noreturn]] static void leave(const char* why) { std::printf("bench: %s\n", why), std::exit(3); }

  void* library_;
};

/// An empty kernel that takes as many bytes of parameters as tally's launches do.
inline constexpr char const* empty_kernel =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry nothing(.param .align 8 .b8 given[256]) { ret; }\n";

}  // namespace bench
