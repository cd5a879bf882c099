// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of f32: the folds that round, so that their bits follow the tree.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

void add_f32_tree(case_list& to) {
  add_case<float>(to, "f32 tree", [](float const* x, i64 n) {
    auto const passes = _1 > 0.f;
    auto const near_one = select(_1 > 0.5f, 1.0009765625f, 0.9990234375f);
    return from(device(x, n)) |
           reduce(sum, mean, product(near_one), variance, moments<4>, norm<2>, logsumexp(_1 / 16), sum.compensated(),
                  covariance(_1, _1 * _1), sum.where(passes), product(near_one).where(passes), variance.where(passes),
                  moments<4>.where(passes), logsumexp(_1 / 16).where(passes), sum.compensated().where(passes),
                  covariance(_1, _1 * _1).where(passes), norm<3>.where(passes));
  });
}

} // namespace fold_table
