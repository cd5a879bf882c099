// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk of blocks through the elements of a read by keys, as host code: together they meet every element once, by loads of neighbours and
// place by place, and what a block walks through once more is what it has walked through.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/keyed_walk.cuh>

#include <doctest/doctest.h>

#include <vector>

using namespace tally;

namespace {

/// Whether that holds of V neighbours a load and U loads in flight, for the blocks and threads of a launch.
template <int V, int U, bool InOrder, class R>
bool meets_all_once(R const& r, i64 blocks, unsigned threads) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  axes_layout const at = layout_of(r.pipe.source, Where::is_reduced);
  auto const n = static_cast<std::size_t>(at.extent * at.groups);
  std::vector<i64> met_by(n, -1), again_by(n, -1);
  bool once = true;
  auto const note = [&](std::vector<i64>& by, i64 position) {
    once = once && by[std::size_t(position)] == -1;
    by[std::size_t(position)] = i64(blockIdx.x);
  };
  emulated::launch(blocks, threads, [&] {
    kernel::keyed_walk<V, U, ~u32(0), Program> const walk{d.program, at, i64(blockIdx.x), blocks};
    if constexpr (InOrder)
      walk.in_order([&](auto const& row) { note(met_by, row.position); }, kernel::to_the_end{});
    else
      walk.place_by_place([&](auto const& row, i64) { note(met_by, row.position); }, kernel::to_the_end{});
    __syncthreads();
    walk.once_more([&](auto const& row) {
      if (met_by[std::size_t(row.position)] == i64(blockIdx.x)) again_by[std::size_t(row.position)] = i64(blockIdx.x);
    });
  });
  return once && again_by == met_by && std::ranges::find(met_by, -1) == met_by.end();
}

} // namespace

TEST_CASE("a walk by keys, emulated: every element once, and once more by the block that had it") {
  for (i64 const n : {1, 3, 4, 255, 1024, 4099, 20'000, 20'003}) {
    std::vector<i32> const keys(static_cast<std::size_t>(n));
    auto const r = from(keys) | by_key(_1, 8, count);
    for (i64 const blocks : {1, 3, 8}) {
      CAPTURE(n);
      CAPTURE(blocks);
      CHECK(meets_all_once<4, 4, true>(r, blocks, 64));
      CHECK(meets_all_once<4, 2, true>(r, blocks, 96));
      CHECK(meets_all_once<1, 1, true>(r, blocks, 64));
      CHECK(meets_all_once<1, 1, false>(r, blocks, 64));
    }
  }
}

TEST_CASE("a walk by keys, emulated: place by place through groups that stay") {
  std::vector<i32> const keys(37 * 21);
  auto const r = from(shaped(keys.data(), 37, 21)) | by_key<0>(_1, 8, count);
  for (i64 const blocks : {1, 3, 8}) CHECK(meets_all_once<1, 1, false>(r, blocks, 64));
}
