// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The doors to NVIDIA devices: what there is, where memory lives, compiling a kernel, launching it, and the few kinds
// of memory a run needs. Type-erased and compiled in dsl/jit and dsl/gpu; the driver and NVRTC are found at run time,
// so a program that includes this starts everywhere. Everything is thread-safe. Layer 5.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tally/run/shared_word.hpp>

namespace tally::v0::gpu {

/// Devices with an ordinal at or beyond this are not used.
inline constexpr int max_devices = 64;

/// Where memory lives; pageable memory is `host`, page-locked memory is `pinned`.
enum class residence { host, pinned, managed, device };

/// What the planner may know of one device, sizes in bytes.
struct device_facts {
  int ordinal = 0;
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::size_t shared_bytes_per_block_optin = 0, shared_bytes_per_multiprocessor = 0, l2_bytes = 0, memory_bytes = 0;
  double memory_bytes_per_second = 0; ///< of its data sheet; 0 where the driver does not say
  int max_cluster = 1; ///< blocks in the largest portable cluster; 1 where there are no clusters
  int most_cluster = 1; ///< blocks in the largest cluster for a kernel that asks
  std::string name;
};

/// Devices that can be used; 0 without a driver, never an error.
int device_count() noexcept;
/// The facts of one device, asked once; throws no_gpu for an ordinal that is not there.
device_facts const& facts_of(int ordinal);
/// Why device_count() is 0, in one sentence; empty when it is not.
std::string why_no_device();

/// Asks the driver where `pointer` lives; `host` when there is no driver. `*ordinal` is the owning device, -1 for
/// pageable memory.
residence residence_of(void const* pointer, int* ordinal = nullptr) noexcept;

/// A `cudaStream_t` or `CUstream`; null means the library's own stream of the device, which waits for and is waited for
/// by the legacy default stream, so work that a caller put on stream 0 is seen.
struct stream_ref {
  void* handle = nullptr;
};

/// One kernel to compile; all of its text is produced by the library.
struct unit {
  std::string header;                     ///< "tally/kernel/full.cuh"
  std::vector<std::string> extra_headers; ///< "cuda/std/complex": included before `header`
  std::string definitions;                ///< device text of user functions
  std::string assertions;                 ///< static_asserts that host and device agree
  std::string name_expression;            ///< "tally::v0::kernel::full<tally::v0::plan{...}, ...>"
  std::vector<std::string> options;       ///< further NVRTC options
};

/// What became of a unit.
struct compiled {
  std::string ptx;
  std::string log;         ///< NVRTC's warnings; empty when it came from disk
  std::vector<char> cubin; ///< empty when this NVRTC does not know the chip: then the driver takes the PTX
  std::string lowered_name;
  double compile_seconds = 0; ///< spent in NVRTC, at the time it was compiled
  bool from_memory = false, from_disk = false;
};

/// True when an NVRTC library was found.
bool can_compile() noexcept;
/// Compiles for compute capability `major.minor`: memory cache, else disk cache, else NVRTC. Needs no driver and no
/// GPU. Throws no_nvrtc, no_headers, compile_failed.
compiled compile(unit const&, int compute_major, int compute_minor);
/// The translation unit as NVRTC sees it.
std::string text_of(unit const&);

/// A loaded function of one device; lives until the process ends.
struct kernel;
/// What the compiler and the driver say about a loaded function.
struct kernel_facts {
  int registers_per_thread, max_threads_per_block;
  std::size_t static_shared_bytes;
  compiled const& unit;
};
/// Compiles and loads, once per device and unit; the reference stays valid. Throws what compile throws, no_gpu,
/// launch_failed.
kernel const& load(unit const&, int ordinal);
kernel_facts facts_of(kernel const&);
/// Resident blocks of the device at once, for a given shape; 0 when it cannot run.
int resident_blocks(kernel const&, unsigned block_threads, std::size_t dynamic_shared_bytes);

struct launch_shape;
/// Resident clusters of a launch at once; 0 where the driver does not say.
int resident_clusters(kernel const&, launch_shape const&);

/// Where a caller keeps one loaded kernel per device: a static of constant initialisation, one atomic load when warm.
class kernel_cell {
public:
  /// `make()` returns the unit and is called only when this device has no kernel yet.
  template <class Make>
  kernel const& get(int ordinal, Make&& make) {
    if (ordinal < 0 || ordinal >= max_devices) return load(make(), ordinal);
    auto& place = loaded_[ordinal];
    auto const* found = place.load();
    if (found == nullptr) place.store(found = &load(make(), ordinal));
    return *found;
  }

private:
  shared_word<kernel const*> loaded_[max_devices]{};
};

/// Numbers of one launch; `cluster_blocks` 1 means no cluster.
struct launch_shape {
  unsigned grid_blocks = 1, block_threads = 1, cluster_blocks = 1;
  std::size_t dynamic_shared_bytes = 0;
  bool overlaps = false; ///< programmatic dependent launch: the kernel itself waits for the launch in front
};
/// Queues one launch; `arguments[k]` points at the k-th parameter, copied before this returns. Throws launch_failed,
/// device_lost.
void launch(kernel const&, launch_shape const&, void** arguments, stream_ref = {});

/// How a piece of workspace is found and left: tagged by the epochs of kernel/partials.cuh, all zero, as it happens to be, or cleared
/// by who uses it before each launch; tables are as they happen to be, while there is scratch too.
enum class workspace_kind { epochs, zeros, scratch, cleared, tables };
/// Device memory of at least `bytes` that belongs to one stream, a block for each kind: zero when first seen, then as the kernels
/// left it. It grows and is never taken back, so an address stays good. Throws out_of_memory, not_prepared.
void* workspace(int ordinal, stream_ref, std::size_t bytes, workspace_kind = workspace_kind::epochs);

/// Queues zeros into device memory.
void clear(void* memory, std::size_t bytes, int ordinal, stream_ref = {});

/// A small result: page-locked host memory that a kernel writes through `device()`. Its bytes are not cleared; destroy
/// it only when the kernel is done.
class result_slot {
public:
  result_slot() = default;
  result_slot(result_slot&& other) noexcept : place_(std::exchange(other.place_, nullptr)) {}
  result_slot& operator=(result_slot&& other) noexcept { return std::swap(place_, other.place_), *this; }
  ~result_slot();
  void* host() const noexcept;
  void* device() const noexcept;
  std::size_t bytes() const noexcept;
  struct place;

private:
  explicit result_slot(place* p) noexcept : place_(p) {}
  friend result_slot take_result_slot(int, std::size_t);
  place* place_ = nullptr;
};
/// Takes a slot of at least `bytes`, 64-byte aligned, from the device's pool. Throws out_of_memory.
result_slot take_result_slot(int ordinal, std::size_t bytes);

/// Waits until the stream is idle, spinning first; an error of the device becomes a typed error.
void wait(int ordinal, stream_ref = {});
/// True when the stream is idle.
bool ready(int ordinal, stream_ref = {});

/// A point in a stream: to wait for, to ask, to measure between. Empty marks are ready.
class mark {
public:
  mark() = default;
  mark(mark&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)), ordinal_(other.ordinal_), timed_(other.timed_) {}
  mark& operator=(mark&& other) noexcept {
    return std::swap(event_, other.event_), std::swap(ordinal_, other.ordinal_), std::swap(timed_, other.timed_), *this;
  }
  ~mark();
  /// True when everything before it is done.
  bool ready() const;
  /// Waits, spinning first.
  void wait() const;

private:
  mark(void* event, int ordinal, bool timed) noexcept : event_(event), ordinal_(ordinal), timed_(timed) {}
  friend mark record(int, stream_ref, bool);
  friend double seconds_between(mark const&, mark const&);
  void* event_ = nullptr;
  int ordinal_ = 0;
  bool timed_ = false;
};
/// Puts a mark behind everything queued so far; `timed` marks can be given to seconds_between.
mark record(int ordinal, stream_ref = {}, bool timed = false);
/// Device seconds from one timed mark to a later one; waits for both.
double seconds_between(mark const& first, mark const& second);

/// Device memory from the library's pool, freed in the order of its stream.
class device_memory {
public:
  device_memory() = default;
  device_memory(device_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)), ordinal_(other.ordinal_),
        stream_(other.stream_) {}
  device_memory& operator=(device_memory&& other) noexcept {
    std::swap(data_, other.data_), std::swap(bytes_, other.bytes_), std::swap(ordinal_, other.ordinal_);
    return std::swap(stream_, other.stream_), *this;
  }
  ~device_memory();
  void* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

private:
  device_memory(void* data, std::size_t bytes, int ordinal, stream_ref stream) noexcept
      : data_(data), bytes_(bytes), ordinal_(ordinal), stream_(stream) {}
  friend device_memory allocate(std::size_t, int, stream_ref);
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int ordinal_ = 0;
  stream_ref stream_;
};
/// Allocates `bytes` (256-byte aligned; null for 0) in the stream's order. Throws out_of_memory with both numbers.
device_memory allocate(std::size_t bytes, int ordinal, stream_ref = {});
/// Allocates and fills from host memory through page-locked chunks. Pageable input may change when this returns;
/// page-locked input is copied in place and must stay until the stream has passed.
device_memory stage(void const* host, std::size_t bytes, int ordinal, stream_ref = {});
/// Queues a copy between any two places, which must stay until the stream has passed.
void copy(void* to, void const* from, std::size_t bytes, int ordinal, stream_ref = {});

/// Page-locked memory of the host that a stream writes: a kernel does, or a copy that the call does not wait for. Destroying it waits, unless
/// that has been done: the next to be given this memory must not find it written.
class readback {
public:
  readback() = default;
  /// For a kernel, at device(); 64-byte aligned. Throws out_of_memory.
  readback(std::size_t bytes, int ordinal, stream_ref = {});
  /// Queues a copy of a little device memory. Throws out_of_memory.
  readback(void const* from, std::size_t bytes, int ordinal, stream_ref = {});
  readback(readback&& other) noexcept { *this = std::move(other); }
  readback& operator=(readback&&) noexcept;
  ~readback();
  void* device() const noexcept { return slot_.device(); }
  /// Waits for the stream, once; what has come stays as long as this. Null where nothing was queued.
  void const* wait();
  /// The same for who has waited: nothing is waited for any more.
  void const* come() noexcept;

private:
  result_slot slot_;
  bool is_there_ = false;
  int ordinal_ = 0;
  stream_ref stream_;
};

} // namespace tally::v0::gpu
