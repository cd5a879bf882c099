// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folds by key join the read of others, from numbers and from pipelines.
#include "plans/keyed_facts.hpp"
#include "plans/made_up.hpp"
#include "plans/shared_of.hpp"

#include <tally/plan/keys_beside.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;
using made_up::matrix, made_up::numbers;

namespace {

std::string why(keys_beside_planned const& p) { return p.why_not.count > 0 ? p.why_not.entries[0].reason : ""; }

} // namespace

TEST_CASE("a table that fits beside what a block has already joins, whole and once") {
  auto const few = make_keys_beside_plan(scalars(1 << 28, 64, 112), most_bytes_beside);
  CHECK(few.joins);
  CHECK(few.plan.route == keys_route::in_shared_memory);
  CHECK(few.plan.ranges == 1);
  CHECK(few.plan.replicas == 4);
  CHECK(few.shared_bytes == 4 * 64 * 112);
  CHECK(make_keys_beside_plan(scalars(1 << 28, 4, 112), most_bytes_beside).plan.replicas == 8);
  CHECK_FALSE(make_keys_beside_plan(scalars(1 << 28, 20'000, 4), most_bytes_beside).joins);
  CHECK_FALSE(make_keys_beside_plan(scalars(1 << 28, 64, 112), 4096).joins);
  auto words = scalars(1 << 28, 8191, 4);
  words.gives_words = true;
  auto const bulk = make_keys_beside_plan(words, most_bytes_beside);
  CHECK(bulk.plan.gives_in_bulk);
  CHECK(bulk.shared_bytes == 8192 * 4);
}

TEST_CASE("what has no table of a block, or answers of several groups, does not join") {
  CHECK(why(make_keys_beside_plan(scalars(1 << 20, 8, 0), most_bytes_beside)).find("no atomic combines") != std::string::npos);
  CHECK(why(make_keys_beside_plan(rows(1 << 20, 16, 16, false), most_bytes_beside)).find("axis that stays") != std::string::npos);
}

TEST_CASE("keys join the folds of the whole, the read of a matrix, or each other") {
  auto const x = from(numbers<float>(1 << 24), numbers<unsigned>(1 << 24));
  CHECK(shared_of(x | reduce(sum(_1), by_key(_2, 16, sum(_1)))) == each{true, false}); // folds of the whole are shown last
  CHECK(shared_of(x | reduce(by_key(_2, 16, sum(_1)), histogram(_1, 0, 1, 8))) == each{false, true});
  CHECK(shared_of(x | reduce(by_key(_2, 16, sum(_1)), count)) == each{false, false}); // a count of all is the extent
  auto const m = from(matrix<float>(8192, 4096));
  CHECK(shared_of(m | reduce(over<0>(sum), over<1>(sum), histogram(0, 1, 256), sum)) == each{false, true, true, true});
  CHECK(shared_of(m | reduce(over<1>(sum), histogram(0, 1, 256))) == each{false, true});
  CHECK(shared_of(from(matrix<float>(4096, 4096)) | reduce(over<1>(sum), histogram(0, 1, 256))) == each{false, false});
  CHECK(shared_of(m | reduce(histogram(0, 1, 256), over<0>(sum))) == each{true, false});
  CHECK(shared_of(m | reduce(over<1>(sum), sum)) == each{false, true});
  CHECK(shared_of(from(matrix<float>(8192, 400)) | reduce(over<1>(sum), histogram(0, 1, 256))) == each{false, false});
  CHECK(shared_of(x | reduce(sum(_1), by_key(_2, 100'000, sum(_1)))) == each{false, false});
  CHECK(shared_of(x | reduce(sum(_1), by_key(_2, 16, sum(_1))), exact) == each{false, false});
  CHECK(shared_of(x | reduce(sum(_1), by_key(_2, 16, count), by_key(_2, 9, max(_1))), exact) == each{true, false, false});
  CHECK(shared_of(x | reduce(max(_1), by_key(_2, 16, sum(_1))), exact) == each{true, false});
}

TEST_CASE("a table that does not fit beside tiles leaves the matrix one read") {
  auto const wide = from(matrix<double>(8192, 8192), matrix<double>(8192, 8192), matrix<double>(8192, 8192));
  auto const e = explain(wide | reduce(over<0>(sum(_1 * _2)), over<1>(sum(_3)), by_key(cast<int>(_1), 90, sum(_2))), targets::h200);
  auto const& d = e.details().domains;
  CHECK(d[1].shares_read);
  CHECK_FALSE(d[2].shares_read);
  CHECK(e.text().find("does not fit beside the tiles") != std::string::npos);
}

TEST_CASE("blocks that have tables stay for many leaves, and are no cluster") {
  facts f{};
  f.extent = i64(1) << 28;
  f.lanes_per_group = 4, f.rows_per_leaf = 8;
  f.source_count = f.fold_count = 1;
  f.sources[0] = {4, 1, 16};
  f.folds[0] = {4, true, false, block_algorithm::neighbour_tree};
  f.target = targets::h200;
  CHECK(make_plan(f).plan.leaves_per_warp == 1);
  f.keys_beside = true;
  CHECK(make_plan(f).plan.leaves_per_warp == 32);
  CHECK(make_plan(f).blocks == 512);
  f.extent = i64(1) << 24;
  CHECK(make_plan(f).plan.leaves_per_warp == 2);
  f.source_count = 3; // of which blocks without tables would keep rings
  f.sources[1] = f.sources[2] = f.sources[0];
  f.folds[0].state_bytes = 32;
  CHECK(make_plan(f).plan.stages == 0);
  f.keys_beside = false;
  CHECK(make_plan(f).plan.stages > 0);
  f.keys_beside = true;
  f.extent = 1 << 16, f.source_count = 1;
  CHECK_FALSE(make_plan(f).plan.one_cluster);
  f.keys_beside = false;
  CHECK(make_plan(f).plan.one_cluster);
}
