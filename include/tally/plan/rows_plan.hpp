// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of one kernel for rows and the lets over them: a row is read once, stays in the registers of the warps that share it, is
// folded as often as there are lets, and is written. Layer 3. Warps of a block share a row that they have room for, blocks of a cluster a longer one.
#pragma once

#include <tally/plan/axes.hpp>
#include <tally/plan/elements_plan.hpp>

namespace tally::v0 {

namespace planning {
/// Of the columns that are not late.
constexpr i64 bytes_held_of_row(axes_facts const& f, int late) {
  i64 bytes = 0;
  for (int c = 0; c < f.of.source_count; ++c)
    bytes += (late >> c & 1) != 0 ? 0 : f.of.sources[c].bytes_per_element;
  return bytes;
}
/// Leaves of a row that the warps of a block hold at most, one each: 32, if a thread's part leaves half of its registers free, else 16.
constexpr int most_leaves_on_chip(axes_facts const& f, int late) { return bytes_held_of_row(f, late) * f.of.elements_per_leaf() <= 32 * 128 ? 32 : 16; }
/// Columns that no let looks at and that every row has again, as weights are: they are in L1 or L2 when elements are written, and their registers are free
/// before. Rows of blocks that share a multiprocessor have them in time. us of layer norm with weights and biases, H100, 2026-11-25 23:47 and 23:48, all
/// columns in registers, late in a block, and late in clusters of blocks of 8 warps: 13000 rows of 20000 1093, 754, 908; 10000 of 25000 -, 724, 922; 8192 of
/// 32768 1001, 1107, 813; 4096 of 65536 1125, -, 850; 2048 of 131072 1275, -, 953; 6000 of 40001 1855, -, 966; 16384 of 16384 in registers 782, late 801.
inline constexpr i64 most_warps_beside_late = 28; ///< whose threads have 72 registers
constexpr int choose_late(axes_facts const& f) {
  int late = 0;
  for (int c = 0; c < f.of.source_count; ++c) {
    bool again = f.at.groups > 1 && f.element_step(c) != 0;
    for (int k = 0; k < f.at.kept_axes; ++k)
      again = again && f.at.kept[k].steps[c] == 0;
    late |= again ? f.written_only & 1 << c : 0;
  }
  return late;
}
/// Warps of a block of a cluster: as few as the cluster allows, so that more blocks share a multiprocessor and one folds while another waits.
/// H100, 2026-11-25, us of softmax of 4096 rows of 65536 floats by blocks of 8, 16 and 32 warps 877, 900 and 981, of 2048 of 131072 by 16 and 32
/// 922 and 1058. A row that one block holds stays in one: 8192 of 32768 755, in a cluster 817 to 830. Rows that take more than 16 warps in clusters
/// that every chip has ask for larger ones: 1024 of 262144 by 8 blocks of 32 warps and 16 of 16 966 and 865, 1400 of 196608 1085 and 919; but 2048 of
/// 131072 by 8 blocks of 16 and 16 of 8 808 and 801.
inline constexpr int least_warps_of_cluster_block = 8, most_warps_of_every_cluster = 16;
constexpr int leaves_of_cluster_block(i64 leaves, target const& t, int most, bool late) {
  int warps = least_warps_of_cluster_block;
  while (warps < most && i64(warps) * (warps < most_warps_of_every_cluster && !late ? t.max_cluster_blocks : t.most_cluster_blocks) < leaves)
    warps *= 2;
  return warps;
}
/// Blocks of up to 16 warps share a multiprocessor without being told to; one waits while the other folds. Of larger ones two do where that leaves
/// a thread 48 registers, its row and what it needs beside it, or 56 where lanes are turned. H100, 2026-11-25, us of softmax of 16381 rows of 16387
/// floats by two blocks and one a multiprocessor 773 and 934, of 13000 of 20001 919 and 828.
inline constexpr int most_warps_that_share = 16, most_warps_of_two_blocks = 20, most_turned_warps_of_two_blocks = 18;
/// Bytes for each multiprocessor that lie between a row and the one that is asked for while it is loaded, about half of what is on the chip: what is
/// asked for later is not there in time, what is asked for earlier is gone again. H100, 2026-11-25, us of softmax of 4096 rows of 65536 floats that
/// ask for none, and for what lies 2, 4, 5, 8 and 16 MiB behind: 856, 822, 807, 816, 835 and 1105; of 13000 of 20001 938, 916 (1.2), 863 (2.5), 851 (5).
inline constexpr i64 bytes_asked_ahead = 40 << 10;
} // namespace planning

/// A plan, its blocks, and whether there is one at all: if not, why_not says so.
struct rows_planned {
  elements_plan plan;
  i64 blocks;
  i64 rows_ahead; ///< how far behind a row the one is that it asks for, if the plan asks
  bool possible;
  why_not_list why_not;
};

/// Plans rows that are folded and written by one kernel; the innermost axis is the one that the lets fold away.
constexpr rows_planned make_rows_plan(axes_facts const& f, written_facts const* to, int arrays) {
  rows_planned out{};
  i64 const of_leaf = f.of.elements_per_leaf(), leaves = f.at.extent > 0 ? (f.at.extent - 1) / of_leaf + 1 : 0;
  if (f.at.reduced_axes != 1 || !planning::lies_along(f)) {
    out.why_not.add("one kernel for rows", "neighbouring elements of a row are not neighbours in every column");
    return out;
  }
  int const late = leaves > planning::most_warps_that_share && f.of.target.max_cluster_blocks > 1 ? planning::choose_late(f) : 0;
  int const of_block = planning::most_leaves_on_chip(f, late), most_blocks = f.of.target.most_cluster_blocks;
  i64 const alone = late != 0 ? planning::least_of(of_block, planning::most_warps_beside_late) : of_block;
  if (leaves > i64(of_block) * most_blocks) {
    out.why_not.add("one kernel for rows", most_blocks > 1 ? "a row takes {0} leaves, the blocks of a cluster hold at most {1}" : "a row takes {0} leaves, a block holds at most {1}",
                    -1, leaves, i64(of_block) * most_blocks);
    return out;
  }
  if (leaves == 0)
    return out;
  out.possible = true;
  axes_plan& p = out.plan.strip = make_axes_plan(f).plan;
  p.batches = 1;
  p.blocks_share = p.rows_apart = false;
  p.one_leaf_a_warp = true;
  p.evicts_first = false;
  p.late = late;
  p.realigned = planning::choose_realigned(f, p, 4); // pieces that are written are aligned too
  i64 groups_of_block = 1;
  if (p.one_leaf) {
    p.warps_per_block = warps_of_elements;
    groups_of_block = i64(p.warps_per_block) * p.threads_across;
  } else if (leaves > alone) {
    p.warps_per_group = p.warps_per_block = planning::leaves_of_cluster_block(leaves, f.of.target, of_block, late != 0);
    out.plan.blocks_per_row = int((leaves - 1) / p.warps_per_group) + 1;
    p.extent_fits = f.at.extent % (of_leaf * p.warps_per_group) == 0; // no warp is without a leaf
  } else {
    p.warps_per_group = int(leaves);
    p.warps_per_block = p.warps_per_group * (p.warps_per_group < warps_of_elements ? warps_of_elements / p.warps_per_group : 1);
    groups_of_block = p.warps_per_block / p.warps_per_group;
    p.extent_fits = f.at.extent % of_leaf == 0;
  }
  bool const two_blocks = p.warps_per_block <= (p.realigned != 0 ? planning::most_turned_warps_of_two_blocks : planning::most_warps_of_two_blocks);
  p.blocks_per_multiprocessor = p.warps_per_block > planning::most_warps_that_share && two_blocks && late == 0 ? 2 : 0;
  out.plan.asks_ahead = f.of.target.compute_major >= 9 && f.of.bytes_per_row() > 0 && leaves > planning::most_warps_that_share && p.blocks_per_multiprocessor == 0;
  i64 const row_bytes = planning::bytes_held_of_row(f, late) * f.at.extent;
  out.rows_ahead = row_bytes > 0 ? planning::bytes_asked_ahead * f.of.target.multiprocessors / row_bytes + 1 : 1;
  int const lanes = p.lanes_in_leaf / p.threads_along();
  for (int i = 0; i < arrays; ++i) {
    int bytes = to[i].bytes_per_element;
    while (bytes < 16 && bytes * 2 <= lanes * to[i].bytes_per_element && f.at.extent % lanes == 0 && to[i].address_alignment >= bytes * 2)
      bytes *= 2;
    out.plan.bytes_per_store[i] = bytes;
  }
  out.blocks = ((f.at.groups - 1) / groups_of_block + 1) * out.plan.blocks_per_row;
  return out;
}

} // namespace tally::v0
