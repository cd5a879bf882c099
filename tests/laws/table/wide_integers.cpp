// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of i32 and u64: all folds that integers have.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

namespace {
template <class T>
void add_for(case_list& to, std::string const& type) {
  add_case<T>(to, type + " free", [](T const* x, i64 n) {
    auto const passes = _1 % 3 != 0;
    auto const odd = bits_or(_1, T(1));
    return from(device(x, n)) |
           reduce(sum, sum(cast<i32>(_1)).checked(), product(odd), minmax.maybe(), argmin.maybe(), first.maybe(), bit_and(odd),
                  bit_or, bit_xor, sum.where(passes), mean.where(passes), product(odd).where(passes),
                  min.where(passes).maybe(), argmax.where(passes).maybe());
  });
  add_case<T>(to, type + " tree", [](T const* x, i64 n) {
    auto const passes = _1 % 3 != 0;
    return from(device(x, n)) | reduce(sum.template in<float>(), variance, moments<4>, logsumexp(_1 % 16), variance.where(passes));
  });
}
} // namespace

void add_wide_integers(case_list& to) {
  add_for<i32>(to, "i32");
  add_for<u64>(to, "u64");
}

} // namespace fold_table
