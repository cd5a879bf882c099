// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bin of one element, and what is noted of a key that names none. Layer 4.
#pragma once

#include <tally/fold/keys.hpp>

namespace tally::v0::kernel {

/// The bin of a row, if it is in one, and whether it passes with a key that names none.
struct row_in_bins {
  i64 bin;
  bool inside, strays;
};
template <class Where, class Row>
__device__ __forceinline__ row_in_bins look_at(Where const& where, Row const& r) {
  if (!where.mask.eval(r))
    return {-1, false, false};
  auto const key = where.key.eval(r);
  bool const inside = is_in_bins(key, where.bins);
  return {static_cast<i64>(key), inside, !Where::drops_strays && !inside};
}

/// The bin of a row that passes, -1 where it has none; the first position of a stray is kept where it is told.
template <bool Tells = true, class Where, class Row>
__device__ __forceinline__ i64 bin_of(Where const& where, Row const& r, u64* stray) {
  row_in_bins const at = look_at(where, r);
  if (Tells && at.strays)
    atomicMin(reinterpret_cast<unsigned long long*>(stray), static_cast<unsigned long long>(r.position));
  return at.inside ? at.bin : -1;
}

} // namespace tally::v0::kernel
