// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of ignoring_nan() behind masks that let NaN through: an answer of numbers, of NaN alone, and of nothing.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

namespace {
template <class T>
void add_for(case_list& to, std::string const& type) {
  add_case<T>(to, type + " numbers only", [](T const* x, i64 n) {
    return from(device(x, n)) | filter(!(_1 <= 0.f)) |
           reduce(min.ignoring_nan().maybe(), max.ignoring_nan().maybe(), count, sum.ignoring_nan(), mean.ignoring_nan(),
                  minmax.ignoring_nan().where(tally::index % 3 != 1).maybe(), argmin.ignoring_nan().maybe());
  });
}
} // namespace

void add_numbers_only(case_list& to) {
  add_for<float>(to, "f32");
  add_for<f16>(to, "f16");
}

} // namespace fold_table
