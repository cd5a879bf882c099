// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows with lets whose blocks ask for a part of a later row while their own is on its way: what is folded then is in L2 when its block
// begins. Layer 4. A header of its own, because only the plans that ask for it pay NVRTC for it.
#pragma once

#include <tally/kernel/rows_with_let.cuh>
#include <tally/primitive/prefetch.cuh>

namespace tally::v0::kernel {

/// Asks for the whole pieces of 16 bytes among n elements.
template <class T>
__device__ __forceinline__ void ask_for_pieces(T const* first, int n) {
  u64 const from = (u64(first) + 15) / 16 * 16, end = u64(first + n) / 16 * 16;
  if (from < end)
    primitive::prefetch(primitive::in_global(reinterpret_cast<unsigned char const*>(from)), primitive::bulk_bytes::within(i64(end - from)));
}

/// Asks, by one thread of a warp, for what the leaf that this warp holds is in another row; columns that stand still are there already.
template <axes_plan P, class Base, class Place>
__device__ __forceinline__ void ask_for_row(leaf_on_chip<P, Base> const& held, Base const& p, axes_layout const& at, Place const& here, i64 row) {
  if (threadIdx.x % 32 != 0 || row >= at.groups || held.left <= 0)
    return;
  auto there = origin_of<P, Base>(at, row);
  there.move(at.reduced[0], held.start);
  for_each_index<Base::columns_type::size>([&](auto i) {
    auto const& column = get<i>(p.columns);
    if constexpr (memory_column<cuda::std::remove_cvref_t<decltype(column)>>) {
      constexpr int c = decltype(i)::value;
      if (!(P.standing >> c & 1) && there.offset[c] != here.offset[c])
        ask_for_pieces(column.data + there.offset[c], held.left);
    }
  });
}

} // namespace tally::v0::kernel
