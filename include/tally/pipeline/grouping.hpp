// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groupings: what may stand beside folds in reduce(...) and yields an array of answers. Layer 2. A grouping judges itself
// against a pipe and binds itself to it; binding gives a domain, which says where its groups are and what is folded there. It is made
// of parts(), a pack of its expressions and folds, and with_parts(others) is the same grouping made of others.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/pipeline/answer.hpp>

namespace tally::v0 {

/// A grouping bound to types: where its groups are, the leaves to fold over them, and the nodes that make the answers.
template <class Where, class Program, class Nodes>
struct domain {
  Where where;
  Program program; ///< its columns in memory are bare pointers: groups know their own strides
  Nodes nodes;
};

namespace detail {
template <class Column>
constexpr auto bare(Column const& c) {
  if constexpr (requires { Column::is_answer; })
    return earlier<typename Column::value_type>{c.data};
  else if constexpr (memory_column<Column>)
    return contiguous<typename Column::value_type>{c.data};
  else
    return c;
}
template <class Source>
constexpr auto bare_columns(Source const& s) {
  return unpack([](auto const&... c) { return make_pack(bare(c)...); }, s.columns);
}
template <class Pipe, class Folds>
constexpr auto plant_group(Pipe const& pipe, Folds const& folds) {
  return unpack([&](auto const&... f) { return answers::detail::plant_all(pipe, pack<>{}, f...); }, folds);
}
/// The folds of a grouping over a pipe, as a domain.
template <class Where, class Pipe, class Folds>
constexpr auto bind_domain(Where const& where, Pipe const& pipe, Folds const& folds) {
  auto planted = plant_group(pipe, folds);
  auto program = program_of<columns_of_key<Where>>(bare_columns(pipe.source), 0, planted.leaves);
  return domain<Where, decltype(program), decltype(planted.node)>{where, program, planted.node};
}

template <class Fold>
inline constexpr bool may_be_absent = false;
template <class Fold>
inline constexpr bool may_be_absent<maybe_fold<Fold>> = true;

/// Whether folds can be computed for every group over a pipe.
template <class Pipe, class... Folds>
constexpr auto judge_group_folds() {
  if constexpr (sizeof...(Folds) == 0 || !(fold_like<Folds> && ...))
    return reason<because::reduce_needs_folds<Folds...>>{};
  else if constexpr ((may_be_absent<Folds> || ...))
    return reason<because::a_group_has_one_plain_answer<Folds...>>{};
  else
    return first_reason<decltype(judge_fold<Folds, Pipe>())...>();
}
} // namespace detail

} // namespace tally::v0
