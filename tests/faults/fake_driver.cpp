// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fake's functions.
#include "faults/fake_driver.hpp"

#include <cstdlib>
#include <cstring>

namespace {

namespace driver = tally::v0::gpu::driver;

fake_driver& it() {
  static auto& only = *new fake_driver;
  return only;
}

int answer_of(char const* call) {
  auto& f = it();
  std::lock_guard const lock(f.busy);
  auto found = f.answers.find(call);
  if (found == f.answers.end() || found->second.empty()) return 0;
  int const answer = found->second.front();
  found->second.erase(found->second.begin());
  return answer;
}

int allocate(driver::address* to, std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) return driver::error_out_of_memory;
  std::memset(memory, 0xcd, bytes);
  *to = reinterpret_cast<driver::address>(memory);
  std::lock_guard const lock(it().busy);
  it().allocated[*to] = bytes;
  return 0;
}

int release(driver::address memory) {
  std::lock_guard const lock(it().busy);
  if (it().allocated.erase(memory) == 0) return 1;
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}

int move_bytes(driver::address to, void const* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

int contexts[2];

void fill_questions(driver::api& a) {
  a.init = [](unsigned) { return 0; };
  a.version = [](int* v) { return *v = 13000, 0; };
  a.error_name = [](int, char const** n) { return *n = "CUDA_ERROR_OF_THE_FAKE", 0; };
  a.error_string = [](int, char const** n) { return *n = "made to fail", 0; };
  a.device_count = [](int* n) { return *n = 2, 0; };
  a.device_get = [](int* d, int ordinal) { return *d = ordinal, 0; };
  a.device_name = [](char* to, int n, int) { return std::strncpy(to, "fake", static_cast<std::size_t>(n)), 0; };
  a.device_total_memory = [](std::size_t* n, int) { return *n = std::size_t{1} << 34, 0; };
  a.device_attribute = [](int* value, int which, int) {
    static std::map<int, int> const facts = {{16, 132},    {36, 3'201'000}, {37, 6144}, {38, 50 << 20}, {75, 9},  {76, 0},
                                             {81, 233472}, {97, 232448},   {115, 1}, {120, 1}};
    auto const found = facts.find(which);
    return found == facts.end() ? 1 : (*value = found->second, 0);
  };
  a.memory_info = [](std::size_t* unused, std::size_t* total) { return *unused = 1000, *total = 2000, 0; };
  a.pointer_attributes = [](unsigned, int*, void** values, driver::address where) {
    auto& f = it();
    std::lock_guard const lock(f.busy);
    auto const above = f.allocated.upper_bound(where);
    bool const on_device = above != f.allocated.begin() && where < std::prev(above)->first + std::prev(above)->second;
    *static_cast<unsigned*>(values[0]) = on_device                                                  ? 2
                                         : f.host_memory.count(reinterpret_cast<void*>(where)) != 0 ? 1
                                                                                                    : 0;
    *static_cast<bool*>(values[1]) = false;
    *static_cast<int*>(values[2]) = 0;
    return 0;
  };
}

void fill_contexts(driver::api& a) {
  a.primary_retain = [](driver::context* c, int device) { return *c = &contexts[device], 0; };
  a.push = [](driver::context c) {
    if (int const answer = answer_of("push")) return answer;
    return fake_driver::contexts_of_thread().push_back(c), 0;
  };
  a.pop = [](driver::context* c) {
    auto& stack = fake_driver::contexts_of_thread();
    if (stack.empty()) return 201;
    *c = stack.back();
    return stack.pop_back(), 0;
  };
  a.current = [](driver::context* c) {
    auto& stack = fake_driver::contexts_of_thread();
    return *c = stack.empty() ? nullptr : stack.back(), 0;
  };
  a.synchronize = [] { return ++it().synchronisations, 0; };
}

/// A launch that has been taken, of a stream or into a graph.
int launched(driver::function f, void** arguments, fake_driver::launched const& shape) {
  it().launches.push_back(shape);
  it().launched_name = it().names[f];
  if (it().capturing) it().nodes_in_front = {reinterpret_cast<void*>(1000 + it().launches.size())};
  return it().kernel(arguments), 0;
}

void fill_kernels(driver::api& a) {
  a.module_load = [](driver::module* m, void const* image, unsigned, int*, void**) {
    if (int const answer = answer_of("module_load")) return answer;
    *m = const_cast<void*>(image);
    return 0;
  };
  a.module_function = [](driver::function* f, driver::module m, char const* name) {
    it().loaded_name = it().names[m] = name;
    return *f = m, 0;
  };
  a.function_attribute = [](int* value, int which, driver::function) { return *value = which == 1 ? 1024 : 32, 0; };
  a.function_set_attribute = [](driver::function, int which, int value) {
    (which == driver::function_any_cluster_size ? it().any_cluster_size : it().max_dynamic_shared_bytes) = value;
    return 0;
  };
  a.active_clusters = [](int* clusters, driver::function, driver::launch_config const* c) {
    return *clusters = c->attributes->cluster[0] > 8 ? it().large_clusters : 15, 0;
  };
  a.occupancy = [](int* blocks, driver::function, int, std::size_t) { return *blocks = 2, 0; };
  a.launch = [](driver::function f, unsigned grid, unsigned, unsigned, unsigned block, unsigned, unsigned,
                unsigned shared, driver::stream on, void** arguments, void**) {
    if (int const answer = answer_of("launch")) return answer;
    return launched(f, arguments, {grid, block, 1, shared, on});
  };
  a.launch_with = [](driver::launch_config const* c, driver::function f, void** arguments, void**) {
    if (int const answer = answer_of("launch")) return answer;
    unsigned const cluster = c->attribute_count == 1 && c->attributes->id == 4 ? c->attributes->cluster[0] : 0;
    return launched(f, arguments, {c->grid[0], c->block[0], cluster, c->dynamic_shared_bytes, c->on});
  };
}

void fill_streams(driver::api& a) {
  a.stream_create = [](driver::stream* s, unsigned) { return *s = new int, 0; };
  a.stream_query = [](driver::stream) {
    ++it().queries;
    if (it().busy_queries.fetch_sub(1) > 0) return static_cast<int>(driver::error_not_ready);
    it().busy_queries = 0;
    return answer_of("stream_query");
  };
  a.stream_synchronize = [](driver::stream) {
    ++it().waits;
    it().busy_queries = 0;
    return answer_of("stream_synchronize");
  };
  a.stream_is_capturing = [](driver::stream, int* status) { return *status = it().capturing ? 1 : 0, 0; };
  a.capture_info = [](driver::stream, int* status, unsigned long long* capture, void**, driver::graph_node const** in_front, void const**, std::size_t* count) {
    *status = it().capturing ? 1 : 0;
    *capture = it().capture;
    *in_front = it().nodes_in_front.data();
    *count = it().nodes_in_front.size();
    return answer_of("capture_info");
  };
  a.stream_id = [](driver::stream s, unsigned long long* id) { return *id = it().stream_ids[s], 0; };
  a.event_create = [](driver::event* e, unsigned) { return *e = new int, 0; };
  a.event_record = [](driver::event, driver::stream) { return answer_of("event_record"); };
  a.event_query = [](driver::event) { return answer_of("event_query"); };
  a.event_synchronize = [](driver::event) { return 0; };
  a.event_elapsed = [](float* milliseconds, driver::event, driver::event) { return *milliseconds = 2.5f, 0; };
}

void fill_memory(driver::api& a) {
  a.allocate = [](driver::address* to, std::size_t bytes) {
    int const answer = answer_of("allocate");
    return answer != 0 ? answer : allocate(to, bytes);
  };
  a.free = release;
  a.host_allocate = [](void** to, std::size_t bytes, unsigned) {
    if (int const answer = answer_of("host_allocate")) return answer;
    if (posix_memalign(to, 4096, bytes) != 0) return static_cast<int>(driver::error_out_of_memory);
    std::lock_guard const lock(it().busy);
    it().host_memory.insert(*to);
    return ++it().host_allocations, 0;
  };
  a.host_device_address = [](driver::address* to, void* host, unsigned) {
    return *to = reinterpret_cast<driver::address>(host), 0;
  };
  a.copy = [](driver::address to, driver::address from, std::size_t bytes, driver::stream) {
    return move_bytes(to, reinterpret_cast<void const*>(from), bytes);
  };
  a.copy_from_host = [](driver::address to, void const* from, std::size_t bytes, driver::stream) {
    if (int const answer = answer_of("copy_from_host")) return answer;
    {
      std::lock_guard const lock(it().busy);
      ++it().copies_from_host;
    }
    return move_bytes(to, from, bytes);
  };
  a.fill = [](driver::address at, unsigned char value, std::size_t bytes, driver::stream) {
    if (int const answer = answer_of("fill")) return answer;
    ++it().clears;
    return std::memset(reinterpret_cast<void*>(at), value, bytes), 0;
  };
  a.pool_create = [](driver::pool* p, driver::pool_properties const*) { return *p = &contexts, 0; };
  a.pool_set_attribute = [](driver::pool, int, void*) { return 0; };
  a.pool_trim = [](driver::pool, std::size_t) { return ++it().trims, 0; };
  a.pool_allocate = [](driver::address* to, std::size_t bytes, driver::pool, driver::stream) {
    int const answer = answer_of("pool_allocate");
    return answer != 0 ? answer : allocate(to, bytes);
  };
  a.pool_free = [](driver::address memory, driver::stream) { return release(memory); };
}

} // namespace

std::vector<void*>& fake_driver::contexts_of_thread() {
  thread_local std::vector<void*> stack;
  return stack;
}

fake_driver& fake_driver::in_place() {
  static bool const once = [] {
    driver::api api{};
    fill_questions(api);
    fill_contexts(api);
    fill_kernels(api);
    fill_streams(api);
    fill_memory(api);
    driver::replace(api);
    return true;
  }();
  (void)once;
  it().reset();
  return it();
}

void fake_driver::reset() {
  answers.clear();
  busy_queries = 0;
  capturing = false;
  nodes_in_front.clear();
  launches.clear();
  clears = synchronisations = trims = host_allocations = copies_from_host = waits = queries = 0;
}
