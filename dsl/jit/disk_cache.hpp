// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled kernels on disk: one checksummed file per entry with its full key, written beside and renamed, in a folder
// that is ours alone. Whatever goes wrong is a miss. Compiled side, jit.
#pragma once

#include <tally/run/device.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tally::v0::jit {

/// Cache folder from TALLY_CACHE_DIR, else $XDG_CACHE_HOME/tally, else $HOME/.cache/tally; empty (memory only) when
/// none is an absolute path. `variable` stands for std::getenv.
std::string cache_folder(char const* (*variable)(char const*));
/// Bytes from "512", "64K", "256M" or "2G"; `otherwise` for anything else, null included.
std::uint64_t parse_size(char const* text, std::uint64_t otherwise) noexcept;

/// One folder of entries. Objects are cheap and hold no file open; several processes may share the folder.
class disk_cache {
public:
  /// An empty folder name, or a size of 0, is a cache that is always missed.
  disk_cache(std::string folder, std::uint64_t max_bytes) : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  /// The folder and the size (TALLY_CACHE_MAX_SIZE, 256 MiB) of this process's environment.
  static disk_cache of_environment();

  std::optional<gpu::compiled> read(std::string const& key) const noexcept;
  /// True when the entry is in the folder afterwards; evicts the least recently used ones beyond the size.
  bool write(std::string const& key, gpu::compiled const&) const noexcept;
  /// The entry's path, for tests and messages.
  std::string path_of(std::string const& key) const;

private:
  std::string folder_;
  std::uint64_t max_bytes_;
};

} // namespace tally::v0::jit
