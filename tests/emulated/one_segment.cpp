// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of one segment whose ends the device knows, as host code: the answers of the CPU to the last bit wherever the segment begins
// and ends, however its shares are cut and met, launch after launch in one workspace; and no block waits for one behind it.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/one_segment.cuh>
#include <tally/plan/one_segment.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace tally::v0;

namespace {

std::vector<float> uneven(i64 n) {
  std::mt19937 random(3);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (auto& v : x) v = std::ldexp(float(random() % 1000) - 400.f, int(random() % 20) - 10);
  return x;
}

/// A workspace as the launches of a stream leave it.
struct workspace {
  u32 epoch = 0;
  std::vector<u64> words;
};

/// Launches one fold of a source between two offsets; true where the kernel's answer is that of the CPU for what lies between them.
template <one_segment_plan P, class Offset, class Source, class Fold>
bool folds(int blocks, Source const& source, Fold const& fold, Offset begin, Offset end, workspace& room) {
  std::vector<Offset> const offsets{begin, end};
  auto const d = get<0>((source | by_segment(offsets, fold)).folds).bind((source | by_segment(offsets, fold)).pipe);
  using Program = std::remove_cvref_t<decltype(d.program)>;
  using Nodes = std::remove_cvref_t<decltype(d.nodes)>;
  int const most = P.most_shares(blocks);
  room.words.resize(static_cast<std::size_t>(most + meeting_of_shares{most, blocks}.groups()) * std::size_t(kernel::words_per_partial<Program>));
  i64 const low = std::clamp<i64>(i64(begin), 0, d.program.extent), high = std::clamp<i64>(i64(end), low, d.program.extent);
  std::vector<i64> const within{low, high};
  auto const right = run(source | by_segment(within, fold), on::cpu);
  auto answer = right[0];
  std::memset(&answer, 0x55, sizeof answer);
  answer_arrays to{};
  to.at[0] = &answer;
  emulated::launch(blocks, unsigned(P.threads_per_block()), [&] {
    kernel::one_segment<P, Program, Nodes, Offset>(d.program, offsets.data(), d.nodes, to, {&room.epoch, room.words.data()},
                                                             {nullptr, 0, u32(blocks - 1)}); // all but the last read ahead
  });
  INFO("[", begin, ", ", end, "): ", answer, " and ", right[0]);
  bool const same = std::memcmp(&answer, &right[0], sizeof answer) == 0;
  CHECK(same);
  return same;
}

constexpr one_segment_plan as_planned{.warps_per_block = 16, .blocks_per_multiprocessor = 2, .rows_in_flight = 4, .leaves_of_warp = 8, .shares_of_block = 16, .reads_ahead = true};
constexpr one_segment_plan of_one_warp{.warps_per_block = 1, .blocks_per_multiprocessor = 4, .rows_in_flight = 4, .leaves_of_warp = 1, .shares_of_block = 16, .reads_ahead = true};
constexpr one_segment_plan of_many_turns{.warps_per_block = 2, .blocks_per_multiprocessor = 4, .rows_in_flight = 2, .leaves_of_warp = 2, .shares_of_block = 2, .reads_ahead = true};

} // namespace

TEST_CASE("a segment of any length that begins anywhere, as it is planned") {
  auto const x = uneven(140'000);
  workspace room;
  for (i64 const begin : {0, 1, 6, 1023})
    for (i64 const n : {0, 1, 31, 1023, 1024, 1025, 8192, 8193, 16'384, 135'000}) {
      folds<as_planned>(5, from(x), sum, begin, begin + n, room);
      folds<as_planned>(1, from(x), sum, begin, begin + n, room);
    }
  CHECK(room.epoch > 0);
}

TEST_CASE("shares of several turns, the last of which is short, and more shares than one block folds at once") {
  auto const x = uneven(340'000);
  workspace room;
  for (i64 const n : {20'000, 131'072, 132'000, 200'000, 327'681, 339'000}) {
    folds<of_many_turns>(3, from(x), sum, i64(7), 7 + n, room);
    folds<of_one_warp>(20, from(x), sum, i64(7), 7 + n, room); // groups of 32 shares that two rounds of blocks share
    folds<of_one_warp>(32, from(x), sum, i64(7), 7 + n, room);
    folds<of_one_warp>(50, from(x), sum, i64(7), 7 + n, room);
  }
}

TEST_CASE("wide states, positions, masks, folds that keep the order, and offsets of every type") {
  auto const x = uneven(70'000);
  workspace room;
  for (int const begin : {11, 8}) // a thread loads elements one by one, or its neighbours at once
    for (int const end : {begin + 5, begin + 3000, begin + 66'000}) {
      folds<as_planned>(4, from(x), variance, begin, end, room);
      folds<as_planned>(4, from(x), argmax, unsigned(begin), unsigned(end), room);
      folds<as_planned>(4, from(x), count.where(_1 > 0.f), u64(begin), u64(end), room);
      folds<as_planned>(4, from(x) | filter(_1 > 0.f), mean, begin, end, room);
      folds<as_planned>(4, from(x), first(_1), begin, end, room);
      folds<of_one_warp>(9, from(x, iota(70'000)), max(_1 * cast<float>(_2)), begin, end, room);
    }
}

TEST_CASE("columns of different widths, of which a thread loads as many elements at once") {
  auto const x = uneven(70'000);
  std::vector<double> const y(x.rbegin(), x.rend());
  std::vector<unsigned char> small(x.size());
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = static_cast<unsigned char>(i * 37 % 251);
  workspace room;
  for (int const begin : {0, 1, 2, 3, 4, 8, 16, 24}) {
    folds<as_planned>(4, from(y), sum, begin, begin + 66'000, room);
    folds<as_planned>(4, from(small), sum, begin, begin + 66'000, room);
    folds<of_one_warp>(9, from(x, y, small), sum(cast<double>(_1) * _2 + cast<double>(_3)), begin, begin + 66'000, room);
  }
}

TEST_CASE("ends outside of the source are taken into it, and an end below its begin is no element") {
  auto const x = uneven(10'000);
  workspace room;
  folds<as_planned>(2, from(x), sum, -5, 20'000, room);
  folds<as_planned>(2, from(x), sum, 9000, 8000, room);
  folds<as_planned>(2, from(x), sum, 20'000, 30'000, room);
  folds<as_planned>(2, from(x), sum, ~u64(0), u64(100), room);
}
