// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// range-v3 views as sources: each is read right, and those that are promised to be looked through are lowered.
#include <tally/ranges.hpp>
#include <tally/tally.hpp>

#include <range/v3/view.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <span>
#include <string>
#include <vector>

namespace views_spec {
TALLY_FUNCTION(halved, (float x), { return x / 2; });
TALLY_STRUCT(pixel, { unsigned char r, g, b; });
TALLY_FUNCTION(brightness, (pixel p), { return int(p.r) + int(p.g) + int(p.b); });
} // namespace views_spec

namespace {

using namespace tally::v0;
namespace views = ranges::views;

/// Every element of the view is an element of the source, in place, and the source can go to a GPU when that is promised.
template <bool Promised, class View>
void looks_through(View view) {
  INFO(name_of<View>());
  auto const source = from(view);
  auto const program = tally::v0::bind(source | sum).program;
  CHECK(decltype(program)::lowerable == Promised);
  CHECK(program.extent == i64(ranges::size(view)));
  i64 wrong = 0, i = 0;
  for (auto const& x : view)
    if (auto const found = get<0>(get<0>(program.leaves).values).eval(program.row_at(i++)); found != x) ++wrong;
  CHECK(wrong == 0);
  CHECK(i == program.extent);
}

std::vector<float> floats(std::size_t n = 3001) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i)
    x[i] = float((i * 7919) % 1000) - 300.f;
  return x;
}

} // namespace

TEST_CASE("what is looked through is folded like its elements") {
  auto x = floats();
  auto const view = x | views::drop(1) | views::stride(3) | views::transform(_1 * 0.25f) | views::reverse;
  std::vector<float> const elements(view.begin(), view.end());
  auto const folds = reduce(sum(cast<double>(_1) * tally::index), max, argmax, count);
  CHECK((run(from(view) | folds, on::cpu) == run(from(elements) | folds, on::cpu)));
  auto const opaque = x | views::transform([](float v) { return v * 3; }) | views::stride(2);
  std::vector<float> const others(opaque.begin(), opaque.end());
  CHECK((run(from(opaque) | folds, on::cpu) == run(from(others) | folds, on::cpu)));
}

TEST_CASE("a contiguous view is its memory") {
  auto x = floats();
  auto const& constant = x;
  looks_through<true>(views::all(x));
  looks_through<true>(views::all(constant));
  looks_through<true>(std::span(x));
  looks_through<true>(ranges::span<float>(x));
  looks_through<true>(views::counted(x.begin() + 3, 100));
  CHECK(get<0>(from(views::all(x)).source.columns).data == x.data());
}

TEST_CASE("take, drop and slice move the ends") {
  auto x = floats();
  looks_through<true>(x | views::take(1000));
  looks_through<true>(x | views::take(100000));
  looks_through<true>(x | views::take_exactly(10));
  looks_through<true>(x | views::drop(17));
  looks_through<true>(x | views::drop(100000));
  looks_through<true>(x | views::drop_exactly(17));
  looks_through<true>(x | views::drop_last(17));
  looks_through<true>(x | views::take_last(17));
  looks_through<true>(x | views::slice(100, 200));
  looks_through<true>(x | views::tail);
  looks_through<true>(x | views::drop(3) | views::take(2000) | views::slice(5, 1500) | views::drop(1));
  CHECK(get<0>(from(x | views::drop(3) | views::take(10)).source.columns).data == x.data() + 3);
}

TEST_CASE("stride and reverse are a stride") {
  auto x = floats();
  for (int step : {1, 2, 3, 1000, 3000, 3001, 5000})
    looks_through<true>(x | views::stride(step));
  looks_through<true>(x | views::reverse);
  looks_through<true>(x | views::reverse | views::reverse);
  looks_through<true>(x | views::stride(3) | views::reverse | views::stride(4));
  looks_through<true>(x | views::drop(3) | views::stride(3) | views::drop(5) | views::take(100));
  looks_through<true>(x | views::reverse | views::drop(5));
  looks_through<true>(x | views::stride(2) | views::slice(5, 900));
  auto const s = get<0>(from(x | views::drop(1) | views::reverse | views::stride(2)).source.columns);
  CHECK(s.stride == -2);
  CHECK(s.data == x.data() + 3000);
}

TEST_CASE("iota is computed, never read") {
  looks_through<true>(views::iota(0, 1000));
  looks_through<true>(views::iota(-5LL) | views::take(100));
  looks_through<true>(views::closed_iota(3u, 1000u));
  looks_through<true>(views::ints(-100, 1000));
  looks_through<true>(views::indices(1000));
  looks_through<true>(views::iota(0, 1000) | views::reverse);
  looks_through<true>(views::iota(0, 1000) | views::drop(3));
  looks_through<true>(views::iota(0, 1000) | views::drop(3) | views::stride(7) | views::reverse);
  looks_through<true>(views::iota(char(0), char(100)));
  looks_through<true>(views::iota(0u, 10u) | views::reverse);
  auto const r = from(views::iota(0, 10)) | sum;
  CHECK_FALSE(memory_column<std::remove_cvref_t<decltype(get<0>(tally::v0::bind(r).program.columns))>>);
}

TEST_CASE("a zip is several columns") {
  auto x = floats();
  std::vector<int> y(3000, 3);
  auto const source = from(views::zip(x, y | views::reverse, views::iota(0, 3000)));
  auto const r = source | reduce(sum(_1 * _2), sum(_3), count);
  CHECK(decltype(tally::v0::bind(r).program)::lowerable);
  CHECK(decltype(source.source.columns)::size == 3);
  auto const plain = from(std::span(x.data(), 3000), y) | sum(_1 * _2);
  CHECK((run(r, on::cpu) == std::tuple(run(plain, on::cpu), i64(2999 * 1500), i64(3000))));
  CHECK(run(views::zip(x, y) | views::stride(2) | views::take(3) | sum(_1 * _2), on::cpu) ==
        x[0] * 3 + x[2] * 3 + x[4] * 3);
}

TEST_CASE("a zip stands beside other columns") {
  std::vector<int> a{1, 2, 3}, b{10, 20, 30}, c{100, 200, 300}, d{1000, 2000, 3000};
  auto const r = from(a, views::zip(b, c), d) | reduce(sum(_1), sum(_2), sum(_3), sum(_4));
  CHECK((run(r, on::cpu) == std::tuple(i64(6), i64(60), i64(600), i64(6000))));
  CHECK(decltype(tally::v0::bind(r).program)::lowerable);
}

TEST_CASE("a part of a zip that is opaque is asked for, the others are read in place") {
  std::vector<int> a{1, 2, 3};
  auto const odd = views::iota(0, 3) | views::transform([](int i) { return 2 * i + 1; });
  auto const r = from(views::zip(a, odd)) | sum(_1 * _2);
  CHECK(run(r, on::cpu) == 1 + 6 + 15);
  CHECK_FALSE(decltype(tally::v0::bind(r).program)::lowerable);
}

TEST_CASE("a transform by a tally expression is that expression") {
  auto x = floats();
  looks_through<true>(x | views::transform(_1 + _1));
  looks_through<true>(x | views::transform(abs(_1)));
  looks_through<true>(x | views::transform(views_spec::halved));
  looks_through<true>(x | views::stride(2) | views::transform(abs(_1)) | views::transform(-_1));
  looks_through<true>(views::iota(0, 1000) | views::transform(_1 * _1));
  CHECK(text_of(from(x | views::transform(-_1)) | sum) == "from(f32[3001]) | map(-_1) | reduce(sum(_1))");
}

TEST_CASE("what the expression captured comes along") {
  auto x = floats();
  float const scale = 0.25f;
  int const shift = 7;
  looks_through<true>(x | views::transform(_1 * scale + shift));
  looks_through<true>(x | views::transform(cast<double>(_1) * 3.5));
  looks_through<true>(x | views::stride(5) | views::transform(_1 * scale) | views::transform(_1 + shift));
  looks_through<true>(x | views::transform(least(most(_1, -scale), scale)));
}

TEST_CASE("what stands behind a transform is looked through as well") {
  auto x = floats();
  looks_through<true>(x | views::transform(_1 * 2.f) | views::drop(3));
  looks_through<true>(x | views::transform(_1 * 2.f) | views::take(30));
  looks_through<true>(x | views::transform(_1 * 2.f) | views::slice(30, 90));
  looks_through<true>(x | views::transform(_1 * 2.f) | views::reverse);
  looks_through<true>(x | views::transform(_1 * 2.f) | views::stride(4) | views::drop(2));
  looks_through<true>(views::iota(0, 1000) | views::transform(_1 * _1) | views::stride(3) | views::reverse);
  looks_through<true>(x | views::stride(3) | views::transform(_1 * 2.f) | views::stride(4) | views::reverse | views::drop(2) |
                      views::transform(_1 - 1.f));
}

TEST_CASE("everything else is opaque: the CPU asks for its elements") {
  auto x = floats();
  looks_through<false>(x | views::transform([](float v) { return v * 2; }));
  looks_through<false>(x | views::transform([](float v) { return v * 2; }) | views::stride(3));
  looks_through<false>(views::transform(x, x, [](float a, float b) { return a - b; }));
  looks_through<false>(views::repeat_n(2.5f, 100));
  looks_through<false>(views::iota(0, 30) | views::transform(tally::index + _1)); // a view gives no position
  auto const r = from(x | views::transform([](float v) { return v; })) | sum;
  using column = std::remove_cvref_t<decltype(get<0>(tally::v0::bind(r).program.columns))>;
  CHECK(std::string(decltype(column::view)::why).find("looks through") != std::string::npos);
}

TEST_CASE("a view and a fold meet without from") {
  std::vector<int> const numbers{1, 2, 3, 4, 5, 6, 7};
  CHECK(run(numbers | views::stride(2) | tally::sum) == 16);
  CHECK(run(numbers | views::transform(_1 * _1) | filter(_1 > 10) | reduce(count, max)) == std::tuple(i64(4), i64(49)));
  CHECK(run(views::zip(numbers, numbers) | map(_1 * _2) | sum) == 140);
}

TEST_CASE("empty views and views of one element") {
  std::vector<float> nothing, one{4.f};
  looks_through<true>(nothing | views::stride(2));
  looks_through<true>(nothing | views::reverse | views::transform(_1 * 2.f) | views::reverse);
  looks_through<true>(nothing | views::transform(_1 * 2.f) | views::drop(1));
  looks_through<true>(one | views::stride(2));
  looks_through<true>(one | views::reverse);
  looks_through<true>(one | views::transform(_1 * 2.f) | views::stride(3));
  looks_through<true>(views::iota(0, 0));
  looks_through<true>(views::iota(5, 6) | views::reverse);
  CHECK(run(from(views::zip(nothing, one)) | count) == 0);
}

TEST_CASE("structs are elements too") {
  using views_spec::pixel;
  std::vector<pixel> const image{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  auto const r = from(image | views::stride(2) | views::transform(views_spec::brightness)) | sum;
  CHECK(run(r, on::cpu) == 30);
  CHECK(decltype(tally::v0::bind(r).program)::lowerable);
}

TEST_CASE("columns of views are checked like all others") {
  std::vector<int> a{1, 2, 3}, b{1, 2};
  CHECK_THROWS_AS(run(from(a | views::stride(1), b | views::reverse) | sum(_1 * _2)), extent_mismatch);
}
