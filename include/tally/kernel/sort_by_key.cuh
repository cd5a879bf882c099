// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sort in front of folds by key that read the elements of a key one after the other. Layer 4. One kernel in several launches: the
// slot of every element is noted, elements are sorted by slot, and it is found where every slot begins.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/key_table.hpp>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/keyed_walk.cuh>
#include <tally/kernel/sort_slots.cuh>
#include <tally/kernel/sorted_places.cuh>

namespace tally::v0::kernel {

/// Notes slots, and counts them for the first pass.
template <slot_sort_plan P, class Where, class Program>
struct slot_reader {
  static constexpr int columns = Program::columns_type::size, in_flight = 8;
  Where const& where;
  Program const& p;
  axes_layout const& at;
  slot_sorter<P> const& sorter;

  __device__ __forceinline__ u32 slot_of(i64 t) const {
    i64 const r = P.no_kept_axis ? t : t / at.groups, k = P.no_kept_axis ? 0 : t - r * at.groups;
    grid_place<columns> const here = place_of_number<P>(at, origin_of_group<P, columns>(at, k), r);
    i64 const bin = bin_of(where, row_at_place(p.columns, here, here.position), sorter.to.stray);
    return static_cast<u32>(bin < 0 ? sorter.to.slot_count : bin * at.groups + k);
  }
  __device__ void note() const {
    sorter.open_counts();
    i64 const end = sorter.last();
    for (i64 begin = sorter.first() + threadIdx.x; begin < end; begin += in_flight * sorter.threads) {
      u32 slot[in_flight];
#pragma unroll
      for (int i = 0; i < in_flight; ++i)
        slot[i] = begin + i * sorter.threads < end ? slot_of(begin + i * sorter.threads) : 0;
#pragma unroll
      for (int i = 0; i < in_flight; ++i)
        if (begin + i * sorter.threads < end) {
          sorter.to.noted()[begin + i * sorter.threads] = slot[i];
          sorter.count(slot[i]);
        }
    }
    sorter.close_counts();
  }
  /// The key of a stray is what the host cannot read.
  __device__ void note_key_of_stray() const {
    u64* const stray = sorter.to.stray;
    if (stray[0] != ~u64(0))
      stray[1] = static_cast<u64>(where.key.eval(keyed_walk<1, 1, ~u32(0), Program>{p, at, 0, 1}.row_at_position(static_cast<i64>(stray[0]))));
  }
};

template <slot_sort_plan P, class Where, class Program>
__global__ void __launch_bounds__(P.threads_per_block, P.blocks_per_multiprocessor)
    sort_by_key(__grid_constant__ Where const where, __grid_constant__ Program const p, __grid_constant__ axes_layout const at,
                __grid_constant__ slot_sort const to, sort_phase phase) {
  using Sorter = slot_sorter<P>;
  __shared__ typename Sorter::room room;
  Sorter const sorter{to, room};
  slot_reader<P, Where, Program> const reader{where, p, at, sorter};
  i64 const thread = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  switch (phase) {
  case sort_phase::open:
    if (thread == 0)
      to.stray[0] = ~u64(0), to.stray[2] = 0;
    break;
  case sort_phase::note: reader.note(); break;
  case sort_phase::count_digits: sorter.count_all(); break;
  case sort_phase::add_up: sorter.add_up(); break;
  case sort_phase::move: sorter.move(); break;
  case sort_phase::begin:
    sorter.find_begins();
    if (thread == 0)
      reader.note_key_of_stray();
  }
}

} // namespace tally::v0::kernel
