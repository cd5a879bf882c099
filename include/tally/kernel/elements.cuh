// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "elements": every thread computes neighbours of a row and stores them together. Layer 4.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/keys.hpp>
#include <tally/kernel/store.cuh>
#include <tally/kernel/strip.cuh>
#include <tally/plan/group_facts.hpp>

namespace tally::v0::kernel {

/// Strip k of the rows: its place, its first element, and how many elements it has; 0 beyond the last.
template <int Columns>
struct strip_place {
  grid_place<Columns> at;
  i64 element;
  int present;
};
template <axes_plan P, int Columns>
__device__ __forceinline__ strip_place<Columns> strip_at(axes_layout const& at, i64 k) {
  constexpr int V = P.groups_per_thread;
  i64 const inner = at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1;
  strip_place<Columns> s{};
  i64 row = 0, column = k;
  if constexpr (!P.one_kept_axis) {
    i64 const of_row = (inner - 1) / V + 1;
    if (k < 0xffffffffll && of_row < 0xffffffffll)
      row = u32(k) / u32(of_row);
    else
      row = k / of_row;
    column = k - row * of_row;
    move_along(s.at, at.kept, at.kept_axes - 1, row);
  }
  if (at.kept_axes > 0)
    s.at.move(at.kept[at.kept_axes - 1], column * V);
  s.element = row * inner + column * V;
  i64 const left = inner - column * V;
  s.present = row * inner >= at.groups || left <= 0 ? 0 : left < V ? int(left) : V;
  return s;
}

/// Writes every value of every element.
template <axes_plan P, class Program, class Values, int... BytesPerStore>
__global__ void __launch_bounds__(P.threads_per_block())
    elements(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ Values const values,
             answer_arrays const to) {
  constexpr int V = P.groups_per_thread, B = P.batches, columns = decltype(Program::columns)::size;
  i64 const first = i64(blockIdx.x) * P.threads_per_block() * B + threadIdx.x;
  grid_axis const inner = at.kept_axes > 0 ? at.kept[at.kept_axes - 1] : grid_axis{1, 1, {}};
  auto strip = strip_of<P, B, V>(p.columns);
  strip_place<columns> place[B];
#pragma unroll
  for (int b = 0; b < B; ++b) {
    place[b] = strip_at<P, columns>(at, first + i64(b) * P.threads_per_block());
    if (place[b].present == V)
      strip.load(p.columns, place[b].at, b, inner, V);
  }
#pragma unroll
  for (int b = 0; b < B; ++b)
    for_each_index<int(sizeof...(BytesPerStore))>([&](auto i) {
      auto const& of = get<i>(values);
      using T = cuda::std::remove_cvref_t<decltype(of.eval(row_at_place(p.columns, place[b].at, i64(0))))>;
      T* const out = static_cast<T*>(to.at[i]) + place[b].element;
      if (place[b].present == V) {
        T v[V];
#pragma unroll
        for (int k = 0; k < V; ++k)
          v[k] = answers::with_one_nan(of.eval(strip.row_at(p.columns, b, k, place[b].at.position + k, 0)));
        store_neighbours<nth_number<decltype(i)::value, BytesPerStore...>()>(out, v);
      } else {
        for (int k = 0; k < place[b].present; ++k) {
          auto here = place[b].at;
          here.move(inner, k);
          out[k] = answers::with_one_nan(of.eval(row_at_place(p.columns, here, i64(0))));
        }
      }
    });
}

} // namespace tally::v0::kernel
