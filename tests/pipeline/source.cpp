// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a range becomes when it is read: the layer below from().
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <array>
#include <deque>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

struct grey_image {
  std::vector<float> pixels;
  int width;
};
template <>
struct tally::column_of<grey_image> {
  static constexpr bool owns = true;
  static auto make(grey_image const& i) {
    auto const n = i64(i.pixels.size());
    return shaped(device(i.pixels.data(), n), n / i.width, i.width);
  }
};

namespace {
using namespace tally::v0;

template <class R>
using column_of_range = decltype(as_column(std::declval<R>()).column);
} // namespace

TEST_CASE("memory in one piece is read in place, without a copy") {
  std::vector<float> const x{1, 2, 3};
  auto const c = as_column(x);
  CHECK(c.column.data == x.data());
  CHECK(c.extent == 3);
  static_assert(std::is_same_v<column_of_range<std::vector<float> const&>, contiguous<float>>);
  static_assert(std::is_same_v<column_of_range<std::span<int const>>, contiguous<int>>);
  static_assert(std::is_same_v<column_of_range<std::array<double, 4>&>, contiguous<double>>);
  static_assert(std::is_same_v<column_of_range<float (&)[5]>, contiguous<float>>);
  static_assert(std::is_same_v<column_of_range<std::string_view>, contiguous<char>>);
}

TEST_CASE("what has no address is asked element by element, and stays on the CPU") {
  static_assert(std::is_same_v<column_of_range<std::vector<bool> const&>::value_type, bool>);
  static_assert(std::is_same_v<column_of_range<std::deque<float> const&>::value_type, float>);
  static_assert(!column_of_range<std::vector<bool> const&>::lowerable);
  static_assert(!column_of_range<std::deque<float> const&>::lowerable);
  static_assert(contiguous<float>::lowerable);
  std::deque<int> const x{5, 6, 7};
  CHECK(as_column(x).column.at(2) == 7);
  CHECK(as_column(x).column.from(1).at(1) == 7);
}

TEST_CASE("every(pointer, n, stride) strides through memory, backwards too") {
  std::array<int, 6> const x{0, 1, 2, 3, 4, 5};
  auto const c = every(x.data() + 5, 3, -2);
  CHECK(c.extent == 3);
  CHECK(c.column.at(0) == 5);
  CHECK(c.column.at(2) == 1);
  CHECK(c.column.from(1).at(0) == 3);
}

TEST_CASE("iota is computed and never read, and a part of it continues the whole") {
  auto const c = iota(0.5f, 100, 0.25f);
  CHECK(c.extent == 100);
  CHECK(c.column.at(3) == 1.25f);
  CHECK(c.column.from(3).at(4) == c.column.at(7));
  static_assert(!memory_column<decltype(c.column)>);
}

TEST_CASE("elements are numbers that every back end knows, or trivially copyable types") {
  struct point {
    float x, y;
  };
  enum class colour : unsigned char { red };
  static_assert(element<i8> && element<u64> && element<bool> && element<f16> && element<bf16> && element<double>);
  static_assert(element<point> && element<colour>);
  static_assert(!element<long double>);
  static_assert(!element<std::vector<int>>);
}

TEST_CASE("a range of one's own becomes a column, with axes where it says so") {
  grey_image const image{{1, 2, 3, 4, 5, 6}, 3};
  auto const columns = run(from(image) | over<0>(sum), on::cpu);
  CHECK(std::vector<float>(columns.begin(), columns.end()) == std::vector<float>{5, 7, 9});
  static_assert(detail::own_column<grey_image const&> && !detail::own_column<grey_image>); // a temporary, whose pixels would be gone
}

TEST_CASE("lengths are remembered for each column and compared when the pipeline runs") {
  std::vector<float> const x(3), y(4);
  auto const p = from(x, y);
  CHECK(p.source.extents[0] == 3);
  CHECK(p.source.extents[1] == 4);
  CHECK_THROWS_AS(check_source(p.source), extent_mismatch);
}
