// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// primitive/prefetch.cuh as host code: what is asked for ahead changes nothing, but is noted, so that a test can see what it was.
#pragma once

#include <tally/primitive/place.cuh>

#include <vector>

namespace tally::v0::primitive {

template <class T>
void prefetch_line(in_global<T>) {}

struct asked_bytes {
  u64 from;
  i64 n;
};
inline std::vector<asked_bytes> asked_in_bulk;
template <class T>
void prefetch(in_global<T> from, bulk_bytes n) {
  asked_in_bulk.push_back({reinterpret_cast<u64>(from.at), n.n});
}

} // namespace tally::v0::primitive
