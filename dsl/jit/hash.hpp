// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FNV-1a: names of cache files and their checksums. It finds damage, not forgery: the folder's owner and mode guard
// against that, and full keys are compared. Compiled side, jit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::v0::jit {

/// 64-bit FNV-1a of bytes, continued from `state`.
constexpr std::uint64_t fnv64(std::string_view bytes, std::uint64_t state = 0xcbf29ce484222325u) noexcept {
  for (char const byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return state;
}

/// 16 lower-case digits.
inline std::string hexadecimal(std::uint64_t value) {
  std::string digits(16, '0');
  for (auto at = digits.rbegin(); at != digits.rend(); ++at, value >>= 4) *at = "0123456789abcdef"[value & 15u];
  return digits;
}

} // namespace tally::v0::jit
