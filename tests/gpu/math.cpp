// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The elementary functions on a GPU: a million results of each, to the bits of tests/element/math_golden.hpp.
#include "element/math_golden.hpp"
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <string>
#include <tuple>

using namespace tally;

namespace {

template <class T>
std::vector<T> argument(std::uint64_t which) {
  std::vector<T> x(golden::count);
  for (std::uint64_t i = 0; i < golden::count; ++i) x[i] = golden::argument<T>(i, which);
  return x;
}

template <class Results>
void check(std::string const& name, Results const& results) {
  CAPTURE(name);
  golden::digester digester;
  for (std::size_t i = 0; i < results.size(); ++i) digester(results.data()[i]);
  for (auto const& [expected_name, of_float, of_double] : golden::expected)
    if (expected_name == name) {
      CHECK((digester.value == (sizeof(*results.data()) == sizeof(float) ? of_float : of_double)));
      return;
    }
  CHECK_MESSAGE(false, "no such function");
}
template <class T>
void check_all(std::vector<std::string> const& names, auto const& map_of) {
  auto const x = argument<T>(0), y = argument<T>(1), z = argument<T>(2);
  std::apply([&](auto const&... of_one) { std::size_t i = 0; (check(names[i++], of_one), ...); },
             run(from(x, y, z) | map_of | collect, on::gpu));
}

} // namespace

TEST_CASE_TEMPLATE("a million results of every elementary function have the bits of the CPU", T, float, double) {
  if (no_kernels()) return;
  check_all<T>({"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sigmoid"},
               map(exp(_1), exp2(_1), expm1(_1), log(_1), log2(_1), log10(_1), log1p(_1), sigmoid(_1)));
  check_all<T>({"sinh", "cosh", "tanh", "sin", "cos", "tan", "asin", "acos"},
               map(sinh(_1), cosh(_1), tanh(_1), sin(_1), cos(_1), tan(_1), asin(_1), acos(_1)));
  check_all<T>({"atan", "cbrt", "erf", "abs", "sqrt", "floor", "ceil", "trunc"},
               map(atan(_1), cbrt(_1), erf(_1), abs(_1), sqrt(_1), floor(_1), ceil(_1), trunc(_1)));
  check_all<T>({"round", "nearest", "atan2", "pow", "hypot", "fmod", "copysign", "fma"},
               map(round(_1), nearest(_1), atan2(_1, _2), pow(_1, _2), hypot(_1, _2), fmod(_1, _2), copysign(_1, _2), fma(_1, _2, _3)));
}
