// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the planner of one segment decides, and that the cut that its kernel makes leaves nothing out and nobody waiting for a block behind.
#include <tally/plan/one_segment.hpp>
#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace tally::v0;

namespace {
template <class T>
auto made_up(i64 n) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000)), n);
}
template <class R>
facts facts_for(R const& r, target const& chip = targets::h200) {
  return facts_of(tally::v0::bind(r).program, chip, contract::reproducible);
}
} // namespace

TEST_CASE("one segment is folded by as many blocks as run at once, or as its source has work for") {
  auto const f = facts_for(from(made_up<float>(1 << 28)) | sum);
  auto const p = make_one_segment_plan(f);
  CHECK(p == one_segment_plan{.warps_per_block = 16, .blocks_per_multiprocessor = 2, .rows_in_flight = 4, .leaves_of_warp = 8, .shares_of_block = 16,
                              .overlaps_launch = true, .reads_ahead = false});
  CHECK(spell(p) == "tally::v0::one_segment_plan{.warps_per_block = 16, .blocks_per_multiprocessor = 2, .rows_in_flight = 4, .leaves_of_warp = 8, "
                    ".shares_of_block = 16, .overlaps_launch = true, .reads_ahead = false}");
  CHECK(launch_one_segment(f, p).blocks == 2 * 132);
  CHECK(launch_one_segment(facts_for(from(made_up<float>(100'000)) | sum), p).blocks == 7);
  CHECK(launch_one_segment(facts_for(from(made_up<float>(0)) | sum), p).blocks == 1);
  CHECK_FALSE(make_one_segment_plan(facts_for(from(made_up<float>(1 << 28)) | sum, targets::a100)).overlaps_launch);
  auto queued = f;
  queued.queued = true;
  auto const ahead = make_one_segment_plan(queued);
  CHECK(ahead.reads_ahead);
  CHECK(launch_one_segment(queued, ahead).blocks == 132); // and there is room for those of the next launch
  auto two = facts_for(from(made_up<double>(1 << 28)) | reduce(sum, max));
  two.queued = true;
  CHECK(make_one_segment_plan(two).warps_per_block == 8);
  CHECK(make_one_segment_plan(two).blocks_per_multiprocessor == 3);
  CHECK(launch_one_segment(two, make_one_segment_plan(two)).blocks == 2 * 132);
  auto const wide = make_one_segment_plan(facts_for(from(made_up<double>(1 << 20)) | reduce(variance, minmax)));
  CHECK(wide.leaves_of_warp == 4);
  CHECK(wide.blocks_per_multiprocessor == 1);
}

TEST_CASE("every leaf is in one share, shares are nodes of the tree, and the workspace has room for all that meet") {
  auto const f = facts_for(from(made_up<float>(i64(1) << 40)) | sum);
  auto const p = make_one_segment_plan(f);
  for (int const blocks : {1, 2, 13, 31, 528, 592})
    for (i64 const leaves : {i64(0), i64(1), i64(8), i64(9), i64(4224), i64(67'584), i64(67'585), i64(262'144), i64(300'001), i64(1) << 30, i64(1) << 53}) {
      CAPTURE(blocks);
      CAPTURE(leaves);
      auto const cut = cut_into_shares(p, leaves, blocks);
      i64 const share = i64(p.warps_per_block) << (cut.log_warp + cut.log_turns);
      CHECK((1 << cut.log_warp) <= p.leaves_of_warp);
      CHECK((cut.log_turns == 0 || 1 << cut.log_warp == p.leaves_of_warp));
      if (blocks > 500) CHECK(cut.log_turns < max_levels_of_share);
      CHECK(cut.shares * share >= leaves);
      CHECK((cut.shares - 1) * share < leaves);
      CHECK(cut.shares <= p.most_shares(blocks));
    }
  for (i64 const extent : {i64(1), i64(8193), i64(100'000), i64(1) << 26, i64(1) << 40}) {
    auto of = f;
    of.extent = extent;
    auto const l = launch_one_segment(of, p);
    bool fits = true;
    for (i64 n = 1; n <= of.leaves(); n += 1 + n / 7) {
      int const shares = cut_into_shares(p, n, l.blocks).shares;
      fits = fits && shares + meeting_of_shares{shares, l.blocks}.groups() <= l.places;
    }
    CHECK(fits);
  }
}

TEST_CASE("a segment is cut so that the last round of blocks ends first") {
  auto const p = make_one_segment_plan(facts_for(from(made_up<float>(1 << 28)) | sum));
  auto const leaves_of_warp_and_shares = [&](i64 leaves) {
    auto const cut = cut_into_shares(p, leaves, 132);
    return std::vector<i64>{i64(1) << (cut.log_warp + cut.log_turns), cut.shares};
  };
  CHECK(leaves_of_warp_and_shares(1) == std::vector<i64>{1, 1});
  CHECK(leaves_of_warp_and_shares(2112) == std::vector<i64>{1, 132});
  CHECK(leaves_of_warp_and_shares(16'384) == std::vector<i64>{8, 128}); // one round
  CHECK(leaves_of_warp_and_shares(36'000) == std::vector<i64>{4, 563}); // five, where those of eight leaves take three and the third has 18 shares
  CHECK(leaves_of_warp_and_shares(262'144) == std::vector<i64>{128, 128});
  CHECK(leaves_of_warp_and_shares(300'001) == std::vector<i64>{16, 1172});
}

TEST_CASE("every group of shares is folded by one block, of those that have a share of it the last") {
  for (int const blocks : {1, 2, 7, 31, 32, 33, 528})
    for (int const shares : {1, 31, 33, 64, 529, 1000, 8192}) {
      if (shares > 16 * blocks) continue;
      CAPTURE(blocks);
      CAPTURE(shares);
      meeting_of_shares const m{shares, blocks};
      bool right = true;
      int together = 0, dealt = 0;
      for (int g = 0; g < m.groups(); ++g) {
        int last = 0;
        for (int s = 32 * g; s < 32 * g + m.present(g); ++s) last = s % blocks > last ? s % blocks : last;
        right = right && m.folds(g) / 32 == g && m.folds(g) < shares && m.folds(g) % blocks == last && last <= m.last_block();
        together += m.present(g);
      }
      for (int b = 0; b < blocks; ++b) dealt += shares_of(shares, blocks, b);
      CHECK(right);
      CHECK(together == shares);
      CHECK(dealt == shares);
    }
}
