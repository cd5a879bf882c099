// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which devices there are, what they can do, and the first use of one. Compiled side, gpu.
#include "gpu/device.hpp"

#include "gpu/launch.hpp"
#include "gpu/staging.hpp"
#include "gpu/workspace.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace tally::v0::gpu {
namespace {

/// Bytes the pool keeps when idle; what is beyond goes back to the driver at the next synchronisation, so that other
/// users of the device (torch) are not starved. Not measured: a courtesy, not a tuning.
constexpr std::uint64_t bytes_kept_in_pool = std::uint64_t{1} << 30;

struct lost_names {
  char const* name = nullptr;
  char const* words = nullptr;
};

lost_names words_of(driver::api const& call, int answer) noexcept {
  lost_names found;
  call.error_name(answer, &found.name);
  call.error_string(answer, &found.words);
  return found;
}

void check_ordinal(int ordinal) {
  int const count = device_count();
  if (count == 0) throw no_gpu(why_no_device() + ".");
  if (ordinal < 0 || ordinal >= count)
    throw no_gpu("device " + std::to_string(ordinal) + " was asked for, and there are " + std::to_string(count) + ".");
}

device_facts ask_facts(driver::api const& call, int ordinal) {
  int device = 0;
  check(call.device_get(&device, ordinal), "cuDeviceGet", ordinal);
  auto const attribute = [&](int which) {
    int value = 0;
    check(call.device_attribute(&value, which, device), "cuDeviceGetAttribute", ordinal);
    return value;
  };
  device_facts facts;
  facts.ordinal = ordinal;
  facts.compute_major = attribute(driver::attribute_compute_major);
  facts.compute_minor = attribute(driver::attribute_compute_minor);
  facts.multiprocessors = attribute(driver::attribute_multiprocessors);
  facts.shared_bytes_per_block_optin =
      static_cast<std::size_t>(attribute(driver::attribute_shared_bytes_per_block_optin));
  facts.shared_bytes_per_multiprocessor =
      static_cast<std::size_t>(attribute(driver::attribute_shared_bytes_per_multiprocessor));
  facts.l2_bytes = static_cast<std::size_t>(attribute(driver::attribute_l2_bytes));
  int kilohertz = 0, bits = 0;
  if (call.device_attribute(&kilohertz, driver::attribute_memory_clock_kilohertz, device) == 0 &&
      call.device_attribute(&bits, driver::attribute_memory_bus_bits, device) == 0)
    facts.memory_bytes_per_second = 2.0 * kilohertz * 1000 * bits / 8; // at both edges of the clock
  int clusters = 0; // an older driver does not know the question
  if (call.launch_with != nullptr && call.device_attribute(&clusters, driver::attribute_cluster_launch, device) == 0 &&
      clusters != 0)
    facts.max_cluster = facts.most_cluster = 8; // the size every chip with clusters takes
  if (facts.max_cluster == 8 && (facts.compute_major == 9 || facts.compute_major == 10)) facts.most_cluster = 16;
  check(call.device_total_memory(&facts.memory_bytes, device), "cuDeviceTotalMem", ordinal);
  char name[256] = {};
  check(call.device_name(name, static_cast<int>(sizeof name) - 1, device), "cuDeviceGetName", ordinal);
  facts.name = name;
  return facts;
}

/// One value per device, made on first use; a failure is tried again on the next.
template <class T>
class per_device {
public:
  template <class Make>
  T& get(int ordinal, Make make) {
    auto& place = places_[static_cast<std::size_t>(ordinal)];
    if (auto* const found = place.load(std::memory_order_acquire)) return *found;
    std::lock_guard const lock(busy_);
    if (auto* const found = place.load(std::memory_order_acquire)) return *found;
    auto made = make();
    place.store(made.get(), std::memory_order_release);
    return *made.release(); // never destroyed: see the_state() in driver.cpp
  }
  T* peek(int ordinal) noexcept {
    return ordinal < 0 || ordinal >= max_devices
               ? nullptr
               : places_[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
  }

private:
  std::array<std::atomic<T*>, max_devices> places_{};
  std::mutex busy_;
};

per_device<device_state>& states() {
  static auto& all = *new per_device<device_state>;
  return all;
}

driver::pool make_pool(driver::api const& call, int ordinal) {
  int supported = 0;
  if (call.pool_create == nullptr || call.pool_allocate == nullptr || call.pool_free == nullptr ||
      call.pool_set_attribute == nullptr ||
      call.device_attribute(&supported, driver::attribute_memory_pools, ordinal) != 0 || supported == 0)
    return nullptr;
  driver::pool_properties wanted{};
  wanted.allocation_type = driver::allocation_pinned;
  wanted.location_type = driver::location_device;
  wanted.location_id = ordinal;
  driver::pool made = nullptr;
  if (call.pool_create(&made, &wanted) != driver::success) return nullptr;
  auto kept = bytes_kept_in_pool;
  call.pool_set_attribute(made, driver::pool_release_threshold, &kept);
  return made;
}

} // namespace

driver::api const& driver_or_throw() {
  std::string const* why = nullptr;
  auto const* const call = driver::find(&why);
  if (call == nullptr) throw no_gpu(*why + ".");
  return *call;
}

int device_count() noexcept try {
  static int const count = [] {
    auto const* const call = driver::find();
    int found = 0;
    if (call == nullptr || call->device_count(&found) != driver::success) return 0;
    return std::min(found, max_devices);
  }();
  return count;
} catch (...) { return 0; }

std::string why_no_device() {
  std::string const* why = nullptr;
  if (driver::find(&why) == nullptr) return *why;
  return device_count() == 0 ? "the driver sees no device" : "";
}

device_facts const& facts_of(int ordinal) {
  check_ordinal(ordinal);
  static auto& all = *new per_device<device_facts>;
  return all.get(ordinal, [ordinal] { return std::make_unique<device_facts>(ask_facts(driver_or_throw(), ordinal)); });
}

error_code code_of(int answer) noexcept {
  using namespace driver;
  if (answer == error_out_of_memory) return error_code::out_of_memory;
  if (answer == error_no_device || answer == error_invalid_device || answer == error_stub_library ||
      answer == error_not_initialized || answer == error_system_driver_mismatch || answer == error_compat_not_supported)
    return error_code::no_gpu;
  if (answer >= error_stream_capture_unsupported && answer <= error_stream_capture_wrong_thread)
    return error_code::not_prepared;
  bool const broken = answer == error_illegal_address || answer == error_launch_timeout ||
                      answer == error_context_is_destroyed || answer == error_assert ||
                      (answer >= error_hardware_stack && answer <= error_launch_failed) ||
                      answer == error_ecc_uncorrectable || answer == error_nvlink_uncorrectable ||
                      answer == error_contained || answer == error_device_unavailable;
  return broken ? error_code::device_lost : error_code::launch_failed;
}

void throw_answer(int answer, char const* call, int ordinal) {
  auto const found = words_of(driver_or_throw(), answer);
  std::string what =
      std::string(call) + " answered " + (found.name == nullptr ? std::to_string(answer) : std::string(found.name));
  if (found.words != nullptr) what += std::string(" (") + found.words + ")";
  fail(code_of(answer), what + " on device " + std::to_string(ordinal) + ".");
}

device_state::device_state(driver::api const& d, int ordinal_) : call(d), ordinal(ordinal_) {
  int device = 0;
  check(call.device_get(&device, ordinal), "cuDeviceGet", ordinal);
  check(call.primary_retain(&context, device), "cuDevicePrimaryCtxRetain", ordinal);
  current_device const in_scope(*this);
  check(call.stream_create(&own_stream, driver::stream_default), "cuStreamCreate", ordinal);
  pool = make_pool(call, device);
  kernels = std::make_unique<loaded_kernels>();
  spaces = std::make_unique<workspaces>();
  lanes = std::make_unique<staging_lanes>();
}

device_state::~device_state() = default;

device_state& device_of(int ordinal) {
  if (auto* const found = states().peek(ordinal)) return *found;
  check_ordinal(ordinal);
  return states().get(ordinal, [ordinal] { return std::make_unique<device_state>(driver_or_throw(), ordinal); });
}

bool capturing(device_state& d, driver::stream s) noexcept {
  int status = 0;
  return d.call.stream_is_capturing(s, &status) == driver::success && status != 0;
}

} // namespace tally::v0::gpu
