// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which sets of axes of one reduction are columns, rows and the whole of a batch of matrices, and what explain says of them.
#include "plans/made_up.hpp"
#include "plans/read_grouped.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

using namespace tally::v0;

namespace {

template <class... Folds>
grouped_explanation of_images(Folds... folds) {
  return explain(from(shaped(made_up::address<float>(), 128, 1080, 1920)) | reduce(folds...), targets::h200);
}
i64 reads_of(grouped_explanation const& e) { return e.details().passes(); }

} // namespace

TEST_CASE("columns, rows and the whole of every image are one read") {
  auto const e = of_images(over<1>(sum), over<2>(sum), over<1, 2>(mean));
  CHECK(reads_of(e) == 1);
  for (auto const& d : e.details().domains) CHECK(d.route == "mixed");
  CHECK(says(e.details().domains[0].cut, "128 matrices x 2 bands"));
  CHECK(e.details().why_not.empty());
  CHECK(reads_of(of_images(over<1, 2>(max), over<2>(sum), over<1>(sum, max))) == 1);
  CHECK(reads_of(of_images(over<1>(sum), over<2>(sum), max)) == 1);
  CHECK(reads_of(of_images(over<1>(sum), over<2>(sum), over<1, 2>(mean), histogram(even_bins(_1, 0, 1, 64)))) == 1);
}

TEST_CASE("columns of a batch share a read with the whole of every image or of all, and rows with that of every image") {
  CHECK(reads_of(of_images(over<1>(sum), sum)) == 1);
  CHECK(reads_of(of_images(over<1, 2>(mean), over<1>(max))) == 1);
  CHECK(reads_of(of_images(over<2>(sum), over<1, 2>(mean))) == 1);
  CHECK(reads_of(of_images(histogram(even_bins(_1, 0, 1, 64)), over<1>(sum))) == 1);
  CHECK(reads_of(of_images(over<1>(sum), over<1, 2>(mean), max)) == 2);
  auto const deep = explain(from(shaped(made_up::address<float>(), 4, 32, 512, 2, 2048)) | reduce(over<2>(sum), over<2, 3, 4>(mean)), targets::h200);
  CHECK(reads_of(deep) == 1);
  CHECK(says(deep.details().domains[0].cut, "128 matrices"));
}

TEST_CASE("matrices whose rows lie in turn are one read, and axes that follow each other are one") {
  auto const e = explain(from(shaped(made_up::address<float>(), 1024, 64, 4096)) | reduce(over<0>(sum), over<2>(sum), over<0, 2>(mean)), targets::h200);
  CHECK(reads_of(e) == 1);
  auto const both = explain(from(shaped(made_up::address<float>(), 4, 16, 2, 512, 4096)) | reduce(over<2, 3>(sum), over<4>(mean), sum), targets::h200);
  CHECK(reads_of(both) == 1);
  CHECK(says(both.details().domains[0].cut, "64 matrices"));
}

TEST_CASE("what a batch does not join says why") {
  auto const all_too = of_images(over<1>(sum), over<2>(sum), over<1, 2>(mean), sum);
  CHECK(reads_of(all_too) == 2);
  CHECK(refuses(all_too.details().why_not, "total in the same read", "it has that of every matrix"));
  CHECK(reads_of(of_images(over<0>(sum), over<1>(sum), over<2>(sum))) == 2);
  auto const few = explain(from(shaped(made_up::address<float>(), 4096, 32, 4096)) | reduce(over<1>(sum), over<2>(sum)), targets::h200);
  CHECK(reads_of(few) == 2);
  CHECK(refuses(few.details().why_not, "one read", "leave most of a tile empty"));
  auto const turned = explain(from(shaped(made_up::address<float>(), {64, 1024, 4096}, {1024 * 4096, 1, 1024})) | reduce(over<1>(sum), over<2>(sum)), targets::h200);
  CHECK(reads_of(turned) == 2);
}

TEST_CASE("one matrix comes before a batch, and columns with other folds before rows in turn") {
  auto const found = [](auto const& r) { return detail::mixed_items_of<std::remove_cvref_t<decltype(r)>>; };
  auto const cube = from(shaped(made_up::address<float>(), 300, 300, 2048));
  auto const one = found(cube | reduce(over<1>(sum), over<2>(sum), over<0, 1>(sum)));
  CHECK(one.columns == 2);
  CHECK(one.rows == 1);
  CHECK(one.batch == 0);
  auto const behind = found(cube | reduce(over<0>(sum), over<1, 2>(max), over<2>(sum), over<1>(sum)));
  CHECK(behind.columns == 0);
  CHECK(behind.rows == 1);
  auto const batch = found(cube | reduce(over<2>(sum), over<1>(sum), over<1, 2>(max)));
  CHECK(batch.columns == 1);
  CHECK(batch.rows == 0);
  CHECK(batch.batch == 1);
  CHECK(batch.each == 2);
  auto const columns = found(cube | reduce(over<0>(sum), over<2>(sum), sum));
  CHECK(columns.columns == 0);
  CHECK(columns.rows == -1);
  CHECK(found(cube | reduce(over<0>(sum), over<2>(sum))).batch == 2);
  auto const beside_all = found(cube | reduce(sum, over<1>(sum)));
  CHECK(beside_all.columns == 1);
  CHECK(beside_all.batch == 1);
  CHECK(beside_all.each == -1);
  auto const rows = found(cube | reduce(over<1, 2>(sum), over<2>(sum)));
  CHECK(rows.columns == -1);
  CHECK(rows.rows == 1);
  CHECK(rows.down == 2);
  CHECK(rows.each == 0);
  CHECK(found(cube | reduce(over<1>(sum))).batch == 0);
}
