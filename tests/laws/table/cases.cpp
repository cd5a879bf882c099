// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of all cases.
#include "laws/table/fold_case.hpp"

#include <stdexcept>

namespace fold_table {

void add_f32_tree(case_list&);
void add_f32_free(case_list&);
void add_f64(case_list&);
void add_small_floats(case_list&);
void add_integers(case_list&);
void add_wide_integers(case_list&);
void add_bool(case_list&);
void add_numbers_only(case_list&);
void add_own_folds(case_list&);
void add_columns(case_list&);

case_list const& all_cases() {
  static case_list const all = [] {
    case_list cases;
    for (auto add : {add_f32_tree, add_f32_free, add_f64, add_small_floats, add_integers, add_wide_integers, add_bool,
                     add_numbers_only, add_own_folds, add_columns})
      add(cases);
    return cases;
  }();
  return all;
}

fold_case const& case_named(std::string const& name) {
  for (auto const& c : all_cases())
    if (c->name == name) return *c;
  throw std::out_of_range("the table of folds has no case " + name);
}

} // namespace fold_table
