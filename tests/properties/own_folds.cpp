// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines with folds of the user's own: the cheapest detectors of a changed tree. Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

/// Not even associative, whatever is declared: every other tree gives another number. 0 is neutral.
TALLY_FUNCTION(rotate_and_add, (u64 a, u64 b), { return a == 0 ? b : b == 0 ? a : ((a << 7 | a >> 57) * 5 + b) | 1; });
TALLY_FUNCTION(of_bits, (i32 x), { return static_cast<tally::u64>(static_cast<tally::u32>(x)) | 1; });
TALLY_FUNCTION(as_it_is, (u64 x), { return x; });

/// x -> scale x + shift modulo 2^64: composition is associative and does not commute.
struct line {
  u64 scale, shift;
  friend bool operator==(line const&, line const&) = default;
};
TALLY_FUNCTION(then, (line a, line b), { return line{a.scale * b.scale, a.shift * b.scale + b.shift}; });
TALLY_FUNCTION(line_of, (i32 x), { return line{static_cast<tally::u64>(x) * 2 + 1, static_cast<tally::u64>(x)}; });
TALLY_FUNCTION(at_three, (line l), { return l.scale * 3 + l.shift; });

constexpr auto compose = [] { return make_pack(fold_of(line{1, 0}, then, line_of, at_three, associative)); };
constexpr auto compose_by_loop = [](group<i32> const& g) {
  u64 x = 3;
  for (i64 const i : g.passed) {
    auto const v = static_cast<u64>(std::get<0>(g.columns)[static_cast<std::size_t>(i)]);
    x = x * (v * 2 + 1) + v;
  }
  return std::tuple(x);
};
constexpr auto in_order = [] { return make_pack(fold_of(u64(0), rotate_and_add, of_bits, as_it_is, associative)); };
constexpr auto down_lanes = [] { return make_pack(fold_of(u64(0), rotate_and_add, of_bits, as_it_is, associative, commutative)); };
constexpr auto above = [](i32 c) { return _1 > c; };
struct twice {
  double operator()(double x) const { return 2 * x + 1; }
};

[[maybe_unused]] bool const registered[] = {
    add("order-sensitive along rows of a leaf", group<i32>{}, every_shape{}, unmasked, in_order),
    add("order-sensitive down lanes of a leaf", group<i32>{}, every_shape{}, unmasked, down_lanes),
    add("masked, order-sensitive", group<i32>{}, some_shapes{}, above, [] { return join(in_order(), down_lanes()); }),
    add("composition of lines", group<i32>{}, some_shapes{}, above, compose, compose_by_loop),
    add("a host function of f64", group<double>{}, matrices{}, unmasked, [] { return make_pack(sum(twice{}), max); }),
};
} // namespace
