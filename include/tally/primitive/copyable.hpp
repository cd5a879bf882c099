// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which copies the bulk engine of a chip can do, as concepts of two spaces and a target. Layer 2.
#pragma once

#include <tally/primitive/legal.hpp>

namespace tally::v0::primitive {

/// cp.async.bulk between two spaces.
TALLY_HD constexpr form bulk_copy(space from, space to, bool cache_hint = false) {
  return {.instruction = family::copy_bulk,
          .destination = to,
          .source = from,
          .completion = to == space::global ? completion::bulk_group : completion::mbarrier,
          .cache_hint = cache_hint};
}

/// cp.async.bulk of global memory into the same place of several blocks of a cluster.
TALLY_HD constexpr form bulk_multicast(bool cache_hint = false) {
  form f = bulk_copy(space::global, space::shared_cluster, cache_hint);
  f.multicast = true;
  return f;
}

/// cp.async.bulk to global memory of some bytes of every 16.
TALLY_HD constexpr form masked_bulk_copy(bool cache_hint = false) {
  form f = bulk_copy(space::shared_cta, space::global, cache_hint);
  f.byte_mask = true;
  return f;
}

/// cp.async.bulk.prefetch.L2.
TALLY_HD constexpr form bulk_prefetch(bool cache_hint = false) {
  return {.instruction = family::prefetch_bulk, .source = space::global, .cache_hint = cache_hint};
}

/// Bytes can be copied from `From` to `To` by the bulk engine.
template <space From, space To, architecture On = sm_90>
concept bulk_copyable = legal(bulk_copy(From, To), On);

/// Bytes of global memory can be copied into several blocks of a cluster at once.
template <architecture On>
concept multicasting = legal(bulk_multicast(), On);

/// A copy to global memory can leave out bytes of every 16.
template <architecture On>
concept byte_masking = legal(masked_bulk_copy(), On);

/// Global memory can be brought to L2 in bulk.
template <architecture On>
concept bulk_prefetching = legal(bulk_prefetch(), On);

} // namespace tally::v0::primitive
