// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk of blocks through the elements of a read by keys, as host code: together they meet every element once, by loads of neighbours, along
// rows and place by place, with what all columns have there, and what a block walks through once more is what it has walked through.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/keyed_walk.cuh>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace tally::v0;

namespace {

/// Whether all values of a row are its position.
template <class Row>
bool all_say_where(Row const& row) {
  return unpack([&](auto const&... values) { return (true && ... && (i64(values) == row.position)); }, row.values);
}
/// How a walk goes.
struct way {
  int neighbours, in_flight;
  bool in_order, on_rows = false;
  int standing = 0, apart = 0;
};
/// Whether that holds of a way, for the blocks and threads of a launch. Says: what a row has to say of itself.
template <way W, class R, class Says>
bool meets_all_once(R const& r, i64 blocks, unsigned threads, Says const& says) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  axes_layout const at = layout_of(d.program, r.pipe.source, Where::is_reduced);
  auto const n = static_cast<std::size_t>(at.extent * at.groups);
  std::vector<i64> met_by(n, -1), again_by(n, -1);
  bool once = true;
  auto const note = [&](std::vector<i64>& by, i64 position) {
    once = once && by[std::size_t(position)] == -1;
    by[std::size_t(position)] = i64(blockIdx.x);
  };
  emulated::launch(blocks, threads, [&] {
    kernel::keyed_walk<W.neighbours, W.in_flight, ~u32(0), Program, W.on_rows, W.standing, W.apart> const walk{d.program, at, i64(blockIdx.x), blocks};
    auto const meet = [&](auto const& row, auto...) {
      note(met_by, row.position);
      once = once && says(row);
    };
    if constexpr (W.in_order)
      walk.in_order(meet, kernel::to_the_end{});
    else
      walk.place_by_place(meet, kernel::to_the_end{});
    __syncthreads();
    walk.once_more([&](auto const& row) {
      if (met_by[std::size_t(row.position)] == i64(blockIdx.x)) again_by[std::size_t(row.position)] = i64(blockIdx.x);
    });
  });
  return once && again_by == met_by && std::ranges::find(met_by, -1) == met_by.end();
}

std::vector<i32> positions(i64 n) {
  std::vector<i32> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}
/// How the planner has a pipeline's elements found.
template <class R>
find_keys_plan plan_of_walk(R const& r) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  find_keys_facts f{};
  f.at = layout_of(d.program, r.pipe.source, std::remove_cvref_t<decltype(d.where)>::is_reduced);
  f.of = facts_of(d.program, targets::h200, contract::reproducible);
  f.key_bytes = 4;
  return make_find_keys_plan(f).plan;
}

} // namespace

TEST_CASE("a walk by keys, emulated: every element once, and once more by the block that had it") {
  for (i64 const n : {1, 3, 4, 255, 1024, 4099, 20'000, 20'003}) {
    auto const numbers = positions(n);
    auto const r = from(numbers) | by_key(_1, n, count);
    auto const says = [](auto const& row) { return all_say_where(row); };
    for (i64 const blocks : {1, 3, 8}) {
      CAPTURE(n);
      CAPTURE(blocks);
      CHECK(meets_all_once<way{4, 4, true}>(r, blocks, 64, says));
      CHECK(meets_all_once<way{4, 2, true}>(r, blocks, 96, says));
      CHECK(meets_all_once<way{1, 1, true}>(r, blocks, 64, says));
      CHECK(meets_all_once<way{1, 1, false}>(r, blocks, 64, says));
      CHECK(meets_all_once<way{4, 2, true, true}>(r, blocks, 64, says));
    }
  }
}

TEST_CASE("a walk by keys, emulated: along rows, beside what is the same for a row and for a column, as the planner has it") {
  for (auto const& shape : {std::pair<i64, i64>{37, 21}, {36, 24}, {1, 1000}, {1000, 4}, {3, 4099}, {5, 5}, {200, 7}}) {
    i64 const rows = shape.first, n = shape.second;
    auto const numbers = positions(2 * rows * n), of_rows = positions(rows), of_columns = positions(n);
    auto const says = [&](auto const& row) {
      return get<0>(row.values) == row.position && get<1>(row.values) == row.position / n && get<2>(row.values) == row.position % n;
    };
    auto const r = from(shaped(numbers.data(), rows, n), along<0>(of_rows), along<1>(of_columns)) | by_key(_1, 8, sum(_2 * _3));
    auto const p = plan_of_walk(r);
    CAPTURE(rows);
    CAPTURE(n);
    CHECK(p.on_rows);
    CHECK(p.elements_per_load == 4);
    CHECK(p.standing == (n % 4 == 0 || rows == 1 ? 2 : 0));
    CHECK(p.apart == (n % 4 == 0 || rows == 1 ? 0 : 6));
    for (i64 const blocks : {1, 3, 8}) {
      CAPTURE(blocks);
      if (p.apart == 0) CHECK(meets_all_once<way{4, 2, true, true, 2, 0}>(r, blocks, 64, says));
      CHECK(meets_all_once<way{4, 2, true, true, 0, 6}>(r, blocks, 64, says));
      CHECK(meets_all_once<way{1, 4, true, true}>(r, blocks, 64, says));
    }
    // rows that lie apart, and the other way round
    auto const padded = from(shaped(numbers.data(), {rows, n}, {2 * n, 1})) | by_key(_1, 8, count);
    auto const of_padded = [&](auto const& row) { return get<0>(row.values) == row.position / n * 2 * n + row.position % n; };
    CHECK(meets_all_once<way{1, 2, true, true}>(padded, 3, 64, of_padded));
    CHECK(meets_all_once<way{4, 2, true, true, 0, 1}>(padded, 3, 64, of_padded));
    auto const turned = from(shaped(numbers.data(), {rows, n}, {1, rows})) | by_key(_1, 8, count);
    auto const of_turned = [&](auto const& row) { return get<0>(row.values) == row.position % n * rows + row.position / n; };
    CHECK(meets_all_once<way{1, 2, true, true}>(turned, 3, 64, of_turned));
    CHECK(meets_all_once<way{4, 1, true, true, 0, 1}>(turned, 3, 64, of_turned));
  }
}

TEST_CASE("a walk by keys, emulated: place by place through groups that stay") {
  auto const numbers = positions(37 * 21);
  auto const r = from(shaped(numbers.data(), 37, 21)) | by_key<0>(_1, 8, count);
  for (i64 const blocks : {1, 3, 8}) CHECK(meets_all_once<way{1, 1, false}>(r, blocks, 64, [](auto const& row) { return all_say_where(row); }));
}
