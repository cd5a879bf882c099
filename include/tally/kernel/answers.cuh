// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the states of a group to its answers, in the kernel: the same nodes as on the host, so the same bits. Layer 4.
#pragma once

#include <tally/fold/answer_nodes.hpp>
#include <tally/fold/exact_nodes.hpp>
#include <tally/plan/group_facts.hpp>

namespace tally::inline v0::kernel {

/// What answer node I of Nodes gives over a program.
template <class Node, class Program>
using answer_of = decltype(answers::with_one_nan(cuda::std::declval<Node const&>().value(
    cuda::std::declval<answers::outcome<decltype(Program::leaves), typename Program::states> const&>())));

/// Writes the answers of group g, whose states over `extent` elements are s, one to each array.
template <class Program, class... Nodes>
__device__ __forceinline__ void write_answers(Program const& p, pack<Nodes...> const& nodes, typename Program::states const& s,
                                              i64 extent, answer_arrays const& to, i64 g) {
  answers::outcome<decltype(Program::leaves), typename Program::states> const o{p.leaves, s, {extent}};
  for_each_index<int(sizeof...(Nodes))>([&](auto i) {
    using T = answer_of<nth_t<i, Nodes...>, Program>;
    static_cast<T*>(to.at[i])[g] = answers::with_one_nan(get<i>(nodes).value(o));
  });
}

} // namespace tally::inline v0::kernel
