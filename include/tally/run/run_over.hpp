// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping along axes, computed: its states for every group, then its answers as arrays. Layer 5.
#pragma once

#include <tuple>
#include <vector>

#include <tally/run/compute.hpp>
#include <tally/run/cpu_groups.hpp>
#include <tally/run/layout_of.hpp>
#include <tally/run/mdarray.hpp>

namespace tally::inline v0 {

namespace detail {

/// The answer of a node for one group, where an empty group has the answer of the identity.
template <class Node, class Leaves, class States>
auto group_answer(Node const& node, Leaves const& leaves, States const& states, i64 extent) {
  answers::outcome<Leaves, States> const o{leaves, states, {extent}};
  return answers::with_one_nan(node.value(o));
}
template <class Node, class Program>
using group_answer_of = decltype(group_answer(std::declval<Node const&>(), std::declval<Program const&>().leaves,
                                              std::declval<typename Program::states const&>(), i64{}));

/// An array of answers, or the one answer where no axis is kept.
template <class T, int Rank>
struct answers_of_rank {
  using type = mdarray<T, Rank>;
};
template <class T>
struct answers_of_rank<T, 0> {
  using type = T;
};

/// Fills arrays of Kept axes with the answers of all groups; extent_of(g) is how many elements group g has.
template <int Kept, class Domain, class States, class ExtentOf>
auto arrays_of_answers(Domain const& d, States const& states, i64 const (&extents)[Kept > 0 ? Kept : 1], int threads,
                       ExtentOf const& extent_of) {
  using Program = std::remove_cvref_t<decltype(d.program)>;
  i64 const groups = static_cast<i64>(states.size());
  auto const array_of = [&](auto const& node) {
    using T = group_answer_of<std::remove_cvref_t<decltype(node)>, Program>;
    auto const answer = [&](i64 g) {
      return group_answer(node, d.program.leaves, states[static_cast<std::size_t>(g)], extent_of(g));
    };
    if constexpr (Kept == 0) {
      return answer(0);
    } else {
      mdarray<T, Kept> out(extents);
      i64 const chunk = 4096, chunks = groups == 0 ? 0 : (groups - 1) / chunk + 1;
      if (chunks > 0)
        cpu::detail::spread_over_cores(chunks, threads, [&](i64 c) {
          i64 const end = groups < (c + 1) * chunk ? groups : (c + 1) * chunk;
          for (i64 g = c * chunk; g < end; ++g)
            out[static_cast<std::size_t>(g)] = answer(g);
        });
      return out;
    }
  };
  return unpack(
      [&](auto const&... node) {
        if constexpr (sizeof...(node) == 1)
          return (array_of(node), ...);
        else
          return std::tuple(array_of(node)...);
      },
      d.nodes);
}

/// The extents along the axes that are kept.
template <int Rank, u32 Reduced, class Source>
void kept_extents(groups_along_axes<Rank, Reduced>, Source const& s, i64* out) {
  for (int k = 0; k < Rank; ++k)
    if (!groups_along_axes<Rank, Reduced>::is_reduced(k))
      *out++ = extent_along(s, k);
}

} // namespace detail

/// The answers of a grouping along axes, on the host.
template <int Rank, u32 Reduced, class Program, class Nodes, class Source>
auto compute_groups(domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s, on::cpu_place where, contract) {
  using Where = groups_along_axes<Rank, Reduced>;
  axes_layout const at = layout_of(s, Where::is_reduced);
  i64 extents[Where::kept > 0 ? Where::kept : 1]{};
  detail::kept_extents(Where{}, s, extents);
  std::vector<typename Program::states> states(static_cast<std::size_t>(at.groups), d.program.identity());
  if constexpr (Program::leaf_count > 0)
    if (at.groups > 0 && at.extent > 0)
      cpu::fold_groups(d.program, at, where.thread_count, states.data());
  return detail::arrays_of_answers<Where::kept>(d, states, extents, where.thread_count, [&](i64) { return at.extent; });
}

} // namespace tally::inline v0
