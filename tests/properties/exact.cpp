// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines under the contract exact, against an exact accumulator; and several columns. Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

constexpr auto sum_by_accumulator = []<class T>(group<T> const& g) {
  testing::exact_accumulator a;
  for (i64 const i : g.passed)
    a.add(static_cast<double>(std::get<0>(g.columns)[static_cast<std::size_t>(i)]));
  T const x = a.rounded<T>();
  return std::tuple(x == x ? x + T(0) : std::numeric_limits<T>::quiet_NaN()); // a sum starts at +0
};
constexpr auto one_sum = [] { return make_pack(sum); };

[[maybe_unused]] bool const registered[] = {
    add<rounded_once>("exact sum of f32", group<float>{}, some_shapes{}, unmasked, one_sum, sum_by_accumulator),
    add<rounded_once>("exact masked sum of f64", group<double>{}, matrices{}, [](double c) { return _1 < c; }, one_sum, sum_by_accumulator),
    add<rounded_once>("exact mean and dot of f32", group<float, float>{}, matrices{}, unmasked, [] { return make_pack(mean, sum(_1 * _2), max(_2)); }),
    add<rounded_once>("exact moments of f32", group<float>{}, matrices{}, unmasked, [] { return make_pack(moments<4>, stddev); }),
    add<rounded_once>("exact moments of f64", group<double>{}, matrices{}, unmasked, [] { return make_pack(moments<3>); }),
    add("dot of f32 and f64", group<float, double>{}, some_shapes{}, unmasked, [] { return make_pack(sum(cast<double>(_1) * _2)); }),
    add("masked dot, max and count of f32 and i32", group<float, i32>{}, some_shapes{}, [](float c) { return _1 > c && _2 > 0; },
        [] { return make_pack(sum(_1 * cast<float>(_2)), max(_2), count); }),
    add("three columns", group<float, u8, float>{}, matrices{}, [](float) { return _2 > 50; }, [] { return make_pack(sum(_1 - _3), mean(_3)); }),
};
} // namespace
