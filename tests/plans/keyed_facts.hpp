// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planners of folds by key know of rows, and of elements, on an H200, for tests of what they decide.
#pragma once

#include <tally/plan/keys.hpp>
#include <tally/plan/targets.hpp>

/// n rows of columns of f32, or of elements of other bytes, beside keys of 8 bytes.
inline tally::v0::keys_facts rows(tally::v0::i64 n, tally::v0::i64 columns, tally::v0::i64 bins, bool folds_neighbours, int bytes = 4) {
  tally::v0::keys_facts f{};
  f.of.target = tally::v0::targets::h200;
  f.of.extent = n;
  f.of.source_count = 2;
  f.of.sources[0] = {bytes, 1, 16};
  f.of.sources[1] = {8, 1, 16};
  f.of.fold_count = 1;
  f.at = {1, 1, columns, n, {{columns, 1, {1, 0}}}, {{n, columns, {columns, 1}}}, {}};
  f.slots = bins * columns;
  f.own_cell_bytes = folds_neighbours ? 4 : 112;
  f.rows_have_one_key = true;
  f.gives_cells = folds_neighbours;
  f.bytes_of_neighbour = folds_neighbours ? 4 : 0;
  return f;
}

/// n elements of one column of 4 bytes.
inline tally::v0::keys_facts scalars(tally::v0::i64 n, tally::v0::i64 slots, int own_cell_bytes) {
  tally::v0::keys_facts f{};
  f.of.target = tally::v0::targets::h200;
  f.of.extent = n;
  f.of.source_count = 1;
  f.of.sources[0] = {4, 1, 16};
  f.at = {0, 1, 1, n, {}, {{n, 1, {1}}}, {}};
  f.slots = slots;
  f.own_cell_bytes = own_cell_bytes;
  return f;
}
