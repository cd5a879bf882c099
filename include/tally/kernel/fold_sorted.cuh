// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of elements that are sorted by slot: every slot is a segment of the sorted elements, whose rows are read where they lie
// in the source. Layer 4. The tree of a slot is that of its elements alone, as on the CPU.
#pragma once

#include <tally/fold/keys.hpp>
#include <tally/kernel/segments.cuh>
#include <tally/kernel/sorted_places.cuh>
#include <tally/plan/sorted_keys_plan.hpp>

namespace tally::v0::kernel {

/// Rows of a slot.
template <sorted_keys_plan P, class Program>
struct sorted_rows {
  static constexpr int columns = Program::columns_type::size;
  Program const& p;
  axes_layout const& layout;
  grid_place<columns> origin;      ///< of the slot's group
  sorted_element<P.sort> const* elements; ///< from the slot's first on
  i64 first, last;                 ///< of those that there are and may be looked at, seen from there
  __device__ __forceinline__ auto row_at(i64 e) const {
    auto const place = place_of_number<P.sort>(layout, origin, static_cast<i64>(elements[e].number));
    return row_at_place(p.columns, place, place.position);
  }
  /// Row e + k, or any that is there.
  __device__ __forceinline__ auto row_near(int e, int k) const {
    i64 const near = e + k < last ? e + k : last;
    return row_at(near < first ? first : near);
  }
};

/// What all warps of a launch know, where segments are slots.
template <sorted_keys_plan P, class Program, class Nodes>
struct sorted_slots : segments_of<Program, Nodes, sorted_number<P.sort>> {
  using number = sorted_number<P.sort>;
  using base = segments_of<Program, Nodes, number>;
  using rows = sorted_rows<P, Program>;
  axes_layout const& layout;
  sorted_element<P.sort> const* elements;

  struct order_of_tile {
    unsigned char order[32]; ///< segments of one size class, by their number in the tile
  };
  template <segments_plan>
  using tile = order_of_tile;

  __device__ __forceinline__ sorted_slots(base const& b, axes_layout const& of, sorted_element<P.sort> const* sorted) : base(b), layout(of), elements(sorted) {}
  __device__ __forceinline__ auto origin_of_slot(i64 slot) const {
    return origin_of_group<P.sort, rows::columns>(layout, P.sort.no_kept_axis ? 0 : slot % layout.groups);
  }
  __device__ __forceinline__ rows rows_from(i64 slot, i64 begin) const {
    return {this->p, layout, origin_of_slot(slot), elements + begin, 0, 0};
  }
  __device__ __forceinline__ void stage(order_of_tile&, i64, int, int) const {}
  template <segments_plan>
  __device__ __forceinline__ rows rows_in(order_of_tile const&, i64 slot, i64 begin, int, int n) const {
    i64 const behind = this->cut.extent - 1 - begin; // a slot without elements may begin behind all
    return {this->p, layout, origin_of_slot(slot), elements + begin, -begin, n - 1 < behind ? n - 1 : behind};
  }
  /// A slot without elements has the answer of the identity.
  template <class States>
  __device__ __forceinline__ void answer(States const& s, i64, i64 slot) const { base::answer(s, 1, slot); }
};

template <sorted_keys_plan P, class Program, class Nodes>
__global__ void __launch_bounds__(P.folds.threads_per_block(), P.folds.blocks_per_multiprocessor)
    fold_sorted(__grid_constant__ Program const p, __grid_constant__ axes_layout const layout, void const* begins, void const* sorted, i64 slots,
                __grid_constant__ segments_cut const cut, __grid_constant__ Nodes const nodes, __grid_constant__ answer_arrays const to, u32* parts,
                u32* arrivals, u64* stray) {
  using All = sorted_slots<P, Program, Nodes>;
  using Tile = typename All::template tile<P.folds>;
  __shared__ Tile tiles[P.folds.warps_per_block];
  groups_between_offsets<sorted_number<P.sort>> const at{static_cast<sorted_number<P.sort> const*>(begins), slots + 1};
  All const all({p, at, cut, nodes, to, {parts, arrivals}, stray + 1}, layout, static_cast<sorted_element<P.sort> const*>(sorted));
  fold_segments<P.folds>(whole_grid{}, all, tiles);
}

} // namespace tally::v0::kernel
