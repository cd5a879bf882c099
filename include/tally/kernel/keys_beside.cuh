// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key beside other folds, in their read: every block has a table for each, which whoever holds elements adds them to. Layer 4. The
// order is: all threads open, those that have elements add them, all give. What comes before and after, on all slots, are phases of
// kernel/by_key.cuh.
#pragma once

#include <tally/kernel/beside.cuh>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/keyed_table.cuh>

namespace tally::v0::kernel {

/// The argument of a kernel for one of them, which its plan goes with.
template <keys_plan P, class Where, class Program>
struct planned_keys : keys_beside<Where, Program> {
  static_assert(P.route == keys_route::in_shared_memory && P.ranges == 1, "a block sees elements of all slots");
};

/// The table of a block for one of them.
template <class Keys>
class table_beside;
template <keys_plan P, class Where, class Program>
class table_beside<planned_keys<P, Where, Program>> {
  using Table = keyed_table<P, Program>;
  keys_beside<Where, Program> const& keys_;
  Table table_;

public:
  __device__ __forceinline__ table_beside(keys_beside<Where, Program> const& keys, unsigned char* shared)
      : keys_(keys), table_{keys.program, keys.to, keys.where.bins, reinterpret_cast<char*>(shared) + keys.shared_offset} {}
  __device__ __forceinline__ void open() const { table_.open_own(); }
  __device__ __forceinline__ void give() const { table_.give_own(); }
  template <class Row>
  __device__ __forceinline__ void add(Row const& r) const {
    add_to_slot(r, slot_of(r));
  }
  /// V rows of every lane of a warp: all are looked at before any is added, so that they are looked at side by side.
  template <int V, class RowAt>
  __device__ __forceinline__ void add_warp(RowAt const& row_at) const {
    unsigned slot[V];
#pragma unroll
    for (int v = 0; v < V; ++v)
      slot[v] = slot_of(row_at(v));
#pragma unroll
    for (int v = 0; v < V; ++v)
      asm volatile("" : "+r"(slot[v]));
    if constexpr (Table::looks_for_few_slots) {
      table_.add_rows(row_at, slot, true);
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v)
        add_to_slot(row_at(v), slot[v]);
    }
  }

private:
  /// Nobody's where it has none.
  template <class Row>
  __device__ __forceinline__ unsigned slot_of(Row const& r) const {
    return static_cast<unsigned>(bin_of(keys_.where, r, keys_.to.stray));
  }
  template <class Row>
  __device__ __forceinline__ void add_to_slot(Row const& r, unsigned slot) const {
    if constexpr (Table::one_count)
      count_at(address_in_shared(table_.own_cells(0)) + Table::own_cell(slot, threadIdx.x) * u32(sizeof(unsigned)), slot != Table::nobody);
    else if (slot != Table::nobody)
      table_.add(r, slot);
  }
};

/// The tables of a block for all of them.
template <class... Keys>
struct tables_beside {
  pack<table_beside<Keys>...> of;
  __device__ __forceinline__ explicit tables_beside(unsigned char* shared, Keys const&... keys) : of(make_pack(table_beside<Keys>(keys, shared)...)) {}
  __device__ __forceinline__ void open() const {
    for_each([](auto const& t) { t.open(); });
  }
  __device__ __forceinline__ void give() const {
    for_each([](auto const& t) { t.give(); });
  }
  template <class Row>
  __device__ __forceinline__ void add(Row const& r) const {
    for_each([&](auto const& t) { t.add(r); });
  }
  template <int V, class RowAt>
  __device__ __forceinline__ void add_warp(RowAt const& row_at) const {
    for_each([&](auto const& t) { t.template add_warp<V>(row_at); });
  }

private:
  template <class F>
  __device__ __forceinline__ void for_each(F const& f) const {
    for_each_index<int(sizeof...(Keys))>([&](auto i) { f(get<i>(of)); });
  }
};

} // namespace tally::v0::kernel
