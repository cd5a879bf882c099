// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// index_along<k>: where a row is along axis k of its source. Layer 2. Until a reduction is bound it is a name; then the extents
// are known, and it becomes arithmetic of `index` with two captured numbers.
#pragma once

#include <tally/element/functions.hpp>
#include <tally/pipeline/grid.hpp>

namespace tally::v0 {

/// The index of the element along axis K of its source, an i64 that starts at 0.
template <int K>
struct position_along : leaf_expression<position_along<K>> {
  /// Of a type alone: no reduction is run before its axes are numbers.
  template <class Row>
  i64 eval(Row const&) const;
  template <class... Es>
  constexpr auto substitute([[maybe_unused]] pack<Es...> const& with) const {
    if constexpr (sizeof...(Es) == max_columns + 1)
      return get<max_columns>(with).template along<K>();
    else
      return *this;
  }
  template <class Out>
  void print(Out& out) const {
    out.text("index_along<").number(K).text(">");
  }
};
template <int K>
inline constexpr position_along<K> index_along{};

namespace detail {

/// The highest axis that an expression asks for; -1: none.
template <class E>
inline constexpr int highest_axis = -1;
template <int K>
inline constexpr int highest_axis<position_along<K>> = K;
template <template <class...> class Node, class... Parts>
inline constexpr int highest_axis<Node<Parts...>> = max_of(-1, highest_axis<Parts>...);

/// What index_along<0>, index_along<1>, ... are for one source of Rank axes.
template <int Rank>
struct indices_along {
  i64 extents[Rank];
  template <int K>
  constexpr auto along() const {
    i64 inside = 1;
    for (int k = K + 1; k < Rank; ++k)
      inside *= extents[k];
    if constexpr (Rank == 1)
      return position{};
    else if constexpr (K == 0)
      return position{} / inside;
    else if constexpr (K == Rank - 1)
      return position{} % extents[K];
    else
      return position{} / inside % extents[K];
  }
};
template <int... I, class Indices>
constexpr auto placeholders_and(index_list<I...>, Indices const& indices) {
  return make_pack(placeholder<I>{}..., indices);
}
/// An expression over the columns of a source, with its indices along axes as numbers.
template <class Source, class E>
constexpr auto with_axes_of([[maybe_unused]] Source const& s, E const& e) {
  if constexpr (highest_axis<E> < 0) {
    return e;
  } else {
    constexpr int rank = rank_of<Source>;
    indices_along<rank> indices{};
    for (int k = 0; k < rank; ++k)
      indices.extents[k] = extent_along(s, k);
    return e.substitute(placeholders_and(indices_up_to<max_columns>{}, indices));
  }
}

} // namespace detail

} // namespace tally::v0
