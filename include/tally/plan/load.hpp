// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How each source reaches registers. Layer 3. What a load needs of a column's type is a concept, and the most constrained
// overload that applies is the load (facts.sources[i].best_load); addresses and extents, which are numbers, may take it back.
// It stands after the order because it never depends on a fold.
#pragma once

#include <tally/element/spread.hpp>
#include <tally/plan/facts.hpp>
#include <tally/plan/why_not.hpp>

namespace tally::v0::planning {

/// A column whose neighbours are neighbours in memory: its groups can be loaded whole.
template <class C>
concept vector_loadable = memory_column<C> && !requires(C c) { c.stride; } && !requires(C c) { c.strides; };

/// The best load a column's type allows: nothing is loaded,
template <class C>
constexpr load_primitive load_of() {
  return load_primitive::computed;
}
/// or neighbouring threads load neighbouring elements, wherever those lie,
template <memory_column C>
constexpr load_primitive load_of() {
  return load_primitive::striped_ldg;
}
/// or a thread loads its neighbours at once,
template <vector_loadable C>
  requires memory_column<C>
constexpr load_primitive load_of() {
  return load_primitive::vector_ldg;
}
/// or finds the row of a grid on which they lie.
template <memory_column C>
  requires(axes_of_column<C> > 0)
constexpr load_primitive load_of() {
  return load_primitive::grid_vector_ldg;
}

/// Leaves a warp needs before a ring has anything to fill ahead. H200, CUDA 13.0, 2026-11-20, sum, min, max, mean and
/// variance of f32 (tests/bench/tune five): 2^24 31.5 -> 25.7 us, 2^28 300 -> 249 us.
inline constexpr int leaves_per_ring = 8;
/// The same for exact sums, which are closed once a block either way. Same day, without a ring and with one: f32 2^24 20.6, 22.1;
/// 2^26 65.7, 66.9; 2^27 126.2, 125.3; 2^28 238.8, 237.0; a dot product of f32 of 2^28 483, 501.
inline constexpr int leaves_per_ring_of_exact = 64;
/// Leaves of a warp where launches read ahead, without a ring or of more columns than one.
inline constexpr int leaves_ahead = 16;

/// Whether a launch that reads ahead folds one column: then a ring pays whatever it folds.
constexpr bool column_ahead(facts const& f, plan const& p) { return p.reads_ahead && f.sources_named() == 1 && !f.any_exact(); }
/// Whether it folds elements of at most a word into one word, as fast as they come.
constexpr bool word_ahead(facts const& f, plan const& p) {
  return column_ahead(f, p) && f.bytes_per_row() <= 4 && f.state_bytes() <= 4;
}

/// The rings of a block: leaves of a warp, stages, and the most threads. Which banks of memory are asked at once follows from where the
/// warps of a block stand: with 16 KB in flight of pieces of 128 KB they are read as fast as by blocks that go through memory side by side,
/// with 8 KB of pieces of 64 KB 1 % slower. H200, CUDA 13.0, 2026-11-24 (TUNE_QUEUED=1 TUNE_THREADS=256,512 TUNE_LEAVES=8,16,32
/// TUNE_STAGES=0,2,4 tests/bench/tune), us of threads x leaves x stages: sum of f32 of 2^24 256x32x4 14.97, 512x16 without a ring 15.14; of
/// 2^25 256x32x4 29.48, 512x16x2 29.66; of 2^28 234.7, 235.4; of 2^30 931.9, 937.1; of bf16 of 2^25 14.99, without a ring 15.6, of 2^28
/// 116.6, 123.5. Sum, min, max, mean and variance of f32 of 2^25 512x32x2 30.52, 512x16 without 31.32; of 2^28 241.0, 241.9; of bf16 of
/// 2^25 16.4, 18.3; of f64 of 2^24 38.1, 42.4. A sum of exponentials of 2^25 and 2^28 256x16x2, of which two blocks are resident, 30.3
/// and 243, 512x16x2 of 2^28 246, 256x32x4 285 (tests/bench/run.py, 2026-11-25 04:06, 03:38, 00:42).
constexpr int leaves_of_ring(facts const& f, plan const& p) {
  return column_ahead(f, p) && !f.calls_functions ? 32 : p.reads_ahead ? leaves_ahead : leaves_per_ring;
}
constexpr bool few_warps_keep_up(facts const& f, plan const& p) { return word_ahead(f, p) && !f.calls_functions; }
constexpr int stages_of_ring(facts const& f, plan const& p) { return few_warps_keep_up(f, p) ? 4 : 2; }
constexpr int most_threads_of_ring(facts const& f, plan const& p) { return word_ahead(f, p) ? 256 : 512; }

/// Shared memory of a block of rings: the rings of its warps, and the states that meet there.
constexpr i64 ring_block_bytes(facts const& f, plan const& p, int threads) {
  i64 const states = f.any_exact() ? i64(threads / 32) * 2 * f.state_bytes() + i64(threads) * 8 : i64(threads) * f.state_bytes();
  return f.bytes_per_row() * f.elements_per_leaf() * stages_of_ring(f, p) * (threads / 32) + states;
}
/// The largest block whose rings fit: few blocks meet sooner than many. At least 128.
constexpr int threads_of_ring(facts const& f, plan const& p) {
  int threads = most_threads_of_ring(f, p);
  while (threads > 128 && ring_block_bytes(f, p, threads) > f.target.shared_bytes_per_block)
    threads /= 2;
  return threads;
}

/// Leaves from which a ring pays. Where launches read ahead its shared memory leaves the next one no room beside it: of one column it pays
/// from three warps of 32 leaves a multiprocessor on, whose blocks are for the multiprocessors that the launch in front has left; of more from four
/// blocks on.
constexpr i64 leaves_for_ring(facts const& f, plan const& p) {
  return f.target.multiprocessors * (column_ahead(f, p) ? i64(96)
                                     : p.reads_ahead     ? i64(16) * leaves_ahead * 4
                                     : f.any_exact()     ? i64(12) * leaves_per_ring_of_exact
                                                         : i64(12) * leaves_per_ring);
}

/// Whether the bulk copy engine should fill a ring while earlier leaves are folded: where folding a leaf takes so long that
/// registers full of loads would wait for it, and there are leaves enough to look ahead.
constexpr bool ring_pays(facts const& f, plan const& p, why_not_list& why) {
  bool const heavy = f.running_bytes() > 16 || f.sources_named() > 2 || (f.any_exact() && f.sources_named() == 1);
  if (f.any_exact() && p.reads_ahead) {
    why.add("bulk ring", "its shared memory would leave the launch that reads ahead behind this one no room");
    return false;
  }
  if (!heavy && f.any_exact()) {
    why.add("bulk ring", "exact sums of {0} sources are bound by arithmetic: a ring has nothing to hide", -1, f.sources_named());
    return false;
  }
  if (!heavy && !word_ahead(f, p)) {
    why.add("bulk ring", "{0} bytes of state and {1} sources fold faster than they load: registers hold enough in flight", -1,
            f.running_bytes(), f.sources_named());
    return false;
  }
  if (f.threads_in_turns > 0) {
    why.add("bulk ring", "walks that take turns with it have the shared memory of its blocks");
    return false;
  }
  if (f.keys_beside) {
    why.add("bulk ring", "tables of folds by key have the shared memory of its blocks");
    return false;
  }
  if (f.target.compute_major < 9) {
    why.add("bulk ring", "sm_{0}{1} has no bulk copy engine", -1, f.target.compute_major, f.target.compute_minor);
    return false;
  }
  i64 const enough = leaves_for_ring(f, p);
  if (f.leaves() < enough) {
    why.add("bulk ring", "{0} leaves are fewer than the {1} that give every ring something to fill ahead", -1, f.leaves(), enough);
    return false;
  }
  if (i64 const needed = ring_block_bytes(f, p, 128); needed > f.target.shared_bytes_per_block) {
    why.add("bulk ring", "rings and states take {0} bytes of shared memory, a block has {1}", -1, needed,
            f.target.shared_bytes_per_block);
    return false;
  }
  for (int i = 0; i < f.source_count; ++i)
    if (finds_its_row(f.sources[i].best_load)) {
      why.add("bulk ring", "rows of {0} elements lie apart, a leaf is one copy", i, f.sources[i].row);
      return false;
    }
  for (int i = 0; i < f.source_count; ++i)
    if (f.sources[i].best_load != load_primitive::computed && f.sources[i].address_alignment < 16) {
      why.add("bulk ring", "the address is aligned to {0} bytes, the copy engine needs 16", i, f.sources[i].address_alignment);
      return false;
    }
  return true;
}

/// Whether groups are picked from the words around them, but where a row ends: neighbours of which a word holds several.
constexpr bool in_words(facts const& f, source_facts const& s) {
  return s.stride == 1 && (s.bytes_per_element == 1 || s.bytes_per_element == 2) && s.address_alignment >= s.bytes_per_element && f.lanes_per_group % 4 == 0 &&
         s.row > 2 * f.lanes_per_group && s.row < i64(1) << 30;
}
/// The load of a column with axes, along whose rows elements are neighbours or the same: in pieces as large as all rows allow.
constexpr source_choice choose_grid_load(facts const& f, source_facts const& s) {
  i64 const size = s.bytes_per_element;
  if (s.row % f.lanes_per_group != 0 && in_words(f, s))
    return {load_primitive::grid_words_ldg, 4};
  if (s.row % f.lanes_per_group != 0)
    return {s.stride == 0 && s.row >= f.lanes_per_group ? load_primitive::grid_two_ldg : load_primitive::grid_ldg, int(size)};
  if (s.stride == 0)
    return {load_primitive::grid_same_ldg, int(size)};
  i64 piece = s.bytes_per_element * f.lanes_per_group;
  while (piece > size && (piece > 16 || (piece & (piece - 1)) != 0 || piece > s.alignment()))
    piece = (piece & (piece - 1)) != 0 ? size : piece / 2;
  if ((piece & (piece - 1)) != 0 || piece > s.alignment()) // elements as structs have them
    return {load_primitive::grid_ldg, int(size)};
  return {load_primitive::grid_vector_ldg, int(piece)};
}

/// A group of lanes is loaded in pieces of at most 16 bytes; every piece must be aligned to its size. One striped source
/// makes all sources striped: lanes live in one thread for all columns or for none.
constexpr void choose_loads(facts const& f, plan& p, why_not_list& why) {
  bool striped = false;
  for (int i = 0; i < f.source_count; ++i) {
    source_facts const& s = f.sources[i];
    i64 const group = s.bytes_per_element * f.lanes_per_group;
    i64 const piece = group < 16 ? group : 16;
    if (s.best_load == load_primitive::computed)
      continue;
    if (finds_its_row(s.best_load) && (s.stride == 0 || s.stride == 1))
      continue;
    if (s.best_load == load_primitive::striped_ldg || finds_its_row(s.best_load)) {
      why.add("vector load", "elements lie {0} elements apart", i, s.stride);
      striped = true;
    } else if ((piece & (piece - 1)) != 0 || (group % piece) != 0) {
      why.add("vector load", "an element of {0} bytes does not divide 16", i, s.bytes_per_element);
      striped = true;
    } else if (s.address_alignment < piece) {
      why.add("vector load", "the address is aligned to {0} bytes, a load needs {1}", i, s.address_alignment, piece);
      striped = true;
    }
  }
  bool const ring = !striped && ring_pays(f, p, why);
  p.stages = ring ? stages_of_ring(f, p) : 0;
  for (int i = 0; i < f.source_count; ++i) {
    source_facts const& s = f.sources[i];
    i64 const group = s.bytes_per_element * f.lanes_per_group;
    if (s.best_load == load_primitive::computed)
      p.sources[i] = {load_primitive::computed, 0};
    else if (ring)
      p.sources[i] = {load_primitive::bulk_ring, int(group < 16 ? group : 16)};
    else if (striped)
      p.sources[i] = {load_primitive::striped_ldg, int(s.bytes_per_element)};
    else if (finds_its_row(s.best_load))
      p.sources[i] = choose_grid_load(f, s);
    else
      p.sources[i] = {load_primitive::vector_ldg, int(group < 16 ? group : 16)};
  }
}

} // namespace tally::v0::planning
