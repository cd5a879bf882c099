// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of f64.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

void add_f64(case_list& to) {
  add_case<double>(to, "f64 tree", [](double const* x, i64 n) {
    auto const passes = _1 > 0.0;
    auto const near_one = select(_1 > 0.5, 1.0009765625, 0.9990234375);
    return from(device(x, n)) |
           reduce(sum, mean, product(near_one), variance, moments<3>, logsumexp(_1 / 16), sum.compensated(), sum.where(passes),
                  variance.where(passes), covariance(_1, _1 * _1).where(passes), sum.compensated().where(passes),
                  mean.where(passes));
  });
  add_case<double>(to, "f64 free", [](double const* x, i64 n) {
    auto const passes = _1 > 0.0;
    return from(device(x, n)) | reduce(min.maybe(), max.maybe(), argmin.maybe(), last.maybe(), max.where(passes).maybe(),
                                       min.ignoring_nan().maybe(), argmax.where(passes).maybe(), first.where(passes).maybe());
  });
}

} // namespace fold_table
