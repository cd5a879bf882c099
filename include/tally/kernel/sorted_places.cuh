// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where an element lies whose group and number within the group are known. Layer 4. Most reads have one group and one axis, which is a
// multiplication a column; for others there is one function, not a copy for every element that is in flight.
#pragma once

#include <tally/fold/groups.hpp>
#include <tally/fold/slots.hpp>
#include <tally/plan/slot_sort_plan.hpp>

namespace tally::v0::kernel {

template <slot_sort_plan P>
using sorted_number = cuda::std::conditional_t<P.wide_numbers, unsigned long long, unsigned>;
template <slot_sort_plan P>
using sorted_element = numbered_slot<sorted_number<P>>;

template <int Columns>
__device__ __noinline__ void move_to_number(grid_place<Columns>& p, axes_layout const& at, i64 number) {
  move_along(p, at.reduced, at.reduced_axes, number);
}
template <int Columns>
__device__ __noinline__ void move_to_group(grid_place<Columns>& p, axes_layout const& at, i64 group) {
  move_along(p, at.kept, at.kept_axes, group);
}

template <slot_sort_plan P, int Columns>
__device__ __forceinline__ grid_place<Columns> origin_of_group(axes_layout const& at, i64 group) {
  grid_place<Columns> p{};
  if constexpr (!P.no_kept_axis)
    move_to_group(p, at, group);
  return p;
}
template <slot_sort_plan P, int Columns>
__device__ __forceinline__ grid_place<Columns> place_of_number(axes_layout const& at, grid_place<Columns> p, i64 number) {
  if constexpr (P.one_reduced_axis)
    p.move(at.reduced[0], number);
  else
    move_to_number(p, at, number);
  return p;
}

} // namespace tally::v0::kernel
