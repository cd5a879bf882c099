// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of f16 and bf16.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

namespace {
template <class T>
void add_for(case_list& to, std::string const& type) {
  add_case<T>(to, type + " tree", [](T const* x, i64 n) {
    auto const passes = _1 > 0.f;
    return from(device(x, n)) | reduce(sum, mean, variance, logsumexp(_1 / 16), moments<2>, sum.compensated(), sum.where(passes),
                                       variance.where(passes), product(select(passes, 1.001f, 0.999f)));
  });
  add_case<T>(to, type + " free", [](T const* x, i64 n) {
    auto const passes = _1 > 0.f;
    return from(device(x, n)) | reduce(min.maybe(), max.maybe(), argmin.maybe(), last.maybe(), max.where(passes).maybe(),
                                       min.ignoring_nan().maybe(), argmax.where(passes).maybe(), first.where(passes).maybe());
  });
}
} // namespace

void add_small_floats(case_list& to) {
  add_for<f16>(to, "f16");
  add_for<bf16>(to, "bf16");
}

} // namespace fold_table
