// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of every header of include/tally, carried inside the library: what NVRTC is given to include, and part of
// the key of every cached kernel. Written at build time by embed.cmake. Compiled side, jit.
#pragma once

namespace tally::v0::jit {

/// One header: the name an `#include` line uses ("tally/base/config.hpp") and its whole text.
struct embedded_header {
  char const* name;
  char const* text;
};

extern embedded_header const embedded_headers[];
extern unsigned const embedded_header_count;

/// SHA-256, in hex, over the names and texts of all embedded headers.
extern char const* const embedded_headers_hash;

} // namespace tally::v0::jit
