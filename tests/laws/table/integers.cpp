// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cases of six integer types; i32 and u64, with every fold that integers have, are in wide_integers.cpp.
#include "laws/table/make_case.hpp"

namespace fold_table {

using namespace tally::v0;

namespace {
template <class T>
void add_for(case_list& to, std::string const& type) {
  add_case<T>(to, type + " free", [](T const* x, i64 n) {
    auto const passes = _1 % 3 != 0;
    return from(device(x, n)) | reduce(sum, mean, min.maybe(), max.maybe(), argmin.maybe(), bit_xor, sum.where(passes),
                                       max.where(passes).maybe(), argmax.where(passes).maybe(), last.where(passes).maybe());
  });
  add_case<T>(to, type + " tree", [](T const* x, i64 n) {
    auto const passes = _1 % 3 != 0;
    return from(device(x, n)) | reduce(sum.template in<float>(), variance, sum.template in<double>().where(passes));
  });
}
} // namespace

void add_integers(case_list& to) {
  add_for<i8>(to, "i8");
  add_for<i16>(to, "i16");
  add_for<i64>(to, "i64");
  add_for<u8>(to, "u8");
  add_for<u16>(to, "u16");
  add_for<u32>(to, "u32");
}

} // namespace fold_table
