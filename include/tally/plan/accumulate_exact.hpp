// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tile of rows of floats gets exactly into the rows of a table: through 64-bit lanes by red or in bulk, or gathered by
// key; how each step is launched, and why not otherwise. Layer 3. The bits are the same whichever is chosen.
#pragma once

#include <tally/plan/accumulate.hpp>

namespace tally::v0::planning {

/// The ways to exact sums of rows (primitive/rows_exact.cuh, primitive/rows_gathered.cuh).
enum class exact_rung : unsigned char {
  lanes_by_red,  ///< red of 64-bit lanes, then the lanes into the table
  lanes_in_bulk, ///< cp.reduce.async.bulk of rows of lanes, then the same
  gathered       ///< rows are filed under their keys, then each key's rows are read and added in registers
};

/// What was chosen.
struct exact_accumulation {
  exact_rung how = exact_rung::lanes_by_red;
  int threads_per_block = 256;
  i64 blocks = 1;              ///< that add, or file
  i64 finish_blocks = 1;       ///< that finish, or gather
  int bytes_per_warp = 0;      ///< of shared memory, in bulk
  int per_key = 0;             ///< room for rows of a key, where they are filed; a multiple of 4
  bool larger_than_l2 = false; ///< the lanes are
  why_not_list why;
};

/// Room for the rows of a key where keys are spread evenly: beyond it rows go to lanes. A multiple of 4.
constexpr int room_per_key(i64 rows, i64 table_rows) {
  i64 const mean = table_rows > 0 ? (rows - 1) / table_rows + 1 : 0;
  i64 deviation = 1;
  while (deviation * deviation < mean) ++deviation;
  return int((mean + 4 * deviation + 4 + 3) / 4 * 4);
}

/// Threads that gather the rows of one key.
constexpr i64 gathering_lanes(tile_facts const& f) {
  i64 const windows = (i64(f.columns) * f.bytes_per_element - 1) / 16 + 1;
  i64 lanes = 1;
  while (lanes < windows && lanes < 32) lanes *= 2;
  return lanes;
}

/// The launch of a rung.
constexpr exact_accumulation launch_of(tile_facts const& f, exact_rung how) {
  exact_accumulation a;
  a.how = how;
  auto const blocks_for = [&](i64 threads) { return threads <= 0 ? 1 : (threads - 1) / a.threads_per_block + 1; };
  i64 const row_lanes = f.columns + f.columns % 2, elements = f.rows * f.columns;
  a.larger_than_l2 = f.table_rows * row_lanes * 8 > f.target.l2_bytes;
  a.finish_blocks = blocks_for(f.table_rows * row_lanes / 2);
  if (how == exact_rung::gathered) {
    a.blocks = blocks_for(f.rows);
    // Where keys are many, a warp has several, whose counts it asks for at once: 512 f32 a row to 10^6 keys 1446 us with a key a warp, 945 in
    // four rounds of four resident blocks (H200, 2026-11-24, tests/bench/scatter.py --exact gathered).
    i64 const a_key_a_group = blocks_for(f.table_rows * gathering_lanes(f)), in_rounds = i64(f.target.multiprocessors) * 4 * 4;
    a.finish_blocks = a_key_a_group < in_rounds ? a_key_a_group : in_rounds;
    a.per_key = room_per_key(f.rows, f.table_rows);
  } else if (how == exact_rung::lanes_in_bulk) {
    i64 const all = blocks_for(elements / 16), resident = i64(f.target.multiprocessors) * 3;
    a.blocks = all < resident ? all : resident;
    a.bytes_per_warp = 8192;
  } else {
    a.blocks = blocks_for(elements / 8);
  }
  return a;
}

/// Whether a tile should be gathered by key, and the sentence why not. H200, CUDA 13.0, 2026-11-20, 2^28 f32, tests/bench/scatter.py
/// --exact red,bulk,gathered: 16 a row to 10^4 keys 883 us in bulk, 1298 gathered, to 10^6 1774 and 1500; 64 a row to 1000 keys
/// 893 and 1576, to 10^5 1125 and 488; 128 a row to 1000 keys 813 and 773, to 10^6 2400 and 969. bf16, 128 a row to 1000 keys: 739
/// and 1042.
constexpr bool gathering_pays(tile_facts const& f, why_not_list& why) {
  constexpr i64 least_row_bytes = 128, most_rows_a_key = 2200, least_threads = 32'000;
  if (f.rows >= i64(1) << 32) {
    why.add("gathered", "rows are numbered in 32 bits, and there are {0}", -1, f.rows);
    return false;
  }
  if (f.rows > most_rows_a_key * f.table_rows) {
    why.add("gathered", "{0} rows to {1} keys would wait for each other to be filed", -1, f.rows, f.table_rows);
    return false;
  }
  if (f.table_rows * (f.columns + f.columns % 2) * 8 > f.target.l2_bytes) return true;
  if (i64(f.columns) * f.bytes_per_element < least_row_bytes) {
    why.add("gathered", "rows of {0} bytes are short, and the lanes of the table fit into L2", -1,
            i64(f.columns) * f.bytes_per_element);
    return false;
  }
  if (f.table_rows * gathering_lanes(f) < least_threads) {
    why.add("gathered", "{0} keys keep too few threads busy", -1, f.table_rows);
    return false;
  }
  return true;
}

/// The way for a tile, and its launch. Red is for chips without a bulk copy engine: at 2^28 f32 to tables that fit into L2 it
/// takes 1.3 to 1.7 times as long as bulk (command above).
constexpr exact_accumulation choose_exact_rung(tile_facts const& f) {
  why_not_list why;
  exact_rung how = exact_rung::lanes_by_red;
  if (gathering_pays(f, why))
    how = exact_rung::gathered;
  else if (f.target.compute_major >= 9)
    how = exact_rung::lanes_in_bulk;
  else
    why.add("lanes in bulk", "sm_{0}{1} has no bulk copy engine", -1, f.target.compute_major, f.target.compute_minor);
  auto a = launch_of(f, how);
  a.why = why;
  return a;
}

} // namespace tally::v0::planning
