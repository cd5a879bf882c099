// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of f16.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally;

void add_f16(case_list& to) {
  add_case<f16>(to, "f16 tree", [](f16 const* x, i64 n) {
    auto const passes = _1 > 0.f;
    return from(device(x, n)) | reduce(sum, mean, variance, logsumexp(_1 / 16), moments<2>, sum.compensated(), sum.where(passes),
                                       variance.where(passes), product(select(passes, 1.001f, 0.999f)));
  });
  add_case<f16>(to, "f16 free", [](f16 const* x, i64 n) {
    auto const passes = _1 > 0.f;
    return from(device(x, n)) | reduce(min.maybe(), max.maybe(), argmin.maybe(), last.maybe(), max.where(passes).maybe(),
                                       min.ignoring_nan().maybe(), argmax.where(passes).maybe(), first.where(passes).maybe());
  });
}

} // namespace fold_table
