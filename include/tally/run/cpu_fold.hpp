// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One full reduction on the CPU: tiles, which are subtrees, spread over cores and combined in their order. Layer 5, host only.
#pragma once

#include <tally/run/cpu_door.hpp>
#include <tally/run/cpu_gather.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0::cpu {

/// Leaves per tile: a tile is a subtree, small enough to balance the cores, large enough to forget the call.
inline constexpr i64 leaves_per_tile = 64;

/// Up to this many tiles, about a mebibyte of floats, one core is done before others have woken up.
inline constexpr i64 tiles_for_one_core = 4;

namespace detail {
/// Calls body(i) for every i below n, spread over the cores.
template <class Body>
void spread_over_cores(i64 n, int threads, Body&& body) {
  if (n == 1) return body(i64(0));
  using Called = std::remove_reference_t<Body>;
  cpu::for_each_tile(
      n, [](void* c, i64 i) { (*static_cast<Called*>(c))(i); }, const_cast<void*>(static_cast<void const*>(&body)), threads);
}
} // namespace detail

/// A walk over all elements of a program, at least one, in tasks that any core takes: a tile each.
template <class Program>
class full_walk {
  using States = typename Program::states;

public:
  explicit full_walk(Program const& p) : p_(p), leaves_((p.extent - 1) / shape_of<Program>.elements() + 1), of_tile_(static_cast<std::size_t>(tasks())) {}
  i64 tasks() const { return (leaves_ - 1) / leaves_per_tile + 1; }
  void operator()(i64 tile) {
    i64 const first = tile * leaves_per_tile;
    of_tile_[static_cast<std::size_t>(tile)] = fold_subtree(p_, first, leaves_ - first < leaves_per_tile ? leaves_ - first : leaves_per_tile);
  }
  /// After all tasks.
  States finish() {
    combine_neighbours([&](States const& a, States const& b) { return p_.combine(a, b); }, of_tile_.data(), tasks());
    return of_tile_[0];
  }

private:
  Program const& p_;
  i64 leaves_;
  heap_array<States> of_tile_;
};

/// Folds a program of at least one element on the host.
template <class Program>
typename Program::states fold(Program const& p, int threads) {
  if (p.extent <= leaves_per_tile * shape_of<Program>.elements())
    return fold_subtree(p, 0, (p.extent - 1) / shape_of<Program>.elements() + 1);
  full_walk<Program> walk(p);
  detail::spread_over_cores(walk.tasks(), threads == 0 && walk.tasks() <= tiles_for_one_core ? 1 : threads, walk);
  return walk.finish();
}

} // namespace tally::v0::cpu
