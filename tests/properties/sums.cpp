// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines: sums, means and spreads of floats. Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

[[maybe_unused]] bool const registered[] = {
    add("sum of f32", group<float>{}, every_shape{}, unmasked, [] { return make_pack(sum); }),
    add("masked sum, mean and count of f32", group<float>{}, some_shapes{}, [](float c) { return _1 > c; },
        [] { return make_pack(sum, mean, count); }),
    add("variance, norm and a sum of squares of f32", group<float>{}, some_shapes{}, unmasked,
        [] { return make_pack(variance, norm<2>, sum(_1 * _1).where(_1 > 0.f)); }),
    add("sum, stddev and compensated sum of f64", group<double>{}, some_shapes{}, unmasked,
        [] { return make_pack(sum, stddev, sum.compensated()); }),
};
} // namespace
