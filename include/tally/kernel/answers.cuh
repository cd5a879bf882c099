// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the states of a group to its answers, in the kernel: the same nodes as on the host, so the same bits. Layer 4.
#pragma once

#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/exact_nodes.hpp>
#include <tally/plan/group_facts.hpp>

namespace tally::v0::kernel {

/// What answer node I of Nodes gives over a program.
template <class Node, class Program>
using answer_of = decltype(answers::with_one_nan(cuda::std::declval<Node const&>().value(
    cuda::std::declval<answers::outcome<decltype(Program::leaves), typename Program::states> const&>())));

/// Writes the answers of group g, whose states over `extent` elements are s, one to each array.
template <class Program, class States, class... Nodes>
__device__ __forceinline__ void write_answers(Program const& p, pack<Nodes...> const& nodes, States const& s,
                                              i64 extent, answer_arrays const& to, i64 g) {
  answers::outcome<decltype(Program::leaves), States> const o{p.leaves, s, {extent}};
  for_each_index<int(sizeof...(Nodes))>([&](auto i) {
    using T = answer_of<nth_t<i, Nodes...>, Program>;
    static_cast<T*>(to.at[i])[g] = answers::with_one_nan(get<i>(nodes).value(o));
  });
}

/// The same for the first `present` of V neighbouring groups; all of them go in stores of up to 16 bytes where they may.
template <class Program, class States, class... Nodes, int V>
__device__ __forceinline__ void write_answers_beside(Program const& p, pack<Nodes...> const& nodes,
                                                    States const (&s)[V], i64 extent, answer_arrays const& to, i64 g,
                                                    int present) {
  for_each_index<int(sizeof...(Nodes))>([&](auto i) {
    using T = answer_of<nth_t<i, Nodes...>, Program>;
    alignas(16) T answers_of_groups[V];
#pragma unroll
    for (int v = 0; v < V; ++v) {
      answers::outcome<decltype(Program::leaves), States> const o{p.leaves, s[v], {extent}};
      answers_of_groups[v] = answers::with_one_nan(get<i>(nodes).value(o));
    }
    T* const first = static_cast<T*>(to.at[i]) + g;
    constexpr bool in_sixteens = V > 1 && V * sizeof(T) % 16 == 0;
    if (in_sixteens && present == V && (reinterpret_cast<u64>(first) & 15) == 0) {
#pragma unroll
      for (int k = 0; k < int(V * sizeof(T) / 16); ++k) {
        uint4 word;
        memcpy(&word, reinterpret_cast<unsigned char const*>(answers_of_groups) + 16 * k, 16);
        __stwb(reinterpret_cast<uint4*>(first) + k, word); // a plain store would be taken apart, to be one with those below
      }
    } else {
#pragma unroll
      for (int v = 0; v < V; ++v)
        if (v < present)
          first[v] = answers_of_groups[v];
    }
  });
}

} // namespace tally::v0::kernel
