// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocks of a grid that is one cluster meet in the shared memory of the first: no global memory, no waiting for words.
// Integer states are reduced there by red.async; the states of all other folds are copied to a slot a block by the bulk engine
// and folded in the order of the blocks, so that they keep the canonical tree. Layer 4. A header of its own, because only the
// plans that ask for it pay NVRTC for it; the protocols are primitive/cluster_push.cuh.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/full.cuh>
#include <tally/plan/combinable.hpp>
#include <tally/primitive/cluster_push.cuh>

namespace tally::v0::kernel {

inline constexpr int most_blocks_of_cluster = 8; ///< the size that every chip with clusters takes

/// The folds whose states go by red.async, one after the other.
template <plan P, int I, class... Leaves>
struct word_meetings;
template <plan P, int I>
struct word_meetings<P, I> {
  __device__ __forceinline__ explicit word_meetings(pack<> const&) {}
  template <class States>
  __device__ __forceinline__ void meet(pack<> const&, States&) {}
  __device__ __forceinline__ void finish() {}
};
template <plan P, int I, class Leaf, class... Leaves>
struct word_meetings<P, I, Leaf, Leaves...> : word_meetings<P, I + 1, Leaves...> {
  using rest = word_meetings<P, I + 1, Leaves...>;
  __device__ __forceinline__ explicit word_meetings(pack<Leaf, Leaves...> const& l) : rest(l.rest) {}
  template <class States>
  __device__ __forceinline__ void meet(pack<Leaf, Leaves...> const& l, States& s) {
    rest::meet(l.rest, s);
  }
};
template <plan P, int I, class Leaf, class... Leaves>
  requires(P.folds[I].cluster == cluster_combine::red_async)
struct word_meetings<P, I, Leaf, Leaves...> : word_meetings<P, I + 1, Leaves...> {
  using rest = word_meetings<P, I + 1, Leaves...>;
  using M = typename Leaf::monoid_type;
  using word = typename M::state;
  static constexpr int words = 16 / int(sizeof(word)); // a stage is 16 bytes; the words behind the first stay the identity
  using push = primitive::cluster_words<planning::combined_by<M>, word, words>;
  __device__ __forceinline__ static auto& room() {
    __shared__ primitive::push_room<word, words> r;
    return r;
  }
  push here;
  __device__ __forceinline__ explicit word_meetings(pack<Leaf, Leaves...> const& l)
      : rest(l.rest), here(room(), l.first.monoid.identity()) {}
  template <class States>
  __device__ __forceinline__ void meet(pack<Leaf, Leaves...> const& l, States& s) {
    auto const& m = l.first.monoid;
    here.turn([&](int i) { return i == 0 ? get<I>(s) : m.identity(); },
              [&](word const* others) {
                if (threadIdx.x == 0)
                  get<I>(s) = m.combine(get<I>(s), others[0]);
              });
    rest::meet(l.rest, s);
  }
};

/// 32-bit words of the states that are copied, filled up to whole pieces of 16 bytes.
template <plan P, class... States, int... I>
constexpr int copied_words(pack<States...> const*, index_list<I...>) {
  int const all = (0 + ... + (P.folds[I].cluster == cluster_combine::bulk_copy ? words<States>::count : 0));
  return (all + 3) / 4 * 4;
}

/// Calls f(i, word k of it, where it lies in the slot) for the words that are copied.
template <plan P, class States, class F>
__device__ __forceinline__ void for_each_copied(F const& f) {
  int at = 0;
  for_each_index<States::size>([&](auto i) {
    if constexpr (P.folds[i].cluster == cluster_combine::bulk_copy) {
      f(i, at);
      at += words<cuda::std::remove_cvref_t<decltype(get<i>(*static_cast<States*>(nullptr)))>>::count;
    }
  });
}

/// The blocks of one cluster, each with its states in thread 0, become one state in thread 0 of the first.
template <plan P, class Columns, class... Leaves>
struct cluster_meeting<P, program<Columns, Leaves...>> {
  using Program = program<Columns, Leaves...>;
  using States = typename Program::states;
  static constexpr int copied = copied_words<P>(static_cast<States const*>(nullptr), indices_up_to<States::size>{});
  static constexpr int slot = copied > 0 ? copied : 4;
  using push = primitive::cluster_copy<u32, slot, most_blocks_of_cluster>;
  __device__ __forceinline__ static auto& room() {
    __shared__ primitive::copy_room<u32, slot, most_blocks_of_cluster> r;
    return r;
  }
  word_meetings<P, 0, Leaves...> by_word;
  push by_copy;

  /// All threads of all blocks come here before anything is folded.
  __device__ __forceinline__ explicit cluster_meeting(Program const& p) : by_word(p.leaves), by_copy(room()) {}

  /// True in the thread that has the answer.
  __device__ __forceinline__ bool meet(Program const& p, States& s) {
    by_word.meet(p.leaves, s);
    if constexpr (copied > 0)
      by_copy.turn([&](u32* to) { write(s, to); }, [&](auto const* slots) { fold_slots(p, s, slots); });
    by_copy.finish();
    return blockIdx.x == 0 && threadIdx.x == 0;
  }

private:
  __device__ __forceinline__ static void write(States const& s, u32* to) {
    if (threadIdx.x != 0)
      return;
    for_each_copied<P, States>([&](auto i, int at) {
      auto const w = words<cuda::std::remove_cvref_t<decltype(get<i>(s))>>::of(get<i>(s));
#pragma unroll
      for (int k = 0; k < w.count; ++k)
        to[at + k] = w.w[k];
    });
  }
  /// Neighbours first, as across blocks that meet in global memory.
  template <class Slots>
  __device__ __forceinline__ static void fold_slots(Program const& p, States& s, Slots const* slots) {
    if (threadIdx.x != 0)
      return;
    int const blocks = int(gridDim.x);
    for_each_copied<P, States>([&](auto i, int at) {
      auto const& m = get<i>(p.leaves).monoid;
      using State = cuda::std::remove_cvref_t<decltype(get<i>(s))>;
      State of_block[most_blocks_of_cluster];
#pragma unroll
      for (int b = 0; b < most_blocks_of_cluster; ++b) {
        words<State> w;
#pragma unroll
        for (int k = 0; k < w.count; ++k)
          w.w[k] = b > 0 && b < blocks ? slots[b].elements[at + k] : 0;
        of_block[b] = b > 0 ? w.state() : get<i>(s);
      }
      get<i>(s) = combine_in_registers([&](auto const& a, auto const& b) { return m.combine(a, b); }, of_block, blocks);
    });
  }
};

} // namespace tally::v0::kernel
