// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of f32: the folds that are free of order.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

void add_f32_free(case_list& to) {
  add_case<float>(to, "f32 free", [](float const* x, i64 n) {
    auto const passes = _1 > 0.f;
    return from(device(x, n)) |
           reduce(minmax.maybe(), argmin.maybe(), argmax.maybe(), first.maybe(), last.maybe(), min.ignoring_nan().maybe(),
                  count, count_modulo(7), minmax.where(passes).maybe(), argmin.where(passes).maybe(),
                  argmax.where(passes).maybe(), first.where(passes).maybe(), last.where(passes).maybe(), any(_1 > 127.5f),
                  countdown_modulo(5).where(passes));
  });
}

} // namespace fold_table
