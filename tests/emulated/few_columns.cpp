// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of matrices of few columns, as host code: the answers of the CPU to the last bit, whether a thread has a row, or several have one, or it has several.
#include "emulated/one_matrix.hpp"

using namespace emulated;

TEST_CASE("rows of few columns, to each its thread") {
  folds<float, 150000, 1, true>();
  folds<float, 30001, 3, true>();
  folds<float, 30000, 4, true>();
  folds<float, 20000, 6, true>();
  folds<float, 20011, 12, true>();
}

TEST_CASE("rows of few columns that threads share") {
  folds<float, 20011, 8, true>();
  folds<float, 20011, 16, true>();
  folds<float, 20011, 32, true>();
  folds<float, 9001, 24, true>();
  folds<float, 9001, 48, true>();
  folds<float, 9001, 64, true>();
  folds<float, 5003, 96, true>();
  folds<float, 5003, 128, true>();
  folds<float, 5003, 100, true>();
  folds<float, 5003, 72, true>();
}

TEST_CASE("rows of few columns of other sizes") {
  folds<double, 9001, 3, true>();
  folds<double, 9001, 4, true>();
  folds<double, 9001, 32, true>();
  folds<bf16, 20011, 3, true>();
  folds<bf16, 9001, 64, true>();
  folds<bf16, 9001, 40, true>();
}

TEST_CASE("operands of few columns: what is the same in every row is beside the tiles, what is the same all along one in them") {
  auto const beside_operands = []<class T, i64 Rows, i64 Columns>() { return folds<T, Rows, Columns, true, 1, lie::behind, runs::planned, true>(); };
  beside_operands.operator()<float, 20011, 8>();
  beside_operands.operator()<float, 30001, 3>(); // whose whole is a read of its own
  beside_operands.operator()<float, 9001, 24>();
  beside_operands.operator()<float, 5003, 64>();
  beside_operands.operator()<float, 5003, 100>();
  beside_operands.operator()<double, 9001, 4>();
  beside_operands.operator()<bf16, 9001, 40>();
}
