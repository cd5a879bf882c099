// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How types and pointers become the planner's numbers.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <span>
#include <vector>

using namespace tally::v0;

namespace {

template <class Reduction>
facts facts_for(Reduction const& r, contract c = contract::reproducible) {
  return facts_of(bind(r).program, targets::h200, c);
}

template <class T>
std::span<T const> made_up(std::size_t n, std::uintptr_t remainder = 0) {
  return {reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000) + remainder), n};
}

} // namespace

TEST_CASE("alignment is the largest power of two, at most 16, that divides the address") {
  int const expected[] = {16, 1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1};
  for (std::uintptr_t k = 0; k < 16; ++k)
    CHECK(alignment_of(reinterpret_cast<void const*>(std::uintptr_t(0x7f0000000000) + k)) == expected[k]);
  CHECK(alignment_of(nullptr) == 16);
  CHECK(facts_for(from(made_up<float>(10, 4)) | sum).sources[0].address_alignment == 4);
}

TEST_CASE("the leaf is 16 bytes a thread of the widest column, whatever else is read") {
  CHECK(facts_for(from(made_up<float>(10)) | sum).lanes_per_group == 4);
  CHECK(facts_for(from(made_up<double>(10)) | sum).lanes_per_group == 2);
  CHECK(facts_for(from(made_up<u8>(10)) | sum).lanes_per_group == 8);
  CHECK(facts_for(from(made_up<f16>(10)) | sum).lanes_per_group == 8);
  CHECK(facts_for(from(made_up<u8>(10), made_up<double>(10)) | sum(_2)).lanes_per_group == 2);
  CHECK(facts_for(from(iota(10)) | sum).lanes_per_group == 4);
}

TEST_CASE("the leaf does not depend on alignment, extent or contract") {
  auto const shape = [](facts const& f) { return f.elements_per_leaf(); };
  auto const expected = shape(facts_for(from(made_up<float>(10)) | sum));
  CHECK(shape(facts_for(from(made_up<float>(10, 4)) | sum)) == expected);
  CHECK(shape(facts_for(from(made_up<float>(1 << 30)) | sum)) == expected);
  CHECK(shape(facts_for(from(made_up<float>(10)) | sum, contract::fast)) == expected);
}

TEST_CASE("columns tell their bytes and strides") {
  auto const numbers = made_up<i32>(30);
  auto const f = facts_for(from(numbers, every(numbers.data(), 30, -3), iota(30)) | reduce(sum(_1 * _2 * _3)));
  CHECK(f.source_count == 3);
  CHECK(f.sources[0] == source_facts{4, 1, 16});
  CHECK(f.sources[1] == source_facts{4, -3, 16, load_primitive::striped_ldg});
  CHECK(f.sources[2] == source_facts{0, 1, 16, load_primitive::computed});
  CHECK(f.bytes_read() == 30 * 8);
  CHECK(facts_for(from(every(numbers.data(), 30, 1)) | sum).sources[0] == f.sources[0]); // a stride of one is none
}

TEST_CASE("folds tell their laws") {
  auto const x = made_up<float>(10);
  auto const f = facts_for(from(x) | reduce(sum, max, count_if(_1 > 0), variance));
  REQUIRE(f.fold_count == 4);
  CHECK_FALSE(f.folds[0].order_free);
  CHECK(f.folds[1].order_free);
  CHECK(f.folds[2].order_free);
  CHECK(f.folds[3].commutative);
  CHECK_FALSE(f.folds[3].order_free);
  CHECK(facts_for(from(made_up<i32>(10)) | sum).folds[0].order_free);
  CHECK(facts_for(from(made_up<i32>(10)) | sum).folds[0].state_bytes == 8);
}

TEST_CASE("folds that several answers need are facts once") {
  auto const x = made_up<float>(10);
  CHECK(facts_for(from(x) | reduce(sum, mean, sum / count, sum(_1 * _1) / count - mean * mean)).fold_count == 2);
  CHECK(facts_for(from(x) | count).fold_count == 0);
}

TEST_CASE("a leaf count is exact at the borders") {
  auto const leaves = [](std::size_t n) { return facts_for(from(made_up<float>(n)) | sum).leaves(); };
  auto const one = std::size_t(facts_for(from(made_up<float>(1)) | sum).elements_per_leaf());
  CHECK(leaves(0) == 0);
  CHECK(leaves(1) == 1);
  CHECK(leaves(one) == 1);
  CHECK(leaves(one + 1) == 2);
  CHECK(leaves((std::size_t(1) << 31) + 3) == (i64(1) << 31) / i64(one) + 1);
}
