// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few elements by key in one launch on a GPU: bit for bit the answers of the CPU, and a stray key is told as by other routes.
#include "gpu/keys_of_kinds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>
#include <tally/testing.hpp>

#include <string>

using namespace tally::v0;

namespace {
template <class R>
void same_in_one_launch(R const& r) {
  CHECK(explain(r, on::gpu).details().domains[0].route == "in_one_cluster");
  same_on_both(r);
}
} // namespace

TEST_CASE("few elements by key: every kind of integer fold, number of bins and kind of keys") {
  if (no_kernels() || gpu::facts_of(0).compute_major < 9) return;
  for (i64 const n : {1, 31, 1000, 4099, 30'001})
    for (i64 const bins : {1, 3, 100, 9000})
      for (auto const kind : {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::one}) {
        CAPTURE(n);
        CAPTURE(bins);
        auto const keys = keys_of<i32>(kind, n, bins);
        auto const x = numbers_for_keys(n);
        auto const words = numbers_for_keys<i32>(n);
        same_in_one_launch(from(keys) | by_key(_1, bins, count));
        same_in_one_launch(from(words, keys) | filter(_1 != 3) | by_key(_2, bins, sum(_1), max(_1).or_else(9)));
        same_in_one_launch(from(words, keys) | by_key(_2, bins, bit_and(_1), bit_or(_1), bit_xor(_1), count_modulo(7)));
        same_in_one_launch(from(x, keys) | by_key(_2, bins, argmax(_1).or_else(-1), last(_1).or_else(0.f)));
        same_in_one_launch(from(x, keys) | by_key(_2, bins, min(_1).ignoring_nan().or_else(1.f)));
      }
}

TEST_CASE("few elements by key: histograms, rows, axes that stay, keys of expressions, and elements that lie apart") {
  if (no_kernels() || gpu::facts_of(0).compute_major < 9) return;
  auto const x = numbers_for_keys(60 * 90);
  auto const keys = keys_of<i32>(kind_of_keys::even, 60, 7);
  same_in_one_launch(from(x) | histogram(-10, 10, 64));
  same_in_one_launch(from(shaped(x.data(), 60, 90), along<0>(keys)) | by_key<0>(_2, 7, argmax(_1)));
  same_in_one_launch(from(shaped(x.data(), 60, 90), along<0>(keys)) | by_key(_2, 7, argmax(_1), count));
  same_in_one_launch(from(shaped(x.data(), 60, 90)) | by_key<1>(index_along<1> % 5, 5, count, argmin(_1)));
  same_in_one_launch(from(shaped(x.data(), {90, 60}, {1, 90})) | by_key(index_along<0> % 11, 11, first(_1)));
}

TEST_CASE("few elements by key: the first stray key is told") {
  if (no_kernels() || gpu::facts_of(0).compute_major < 9) return;
  std::vector<i32> keys(20'000, 5);
  keys[19'000] = -3, keys[7'777] = 100;
  auto const r = from(keys) | by_key(_1, 100, count);
  CHECK(explain(r, on::gpu).details().domains[0].route == "in_one_cluster");
  std::string said;
  try {
    (void)run(r, on::gpu);
  } catch (key_out_of_range const& e) {
    said = e.what();
  }
  CHECK(said.find("position 7777 is 100") != std::string::npos);
  same_in_one_launch(from(keys) | by_key(_1, 100, count).dropping_strays());
}
