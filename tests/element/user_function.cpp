// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions and structs of the user's own: one source for the host, for expressions and for kernels.
#include "element/device_compiler.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

TALLY_FUNCTION(clamped, (float r), { return r < 0 ? 0 : r > 1 ? 1 : r; });
TALLY_FUNCTION(weighted, (float x, double w), { return x * w; });

namespace photo {
TALLY_STRUCT(pixel, { unsigned char r, g, b; });
TALLY_STRUCT(colour, {
  float hue;
  float light;
  constexpr bool grey() const { return hue < 0; }
});
TALLY_FUNCTION(brightness, (pixel p), { return int(p.r) + int(p.g) + int(p.b); });
TALLY_FUNCTION(colour_of, (pixel p), {
  int const most = p.r > p.g ? (p.r > p.b ? p.r : p.b) : (p.g > p.b ? p.g : p.b);
  int const least = p.r < p.g ? (p.r < p.b ? p.r : p.b) : (p.g < p.b ? p.g : p.b);
  if (most == least) return colour{-1.f, float(most) / 255};
  return colour{float(p.g - p.b) / float(most - least), float(most + least) / 510};
});
TALLY_FUNCTION(light_of, (colour c), { return c.light; });
TALLY_FUNCTION(is_grey, (colour c), { return c.grey(); });
namespace detail::inner {
TALLY_FUNCTION(squared_root, (double x), { return tally::v0::math::sqrt(x * x); });
}
} // namespace photo

namespace traffic {
enum class light : unsigned char { red, green };
enum lane { left, right };
TALLY_FUNCTION(stops, (light l), { return int(l) == 0; });
struct place {
  float x, y;
  friend place operator+(place a, place b) { return {a.x + b.x, a.y + b.y}; }
};
} // namespace traffic

namespace {
TALLY_FUNCTION(hidden, (float x), { return x + 1; });

using namespace tally::v0;

std::vector<photo::pixel> image() {
  std::vector<photo::pixel> p(5000);
  for (std::size_t i = 0; i < p.size(); ++i)
    p[i] = {static_cast<unsigned char>(i), static_cast<unsigned char>(i * 3), static_cast<unsigned char>(i % 7 ? i * 5 : i)};
  p[7] = {9, 9, 9};
  return p;
}
} // namespace

TEST_CASE("a function of the user's own is called with numbers, with elements, and with folds") {
  std::vector<float> const x{-1.f, 0.5f, 3.f};
  CHECK(clamped(0.25f) == 0.25f);
  static_assert(clamped(2.f) == 1.f);
  CHECK(run(from(x) | sum(clamped(_1)), on::cpu) == 1.5f);
  CHECK(run(from(x) | map(clamped) | sum, on::cpu) == 1.5f);
  CHECK(run(from(x) | reduce(clamped(sum)), on::cpu) == 1.f);
  CHECK(text_of(from(x) | sum(clamped(_1) * 2.f)) == "from(f32[3]) | reduce(sum(clamped(_1) * 2))");
}

TEST_CASE("its parameters convert, as in any call") {
  std::vector<short> const x{1, 2};
  std::vector<float> const w{0.5f, 0.25f};
  CHECK(run(from(x, w) | sum(weighted(_1, _2)), on::cpu) == 1.0);
  CHECK(compiles_for_a_gpu(from(x, w) | sum(weighted(_1, _2))));
}

TEST_CASE("a pipeline with such functions goes to a GPU") {
  std::vector<float> x(5000, 0.5f);
  auto const r = from(x) | filter(clamped(_1) > 0.25f) | reduce(sum(clamped(_1)), max(photo::detail::inner::squared_root(_1)));
  CHECK((run(r, on::cpu) == std::tuple(2500.f, 0.5)));
  CHECK(compiles_for_a_gpu(r));
}

TEST_CASE("columns may hold structs") {
  auto const p = image();
  i64 expected = 0;
  for (auto const& one : p)
    expected += photo::brightness(one);
  auto const r = from(p) | reduce(sum(photo::brightness(_1)), argmax(photo::brightness(_1)), count);
  CHECK(std::get<0>(run(r, on::cpu)) == expected);
  CHECK(compiles_for_a_gpu(r));
  auto const strided_columns = from(every(p.data() + 4999, 2500, -2), iota(2500)) | sum(photo::brightness(_1) * _2);
  CHECK(compiles_for_a_gpu(strided_columns));
}

TEST_CASE("a struct may appear between two functions and nowhere else") {
  auto const p = image();
  double expected = 0;
  i64 grey = 0;
  for (auto const& one : p) {
    expected += double(photo::light_of(photo::colour_of(one)));
    grey += photo::is_grey(photo::colour_of(one));
  }
  auto const r = from(p) | map(photo::colour_of(_1)) | reduce(sum(cast<double>(photo::light_of(_1))), count_if(photo::is_grey(_1)));
  auto const [light, n] = run(r, on::cpu);
  CHECK(light == doctest::Approx(expected));
  CHECK(n == grey);
  CHECK(grey > 0);
  CHECK(compiles_for_a_gpu(r));
}

TEST_CASE("first and last give whole structs") {
  auto const p = image();
  auto const r = from(p) | reduce(first, last(photo::colour_of(_1)), first.where(photo::brightness(_1) > 700));
  auto const [a, b, c] = run(r, on::cpu);
  CHECK(a.g == p.front().g);
  CHECK(b.light == photo::colour_of(p.back()).light);
  CHECK(photo::brightness(c) > 700);
  CHECK(compiles_for_a_gpu(r));
}

TEST_CASE("the text of a kernel holds each definition once, structs first") {
  auto const p = image();
  auto const r = from(p) | reduce(sum(photo::brightness(_1)), max(photo::brightness(_1)));
  auto const text = definitions_of<decltype(tally::v0::bind(r).program)>();
  auto const at = text.find("namespace photo { struct pixel { unsigned char r, g, b; }; }");
  REQUIRE(at != std::string::npos);
  CHECK(text.find("struct pixel", at + 30) == std::string::npos);
  auto const f = text.find("struct brightness_function");
  CHECK(f != std::string::npos);
  CHECK(f > at);
  CHECK(text.find("struct brightness_function", f + 1) == std::string::npos);
}

TEST_CASE("in an unnamed namespace it runs on the CPU, and the error of a GPU names it") {
  std::vector<float> const x{1.f, 2.f};
  auto const r = from(x) | sum(hidden(_1));
  CHECK(run(r, on::cpu) == 5.f);
  CHECK_THROWS_WITH_AS(definitions_of<decltype(tally::v0::bind(r).program)>(), doctest::Contains("hidden_function"), compile_failed);
}

TEST_CASE("a kernel knows enumerations by their numbers") {
  std::vector<traffic::light> const lights{traffic::light::red, traffic::light::green, traffic::light::red};
  std::vector<traffic::lane> const lanes{traffic::left, traffic::right, traffic::right};
  auto const r = from(lights, lanes) | reduce(count_if(traffic::stops(_1)), count_if(cast<int>(_1) == int(traffic::light::green)), sum(cast<int>(_2)));
  CHECK(run(r, on::cpu) == std::tuple(2, 1, 2));
  auto const text = definitions_of<decltype(tally::v0::bind(r).program)>();
  CHECK(text.find("namespace traffic { enum class light : unsigned char; }") != std::string::npos);
  CHECK(text.find("namespace traffic { enum lane : unsigned int; }") != std::string::npos);
  CHECK(compiles_for_a_gpu(r));
}

TEST_CASE("elements of a struct whose text nobody gave run on the CPU, and the error of a GPU names it") {
  std::vector<traffic::place> const x{{1, 2}, {3, 4}};
  auto const r = from(x) | sum;
  CHECK(run(r, on::cpu).y == 6.f);
  CHECK_THROWS_WITH_AS(definitions_of<decltype(tally::v0::bind(r).program)>(), doctest::Contains("'traffic::place': declare it with TALLY_STRUCT"), compile_failed);
}

TEST_CASE("a host lambda is opaque and stays on the CPU") {
  std::vector<float> const x{1.f, 2.f};
  float const shift = 10.f;
  auto const r = from(x) | map([shift](float v) { return v + shift; }) | sum;
  CHECK_FALSE(decltype(tally::v0::bind(r).program)::lowerable);
  CHECK(run(r) == 23.f);
}
