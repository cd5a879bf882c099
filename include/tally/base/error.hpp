// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can go wrong while a program runs, and how it is thrown: one code per cause, stable for ever, one type per code
// so that a user can catch the one he expects. Host only: no kernel includes it. Layer 0.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tally::v0 {

/// The causes; the number is the one in `[tally-E<number>]` and in docs/errors.md, and never changes its meaning.
enum class error_code : int {
  empty_input = 1,
  extent_mismatch = 2,
  null_column = 3,
  zero_stride = 4,
  too_large = 5,
  wrong_residence = 6,
  no_gpu = 7,
  no_nvrtc = 8,
  no_headers = 9,
  compile_failed = 10,
  launch_failed = 11,
  out_of_memory = 12,
  device_lost = 13,
  not_prepared = 14,
  overflow = 15,
  key_out_of_range = 16,
  bad_bytes = 17,
  misaligned_partial = 18,
  zero_modulus = 19,
  bad_offsets = 20,
  bad_bounds = 21,
};

/// Every error of the library: `what()` is "[tally-E3] <what happened, with both numbers>. docs/errors.md#E3".
struct error : std::runtime_error {
  [[gnu::cold]] error(error_code code, std::string const& what);
  /// The cause, for programs that decide by it.
  error_code code() const noexcept { return code_; }
  /// `what()` without the code in front and the page behind.
  std::string sentence() const;

private:
  error_code code_;
  std::size_t sentence_;
};

namespace detail {
template <error_code Code>
struct error_with : error {
  explicit error_with(std::string const& what) : error(Code, what) {}
};
} // namespace detail

/// A fold without an identity (`min`, `first`, ...) met no element: add `.or_else(v)` or `.maybe()`.
struct empty_input : detail::error_with<error_code::empty_input> {
  using error_with::error_with;
};
/// Two columns, or a column and its output, have different extents.
struct extent_mismatch : detail::error_with<error_code::extent_mismatch> {
  using error_with::error_with;
};
/// A null pointer came with an extent that is not zero.
struct null_column : detail::error_with<error_code::null_column> {
  using error_with::error_with;
};
/// A stride of zero elements came with more than one element.
struct zero_stride : detail::error_with<error_code::zero_stride> {
  using error_with::error_with;
};
/// The input or its results do not fit where they have to be.
struct too_large : detail::error_with<error_code::too_large> {
  using error_with::error_with;
};
/// Memory of one place was given where another is needed (device memory to the CPU, host memory to a device-only door).
struct wrong_residence : detail::error_with<error_code::wrong_residence> {
  using error_with::error_with;
};
/// A GPU was asked for and there is no driver, no device, or no device of that ordinal.
struct no_gpu : detail::error_with<error_code::no_gpu> {
  using error_with::error_with;
};
/// A kernel has to be compiled and no usable NVRTC library was found.
struct no_nvrtc : detail::error_with<error_code::no_nvrtc> {
  using error_with::error_with;
};
/// A kernel has to be compiled and the CCCL headers (cuda/std) were not found at run time.
struct no_headers : detail::error_with<error_code::no_headers> {
  using error_with::error_with;
};
/// NVRTC refused the unit; the message carries its log.
struct compile_failed : detail::error_with<error_code::compile_failed> {
  using error_with::error_with;
};
/// The driver refused a call (a launch, a load, an event); the message names the call and its answer.
struct launch_failed : detail::error_with<error_code::launch_failed> {
  using error_with::error_with;
};
/// The device, or pinned host memory, is exhausted.
struct out_of_memory : detail::error_with<error_code::out_of_memory> {
  using error_with::error_with;
};
/// The device's context broke (illegal address, hardware fault, reset): this process cannot use that device any more.
struct device_lost : detail::error_with<error_code::device_lost> {
  using error_with::error_with;
};
/// Something had to be compiled, loaded or allocated while a stream was being captured: run once before the capture.
struct not_prepared : detail::error_with<error_code::not_prepared> {
  using error_with::error_with;
};
/// A `.checked()` integer fold left its accumulator's range.
struct overflow : detail::error_with<error_code::overflow> {
  using error_with::error_with;
};
/// A key fell outside `[0, bins)`.
struct key_out_of_range : detail::error_with<error_code::key_out_of_range> {
  using error_with::error_with;
};
/// The bytes of a partial are damaged, or of another version or another pipeline.
struct bad_bytes : detail::error_with<error_code::bad_bytes> {
  using error_with::error_with;
};
/// Two partials do not meet on a chunk border, so merging them would change the tree.
struct misaligned_partial : detail::error_with<error_code::misaligned_partial> {
  using error_with::error_with;
};
/// A fold was asked to count modulo 0.
struct zero_modulus : detail::error_with<error_code::zero_modulus> {
  using error_with::error_with;
};
/// The bounds of a histogram are not finite, or not in ascending order.
struct bad_bounds : detail::error_with<error_code::bad_bounds> {
  using error_with::error_with;
};

/// Offsets of segments fall somewhere, begin below 0, end beyond the source, or are none at all.
struct bad_offsets : detail::error_with<error_code::bad_offsets> {
  using error_with::error_with;
};

/// Throws the type that belongs to `code`, for callers that hold the code as a value.
[[noreturn]] void fail(error_code code, std::string const& what);

} // namespace tally::v0
