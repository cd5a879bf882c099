// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the windows of exact sums begin: where most numbers of a sample fit. Layer 4.
#pragma once

#include <tally/fold/hot_keys.hpp>
#include <tally/kernel/bin_of.cuh>
#include <tally/kernel/sum_windows.cuh>

namespace tally::v0::kernel {

/// What is said of a window whose sum has more elsewhere than is worth a bit for every slot: one in far_of_sample of a sample.
inline constexpr u32 is_scattered = 1u << 16;
inline constexpr int far_of_sample = 64;

/// One block looks at some of the elements, at least sampled_elements, evenly apart but for a little chance, and says of every exact sum which window has
/// the most of them, the middle one of those that have, and whether it is scattered. The room is bytes_to_aim_windows of shared memory. All threads of the
/// block call it.
template <class Where, class Program, class RowOf>
__device__ void aim_windows(u32* windows, unsigned* room, Where const& where, Program const& p, i64 elements, RowOf const& row_of) {
  i64 const apart = elements / sampled_elements;
  unsigned &lowest = room[0], &highest = room[1], &all = room[2], *const count = room + 3;
  for_each_index<Program::leaf_count>([&](auto k) {
    auto const& l = get<k>(p.leaves);
    using M = cuda::std::remove_cvref_t<decltype(l.monoid)>;
    if constexpr (cell_of<M>::kind == cell_kind::digits) {
      constexpr int starts = windows_there<M>, other = (binades_of_window<M> + 1) / bits_of_aim - 1, places = starts + other;
      static_assert((3 + places) * int(sizeof(unsigned)) <= bytes_to_aim_windows && starts * bits_of_aim < int(is_scattered) && sampled_elements < 1 << 16);
      __syncthreads();
      for (int d = int(threadIdx.x); d < 3 + places; d += int(blockDim.x))
        room[d] = 0;
      __syncthreads();
#pragma unroll 1
      for (unsigned s = threadIdx.x; s < unsigned(sampled_elements); s += blockDim.x) {
        if (apart == 0 && s >= elements)
          break;
        auto const r = row_of(apart == 0 ? i64(s) : s * apart + scattered(s) % apart);
        if (!look_at(where, r).inside || !l.mask.eval(r))
          continue;
        unpack([&](auto const&... v) {
          auto const look = [&](auto... x) {
            whole_number n;
            if (are_normal<M>(n, x...) && n.bit / bits_of_aim < places)
              atomicAdd(count + n.bit / bits_of_aim, 1u);
            if (!is_zero(x...) && are_finite(x...))
              atomicAdd(&all, 1u);
          };
          look(static_cast<typename M::number>(v.eval(r))...);
        }, l.values);
      }
      __syncthreads();
      for (unsigned first = threadIdx.x; first < unsigned(starts); first += blockDim.x) {
        unsigned held = 0;
        for (int d = 0; d <= other; ++d)
          held += count[first + d];
        atomicMax(&lowest, held << 16 | (0xffff - first));
        atomicMax(&highest, held << 16 | first);
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        unsigned const held = highest >> 16, middle = (0xffff - (lowest & 0xffff) + (highest & 0xffff)) / 2;
        windows[k] = middle * bits_of_aim + ((all - held) * far_of_sample > all ? is_scattered : 0);
      }
    }
  });
}

} // namespace tally::v0::kernel
