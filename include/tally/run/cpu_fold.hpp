// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One full reduction on the CPU: tiles, which are subtrees, spread over cores and combined in their order. Layer 5, host only.
#pragma once

#include <vector>

#include <tally/run/cpu_door.hpp>
#include <tally/run/cpu_tile.hpp>

namespace tally::inline v0::cpu {

/// Leaves per tile: a tile is a subtree, small enough to balance the cores, large enough to forget the call.
inline constexpr i64 leaves_per_tile = 64;

/// Up to this many tiles, about a mebibyte of floats, one core is done before others have woken up.
inline constexpr i64 tiles_for_one_core = 4;

namespace detail {
/// Calls body(i) for every i below n, spread over the cores.
template <class Body>
void spread_over_cores(i64 n, int threads, Body const& body) {
  if (n == 1) return body(i64(0));
  cpu::for_each_tile(
      n, [](void* c, i64 i) { (*static_cast<Body const*>(c))(i); }, const_cast<void*>(static_cast<void const*>(&body)), threads);
}
} // namespace detail

/// Folds a program of at least one element on the host.
template <class Program>
typename Program::states fold(Program const& p, int threads) {
  using States = typename Program::states;
  i64 const leaves = (p.extent - 1) / shape_of<Program>.elements() + 1;
  i64 const tiles = (leaves - 1) / leaves_per_tile + 1;
  auto const tile_of = [&](i64 tile) {
    i64 const first = tile * leaves_per_tile;
    return fold_subtree(p, first, leaves - first < leaves_per_tile ? leaves - first : leaves_per_tile);
  };
  if (tiles == 1)
    return tile_of(0);
  std::vector<States> of_tile(static_cast<std::size_t>(tiles));
  struct job {
    decltype(tile_of) const& tile;
    States* out;
  } context{tile_of, of_tile.data()};
  for_each_tile(
      tiles,
      [](void* c, i64 tile) {
        auto const& j = *static_cast<job*>(c);
        j.out[tile] = j.tile(tile);
      },
      &context, threads == 0 && tiles <= tiles_for_one_core ? 1 : threads);
  combine_neighbours([&](States const& a, States const& b) { return p.combine(a, b); }, of_tile.data(), tiles);
  return of_tile[0];
}

} // namespace tally::inline v0::cpu
