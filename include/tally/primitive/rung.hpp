// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rungs of the ladder by which a tile is accumulated, into global memory, shared memory or another block's, from the
// widest instruction to the narrowest, and which of them a type, an operation and a chip allow. Layer 2. Alignment and row lengths are numbers of the run: no
// rung is given up for them, the ends of a row are peeled off. plan/accumulate.hpp chooses and says why.
#pragma once

#include <tally/primitive/reducible.hpp>

namespace tally::v0::primitive {

/// How a tile gets into a table.
enum class rung : unsigned char {
  bulk_reduce,     ///< cp.reduce.async.bulk, row by row, from shared memory to global memory or another block
  vector_red,      ///< red of up to 16 bytes of global memory
  scalar_red,      ///< red of one element or a pair of halves, or what stands for it (fold_word.cuh)
  ordered_partials ///< nothing atomic: states of tiles, folded afterwards in their order
};

/// Whether some instruction folds one element into a space: not the least or greatest of 64 bits in another block, for which
/// no atomic instruction is known to be right (atomic_everywhere).
template <operation Op, class T, space To = space::global>
concept accumulable =
    (scalar_reducible<Op, T, space::global, sm_100> ||
     (floating<T> && (Op == operation::add || Op == operation::min || Op == operation::max))) &&
    !(To == space::shared_cluster && sizeof(T) == 8 && (Op == operation::min || Op == operation::max));

/// How f16 and bf16 travel in a vector: red.v4.f16x2 or red.v8.f16. ptxas 13.0 makes one machine instruction of both
/// (REDG.E.ADD.F16x8 on sm_90, and F16x2 of red.f16x2 and red.v2.f16), so pairs where two are in one register already, and alone
/// where each was made by itself (kernel/keyed_read.cuh).
enum class halves : unsigned char { in_pairs, alone };

/// The widest red that may be used, in bytes: 16, 8, 4, 2.
struct red_width {
  int bytes = 16;
  halves travel = halves::in_pairs;
};

/// Elements that one red of a chip and a space takes: at most that many bytes, at least one element.
template <operation Op, class T, architecture On, space To = space::global, int Bytes = 16>
inline constexpr int red_elements = widest_reduction<Op, T, On, To>() <= 1 || Bytes <= int(sizeof(T)) ? 1
    : widest_reduction<Op, T, On, To>() * int(sizeof(T)) < Bytes ? widest_reduction<Op, T, On, To>()
                                                                 : Bytes / int(sizeof(T));

} // namespace tally::v0::primitive
