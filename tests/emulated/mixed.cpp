// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of rows, columns and the whole of a matrix, as host code: the answers of the CPU to the last bit, whatever the length of a row, by the plan that
// the planner makes and by chips without a bulk engine.
#include "emulated/one_matrix.hpp"

using namespace emulated;

TEST_CASE("rows that are subtrees of the whole, whose leaves are its own, and that begin anywhere") {
  folds<float, 150, 2048, true>();
  folds<float, 150, 3072, true, 1, lie::behind, runs::of_units>();
  folds<float, 1100, 1027, true>();
  folds<float, 2100, 1030, true>();
}

TEST_CASE("rows shorter than a leaf") {
  folds<float, 1100, 512, true>();
  folds<float, 1100, 255, true>();
  folds<float, 1030, 192, true>();
  folds<float, 1030, 769, true>();
  folds<float, 200, 1000, true>();
  folds<float, 2050, 1023, true>();
}

TEST_CASE("chips without a bulk engine") {
  folds<float, 1100, 1027, false>();
  folds<float, 1100, 770, false>();
  folds<float, 200, 1803, false, 3>();
}

TEST_CASE("matrices of a batch, one behind the other or row by row in turn") {
  folds<float, 150, 2048, true, 3>();
  folds<float, 256, 3072, true, 2>();
  folds<float, 1100, 1027, true, 3>();
  folds<float, 1030, 769, true, 2>();
  folds<float, 150, 2048, true, 3, lie::in_turn>();
  folds<float, 1100, 1027, true, 2, lie::in_turn>();
}

TEST_CASE("the whole of every matrix of a batch, of rows, of their leaves and of leaves that begin anywhere") {
  folds<float, 150, 2048, true, 3, lie::each_behind>();
  folds<float, 1100, 1024, true, 3, lie::each_behind>();
  folds<float, 300, 3072, true, 3, lie::each_behind, runs::of_units>();
  folds<float, 256, 1100, true, 3, lie::each_behind, runs::of_units>(); // 275 leaves a matrix
  folds<float, 1280, 772, true, 2, lie::each_behind>();
  folds<float, 150, 2048, true, 3, lie::each_in_turn>();
  folds<float, 100, 3072, true, 3, lie::each_in_turn>();
}

TEST_CASE("the columns of a batch beside the whole of every matrix, or of all, and the rows beside that of every matrix") {
  folds<float, 150, 2048, true, 3, lie::columns_and_each>();
  folds<float, 256, 1100, true, 3, lie::columns_and_each, runs::of_units>();
  folds<float, 150, 3072, true, 3, lie::columns_and_all>();
  folds<float, 1100, 1027, true, 2, lie::columns_and_all>();
  folds<float, 150, 3072, true, 3, lie::rows_and_each>();
  folds<float, 256, 1100, true, 3, lie::rows_and_each, runs::of_units>();
}

TEST_CASE("tiles of several lanes, where matrices have fewer rows than a leaf has elements") {
  folds<float, 64, 2048, true, 3>();
  folds<float, 100, 1024, true, 3>();
  folds<float, 128, 2048, true, 2>();
  folds<float, 256, 1027, true, 3>();
  folds<float, 300, 1801, true, 2>();
  folds<float, 512, 3072, true>();
  folds<float, 1100, 1026, true, 2>();
  folds<float, 1500, 1024, true, 2>();
  folds<float, 77, 1031, true, 3, lie::in_turn>();
  folds<float, 70, 1027, false, 3>();
}
