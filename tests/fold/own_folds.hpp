// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of a user's own for tests of plans and kernels: one that does not commute in 8 bytes and one in 32, wide ones whose order is
// free, and detectors of any other tree.
#pragma once

#include <tally/tally.hpp>

TALLY_STRUCT(own_affine, { float scale, shift; });
TALLY_FUNCTION(own_then, (own_affine a, own_affine b), { return own_affine{a.scale * b.scale, a.shift * b.scale + b.shift}; });
TALLY_FUNCTION(own_step, (float x), { return own_affine{0.5f, x}; });
TALLY_FUNCTION(own_shift, (own_affine a), { return a.shift; });
/// A recurrence: one affine map after the other.
inline constexpr auto own_recurrence = tally::fold_of(own_affine{1, 0}, own_then, own_step, own_shift, tally::associative);

TALLY_STRUCT(own_matrix, { unsigned long long a, b, c, d; });
TALLY_FUNCTION(own_product, (own_matrix x, own_matrix y), {
  return own_matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
});
TALLY_FUNCTION(own_shear, (unsigned v), { return own_matrix{1, v, 0, 1}; });
TALLY_FUNCTION(own_matrix_itself, (own_matrix m), { return m; });
/// A product of matrices.
inline constexpr auto own_matrices = tally::fold_of(own_matrix{1, 0, 0, 1}, own_product, own_shear, own_matrix_itself, tally::associative);

TALLY_STRUCT(own_record, { unsigned long long word[7]; });
TALLY_FUNCTION(own_totals, (own_record x, own_record y), {
  for (int i = 0; i < 7; ++i) x.word[i] += y.word[i];
  return x;
});
TALLY_FUNCTION(own_record_of, (unsigned v), { return own_record{{v, 1, 2, 3, 4, 5, 6}}; });
TALLY_FUNCTION(own_record_itself, (own_record x), { return x; });
/// Seven sums in 56 bytes.
inline constexpr auto own_records = tally::fold_of(own_record{}, own_totals, own_record_of, own_record_itself, tally::order_free);

TALLY_STRUCT(own_box, { double low, high, lower, upper; });
TALLY_FUNCTION(own_hull, (own_box a, own_box b), {
  return own_box{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.lower < b.lower ? a.lower : b.lower,
                 a.upper > b.upper ? a.upper : b.upper};
});
TALLY_FUNCTION(own_point, (double v), { return own_box{v, v, -v, -v}; });
TALLY_FUNCTION(own_box_itself, (own_box b), { return b; });
/// The box around points.
inline constexpr auto own_boxes =
    tally::fold_of(own_box{1e300, -1e300, 1e300, -1e300}, own_hull, own_point, own_box_itself, tally::order_free);

TALLY_FUNCTION(own_turn_and_add, (unsigned long long a, unsigned long long b), {
  return a == 0 ? b : b == 0 ? a : ((a << 5) | (a >> 59)) + b;
});
TALLY_FUNCTION(own_spread, (float x), { return static_cast<unsigned long long>(static_cast<long long>(x * 977.f)) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(own_bits, (unsigned long long a), { return a; });
/// Detectors: their answers are others for any other order, and for any other tree.
inline constexpr auto own_rows_in_order = tally::fold_of(0ull, own_turn_and_add, own_spread, own_bits, tally::associative);
inline constexpr auto own_lanes_side_by_side =
    tally::fold_of(0ull, own_turn_and_add, own_spread, own_bits, tally::associative, tally::commutative);
