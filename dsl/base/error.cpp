// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of an error, and its type by its code.
#include <tally/base/error.hpp>

namespace tally::v0 {

error::error(error_code code, std::string const& what)
    : std::runtime_error("[tally-E" + std::to_string(static_cast<int>(code)) + "] " + what + " docs/errors.md#E" +
                         std::to_string(static_cast<int>(code))),
      code_(code), sentence_(what.size()) {}

std::string error::sentence() const {
  std::string const whole = runtime_error::what();
  return whole.substr(whole.find("] ") + 2, sentence_);
}

void fail(error_code code, std::string const& what) {
  switch (code) {
  case error_code::empty_input: throw empty_input(what);
  case error_code::extent_mismatch: throw extent_mismatch(what);
  case error_code::null_column: throw null_column(what);
  case error_code::zero_stride: throw zero_stride(what);
  case error_code::too_large: throw too_large(what);
  case error_code::wrong_residence: throw wrong_residence(what);
  case error_code::no_gpu: throw no_gpu(what);
  case error_code::no_nvrtc: throw no_nvrtc(what);
  case error_code::no_headers: throw no_headers(what);
  case error_code::compile_failed: throw compile_failed(what);
  case error_code::launch_failed: throw launch_failed(what);
  case error_code::out_of_memory: throw out_of_memory(what);
  case error_code::device_lost: throw device_lost(what);
  case error_code::not_prepared: throw not_prepared(what);
  case error_code::overflow: throw overflow(what);
  case error_code::key_out_of_range: throw key_out_of_range(what);
  case error_code::bad_bytes: throw bad_bytes(what);
  case error_code::misaligned_partial: throw misaligned_partial(what);
  case error_code::zero_modulus: throw zero_modulus(what);
  case error_code::bad_offsets: throw bad_offsets(what);
  case error_code::bad_bounds: throw bad_bounds(what);
  }
  throw error(code, what);
}

} // namespace tally::v0
