// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a tile of rows gets into the rows of a table: which rung of the ladder, how it is launched, and why not a wider one;
// and by which instruction a ragged tile ends and a count is published.
// Layer 3. It needs the contract and the chip, and nothing of the pipeline: whoever plans a keyed, a column or a histogram
// route asks here. Alignment costs no rung: the device peels the ends of every row (primitive/accumulate.cuh).
#pragma once

#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>
#include <tally/primitive/rung.hpp>

namespace tally::v0::planning {

/// What is to be accumulated. Lengths in elements.
struct tile_facts {
  primitive::operation op;
  primitive::element_type type; ///< of one element: f16 and bf16, not their pairs
  int bytes_per_element;
  i64 rows;
  int columns;
  i64 table_rows;
  bool in_shared_memory; ///< the tile is already there, so the bulk engine costs no copy
  contract promise;
  tally::v0::target target;
  primitive::space table = primitive::space::global; ///< or shared memory of the block, or of blocks of its cluster
};

/// What was chosen.
struct accumulation {
  primitive::rung how = primitive::rung::ordered_partials;
  int elements_per_red = 1; ///< of the widest red; rows of half as many take the next narrower one
  int threads_per_block = 256;
  i64 blocks = 1;
  int copies = 1;              ///< of the table, over which blocks spread, at their identities before and after
  bool larger_than_l2 = false; ///< the table is: its lines are asked for while the tile is loaded
  why_not_list why;
};

namespace detail {
constexpr primitive::architecture chip_of(tally::v0::target const& t) {
  return {short(t.compute_major * 10 + t.compute_minor)};
}
/// The form a rung would use; pairs travel where halves come in vectors.
constexpr primitive::element_type pair_of(primitive::element_type type) {
  using enum primitive::element_type;
  return type == f16 ? f16x2 : type == bf16 ? bf16x2 : type;
}
constexpr primitive::form form_of(tile_facts const& f, primitive::rung how, int width) {
  using namespace primitive;
  auto const type = how == rung::vector_red ? pair_of(f.type) : f.type;
  if (how == rung::bulk_reduce)
    return {.instruction = family::reduce_bulk,
            .op = f.op,
            .type = type,
            .destination = f.table,
            .source = space::shared_cta,
            .completion = f.table == space::global ? completion::bulk_group : completion::mbarrier,
            .noftz = keeps_subnormals(family::reduce_bulk, f.op, type)};
  return {.instruction = family::red,
          .op = f.op,
          .type = type,
          .destination = f.table,
          .order = semantics::relaxed,
          .scope = f.table == space::shared_cta       ? scope::cta
                   : f.table == space::shared_cluster ? scope::cluster
                                                      : scope::gpu,
          .width = static_cast<unsigned char>(width),
          .noftz = keeps_subnormals(family::red, f.op, type, width)};
}
constexpr bool is_float(primitive::element_type t) {
  return t >= primitive::element_type::f16; // the floats are the last of the list
}
constexpr bool rounds(tile_facts const& f) { return f.op == primitive::operation::add && is_float(f.type); }
} // namespace detail

/// Elements that one red takes on this chip, in this space: those of 16 bytes where it has a vector of them, a pair of halves
/// where it has that, else 1. Rows that are narrower still take the reds of 8 and 4 bytes.
constexpr int elements_per_red(tile_facts const& f) {
  using primitive::rung;
  auto const chip = detail::chip_of(f.target);
  if (legal(detail::form_of(f, rung::vector_red, 4), chip)) return 16 / f.bytes_per_element;
  return detail::pair_of(f.type) != f.type && legal(detail::form_of(f, rung::vector_red, 1), chip) ? 2 : 1;
}

/// Whether the bulk engine should carry the rows, and the sentence why not.
constexpr bool bulk_pays(tile_facts const& f, why_not_list& why) {
  auto const form = detail::form_of(f, primitive::rung::bulk_reduce, 1);
  if (f.table == primitive::space::shared_cta) {
    why.add("bulk reduce", "the bulk engine reduces into global memory and other blocks, not inside a block");
    return false;
  }
  if (primitive::since(form) == 0) {
    why.add("bulk reduce", "cp.reduce.async.bulk does not know this operation on this type");
    return false;
  }
  if (!legal(form, detail::chip_of(f.target))) {
    why.add("bulk reduce", "sm_{0}{1} has no bulk copy engine", -1, f.target.compute_major, f.target.compute_minor);
    return false;
  }
  i64 const bytes = i64(f.columns) * f.bytes_per_element;
  if (bytes < 32) {
    why.add("bulk reduce", "rows of {0} bytes may hold no 16 aligned ones", -1, bytes);
    return false;
  }
  // H200, CUDA 13.0, 2026-11-20, tests/bench/scatter.py --rungs ladder,bulk,scalar: 64 f64 a row to 1000 keys 325 us in
  // bulk, 285 by scalar red; 64 f32 to 10^5 keys 1548 in bulk, 494 by vector red. In bulk is never quicker.
  if (!f.in_shared_memory)
    why.add("bulk reduce", "the rows are not in shared memory, and red from registers is quicker than the way there");
  return f.in_shared_memory;
}

/// Whether red takes more than one element at once, and the sentence why not.
constexpr bool vector_pays(tile_facts const& f, why_not_list& why) {
  if (f.columns == 1) {
    why.add("vector red", "rows of one column are no vectors");
    return false;
  }
  if (f.table != primitive::space::global) {
    why.add("vector red", "red has vectors in global memory only");
    return false;
  }
  if (elements_per_red(f) > 2) return true;
  auto on_newer = f;
  on_newer.target.compute_major = 10;
  if (elements_per_red(on_newer) > 2)
    why.add("vector red", "sm_{0}{1} has no vector red", -1, f.target.compute_major, f.target.compute_minor);
  else
    why.add("vector red", "red knows no vector of this type under this operation");
  return false;
}

/// Windows of 16 bytes that a thread takes. A grid that covers the tile once, and not a few blocks that stay, keeps the
/// chip even: H200, CUDA 13.0, 2026-11-20, 2^28 f32, 16 a row, 10^6 keys: 839 us, with 8 blocks a multiprocessor 931.
inline constexpr int windows_per_thread = 4;
/// Tables up to this size are spread over copies, all of them together up to the second: H200, CUDA 13.0, 2026-11-20,
/// 2^28 bf16, 1000 keys: 16 a row 513 -> 410 us, 64 a row 318 -> 280, 128 a row (250 KiB) no gain.
inline constexpr i64 spread_table_bytes = 128 << 10, spread_bytes = 1 << 20;

constexpr int copies_of_table(tile_facts const& f) {
  i64 const bytes = f.table_rows * f.columns * f.bytes_per_element;
  if (bytes == 0 || bytes > spread_table_bytes || f.rows < 64 * f.table_rows) return 1;
  return spread_bytes / bytes < 64 ? int(spread_bytes / bytes) : 64;
}

/// The rung for a tile, and its launch.
constexpr accumulation choose_rung(tile_facts const& f) {
  using primitive::rung;
  accumulation a;
  if (f.promise != contract::fast && detail::rounds(f)) {
    char const* const because = f.promise == contract::exact
                                    ? "the contract is exact and the addition rounds: choose_exact_rung knows the ways to exact sums"
                                    : "the contract is reproducible and the addition rounds: its bits depend on the order";
    a.why.add("bulk reduce", because);
    a.why.add("vector red", because);
    a.why.add("scalar red", because);
    return a;
  }
  a.how = bulk_pays(f, a.why) ? rung::bulk_reduce : vector_pays(f, a.why) ? rung::vector_red : rung::scalar_red;
  if (a.how == rung::bulk_reduce) return a; // launched by whoever filled the shared memory
  a.elements_per_red = f.columns > 1 ? elements_per_red(f) : 1;
  if (f.table != primitive::space::global) return a; // launched by whoever has the table
  a.copies = copies_of_table(f);
  // H200, CUDA 13.0, 2026-11-20, 2^28 elements to 10^6 keys: 64 f32 a row 860 -> 754 us, 512 f32 925 -> 788, 512 bf16 461 -> 395;
  // where the table fits (60 MiB), asking costs up to a fifth.
  a.larger_than_l2 = f.table_rows * f.columns * f.bytes_per_element > f.target.l2_bytes;
  i64 const windows = f.rows * ((f.columns - 1) / a.elements_per_red + 1);
  i64 const per_block = i64(a.threads_per_block) * windows_per_thread;
  a.blocks = windows == 0 ? 1 : (windows - 1) / per_block + 1;
  return a;
}

/// Who stores the ends of a tile that are no 16 bytes, when the bulk engine stores the rest (primitive/store_ring.cuh).
enum class ragged_ends : unsigned char { byte_mask, threads };
constexpr ragged_ends choose_ends(tally::v0::target const& t, why_not_list& why) {
  using namespace primitive;
  constexpr form masked{.instruction = family::copy_bulk,
                        .destination = space::global,
                        .source = space::shared_cta,
                        .completion = completion::bulk_group,
                        .byte_mask = true};
  if (legal(masked, detail::chip_of(t))) return ragged_ends::byte_mask;
  why.add("byte mask", "sm_{0}{1} has no cp_mask: threads store the ends of a tile", -1, t.compute_major, t.compute_minor);
  return ragged_ends::threads;
}

/// How a count in global memory is published (primitive/publish.cuh).
enum class publishing : unsigned char { red_async_release, red_release };
constexpr publishing choose_publishing(tally::v0::target const& t, why_not_list& why) {
  if (legal(primitive::published_reduction<primitive::operation::add, u32>(), detail::chip_of(t)))
    return publishing::red_async_release;
  why.add("red.async.release", "sm_{0}{1} has none: red.release instead", -1, t.compute_major, t.compute_minor);
  return publishing::red_release;
}

} // namespace tally::v0::planning
