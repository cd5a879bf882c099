// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks that take turns in one launch on a GPU: bit for bit the answers of the CPU, whatever the sizes, the offsets and the folds.
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <random>

using namespace tally;

/// Associative and not commutative: the second of two, unless it is nothing.
TALLY_FUNCTION(turns_latest, (unsigned a, unsigned b), { return b == 0 ? a : b; });
TALLY_FUNCTION(turns_bits, (float x), { return static_cast<unsigned>(x > 0 ? x : -x); });
TALLY_FUNCTION(turns_itself, (unsigned a), { return a; });

namespace {

/// Offsets of segments of all sizes up to `longest`, that leave some elements in front and behind out.
template <class Offset = int>
std::vector<Offset> some_offsets(i64 n, i64 longest, unsigned seed, i64 left_out = 0) {
  std::mt19937 random(seed);
  std::vector<Offset> offsets{static_cast<Offset>(left_out)};
  for (i64 at = left_out; at < n - left_out;) {
    i64 const scale = longest >> (random() % 20);
    at = std::min(n - left_out, at + i64(random()) % (scale + 1));
    offsets.push_back(static_cast<Offset>(at));
  }
  return offsets;
}
template <class R, class... Options>
void same_and_in_turns(R const& r, int shared, Options... options) {
  CAPTURE(text_of(r));
  auto const e = explain(r, on::gpu, options...);
  CHECK(e.details().in_turns.joins);
  int n = 0;
  for (auto const& d : e.details().domains) n += d.shares_read ? 1 : 0;
  CHECK(n == shared);
  same_on_both<2>(r, options...);
}

} // namespace

TEST_CASE("folds of the whole and segments, of every size") {
  if (no_kernels()) return;
  for (i64 const n : {1, 3, 100, 1024, 4097, 70'001, 3'000'000, 20'000'003})
    for (i64 const longest : {3, 1000, 300'000}) {
      CAPTURE(n);
      CAPTURE(longest);
      auto const x = uneven_numbers<float>(std::size_t(n));
      auto const offsets = some_offsets(n, longest, 5);
      same_and_in_turns(from(x) | reduce(sum(_1), by_segment(offsets, sum(_1))), 1);
      if (n <= 3'000'000) same_and_in_turns(from(x) | reduce(by_segment(offsets, mean(_1), max(_1)), variance(_1), min(_1)), 1);
    }
}

TEST_CASE("keys, histograms, the whole and segments of several kinds of offsets, in one read") {
  if (no_kernels()) return;
  i64 const n = 1'500'007;
  auto const x = uneven_numbers<float>(std::size_t(n), 3), y = uneven_numbers<float>(std::size_t(n), 4);
  std::vector<unsigned> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = unsigned(i * i % 100);
  auto const short_ones = some_offsets<unsigned>(n, 30, 1), long_ones = some_offsets<unsigned>(n, 400'000, 2);
  auto const wide = some_offsets<i64>(n, 9000, 3, 1000);
  same_and_in_turns(from(x, y, keys) | filter(_1 > 0.f) | reduce(by_segment(short_ones, sum(_1 * _2)), by_key(_3, 100, sum(_1), count), sum(_2), by_segment(wide, max(_1), count)), 3);
  same_and_in_turns(from(x, keys) | reduce(by_segment(long_ones, sum(_1)), histogram(_1, -2, 2, 256)), 1);
  same_and_in_turns(from(x) | reduce(by_segment(long_ones, sum(_1)), by_segment(wide, mean(_1)), by_segment(short_ones, stddev(_1)), by_segment(long_ones, min(_1))), 3);
  same_and_in_turns(from(x, keys) | reduce(by_segment(wide, fold_of(0u, turns_latest, turns_bits, turns_itself, associative)(_1)), last(_2), argmax(_1)), 1);
}

TEST_CASE("walks that take turns whatever the types, the contracts and the alignments") {
  if (no_kernels()) return;
  i64 const n = 700'011;
  auto const f64 = uneven_numbers<double>(std::size_t(n));
  auto const ints = uneven_numbers<int>(std::size_t(n));
  std::vector<bf16> small(f64.size());
  for (std::size_t i = 0; i < small.size(); ++i) small[i] = bf16(static_cast<float>(f64[i]));
  auto const offsets = some_offsets(n, 50'000, 9);
  same_and_in_turns(from(f64, ints) | reduce(sum(_1), by_segment(offsets, sum(_1 * _2), last(_2))), 1);
  same_and_in_turns(from(small) | reduce(sum(_1), by_segment(offsets, sum(_1), max(_1))), 1);
  same_and_in_turns(from(ints) | reduce(sum(_1), bit_xor(_1), by_segment(offsets, sum(_1).checked(), product(_1))), 1);
  same_and_in_turns(from(ints) | reduce(max(_1), by_segment(offsets, sum(_1))), 1, fast);
  same_and_in_turns(from(f64) | reduce(max(_1), by_segment(offsets, sum(_1))), 1, exact);
  same_and_in_turns(from(f64) | reduce(sum(_1), by_segment(offsets, sum(_1), max(_1))), 1, exact);
  same_and_in_turns(from(f64, ints) | reduce(sum(_1 * _1), mean(_1), by_segment(offsets, max(_2)), sum(_2), by_key(abs(_2) % 5, 5, count)), 2, exact);
  on_device<float> const d(uneven_numbers<float>(std::size_t(n)));
  auto const host = d.back();
  on_device<int> const there(some_offsets(n - 8, 3000, 11));
  auto const here = there.back();
  for (int skipped = 0; skipped < 5; ++skipped) {
    CAPTURE(skipped);
    auto const on_gpu = run(from(device(d.data() + skipped, n - 8)) | reduce(sum(_1), by_segment(device(there.data(), there.size()), sum(_1))), on::gpu);
    auto const on_host = run(from(std::span<float const>(host).subspan(std::size_t(skipped), std::size_t(n - 8))) | reduce(sum(_1), by_segment(here, sum(_1))), on::cpu);
    CHECK(same_arrays(on_host, on_gpu));
    tally_test_progress();
  }
}

TEST_CASE("wrong offsets among walks that take turns are told, and those beside them change nothing afterwards") {
  if (no_kernels()) return;
  i64 const n = 300'000;
  on_device<float> const d(uneven_numbers<float>(std::size_t(n)));
  auto const x = from(device(d.data(), n));
  on_device<int> const right(some_offsets(n, 2000, 4));
  auto broken = right.back();
  broken[7] = broken[9] + 1;
  on_device<int> const falling(broken);
  broken = right.back();
  broken.back() = int(n) + 1;
  on_device<int> const beyond(broken);
  auto const by = [](on_device<int> const& o) { return device(o.data(), o.size()); };
  CHECK_THROWS_AS(run(x | reduce(by_segment(by(right), max(_1)), by_segment(by(falling), sum(_1)), sum(_1)), on::gpu), bad_offsets);
  CHECK_THROWS_AS(run(x | reduce(by_segment(by(beyond), max(_1)), sum(_1)), on::gpu), bad_offsets);
  auto const whole = run(x | reduce(sum(_1)), on::gpu);
  auto const both = run(x | reduce(by_segment(by(right), max(_1)), sum(_1)), on::gpu);
  CHECK(std::get<1>(both) == whole);
  auto const host = d.back();
  auto const same = right.back();
  CHECK(same_arrays(run(from(host) | by_segment(same, max(_1)), on::cpu), std::get<0>(both)));
}

TEST_CASE("segments that the device counts take turns too, and segments of nothing do not") {
  if (no_kernels()) return;
  i64 const n = 200'000;
  on_device<float> const d(uneven_numbers<float>(std::size_t(n)));
  auto const host = d.back();
  on_device<int> const offsets(some_offsets(n, 500, 6));
  on_device<int> const how_many(std::vector<int>{100});
  auto const x = from(device(d.data(), n));
  auto const some = run(x | reduce(sum(_1), by_segment(device(offsets.data(), offsets.size()), sum(_1)).as_many_as(how_many.data())), on::gpu);
  auto known = offsets.back();
  known.resize(101);
  CHECK(same_arrays(run(from(host) | reduce(sum(_1), by_segment(known, sum(_1))), on::cpu), some));
  std::vector<int> const one_offset{5};
  same_on_both(from(host) | reduce(sum(_1), by_segment(one_offset, sum(_1)), by_segment(known, max(_1))));
  std::vector<float> const nothing;
  std::vector<int> const empty{0, 0, 0};
  same_on_both(from(nothing) | reduce(sum(_1), by_segment(empty, sum(_1))));
}

TEST_CASE("offsets of the host and of the device take turns, and what is wrong with the latter is told") {
  if (no_kernels()) return;
  i64 const n = 100'000;
  auto const x = uneven_numbers<float>(std::size_t(n));
  auto const here = some_offsets(n, 700, 12);
  on_device<int> const right(some_offsets(n, 3000, 13));
  auto broken = right.back();
  broken[3] = -7;
  on_device<int> const wrong(broken);
  auto const by = [](on_device<int> const& o) { return device(o.data(), o.size()); };
  auto const there = right.back();
  CHECK(same_arrays(run(from(x) | reduce(by_segment(here, sum(_1)), by_segment(there, max(_1)), mean(_1)), on::cpu),
                    run(from(x) | reduce(by_segment(here, sum(_1)), by_segment(by(right), max(_1)), mean(_1)), on::gpu)));
  for (int again = 0; again < 3; ++again) {
    CHECK_THROWS_AS(run(from(x) | reduce(by_segment(here, sum(_1)), by_segment(by(wrong), max(_1))), on::gpu), bad_offsets);
    CHECK_THROWS_AS(run(from(x) | reduce(by_segment(by(wrong), max(_1)), by_segment(here, sum(_1)), sum(_1)), on::gpu), bad_offsets);
    tally_test_progress();
  }
}
