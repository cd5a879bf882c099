// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of bool.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

void add_bool(case_list& to) {
  add_case<bool>(to, "bool free", [](bool const* x, i64 n) {
    return from(device(x, n)) | reduce(any, all, none, count_if(_1), sum, mean, min.maybe(), max.where(tally::index > 40).maybe(),
                                       argmax.maybe(), last.where(!_1).maybe());
  });
  add_case<bool>(to, "bool tree", [](bool const* x, i64 n) {
    return from(device(x, n)) | reduce(variance, sum.in<float>(), mean.in<double>().where(tally::index % 5 != 2));
  });
}

} // namespace fold_table
