// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines: least and greatest floats (NaN, zeros of both signs, infinities), their places, small floats.
// Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

constexpr auto extremes = [] { return make_pack(min, max, argmin, argmax); };
constexpr auto of_expressions = [] { return make_pack(argmax(_1 * 2.f), sum(_1 - 1.f), first(_1 + 1.f), last(-_1), argmin(_1 * _1)); };

[[maybe_unused]] bool const registered[] = {
    add("min, max, argmin, argmax of f32", group<float>{}, every_shape{}, unmasked, extremes),
    add("positions and ends of expressions of f32", group<float>{}, every_shape{}, unmasked, of_expressions),
    add("masked min, max, argmin, argmax of f32", group<float>{}, some_shapes{}, [](float c) { return _1 > c; }, extremes),
    add("minmax, first and last of f64", group<double>{}, some_shapes{}, unmasked, [] { return make_pack(minmax, first, last); }),
    add("max ignoring NaN, of f32", group<float>{}, some_shapes{}, unmasked,
        [] { return make_pack(max.ignoring_nan(), min(_1 * 2.f).ignoring_nan()); }),
    add("sum and max of f16", group<f16>{}, some_shapes{}, unmasked, [] { return make_pack(sum, max); }),
    add("masked sum and mean of bf16", group<bf16>{}, matrices{}, [](bf16 c) { return cast<float>(_1) < static_cast<float>(c); },
        [] { return make_pack(sum, mean); }),
    add("product and logsumexp of f32", group<float>{}, matrices{}, unmasked, [] { return make_pack(product, logsumexp); }),
    add("moments of f32", group<float>{}, matrices{}, unmasked, [] { return make_pack(moments<3>); }),
};
} // namespace
