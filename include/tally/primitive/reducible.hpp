// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which reductions a chip can do without our help, as concepts of an operation, a C++ type, a space and a target. Layer 2.
// Each concept asks the table (legal.hpp) for the one form its verb writes, so a concept holds exactly where ptxas takes
// the verb's instruction.
#pragma once

#include <tally/primitive/legal.hpp>
#include <tally/primitive/word.hpp>

namespace tally::v0::primitive {

/// cp.reduce.async.bulk from the shared memory of the block to `to`: global memory, or another block's.
template <operation Op, class T>
TALLY_HD constexpr form bulk_reduction(space to, bool cache_hint = false) {
  constexpr element_type type = word_type<Op, T>();
  return {.instruction = family::reduce_bulk,
          .op = Op,
          .type = type,
          .destination = to,
          .source = space::shared_cta,
          .completion = to == space::global ? completion::bulk_group : completion::mbarrier,
          .cache_hint = cache_hint,
          .noftz = keeps_subnormals(family::reduce_bulk, Op, type)};
}

/// red.async to another block of the cluster, announced to an mbarrier there.
template <operation Op, class T>
TALLY_HD constexpr form remote_reduction() {
  return {.instruction = family::red_async,
          .op = Op,
          .type = word_type<Op, T>(),
          .destination = space::shared_cluster,
          .order = semantics::relaxed,
          .scope = scope::cluster,
          .completion = completion::mbarrier};
}

/// red.async.release to global memory: a value that tells others what was written before it.
template <operation Op, class T>
TALLY_HD constexpr form published_reduction(scope who = scope::gpu, bool mmio = false) {
  return {.instruction = family::red_async,
          .op = Op,
          .type = word_type<Op, T>(),
          .destination = space::global,
          .order = semantics::release,
          .scope = who,
          .mmio = mmio};
}

/// red of `Width` neighbours; T may be a pair `two<f16>`, `two<bf16>`.
template <operation Op, class T, int Width = 1>
TALLY_HD constexpr form reduction(space to, semantics order = semantics::relaxed, scope who = scope::gpu,
                                  bool cache_hint = false) {
  constexpr element_type type = word_type<Op, T>();
  return {.instruction = family::red,
          .op = Op,
          .type = type,
          .destination = to,
          .order = order,
          .scope = who,
          .width = Width,
          .cache_hint = cache_hint,
          .noftz = keeps_subnormals(family::red, Op, type, Width)};
}

/// Whether what ptxas 13.0 makes of a red is atomic wherever the word lies. In another block's shared memory the chip refuses
/// min, max, and, or, xor of 64 bits and additions of pairs of halves, and what ptxas wrote for that case is a load and a
/// store (LD.E, ST.E; of pairs around an addition of integers): H200, CUDA 13.0, driver 580.159, 2026-11-20, lost values
/// in tests/gpu/primitives_places.cpp. fold_word goes another way there, or none.
TALLY_HD constexpr bool atomic_everywhere(form const& f) {
  using enum element_type;
  bool const pair = f.type == f16x2 || f.type == bf16x2;
  bool const two_words = f.type == b64 || ((f.type == u64 || f.type == s64) && f.op != operation::add);
  return f.instruction != family::red || f.destination != space::shared_cluster || !(pair || two_words);
}

/// A tile of T in shared memory can be reduced into `To` by the bulk engine.
template <operation Op, class T, space To = space::global, architecture On = sm_90>
concept bulk_reducible = legal(bulk_reduction<Op, T>(To), On);

/// One T can be reduced into another block's shared memory, asynchronously.
template <operation Op, class T, architecture On = sm_90>
concept red_async_reducible = legal(remote_reduction<Op, T>(), On);

/// One T can be reduced into global memory with release order, asynchronously.
template <operation Op, class T, architecture On = sm_100>
concept publishable = legal(published_reduction<Op, T>(), On);

/// One T can be reduced in place by red.
template <operation Op, class T, space To = space::global, architecture On = sm_80>
concept scalar_reducible = legal(reduction<Op, T>(To), On);

/// `Width` neighbouring T of global memory can be reduced by one red.
template <operation Op, class T, int Width, architecture On = sm_90>
concept vector_reducible = Width >
1 && legal(reduction<Op, T, Width>(space::global), On);

/// The most elements of T that one red of a space takes in 16 bytes: 1 where there is no vector, 0 where there is no red
/// at all. Only global memory has vectors. Halves count one by one although they travel in pairs.
template <operation Op, class T, architecture On, space To = space::global>
TALLY_HD constexpr int widest_reduction() {
  constexpr bool vectors = To == space::global;
  if constexpr (small_float<T>) {
    if constexpr (vectors && vector_reducible<Op, two<T>, 4, On>) return 8;
    if constexpr (scalar_reducible<Op, two<T>, To, On> && atomic_everywhere(reduction<Op, two<T>>(To))) return 2;
  }
  if constexpr (vectors && vector_reducible<Op, T, 4, On>) return 4;
  return scalar_reducible<Op, T, To, On> ? 1 : 0;
}

} // namespace tally::v0::primitive
