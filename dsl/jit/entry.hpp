// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of one cache entry: a fixed head (magic, version, lengths, checksum), then key, lowered name, PTX and
// cubin. Compiled side, jit.
#pragma once

#include <tally/run/device.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tally::v0::jit {

std::string encode_entry(std::string_view key, gpu::compiled const&);
/// Nothing when a single bit is not as it was written, or when the entry belongs to another key.
std::optional<gpu::compiled> decode_entry(std::string_view bytes, std::string_view key);

} // namespace tally::v0::jit
