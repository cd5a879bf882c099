// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts of a matrix and of a batch, in numbers, and what was said against a plan.
#pragma once

#include <tally/plan/mixed.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace tally::v0;

/// One column of f32, sums of rows, columns and all.
inline mixed_facts sums_of(i64 rows, i64 columns, i64 row_step) {
  mixed_facts f{};
  f.of.lanes_per_group = 4;
  f.of.rows_per_leaf = 8;
  f.of.source_count = 1;
  f.of.sources[0] = {4, 1, 16};
  f.of.target = targets::h200;
  f.columns.kept_axes = f.columns.reduced_axes = 1;
  f.columns.groups = columns;
  f.columns.extent = rows;
  f.columns.kept[0] = {columns, 1, {1}};
  f.columns.reduced[0] = {rows, columns, {row_step}};
  f.column_words = 28;
  f.column_bytes = 4;
  f.along_bytes = f.apart_bytes = 8;
  f.commutative = f.total = f.rows = f.folds_columns = true;
  return f;
}
/// The same of a batch of matrices, one behind the other or row by row in turn.
inline mixed_facts sums_of_batch(i64 matrices, i64 rows, i64 columns, bool in_turn = false) {
  auto f = sums_of(rows, columns, in_turn ? matrices * columns : columns);
  i64 const apart = in_turn ? columns : rows * columns;
  f.batched = true;
  f.columns.kept_axes = 2;
  f.columns.groups = matrices * columns;
  f.columns.kept[1] = f.columns.kept[0];
  f.columns.kept[0] = {matrices, apart, {apart}};
  f.columns.reduced[0].position_step = f.columns.reduced[0].steps[0];
  return f;
}
inline bool says(mixed_planned const& p, char const* reason) {
  for (int i = 0; i < p.why_not.count; ++i)
    if (std::string(p.why_not.entries[i].reason).find(reason) != std::string::npos) return true;
  return false;
}
