// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of columns that lie in other ways than one after the other, and of several columns in one read.
#include "laws/table/make_case.hpp"

#include <tally/fold/fold_of.hpp>

namespace fold_table_functions {
TALLY_FUNCTION(turn_and_add, (unsigned long long a, unsigned long long b), { return ((a << 9) | (a >> 55)) + b + (a & (b >> 3)); });
// What has no such integer, NaN and infinities, is the top bit alone: a cast of it would be undefined.
TALLY_FUNCTION(bits_of_float, (float x), {
  bool const fits = x > -0x1p52f && x < 0x1p52f;
  return fits ? static_cast<unsigned long long>(static_cast<long long>(x * 1024)) : 1ull << 63;
});
TALLY_FUNCTION(same_bits_again, (unsigned long long x), { return x; });
} // namespace fold_table_functions

namespace fold_table {

using namespace tally::v0;

namespace {
auto some_folds() {
  auto const in_order = fold_of(0ull, fold_table_functions::turn_and_add, fold_table_functions::bits_of_float,
                                fold_table_functions::same_bits_again, associative);
  return reduce(sum, variance, argmin.maybe(), in_order.where(_1 > -10.f));
}
} // namespace

void add_columns(case_list& to) {
  add_case<float>(to, "f32 some", [](float const* x, i64 n) { return from(device(x, n)) | some_folds(); });
  add_case<float>(to, "f32 every third", [](float const* x, i64 n) { return from(every(x, (n + 2) / 3, 3)) | some_folds(); });
  add_case<float>(to, "f32 reversed",
                  [](float const* x, i64 n) { return from(every(x + (n > 0 ? n - 1 : 0), n, -1)) | some_folds(); });
  add_case<float>(to, "three columns", [](float const* x, i64 n) {
    auto const* const bytes = reinterpret_cast<u8 const*>(x); // the first n bytes of the same memory
    return from(device(x, n), device(bytes, n), iota(n)) | filter(_2 != 7) |
           reduce(sum(_1 * _2), covariance(_1, _1 + _2), argmax(_2).maybe(), sum(_1 * _3), sum(_2 * tally::v0::index), max(_3).maybe());
  });
  add_case<float>(to, "iota", [](float const*, i64 n) {
    return from(iota(0.1f, n, 0.3f)) | reduce(sum, variance, argmax.maybe(), bit_xor(tally::v0::index * tally::v0::index), sum(_1 * tally::v0::index));
  });
}

} // namespace fold_table
