// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What gets to see the rows of a read beside its own folds: nothing, or the tables of kernel/keys_beside.cuh, which a translation unit
// includes only if there are any. Layer 4.
#pragma once

namespace tally::v0::kernel {

template <class... Keys>
struct tables_beside;
template <>
struct tables_beside<> {
  __device__ __forceinline__ explicit tables_beside(unsigned char*) {}
  __device__ __forceinline__ void open() const {}
  __device__ __forceinline__ void give() const {}
  template <class Row>
  __device__ __forceinline__ void add(Row const&) const {}
  template <int V, class RowAt>
  __device__ __forceinline__ void add_warp(RowAt const&) const {}
};

} // namespace tally::v0::kernel
