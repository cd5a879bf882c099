// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rungs of the ladder by which a tile is accumulated into global memory, from the widest instruction to the narrowest,
// and which of them a type, an operation and a chip allow. Layer 2. Alignment and row lengths are numbers of the run: no
// rung is given up for them, the ends of a row are peeled off. plan/accumulate.hpp chooses and says why.
#pragma once

#include <tally/primitive/reducible.hpp>

namespace tally::inline v0::primitive {

/// How a tile gets into global memory.
enum class rung : unsigned char {
  bulk_reduce,     ///< cp.reduce.async.bulk, row by row, from shared memory
  vector_red,      ///< red of up to 16 bytes
  scalar_red,      ///< red of one element, or what stands for it (fold_word.cuh)
  ordered_partials ///< nothing atomic: states of tiles, folded afterwards in their order
};

/// Whether some instruction folds one element into global memory.
template <operation Op, class T>
concept accumulable = scalar_reducible<Op, T, space::global, sm_100> ||
    (floating<T> && (Op == operation::add || Op == operation::min || Op == operation::max));

/// Elements that one red of a chip takes: at most 16 bytes, at least one.
template <operation Op, class T, architecture On>
inline constexpr int red_elements = widest_reduction<Op, T, On>() > 1 ? widest_reduction<Op, T, On>() : 1;

} // namespace tally::inline v0::primitive
