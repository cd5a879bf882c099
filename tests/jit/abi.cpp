// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Our own declarations of the driver and of NVRTC against NVIDIA's, wherever a toolkit's headers are within reach:
// every parameter has the same kind and size, every number the same value, every struct the same layout.
#include "gpu/driver.hpp"
#include "jit/nvrtc.hpp"

#include <doctest/doctest.h>

// The first spelling needs the toolkit's folder among the include folders, the second its CCCL beside it.
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#include <cuda.h>
#include <nvrtc.h>
#define TALLY_TEST_HAS_TOOLKIT 1
#elif __has_include(<../cuda.h>) && __has_include(<../nvrtc.h>)
#include <../cuda.h>
#include <../nvrtc.h>
#define TALLY_TEST_HAS_TOOLKIT 1
#else
#define TALLY_TEST_HAS_TOOLKIT 0
#endif

#if TALLY_TEST_HAS_TOOLKIT && CUDA_VERSION < 13000 // older headers lack some of the names
#undef TALLY_TEST_HAS_TOOLKIT
#define TALLY_TEST_HAS_TOOLKIT 0
#endif

#if TALLY_TEST_HAS_TOOLKIT
#include <cstddef>
#include <type_traits>

namespace {

namespace driver = tally::v0::gpu::driver;
using api = driver::api;
using rtc = tally::v0::jit::nvrtc_api;

/// Passed in the same register: both pointers, or both integers (an enumeration counts) of one size.
template <class A, class B>
constexpr bool same_place = sizeof(A) == sizeof(B) && ((std::is_pointer_v<A> && std::is_pointer_v<B>) ||
                                                       (!std::is_pointer_v<A> && !std::is_pointer_v<B>));

/// Pointers to data of one size as well: an int* is no size_t*. Handles and void* are known by name only.
template <class T>
constexpr std::size_t pointee_bytes = [] {
  using pointee = std::remove_pointer_t<T>;
  if constexpr (!std::is_pointer_v<T> || std::is_void_v<pointee> || std::is_function_v<pointee>)
    return 0;
  else if constexpr (requires { sizeof(pointee); })
    return sizeof(pointee);
  else
    return 0;
}();
template <class A, class B>
constexpr bool same_target = pointee_bytes<A> == 0 || pointee_bytes<B> == 0 || pointee_bytes<A> == pointee_bytes<B>;

template <class Ours, class Theirs>
constexpr bool same_abi = false;
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) constexpr bool same_abi<R (*)(A...), S (*)(B...)> = same_place<R, S> &&
                                                                                           (same_place<A, B> && ...) &&
                                                                                           (same_target<A, B> && ...);
template <class R, class... A, class S, class... B>
requires(sizeof...(A) ==
         sizeof...(B)) constexpr bool same_abi<R (*)(A...), S (*)(B...) noexcept> = same_abi<R (*)(A...), S (*)(B...)>;

static_assert(same_abi<int (*)(int*, void*), int (*)(unsigned*, char*)>);
static_assert(!same_abi<int (*)(int*), int (*)(std::size_t*)>);
static_assert(!same_abi<int (*)(int), int (*)(std::size_t)>);
static_assert(!same_abi<int (*)(int), int (*)(int, int)>);

static_assert(same_abi<decltype(api::init), decltype(&cuInit)>);
static_assert(same_abi<decltype(api::version), decltype(&cuDriverGetVersion)>);
static_assert(same_abi<decltype(api::error_name), decltype(&cuGetErrorName)>);
static_assert(same_abi<decltype(api::error_string), decltype(&cuGetErrorString)>);
static_assert(same_abi<decltype(api::device_count), decltype(&cuDeviceGetCount)>);
static_assert(same_abi<decltype(api::device_get), decltype(&cuDeviceGet)>);
static_assert(same_abi<decltype(api::device_name), decltype(&cuDeviceGetName)>);
static_assert(same_abi<decltype(api::device_total_memory), decltype(&cuDeviceTotalMem_v2)>);
static_assert(same_abi<decltype(api::device_attribute), decltype(&cuDeviceGetAttribute)>);
static_assert(same_abi<decltype(api::primary_retain), decltype(&cuDevicePrimaryCtxRetain)>);
static_assert(same_abi<decltype(api::push), decltype(&cuCtxPushCurrent_v2)>);
static_assert(same_abi<decltype(api::pop), decltype(&cuCtxPopCurrent_v2)>);
static_assert(same_abi<decltype(api::current), decltype(&cuCtxGetCurrent)>);
static_assert(same_abi<decltype(api::module_load), decltype(&cuModuleLoadDataEx)>);
static_assert(same_abi<decltype(api::module_function), decltype(&cuModuleGetFunction)>);
static_assert(same_abi<decltype(api::function_attribute), decltype(&cuFuncGetAttribute)>);
static_assert(same_abi<decltype(api::function_set_attribute), decltype(&cuFuncSetAttribute)>);
static_assert(same_abi<decltype(api::occupancy), decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor)>);
static_assert(same_abi<decltype(api::launch), decltype(&cuLaunchKernel)>);
static_assert(same_abi<decltype(api::stream_create), decltype(&cuStreamCreate)>);
static_assert(same_abi<decltype(api::stream_query), decltype(&cuStreamQuery)>);
static_assert(same_abi<decltype(api::stream_synchronize), decltype(&cuStreamSynchronize)>);
static_assert(same_abi<decltype(api::stream_is_capturing), decltype(&cuStreamIsCapturing)>);
static_assert(same_abi<decltype(api::event_create), decltype(&cuEventCreate)>);
static_assert(same_abi<decltype(api::event_record), decltype(&cuEventRecord)>);
static_assert(same_abi<decltype(api::event_query), decltype(&cuEventQuery)>);
static_assert(same_abi<decltype(api::event_synchronize), decltype(&cuEventSynchronize)>);
static_assert(same_abi<decltype(api::event_elapsed), decltype(&cuEventElapsedTime)>);
static_assert(same_abi<decltype(api::memory_info), decltype(&cuMemGetInfo_v2)>);
static_assert(same_abi<decltype(api::allocate), decltype(&cuMemAlloc_v2)>);
static_assert(same_abi<decltype(api::free), decltype(&cuMemFree_v2)>);
static_assert(same_abi<decltype(api::host_allocate), decltype(&cuMemHostAlloc)>);
static_assert(same_abi<decltype(api::host_device_address), decltype(&cuMemHostGetDevicePointer_v2)>);
static_assert(same_abi<decltype(api::copy), decltype(&cuMemcpyAsync)>);
static_assert(same_abi<decltype(api::copy_from_host), decltype(&cuMemcpyHtoDAsync_v2)>);
static_assert(same_abi<decltype(api::fill), decltype(&cuMemsetD8Async)>);
static_assert(same_abi<decltype(api::pointer_attributes), decltype(&cuPointerGetAttributes)>);
static_assert(same_abi<decltype(api::launch_with), decltype(&cuLaunchKernelEx)>);
static_assert(same_abi<decltype(api::stream_id), decltype(&cuStreamGetId)>);
static_assert(same_abi<decltype(api::pool_create), decltype(&cuMemPoolCreate)>);
static_assert(same_abi<decltype(api::pool_set_attribute), decltype(&cuMemPoolSetAttribute)>);
static_assert(same_abi<decltype(api::pool_trim), decltype(&cuMemPoolTrimTo)>);
static_assert(same_abi<decltype(api::pool_allocate), decltype(&cuMemAllocFromPoolAsync)>);
static_assert(same_abi<decltype(api::pool_free), decltype(&cuMemFreeAsync)>);

static_assert(same_abi<decltype(rtc::error_string), decltype(&nvrtcGetErrorString)>);
static_assert(same_abi<decltype(rtc::version), decltype(&nvrtcVersion)>);
static_assert(same_abi<decltype(rtc::supported_count), decltype(&nvrtcGetNumSupportedArchs)>);
static_assert(same_abi<decltype(rtc::supported_architectures), decltype(&nvrtcGetSupportedArchs)>);
static_assert(same_abi<decltype(rtc::create), decltype(&nvrtcCreateProgram)>);
static_assert(same_abi<decltype(rtc::destroy), decltype(&nvrtcDestroyProgram)>);
static_assert(same_abi<decltype(rtc::compile), decltype(&nvrtcCompileProgram)>);
static_assert(same_abi<decltype(rtc::add_name_expression), decltype(&nvrtcAddNameExpression)>);
static_assert(same_abi<decltype(rtc::lowered_name), decltype(&nvrtcGetLoweredName)>);
static_assert(same_abi<decltype(rtc::ptx_size), decltype(&nvrtcGetPTXSize)>);
static_assert(same_abi<decltype(rtc::ptx), decltype(&nvrtcGetPTX)>);
static_assert(same_abi<decltype(rtc::cubin_size), decltype(&nvrtcGetCUBINSize)>);
static_assert(same_abi<decltype(rtc::cubin), decltype(&nvrtcGetCUBIN)>);
static_assert(same_abi<decltype(rtc::log_size), decltype(&nvrtcGetProgramLogSize)>);
static_assert(same_abi<decltype(rtc::log), decltype(&nvrtcGetProgramLog)>);

static_assert(sizeof(driver::launch_attribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(driver::launch_attribute, cluster) == offsetof(CUlaunchAttribute, value.clusterDim));
static_assert(sizeof(driver::launch_config) == sizeof(CUlaunchConfig));
static_assert(offsetof(driver::launch_config, block) == offsetof(CUlaunchConfig, blockDimX));
static_assert(offsetof(driver::launch_config, dynamic_shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(driver::launch_config, on) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(driver::launch_config, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(driver::launch_config, attribute_count) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(driver::pool_properties) == sizeof(CUmemPoolProps));
static_assert(offsetof(driver::pool_properties, location_type) == offsetof(CUmemPoolProps, location));
static_assert(offsetof(driver::pool_properties, security) == offsetof(CUmemPoolProps, win32SecurityAttributes));

static_assert(driver::success == int{CUDA_SUCCESS});
static_assert(driver::error_out_of_memory == int{CUDA_ERROR_OUT_OF_MEMORY});
static_assert(driver::error_not_initialized == int{CUDA_ERROR_NOT_INITIALIZED});
static_assert(driver::error_stub_library == int{CUDA_ERROR_STUB_LIBRARY});
static_assert(driver::error_device_unavailable == int{CUDA_ERROR_DEVICE_UNAVAILABLE});
static_assert(driver::error_no_device == int{CUDA_ERROR_NO_DEVICE});
static_assert(driver::error_invalid_device == int{CUDA_ERROR_INVALID_DEVICE});
static_assert(driver::error_invalid_image == int{CUDA_ERROR_INVALID_IMAGE});
static_assert(driver::error_no_binary_for_gpu == int{CUDA_ERROR_NO_BINARY_FOR_GPU});
static_assert(driver::error_ecc_uncorrectable == int{CUDA_ERROR_ECC_UNCORRECTABLE});
static_assert(driver::error_nvlink_uncorrectable == int{CUDA_ERROR_NVLINK_UNCORRECTABLE});
static_assert(driver::error_unsupported_ptx_version == int{CUDA_ERROR_UNSUPPORTED_PTX_VERSION});
static_assert(driver::error_contained == int{CUDA_ERROR_CONTAINED});
static_assert(driver::error_not_ready == int{CUDA_ERROR_NOT_READY});
static_assert(driver::error_illegal_address == int{CUDA_ERROR_ILLEGAL_ADDRESS});
static_assert(driver::error_launch_timeout == int{CUDA_ERROR_LAUNCH_TIMEOUT});
static_assert(driver::error_context_is_destroyed == int{CUDA_ERROR_CONTEXT_IS_DESTROYED});
static_assert(driver::error_assert == int{CUDA_ERROR_ASSERT});
static_assert(driver::error_hardware_stack == int{CUDA_ERROR_HARDWARE_STACK_ERROR});
static_assert(driver::error_launch_failed == int{CUDA_ERROR_LAUNCH_FAILED});
static_assert(driver::error_system_driver_mismatch == int{CUDA_ERROR_SYSTEM_DRIVER_MISMATCH});
static_assert(driver::error_compat_not_supported == int{CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE});
static_assert(driver::error_stream_capture_unsupported == int{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED});
static_assert(driver::error_stream_capture_wrong_thread == int{CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD});

static_assert(driver::attribute_multiprocessors == int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT});
static_assert(driver::attribute_l2_bytes == int{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE});
static_assert(driver::attribute_compute_major == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR});
static_assert(driver::attribute_compute_minor == int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR});
static_assert(driver::attribute_shared_bytes_per_multiprocessor ==
              int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR});
static_assert(driver::attribute_shared_bytes_per_block_optin ==
              int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN});
static_assert(driver::attribute_memory_pools == int{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED});
static_assert(driver::attribute_memory_clock_kilohertz == int{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE});
static_assert(driver::attribute_memory_bus_bits == int{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH});
static_assert(driver::attribute_cluster_launch == int{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH});
static_assert(driver::function_max_threads == int{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK});
static_assert(driver::function_shared_bytes == int{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES});
static_assert(driver::function_registers == int{CU_FUNC_ATTRIBUTE_NUM_REGS});
static_assert(driver::function_max_dynamic_shared_bytes == int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES});
static_assert(driver::pointer_memory_type == int{CU_POINTER_ATTRIBUTE_MEMORY_TYPE});
static_assert(driver::pointer_is_managed == int{CU_POINTER_ATTRIBUTE_IS_MANAGED});
static_assert(driver::pointer_device_ordinal == int{CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL});
static_assert(driver::memory_host == unsigned{CU_MEMORYTYPE_HOST});
static_assert(driver::memory_device == unsigned{CU_MEMORYTYPE_DEVICE});
static_assert(driver::launch_cluster_dimension == int{CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION});
static_assert(driver::launch_programmatic_stream_serialization == int{CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION});
static_assert(driver::pool_release_threshold == int{CU_MEMPOOL_ATTR_RELEASE_THRESHOLD});
static_assert(driver::allocation_pinned == int{CU_MEM_ALLOCATION_TYPE_PINNED});
static_assert(driver::location_device == int{CU_MEM_LOCATION_TYPE_DEVICE});
static_assert(driver::jit_error_log_buffer == int{CU_JIT_ERROR_LOG_BUFFER});
static_assert(driver::jit_error_log_buffer_bytes == int{CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES});
static_assert(driver::event_disable_timing == unsigned{CU_EVENT_DISABLE_TIMING});
static_assert(driver::host_portable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(driver::host_device_map == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(driver::stream_default == unsigned{CU_STREAM_DEFAULT});

} // namespace
#endif

TEST_CASE("our declarations of the driver and of NVRTC are NVIDIA's") {
  if (TALLY_TEST_HAS_TOOLKIT == 0)
    MESSAGE("skipped: no cuda.h within reach of this build");
  else
    MESSAGE("compared with cuda.h and nvrtc.h when this was compiled");
}
