// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of segments and batches decides, and that its cut leaves no element and no offset without a warp.
#include <tally/plan/spell.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace tally::v0;

namespace {
template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}
template <class R>
facts facts_for(R const& r) {
  return facts_of(tally::v0::bind(r).program, targets::h200, contract::reproducible);
}
} // namespace

TEST_CASE("a tile is a leaf of f32, eight elements a lane, eight warps a block") {
  auto const p = make_segments_plan(facts_for(from(made_up<float>(1 << 20)) | sum));
  CHECK(p == segments_plan{.warps_per_block = 8, .blocks_per_multiprocessor = 4, .tile_elements = 1024, .elements_per_lane = 8,
                           .rows_in_flight = 4, .leaves_per_part = 8, .counted = false, .segments_per_lane = 0, .in_windows = false});
  CHECK(spell(p) == "tally::v0::segments_plan{.warps_per_block = 8, .blocks_per_multiprocessor = 4, .tile_elements = 1024, "
                    ".elements_per_lane = 8, .rows_in_flight = 4, .leaves_per_part = 8, .counted = false, .segments_per_lane = 0, .in_windows = false}");
}

TEST_CASE("tiles stay within the shared memory that every chip has, and are no longer than a leaf") {
  auto const bytes = made_up<i8>(1000);
  auto const doubles = made_up<double>(1000);
  auto const check = [](facts const& f) {
    auto const p = make_segments_plan(f);
    CHECK(p.warps_per_block * planning::bytes_of_tile(f, p.tile_elements) <= 48 * 1024);
    CHECK(p.tile_elements <= f.elements_per_leaf());
    CHECK(p.tile_elements % 8 == 0);
    CHECK(f.rows_per_leaf % p.rows_in_flight == 0);
  };
  check(facts_for(from(bytes) | sum));
  check(facts_for(from(bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes) | reduce(sum(_1), sum(_8))));
  check(facts_for(from(doubles, doubles, doubles, doubles, doubles, doubles, doubles, doubles) | reduce(sum(_1), sum(_8))));
  check(facts_for(from(doubles, bytes) | reduce(variance(_1), logsumexp(_1), sum(_2))));
  check(facts_for(from(iota(1000)) | sum));
}

TEST_CASE("wide states get fewer elements a lane") {
  auto const x = made_up<double>(1000);
  CHECK(make_segments_plan(facts_for(from(x) | sum)).elements_per_lane == 8);
  CHECK(make_segments_plan(facts_for(from(x) | reduce(variance, minmax))).elements_per_lane == 4);
}

TEST_CASE("segments of few elements on average are read by a lane each, two at once where they take few registers") {
  i64 const n = 1 << 20;
  auto const of = [](auto const& r, i64 segments) { return make_segments_plan(facts_for(r), segments).segments_per_lane; };
  auto const x = made_up<float>(n);
  auto const y = made_up<double>(n);
  CHECK(of(from(x) | sum, 0) == 0); // nobody knows how many
  CHECK(of(from(x) | sum, n / 8) == 0);
  CHECK(of(from(x) | sum, n / 8 + 1) == 2);
  CHECK(of(from(iota(n)) | max, n / 4) == 2);
  CHECK(of(from(y) | sum, n / 4) == 1);
  CHECK(of(from(x) | variance, n / 4) == 1);
  CHECK(of(from(x) | reduce(variance, minmax), n / 8 + 1) == 0); // a lane folds four elements
  CHECK(of(from(x) | reduce(variance, minmax), n / 4 + 1) == 1);
  CHECK(of(from(y, y, y) | sum(_1 * _2 * _3), n / 4) == 0); // elements of many bytes
}

TEST_CASE("rows of exact sums are segments of one size, where they follow each other and are long enough") {
  auto const of = [](auto const& r) { return explain(r, targets::h200, exact).details().domains[0]; };
  auto const x = made_up<float>(1 << 24);
  CHECK(of(from(shaped(x, 1 << 12, 1 << 12)) | over<1>(sum, mean)).exact_rows);
  CHECK(of(from(shaped(x, 64, 64, 1 << 12)) | over<1, 2>(sum)).exact_rows);
  CHECK(of(from(shaped(x, 1 << 12, 1 << 12)) | over<1>(sum)).route == "segments");
  CHECK(of(from(shaped(x, 1 << 18, 1 << 6)) | over<1>(sum)).exact_rows);
  CHECK(of(from(shaped(x, 1 << 12, 1 << 12)) | over<1>(sum, max, count)).exact_rows);
  CHECK_FALSE(of(from(shaped(x, 1 << 12, 1 << 12)) | over<0>(sum)).exact_rows);
  CHECK_FALSE(of(from(shaped(x, 64, 64, 1 << 12)) | over<0, 2>(sum)).exact_rows);
  CHECK_FALSE(of(from(shaped(x, 1 << 12, 1 << 12)) | over<1>(max)).exact_rows);
  CHECK_FALSE(explain(from(shaped(x, 1 << 12, 1 << 12)) | over<1>(sum), targets::h200).details().domains[0].exact_rows);
}

TEST_CASE("windows have room beside the tiles of a block, or there are none") {
  facts f = facts_for(from(made_up<bf16>(1 << 20)) | sum);
  f.folds[0].exact = f.folds[0].order_free = true;
  f.folds[0].state_bytes = 56;
  CHECK(make_segments_plan(f).in_windows);
  for (f.fold_count = 2; f.fold_count <= max_folds; ++f.fold_count) {
    f.folds[f.fold_count - 1] = f.folds[0];
    auto const p = make_segments_plan(f);
    CHECK(p.in_windows);
    CHECK(p.warps_per_block * (planning::bytes_of_tile(f, p.tile_elements) + f.fold_count * 2 * 56) <= 48 * 1024);
    CHECK(p.blocks_per_multiprocessor * p.warps_per_block >= 16);
    CHECK(p.blocks_per_multiprocessor <= 16);
  }
  f.fold_count = max_folds;
  CHECK(make_segments_plan(f).warps_per_block < 8);
  f.folds[0].state_bytes = 24 * 1024;
  CHECK_FALSE(make_segments_plan(f).in_windows);
  f.folds[0].state_bytes = 56;
  f.fold_count = 2;
  f.folds[1].exact = false; // beside one
  CHECK(make_segments_plan(f).in_windows);
  f.folds[1].order_free = false;
  CHECK_FALSE(make_segments_plan(f).in_windows);
  f.folds[1].order_free = true;
  f.folds[0].exact = false;
  CHECK_FALSE(make_segments_plan(f).in_windows);
}

TEST_CASE("parts are longer where segments are") {
  auto const f = facts_for(from(made_up<float>(1 << 28)) | sum);
  CHECK(make_segments_plan(f).leaves_per_part == 8);
  CHECK(make_segments_plan(f, 1 << 20).leaves_per_part == 8);
  CHECK(make_segments_plan(f, 1 << 15).leaves_per_part == 8); // one part each
  CHECK(make_segments_plan(f, 1 << 14).leaves_per_part == 16);
  CHECK(make_segments_plan(f, 1).leaves_per_part == 16);
  CHECK(make_segments_plan(facts_for(from(made_up<float>(1 << 25)) | sum), 1).leaves_per_part == 8); // where warps would be missing
}

TEST_CASE("every element and every offset is somebody's, and levels of meetings do not overlap") {
  auto const f = facts_for(from(made_up<float>(1)) | sum);
  auto const p = make_segments_plan(f);
  for (i64 const extent : {i64(0), i64(1), i64(8191), i64(8192), i64(1) << 28, (i64(1) << 31) + 1, i64(1) << 40})
    for (i64 const segments : {i64(1), i64(1000), i64(1) << 26}) {
      auto const l = cut_segments(f, p, extent, segments, 0);
      CHECK(l.blocks * p.warps_per_block * l.cut.share > extent + segments * cost_of_offset);
      CHECK((l.blocks - 1) * p.warps_per_block * l.cut.share <= extent + segments * cost_of_offset);
      i64 size = l.cut.share;
      for (int k = 0; k < max_meeting_levels && size < extent; ++k, size *= parts_that_meet) {
        i64 const end = k + 1 < max_meeting_levels && size * parts_that_meet < extent ? l.cut.levels.begin[k + 1] : l.places;
        CHECK(l.cut.levels.begin[k] + 2 * ((extent - 1) / size) + 1 < end);
      }
    }
}

TEST_CASE("programs of one launch have blocks, places and answers of their own, and those that take no part none") {
  constexpr i64 extents[] = {1000, 0, 1, 300'000, i64(1) << 31};
  batch_program programs[5];
  for (int i = 0; i < 5; ++i) programs[i] = {facts_for(from(made_up<float>(extents[i])) | reduce(sum, variance)), 5, 20};
  auto const p = plan_batch_of_types(programs, 5);
  i64 blocks = 0, places = 0, answers = 0;
  for (int i = 0; i < 5; ++i) {
    auto const& own = p.cut.of[i];
    CHECK(own.blocks * i64(p.plan.of[i].warps_per_block) >= own.parts);
    CHECK(own.parts * elements_per_part(programs[i].f, p.plan.of[i]) >= extents[i]);
    CHECK((own.blocks == 0) == (extents[i] == 0));
    if (own.blocks == 0) continue;
    CHECK(own.first_place == places);
    CHECK(own.first_word == places * 5);
    CHECK(own.answer == answers);
    CHECK(own.answer % 16 == 0);
    blocks += own.blocks;
    answers += 32;
    i64 nodes = own.parts;
    for (int level = 0; nodes > 1; ++level, nodes = (nodes - 1) / parts_that_meet + 1) {
      CHECK(own.levels.begin[level] >= places - own.first_place);
      places = own.first_place + own.levels.begin[level] + nodes;
    }
    places = i + 1 < 5 && p.cut.of[i + 1].blocks > 0 ? p.cut.of[i + 1].first_place : i + 2 < 5 && p.cut.of[i + 1].blocks == 0 ? p.cut.of[i + 2].first_place : places;
  }
  CHECK(p.blocks == blocks);
  CHECK(p.answer_bytes == answers);
  CHECK(places <= p.places);
  CHECK(p.words == 5 * p.places);
}
