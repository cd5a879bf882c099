// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the CUDA driver's C interface that tally calls, in our own words: no CUDA header is needed to build the
// library. Answers are plain ints (CUresult), handles plain pointers. tests/jit/abi.cpp compares it with cuda.h where
// there is one; tests may put their own functions in its place. Compiled side, gpu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::v0::gpu::driver {

using context = void*;
using module = void*;
using function = void*;
using stream = void*;
using event = void*;
using graph_node = void*;
using pool = void*;
using address = std::uint64_t; ///< CUdeviceptr

/// CUlaunchAttribute, of which tally uses the dimensions of a cluster and the first word (a flag).
struct launch_attribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  };
};
/// CUlaunchConfig.
struct launch_config {
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
  stream on;
  launch_attribute* attributes;
  unsigned attribute_count;
};
/// CUmemPoolProps.
struct pool_properties {
  int allocation_type, handle_types;
  int location_type, location_id;
  void* security;
  std::size_t max_bytes;
  unsigned short usage;
  unsigned char reserved[54];
};

/// Answers and enumerators that tally tells apart, named as in cuda.h.
enum : int {
  success = 0,
  error_out_of_memory = 2,
  error_not_initialized = 3,
  error_stub_library = 34,
  error_device_unavailable = 46,
  error_no_device = 100,
  error_invalid_device = 101,
  error_invalid_image = 200,
  error_no_binary_for_gpu = 209,
  error_ecc_uncorrectable = 214,
  error_nvlink_uncorrectable = 220,
  error_unsupported_ptx_version = 222,
  error_contained = 226,
  error_not_ready = 600,
  error_illegal_address = 700,
  error_launch_timeout = 702,
  error_context_is_destroyed = 709,
  error_assert = 710,
  error_hardware_stack = 714,
  error_launch_failed = 719,
  error_system_driver_mismatch = 803,
  error_compat_not_supported = 804,
  error_stream_capture_unsupported = 900,
  error_stream_capture_wrong_thread = 908,
};
enum : int {
  attribute_multiprocessors = 16,
  attribute_l2_bytes = 38,
  attribute_compute_major = 75,
  attribute_compute_minor = 76,
  attribute_shared_bytes_per_multiprocessor = 81,
  attribute_shared_bytes_per_block_optin = 97,
  attribute_memory_pools = 115,
  attribute_memory_clock_kilohertz = 36,
  attribute_memory_bus_bits = 37,
  attribute_cluster_launch = 120,
};
enum : int {
  function_max_threads = 0,
  function_shared_bytes = 1,
  function_registers = 4,
  function_max_dynamic_shared_bytes = 8,
  function_any_cluster_size = 14,
};
enum : int { pointer_memory_type = 2, pointer_is_managed = 8, pointer_device_ordinal = 9 };
enum : unsigned { memory_host = 1, memory_device = 2 };
enum : int { launch_cluster_dimension = 4, launch_programmatic_stream_serialization = 6, pool_release_threshold = 4, allocation_pinned = 1, location_device = 1 };
enum : int { jit_error_log_buffer = 5, jit_error_log_buffer_bytes = 6 };
enum : unsigned { event_disable_timing = 2, host_portable = 1, host_device_map = 2, stream_default = 0 };

/// Functions of libcuda, each under the name (and version) that cuda.h maps its plain name to.
struct api {
  int (*init)(unsigned);
  int (*version)(int*);
  int (*error_name)(int, char const**);
  int (*error_string)(int, char const**);
  int (*device_count)(int*);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char*, int bytes, int device);
  int (*device_total_memory)(std::size_t*, int device);
  int (*device_attribute)(int*, int attribute, int device);
  int (*primary_retain)(context*, int device);
  int (*push)(context);
  int (*pop)(context*);
  int (*current)(context*);
  int (*synchronize)();
  int (*module_load)(module*, void const* image, unsigned options, int* names, void** values);
  int (*module_function)(function*, module, char const* name);
  int (*function_attribute)(int*, int attribute, function);
  int (*function_set_attribute)(function, int attribute, int value);
  int (*occupancy)(int* blocks, function, int block_threads, std::size_t dynamic_shared_bytes);
  int (*launch)(function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, stream,
                void** arguments, void** extra);
  int (*stream_create)(stream*, unsigned flags);
  int (*stream_query)(stream);
  int (*stream_synchronize)(stream);
  int (*stream_is_capturing)(stream, int* status);
  int (*event_create)(event*, unsigned flags);
  int (*event_record)(event, stream);
  int (*event_query)(event);
  int (*event_synchronize)(event);
  int (*event_elapsed)(float* milliseconds, event, event);
  int (*memory_info)(std::size_t* free, std::size_t* total);
  int (*allocate)(address*, std::size_t);
  int (*free)(address);
  int (*host_allocate)(void**, std::size_t, unsigned flags);
  int (*host_device_address)(address*, void*, unsigned flags);
  int (*copy)(address to, address from, std::size_t, stream);
  int (*copy_from_host)(address to, void const* from, std::size_t, stream);
  int (*fill)(address, unsigned char, std::size_t, stream);
  int (*pointer_attributes)(unsigned count, int* names, void** values, address);
  // May be null: drivers older than CUDA 12 lack some of them.
  int (*launch_with)(launch_config const*, function, void** arguments, void** extra);
  int (*active_clusters)(int* clusters, function, launch_config const*);
  int (*stream_id)(stream, unsigned long long*);
  int (*capture_info)(stream, int* status, unsigned long long* capture, void** graph, graph_node const** in_front, void const** edges, std::size_t* count);
  int (*pool_create)(pool*, pool_properties const*);
  int (*pool_set_attribute)(pool, int attribute, void* value);
  int (*pool_trim)(pool, std::size_t keep);
  int (*pool_allocate)(address*, std::size_t, pool, stream);
  int (*pool_free)(address, stream);
};

/// The process's driver, found and initialised once; null, with the reason in `*why`, when there is none.
api const* find(std::string const** why = nullptr);
/// True when some part of this process has loaded a driver: until then no pointer can be a device's.
bool is_loaded() noexcept;
/// Puts `other` in the driver's place; for tests, before anything else of tally::gpu is called.
void replace(api const& other);

} // namespace tally::v0::gpu::driver
