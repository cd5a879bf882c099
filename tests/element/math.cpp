// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tally::v0::math promises: how close each function is, what it does at the edges, and bits that never change.
//
// The long measurement is skipped by default; docs/reference/math.md says how to run it.
#include "math_golden.hpp"

#include <tally/element/math.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace math = tally::v0::math;
using extended = long double;

template <class T>
constexpr T infinite = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

/// How far `got` is from `exact`, in units of the last place that a T of that size has; infinite where one of them
/// is a NaN or an infinity and the other is not the same.
template <class T, class Exact>
double units_off(T got, Exact exact) {
  constexpr int digits = std::numeric_limits<T>::digits;
  constexpr int smallest = std::numeric_limits<T>::min_exponent - digits;
  T const rounded = static_cast<T>(exact);
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : infinite<double>;
  if (got == rounded) {
    if (std::signbit(got) != std::signbit(rounded)) return infinite<double>;
    if (std::isinf(got)) return 0;
  }
  if (std::isinf(got) || std::isinf(rounded)) return infinite<double>;
  int exponent = 0;
  std::frexp(exact, &exponent);
  int const unit = std::max(exponent - digits, smallest);
  return static_cast<double>(std::fabs(std::ldexp(static_cast<Exact>(got) - exact, -unit)));
}

template <class T>
struct worst {
  double units = 0;
  T at{};
  void operator()(double off, T x) {
    if (off > units) units = off, at = x;
  }
};

/// One function of one argument: tally's, the reference, where doubles are drawn from, and the units that are
/// promised.
struct unary {
  std::string name;
  float (*of_float)(float);
  double (*of_double)(double);
  double (*reference)(double);
  extended (*extended_reference)(extended);
  double low, high;
  double float_units, double_units;
};

template <class T>
T sigmoid_reference(T x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

unary const every_unary[] = {
    {"exp", math::exp, math::exp, std::exp, std::exp, -745, 710, 0.92, 0.80},
    {"exp2", math::exp2, math::exp2, std::exp2, std::exp2, -1075, 1024, 0.90, 0.80},
    {"expm1", math::expm1, math::expm1, std::expm1, std::expm1, -3, 3, 0.501, 1.20},
    {"log", math::log, math::log, std::log, std::log, 0.5, 1.5, 0.96, 0.90},
    {"log2", math::log2, math::log2, std::log2, std::log2, 0.5, 1.5, 0.501, 0.90},
    {"log10", math::log10, math::log10, std::log10, std::log10, 0.5, 1.5, 0.501, 0.90},
    {"log1p", math::log1p, math::log1p, std::log1p, std::log1p, -0.5, 1, 0.501, 0.90},
    {"sinh", math::sinh, math::sinh, std::sinh, std::sinh, -3, 3, 0.501, 1.65},
    {"cosh", math::cosh, math::cosh, std::cosh, std::cosh, -3, 3, 0.501, 1.20},
    {"tanh", math::tanh, math::tanh, std::tanh, std::tanh, -3, 3, 1.07, 1.50},
    {"sigmoid", math::sigmoid, math::sigmoid, sigmoid_reference<double>, sigmoid_reference<extended>, -40, 40, 1.20,
     1.20},
    {"sin", math::sin, math::sin, std::sin, std::sin, -10, 10, 0.501, 0.85},
    {"cos", math::cos, math::cos, std::cos, std::cos, -10, 10, 0.501, 0.85},
    {"tan", math::tan, math::tan, std::tan, std::tan, -10, 10, 0.501, 1.10},
    {"asin", math::asin, math::asin, std::asin, std::asin, -1, 1, 0.501, 0.70},
    {"acos", math::acos, math::acos, std::acos, std::acos, -1, 1, 0.501, 0.70},
    {"atan", math::atan, math::atan, std::atan, std::atan, -5, 5, 0.501, 0.70},
    {"cbrt", math::cbrt, math::cbrt, std::cbrt, std::cbrt, -10, 10, 0.501, 0.70},
    {"erf", math::erf, math::erf, std::erf, std::erf, -3, 3, 0.501, 1.30},
    {"sqrt", math::sqrt, math::sqrt, std::sqrt, std::sqrt, 0, 4, 0.5, 0.5},
    {"abs", math::abs, math::abs, std::fabs, std::fabs, -2, 2, 0, 0},
    {"floor", math::floor, math::floor, std::floor, std::floor, -9, 9, 0, 0},
    {"ceil", math::ceil, math::ceil, std::ceil, std::ceil, -9, 9, 0, 0},
    {"trunc", math::trunc, math::trunc, std::trunc, std::trunc, -9, 9, 0, 0},
    {"round", math::round, math::round, std::round, std::round, -9, 9, 0, 0},
    {"nearest", math::nearest, math::nearest, std::nearbyint, std::nearbyint, -9, 9, 0, 0},
};

/// Those that do not go through double, and so are further than a rounding from exact.
bool stays_in_float(unary const& f) { return f.float_units > 0.501; }

/// Every `step`-th of all bit patterns. The reference in double errs by less than 2^-28 of a float's unit.
worst<float> sweep_floats(unary const& f, std::uint64_t step) {
  worst<float> found;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += step) {
    float const x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    found(units_off(f.of_float(x), f.reference(static_cast<double>(x))), x);
  }
  return found;
}

/// A third any bit pattern, a third in [low, high], a third small numbers of every size.
worst<double> sample_doubles(unary const& f, std::uint64_t samples) {
  worst<double> found;
  for (std::uint64_t i = 0; i < samples; ++i) {
    std::uint64_t const r = golden::mixed(i + 1);
    double const fraction = static_cast<double>(r >> 11) * 0x1p-53;
    double const sign = f.low < 0 && (r & 1) != 0 ? -1 : 1;
    double const x = i % 3 == 0   ? std::bit_cast<double>(r)
                     : i % 3 == 1 ? f.low + (f.high - f.low) * fraction
                                  : sign * std::ldexp(1 + fraction, -static_cast<int>(r & 63) - 1);
    found(units_off(f.of_double(x), f.extended_reference(static_cast<extended>(x))), x);
  }
  return found;
}

/// Pairs that reach results of every size, made from two random words.
struct pair_of_doubles {
  double x, y;
};
pair_of_doubles any_pair(std::uint64_t i) {
  std::uint64_t const r = golden::mixed(2 * i + 1), q = golden::mixed(2 * i + 2);
  double const signed_fraction = static_cast<double>(static_cast<std::int64_t>(q)) * 0x1p-63;
  double const x = std::fabs(std::bit_cast<double>(r));
  double const near_one =
      1 + static_cast<double>(static_cast<std::int64_t>(r)) * std::ldexp(1.0, -63 - static_cast<int>(q & 31));
  switch (i % 4) {
  case 0: return {std::bit_cast<double>(r), std::bit_cast<double>(q)};
  case 1: return {static_cast<double>(r >> 11) * 0x1p-51, signed_fraction * 50};
  case 2: return {x, i % 8 == 2 ? x * (1 + signed_fraction) : 745 * signed_fraction / std::log(x)};
  default: return {near_one, i % 8 == 3 ? near_one * 4 * signed_fraction : 745 * signed_fraction / std::log(near_one)};
  }
}

struct binary {
  std::string name;
  float (*of_float)(float, float);
  double (*of_double)(double, double);
  double (*reference)(double, double);
  extended (*extended_reference)(extended, extended);
  double float_units, double_units;
};
binary const every_binary[] = {
    {"pow", math::pow, math::pow, std::pow, std::pow, 0.501, 0.85},
    {"atan2", math::atan2, math::atan2, std::atan2, std::atan2, 0.501, 0.80},
    {"hypot", math::hypot, math::hypot, std::hypot, std::hypot, 0.501, 0.80},
    {"fmod", math::fmod, math::fmod, std::fmod, std::fmod, 0, 0},
};

struct worst_pair {
  worst<float> of_float;
  worst<double> of_double;
};
worst_pair check_pairs(binary const& f, std::uint64_t samples) {
  worst_pair found;
  for (std::uint64_t i = 0; i < samples; ++i) {
    auto const [x, y] = any_pair(i);
    auto const a = static_cast<float>(x), b = static_cast<float>(y);
    found.of_double(units_off(f.of_double(x, y), f.extended_reference(x, y)), x);
    found.of_float(units_off(f.of_float(a, b), f.reference(static_cast<double>(a), static_cast<double>(b))), a);
  }
  worst<float> const narrow = found.of_float;
  worst<double> const wide = found.of_double;
  CHECK_MESSAGE(narrow.units <= f.float_units, f.name, " of floats is off by ", narrow.units, " at ", narrow.at);
  CHECK_MESSAGE(wide.units <= f.double_units, f.name, " of doubles is off by ", wide.units, " at ", wide.at);
  return found;
}

template <class T>
void same_value(std::string const& what, T got, T expected) {
  bool const same =
      std::isnan(expected) ? std::isnan(got) : got == expected && std::signbit(got) == std::signbit(expected);
  CHECK_MESSAGE(same, what, ": ", got, " instead of ", expected);
}

} // namespace

TEST_CASE("a float function is within its promised units at every 9973rd float") {
  for (unary const& f : every_unary) {
    worst<float> const found = sweep_floats(f, 9973);
    CHECK_MESSAGE(found.units <= f.float_units, f.name, " is off by ", found.units, " at ", found.at);
  }
}

TEST_CASE("functions that stay in float, which reductions use most, are within their units at every 97th float") {
  for (unary const& f : every_unary) {
    if (!stays_in_float(f)) continue;
    worst<float> const found = sweep_floats(f, 97);
    CHECK_MESSAGE(found.units <= f.float_units, f.name, " is off by ", found.units, " at ", found.at);
  }
}

TEST_CASE("a double function is within its promised units at two million doubles of every size") {
  for (unary const& f : every_unary) {
    worst<double> const found = sample_doubles(f, 2000000);
    CHECK_MESSAGE(found.units <= f.double_units, f.name, " is off by ", found.units, " at ", found.at);
  }
}

TEST_CASE("functions of two arguments are within their units") {
  for (binary const& f : every_binary) check_pairs(f, 1000000);
}

TEST_CASE("measure: the accuracies of docs/reference/math.md, every float of those that stay in float" *
          doctest::skip()) {
  for (unary const& f : every_unary) {
    worst<float> const narrow = sweep_floats(f, stays_in_float(f) ? 1 : 97);
    worst<double> const wide = sample_doubles(f, 20000000);
    std::printf("| `%s` | %.3f | %.3f |\n", f.name.c_str(), narrow.units, wide.units);
    std::fflush(stdout);
    CHECK_MESSAGE(narrow.units <= f.float_units, f.name, " is off by ", narrow.units, " at ", narrow.at);
    CHECK_MESSAGE(wide.units <= f.double_units, f.name, " is off by ", wide.units, " at ", wide.at);
  }
  for (binary const& f : every_binary) {
    auto const [narrow, wide] = check_pairs(f, 20000000);
    std::printf("| `%s` | %.3f | %.3f |\n", f.name.c_str(), narrow.units, wide.units);
    std::fflush(stdout);
  }
}

TEST_CASE_TEMPLATE("zeros keep their signs, infinities and NaNs pass as IEEE 754 and C say", T, float, double) {
  T const inf = infinite<T>, nan = not_a_number<T>, zero = 0;
  struct {
    std::string name;
    T got, expected;
  } const table[] = {
      {"exp(-inf)", math::exp(-inf), zero},
      {"exp(inf)", math::exp(inf), inf},
      {"exp(-0)", math::exp(-zero), 1},
      {"exp(nan)", math::exp(nan), nan},
      {"exp2(10)", math::exp2(T(10)), 1024},
      {"exp2(-inf)", math::exp2(-inf), zero},
      {"exp2(inf)", math::exp2(inf), inf},
      {"exp2(nan)", math::exp2(nan), nan},
      {"expm1(-inf)", math::expm1(-inf), -1},
      {"expm1(-0)", math::expm1(-zero), -zero},
      {"expm1(0)", math::expm1(zero), zero},
      {"expm1(inf)", math::expm1(inf), inf},
      {"expm1(nan)", math::expm1(nan), nan},
      {"log(0)", math::log(zero), -inf},
      {"log(-0)", math::log(-zero), -inf},
      {"log(-1)", math::log(T(-1)), nan},
      {"log(1)", math::log(T(1)), zero},
      {"log(inf)", math::log(inf), inf},
      {"log(-inf)", math::log(-inf), nan},
      {"log(nan)", math::log(nan), nan},
      {"log2(8)", math::log2(T(8)), 3},
      {"log2(0)", math::log2(zero), -inf},
      {"log2(-2)", math::log2(T(-2)), nan},
      {"log2(inf)", math::log2(inf), inf},
      {"log10(1)", math::log10(T(1)), zero},
      {"log10(1000)", math::log10(T(1000)), 3},
      {"log10(-0)", math::log10(-zero), -inf},
      {"log10(inf)", math::log10(inf), inf},
      {"log1p(-1)", math::log1p(T(-1)), -inf},
      {"log1p(-0)", math::log1p(-zero), -zero},
      {"log1p(-2)", math::log1p(T(-2)), nan},
      {"log1p(inf)", math::log1p(inf), inf},
      {"log1p(nan)", math::log1p(nan), nan},
      {"sinh(-0)", math::sinh(-zero), -zero},
      {"sinh(-inf)", math::sinh(-inf), -inf},
      {"sinh(nan)", math::sinh(nan), nan},
      {"cosh(0)", math::cosh(zero), 1},
      {"cosh(-inf)", math::cosh(-inf), inf},
      {"cosh(nan)", math::cosh(nan), nan},
      {"tanh(-0)", math::tanh(-zero), -zero},
      {"tanh(inf)", math::tanh(inf), 1},
      {"tanh(-inf)", math::tanh(-inf), -1},
      {"tanh(nan)", math::tanh(nan), nan},
      {"sigmoid(0)", math::sigmoid(zero), T(0.5)},
      {"sigmoid(inf)", math::sigmoid(inf), 1},
      {"sigmoid(-inf)", math::sigmoid(-inf), zero},
      {"sigmoid(nan)", math::sigmoid(nan), nan},
      {"sin(-0)", math::sin(-zero), -zero},
      {"sin(inf)", math::sin(inf), nan},
      {"sin(nan)", math::sin(nan), nan},
      {"cos(0)", math::cos(zero), 1},
      {"cos(-inf)", math::cos(-inf), nan},
      {"tan(-0)", math::tan(-zero), -zero},
      {"tan(inf)", math::tan(inf), nan},
      {"asin(-0)", math::asin(-zero), -zero},
      {"asin(2)", math::asin(T(2)), nan},
      {"asin(nan)", math::asin(nan), nan},
      {"acos(1)", math::acos(T(1)), zero},
      {"acos(-2)", math::acos(T(-2)), nan},
      {"acos(nan)", math::acos(nan), nan},
      {"atan(-0)", math::atan(-zero), -zero},
      {"atan(nan)", math::atan(nan), nan},
      {"cbrt(-0)", math::cbrt(-zero), -zero},
      {"cbrt(-27)", math::cbrt(T(-27)), -3},
      {"cbrt(-inf)", math::cbrt(-inf), -inf},
      {"cbrt(nan)", math::cbrt(nan), nan},
      {"erf(-0)", math::erf(-zero), -zero},
      {"erf(inf)", math::erf(inf), 1},
      {"erf(-inf)", math::erf(-inf), -1},
      {"erf(nan)", math::erf(nan), nan},
      {"sqrt(-0)", math::sqrt(-zero), -zero},
      {"sqrt(-1)", math::sqrt(T(-1)), nan},
      {"sqrt(inf)", math::sqrt(inf), inf},
      {"abs(-0)", math::abs(-zero), zero},
      {"abs(-inf)", math::abs(-inf), inf},
      {"floor(-0)", math::floor(-zero), -zero},
      {"floor(-0.5)", math::floor(T(-0.5)), -1},
      {"ceil(-0.5)", math::ceil(T(-0.5)), -zero},
      {"trunc(-0.5)", math::trunc(T(-0.5)), -zero},
      {"round(0.5)", math::round(T(0.5)), 1},
      {"round(-2.5)", math::round(T(-2.5)), -3},
      {"nearest(0.5)", math::nearest(T(0.5)), zero},
      {"nearest(-2.5)", math::nearest(T(-2.5)), -2},
      {"nearest(inf)", math::nearest(inf), inf},
      {"floor(-inf)", math::floor(-inf), -inf},
      {"round(nan)", math::round(nan), nan},
  };
  for (auto const& row : table) same_value(row.name, row.got, row.expected);
  T const below_half = std::nextafter(T(0.5), zero);
  same_value("round(below a half)", math::round(below_half), zero);
  same_value("nearest(below a half)", math::nearest(below_half), zero);
}

TEST_CASE_TEMPLATE("two-argument functions agree with the C library at every pair of edges", T, float, double) {
  T const tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
  std::vector<T> edges{0,      tiny,        std::numeric_limits<T>::min(),
                       T(0.5), 1,           std::nextafter(T(1), T(2)),
                       T(1.5), 2,           3,
                       4,      T(1e6),      T(1e6 + 1),
                       huge,   infinite<T>, not_a_number<T>};
  for (std::size_t i = 0, count = edges.size(); i < count; ++i) edges.push_back(-edges[i]);
  for (T const x : edges)
    for (T const y : edges) {
      CAPTURE(x);
      CAPTURE(y);
      CHECK(units_off(math::pow(x, y), std::pow(static_cast<extended>(x), static_cast<extended>(y))) <= 0.85);
      CHECK(units_off(math::atan2(x, y), std::atan2(static_cast<extended>(x), static_cast<extended>(y))) <= 0.80);
      CHECK(units_off(math::hypot(x, y), std::hypot(static_cast<extended>(x), static_cast<extended>(y))) <= 0.80);
      same_value("fmod", math::fmod(x, y), std::fmod(x, y));
      for (T const z : edges) same_value("fma", math::fma(x, y, z), std::fma(x, y, z));
      if (!std::isnan(y)) same_value("copysign", math::copysign(x, y), std::copysign(x, y));
    }
}

TEST_CASE("the sign of a NaN decides nothing: copysign takes it as positive") {
  CHECK(math::copysign(2.0f, -not_a_number<float>) == 2.0f);
  CHECK(math::copysign(-2.0f, not_a_number<float>) == 2.0f);
  CHECK(math::copysign(-2.0, -not_a_number<double>) == 2.0);
}

TEST_CASE("a function that makes or passes on a NaN returns the one quiet positive NaN") {
  auto const is_the_one = [](auto x) {
    if constexpr (sizeof(x) == sizeof(float))
      return std::bit_cast<std::uint32_t>(x) == 0x7fc00000u;
    else
      return std::bit_cast<std::uint64_t>(x) == 0x7ff8000000000000u;
  };
  float const odd = std::bit_cast<float>(0xffc12345u);
  double const odd_double = std::bit_cast<double>(0xfff8000000012345u);
  for (unary const& f : every_unary) {
    std::string const& name = f.name;
    if (name == "sqrt" || name == "abs" || name == "floor" || name == "ceil" || name == "trunc" || name == "round" ||
        name == "nearest")
      continue; // these hand the processor's own NaN on
    CHECK_MESSAGE(is_the_one(f.of_float(odd)), name);
    CHECK_MESSAGE(is_the_one(f.of_double(odd_double)), name);
  }
  CHECK(is_the_one(math::log(-1.0f)));
  CHECK(is_the_one(math::pow(-1.0, 0.5)));
  CHECK(is_the_one(math::atan2(odd, 1.0f)));
  CHECK(is_the_one(math::hypot(1.0, odd_double)));
}

TEST_CASE("denormals are computed with, not flushed") {
  float const tiny = std::numeric_limits<float>::denorm_min();
  CHECK(math::exp(-103.0f) == 0x1p-149f);
  CHECK(math::exp2(-149.0f) == 0x1p-149f);
  CHECK(math::exp2(-1074.0) == 0x1p-1074);
  CHECK(math::log2(tiny) == -149.0f);
  CHECK(units_off(math::log(0x1p-149), std::log(0x1p-149L)) <= 0.9);
  CHECK(math::sin(tiny) == tiny);
  CHECK(math::tanh(tiny) == tiny);
  CHECK(units_off(math::cbrt(0x1p-1074), std::cbrt(0x1p-1074L)) <= 0.7);
  CHECK(math::sqrt(0x1p-148f) == 0x1p-74f);
  CHECK(math::fmod(3 * tiny, 2 * tiny) == tiny);
}

TEST_CASE("a circular function of a huge argument is reduced with as many digits of pi as that takes") {
  // The double nearest to a multiple of pi/2 (Kahan), and others; the values are mpmath's at 4000 bits.
  double const hard = 6381956970095103.0 * 0x1p797;
  CHECK(units_off(math::cos(hard), -4.6871659242546276111e-19L) <= 0.85);
  CHECK(units_off(math::sin(1e22), -0.85220084976718880177L) <= 0.85);
  CHECK(units_off(math::tan(1e300), 1.4214488238747244124L) <= 1.1);
  CHECK(units_off(math::sin(std::numeric_limits<double>::max()), 0.0049619547891840617905L) <= 0.85);
}

TEST_CASE("functions can be used in constant expressions where the compiler's own builtins can") {
  static_assert(math::exp(0.0f) == 1.0f);
  static_assert(math::log2(8.0) == 3.0);
  static_assert(math::pow(2.0, 10.0) == 1024.0);
  static_assert(math::floor(-1.5f) == -2.0f);
  static_assert(math::fmod(7.5, 2.0) == 1.5);
}

TEST_CASE_TEMPLATE("the bits of a million results of every function are the ones they have always been", T, float,
                   double) {
  std::vector<T> arguments[3];
  for (std::uint64_t which = 0; which < 3; ++which)
    for (std::uint64_t i = 0; i < golden::count; ++i) arguments[which].push_back(golden::argument<T>(i, which));
  std::size_t row = 0;
  golden::for_each_function([&](char const* name, auto function) {
    golden::digester digester;
    for (std::size_t i = 0; i < golden::count; ++i)
      digester(function(arguments[0][i], arguments[1][i], arguments[2][i]));
    REQUIRE(row < std::size(golden::expected));
    golden::expectation const& expected = golden::expected[row++];
    CHECK(expected.name == name);
    CHECK_MESSAGE(digester.value == (sizeof(T) == sizeof(float) ? expected.of_float : expected.of_double),
                  std::string(name));
  });
  CHECK(row == std::size(golden::expected));
}
