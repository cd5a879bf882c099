// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of folds of a user's own: operations that are associative and do not commute, and detectors, which are not even
// associative, so that any other tree has other bits.
#include "laws/table/make_case.hpp"

#include <tally/fold/fold_of.hpp>

namespace fold_table_functions {

TALLY_STRUCT(affine, { unsigned long long times, plus; });
TALLY_FUNCTION(affine_then, (affine a, affine b), { return affine{a.times * b.times, b.times * a.plus + b.plus}; });
TALLY_FUNCTION(affine_of, (unsigned long long x), { return affine{2 * x + 1, x ^ 0x9e3779b97f4a7c15ull}; });
TALLY_FUNCTION(affine_bits, (affine a), { return a.plus ^ (a.times << 7); });

TALLY_FUNCTION(rotate_and_add, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b + (a & (b >> 3)); });
TALLY_FUNCTION(spread_bits, (unsigned long long x), { return (x + 1) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(all_bits, (unsigned long long x), { return x; });

TALLY_STRUCT(recurrence, { float scale, shift; });
TALLY_FUNCTION(recurrence_then, (recurrence a, recurrence b),
               { return recurrence{a.scale * b.scale, a.shift * b.scale + b.shift}; });
TALLY_FUNCTION(recurrence_of, (float x), { return recurrence{x > 0 ? 0.75f : 0.5f, x}; });
TALLY_FUNCTION(recurrence_value, (recurrence a), { return a.shift; });

} // namespace fold_table_functions

namespace fold_table {

using namespace tally::v0;
using namespace fold_table_functions;

namespace {
constexpr auto affine_maps = fold_of(affine{1, 0}, affine_then, affine_of, affine_bits, associative);
constexpr auto rows_in_order = fold_of(0ull, rotate_and_add, spread_bits, all_bits, associative);
constexpr auto lanes_side_by_side = fold_of(0ull, rotate_and_add, spread_bits, all_bits, associative, commutative);

/// Without a mask: the width of the elements decides how many lanes a leaf has.
template <class T>
void add_for(case_list& to, std::string const& type) {
  add_case<T>(to, type + " own folds", [](T const* x, i64 n) {
    return from(device(x, n)) | reduce(affine_maps, rows_in_order, lanes_side_by_side);
  });
}
} // namespace

void add_own_folds(case_list& to) {
  add_case<u32>(to, "u32 own folds", [](u32 const* x, i64 n) {
    auto const passes = _1 % 3 != 0;
    return from(device(x, n)) | reduce(affine_maps, rows_in_order, lanes_side_by_side, affine_maps.where(passes),
                                       rows_in_order.where(passes), lanes_side_by_side.where(passes));
  });
  add_for<u8>(to, "u8");
  add_for<u64>(to, "u64");
  add_case<float>(to, "f32 own folds", [](float const* x, i64 n) {
    auto const recurrences = fold_of(recurrence{1, 0}, recurrence_then, recurrence_of, recurrence_value, associative);
    return from(device(x, n)) | reduce(recurrences, recurrences.where(_1 > 0.f), sum);
  });
}

} // namespace fold_table
