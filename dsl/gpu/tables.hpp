// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several tables in one allocation. Compiled side, gpu.
#pragma once

#include <tally/run/device.hpp>

#include <cstdint>
#include <vector>

namespace tally::v0::gpu {

/// Tables that one read needs, each at 256 bytes; their places are written when the room is there.
class tables {
public:
  void add(void*& place, std::int64_t bytes) {
    tables_.push_back({&place, bytes_});
    bytes_ += (static_cast<std::size_t>(bytes) + 255) / 256 * 256;
  }
  std::size_t bytes() const { return bytes_; }
  void place_in(void* memory) const {
    for (auto const& t : tables_) *t.place = static_cast<char*>(memory) + t.begin;
  }
  device_memory made(int ordinal, stream_ref stream) const {
    auto memory = allocate(bytes_, ordinal, stream);
    place_in(memory.data());
    return memory;
  }

private:
  struct table {
    void** place;
    std::size_t begin;
  };
  std::vector<table> tables_;
  std::size_t bytes_ = 0;
};

} // namespace tally::v0::gpu
