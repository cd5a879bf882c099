// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which columns a read needs: those that folds, masks and keys name; of the others a program has the number and the width, and no memory.
#include <tally/complex.hpp>
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <vector>

using namespace tally::v0;

namespace {

struct no_default {
  int of;
  explicit no_default(int x) : of(x) {}
};

template <class Expr>
constexpr u32 named(Expr const&) {
  return columns_named<Expr>;
}
/// The columns that a reduction reads, a bit each.
template <class... Columns, class... Leaves>
constexpr u32 read_by(program<pack<Columns...>, Leaves...> const&) {
  u32 bits = 0;
  int c = 0;
  ((bits |= u32(!is_unread<Columns>) << c++), ...);
  return bits;
}
template <class R>
u32 read(R const& r) {
  return read_by(bind(r).program);
}
template <class R>
u32 read_by_group(R const& r) {
  return read_by(get<0>(r.folds).bind(r.pipe).program);
}

} // namespace

TEST_CASE("an expression names the columns that stand in it, however deep") {
  static_assert(named(_1) == 1 && named(_3) == 4 && named(_1 * _2 + _4) == 11);
  static_assert(named(sqrt(_2) > 1.f && _1 > 0.f) == 3);
  static_assert(named(tally::index) == 0 && named(always{}) == 0 && named(in_a_bin{}) == 0);
  static_assert(named(literal<float>(2.f)) == 0);
  static_assert(columns_named<host_call<int (*)(int), placeholder<2>>> == 4);
  struct unknown : expression_node<unknown> {};
  static_assert(columns_named<unknown> == ~u32(0)); // better too many
}

TEST_CASE("a read has the columns of its folds and of its filter") {
  std::vector<float> const x(3), y(3), z(3);
  CHECK(read(from(x, y, z) | reduce(sum(_1))) == 1);
  CHECK(read(from(x, y, z) | reduce(sum(_3), max(_1))) == 5);
  CHECK(read(from(x, y, z) | filter(_2 > 0.f) | reduce(sum(_1))) == 3);
  CHECK(read(from(x, y, z) | map(_2 + _3, _1) | reduce(sum(_1))) == 6);
  CHECK(read(from(x, y, z) | reduce(sum(tally::index))) == 0);
  CHECK(read(from(x, y, z) | filter(_3 > 0.f) | count) == 4);
  CHECK(read(from(x, y, z) | count) == 7); // of which nothing is read: it is the extent
}

TEST_CASE("a read by key has the columns of the key, and one by segment or along axes those of its folds") {
  std::vector<float> const x(6), y(6), z(6);
  std::vector<int> const k(6);
  std::vector<i64> const offsets{0, 6};
  CHECK(read_by_group(from(x, k, y, z) | by_key(_2, 4, sum(_1))) == 3);
  CHECK(read_by_group(from(x, k, y, z) | by_key(_2, 4, count)) == 2);
  CHECK(read_by_group(from(x, k, y, z) | filter(_4 > 0.f) | by_key(_2, 4, sum(_3))) == 14);
  CHECK(read_by_group(from(x, k, y, z) | group_by(_2, sum(_1))) == 3);
  CHECK(read_by_group(from(x, k, y, z) | reduce(histogram(even_bins(_1, 0, 1, 4)).of(sum(_4)))) == 9);
  CHECK(read_by_group(from(x, k, y, z) | by_segment(offsets, sum(_3))) == 4);
  CHECK(read_by_group(from(shaped(x, 2, 3), shaped(y, 2, 3)) | over<1>(sum(_2))) == 2);
}

TEST_CASE("the shape of a leaf is that of the source, whatever of it is read") {
  std::vector<float> const x(3);
  std::vector<double> const wide(3);
  std::deque<double> const host(3);
  auto const program_of = [](auto const& r) { return bind(r).program; };
  using narrow = decltype(program_of(from(x, x) | reduce(sum(_1))));
  using beside_wide = decltype(program_of(from(x, wide) | reduce(sum(_1))));
  using of_both = decltype(program_of(from(x, wide) | reduce(sum(_1), sum(_2))));
  static_assert(shape_of<narrow>.group == 4 && shape_of<beside_wide>.group == 2 && shape_of<of_both> == shape_of<beside_wide>);
  using beside_host = decltype(program_of(from(x, host) | reduce(sum(_1))));
  static_assert(shape_of<beside_host> == shape_of<narrow> && beside_host::lowerable); // and a GPU can run it
}

TEST_CASE("what is not read may have no default, and says nothing") {
  constexpr unread<contiguous<no_default>> none{};
  CHECK(none.at(7).of == 0);
  CHECK(none.from(3).at(0).of == 0);
  static_assert(!memory_column<unread<contiguous<float>>> && column<unread<contiguous<float>>>);
}
