// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver made of host memory, put in the real one's place: two devices, immediate copies, kernels that are host
// functions, and any call made to fail on demand. It keeps account of what is given out and what comes back.
#pragma once

#include "gpu/driver.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

struct fake_driver {
  /// The next calls of this name answer so, each once, before the call works again.
  std::map<std::string, std::vector<int>> answers;
  /// Stream queries still to be answered with not_ready.
  std::atomic<int> busy_queries{0};
  bool capturing = false;
  unsigned long long capture = 1;      ///< the number of the capture that streams are under
  std::vector<void*> nodes_in_front{}; ///< of the graph, that the next launch depends on
  std::map<void*, unsigned long long> stream_ids;

  struct launched {
    unsigned grid, block, cluster;
    std::size_t shared;
    void* stream;
  };
  std::vector<launched> launches;
  std::function<void(void**)> kernel = [](void**) {};
  std::string loaded_name, launched_name; ///< of the function that came last
  std::map<void*, std::string> names;
  int max_dynamic_shared_bytes = 0, any_cluster_size = 0;
  int large_clusters = 7; ///< of more than 8 blocks, that find a place at once

  std::mutex busy;
  std::map<std::uint64_t, std::size_t> allocated; ///< device memory given out
  std::set<void*> host_memory;
  int clears = 0, synchronisations = 0, trims = 0, host_allocations = 0, copies_from_host = 0, waits = 0, queries = 0;

  static std::vector<void*>& contexts_of_thread(); ///< the calling thread's stack

  /// The one fake, in place of the driver since the first call.
  static fake_driver& in_place();
  /// Forgets failures and counts; memory that is out stays out.
  void reset();
};
