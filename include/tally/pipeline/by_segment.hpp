// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping by_segment(offsets, folds...): folds between neighbouring offsets, one answer a segment. Layer 2.
#pragma once

#include <tally/fold/segments.hpp>
#include <tally/pipeline/grouping.hpp>

namespace tally::v0 {

namespace detail {
template <class Sized>
inline constexpr bool holds_offsets = false;
template <class T>
inline constexpr bool holds_offsets<sized_column<contiguous<T>>> = integer<T> && sizeof(T) >= 4;
/// Integers of 32 or 64 bits, one after the other in memory that outlives the call.
template <class R>
concept offsets_like = one_column<R> && holds_offsets<decltype(sole_column(as_column(std::declval<R>())))>;
} // namespace detail

/// Folds of segments, before it is known what of.
template <class Offset, class... Folds>
struct folded_by_segment {
  using tally_grouping = folded_by_segment;
  groups_between_offsets<Offset> where;
  pack<Folds...> folds;

  /// As many segments as *number says when they are folded, at most those that have offsets: in memory of the host or of a device.
  constexpr folded_by_segment as_many_as(Offset const* number) const {
    auto out = *this;
    out.where.count = number;
    return out;
  }

  constexpr auto const& parts() const { return folds; }
  template <class... Others>
  constexpr auto with_parts(pack<Others...> const& parts) const {
    return folded_by_segment<Offset, Others...>{where, parts};
  }
  template <class Pipe>
  static constexpr auto judge() {
    if constexpr (rank_of<decltype(Pipe::source)> > 1)
      return reason<because::by_segment_needs_offsets<because::there_are<rank_of<decltype(Pipe::source)>>>>{};
    else
      return detail::judge_group_folds<Pipe, Folds...>();
  }
  template <class Out>
  void print_head(Out& out) const {
    out.text(Offset(-1) < Offset(0) ? "by_segment(i" : "by_segment(u").number(8 * sizeof(Offset)).text("[").number(where.entries).text("]");
  }
  template <class Pipe>
  constexpr auto bind(Pipe const& pipe) const {
    auto planted = detail::plant_group(pipe, folds);
    auto program = detail::make_program(pipe.source, planted.leaves);
    return domain<groups_between_offsets<Offset>, decltype(program), decltype(planted.node)>{where, program, planted.node};
  }
};

/// Folds of segments, all in one read: segment s holds the elements [offsets[s], offsets[s + 1]) of a source of one axis, so there
/// is one offset more than segments. Offsets are a range of 32 or 64-bit integers that outlives the call, or device(pointer, n);
/// they never fall, or run throws bad_offsets. Each fold gives an mdarray of one answer a segment.
template <class Offsets, class... Folds>
  requires detail::offsets_like<Offsets>
constexpr auto by_segment(Offsets&& offsets, Folds... folds) {
  auto const o = detail::sole_column(as_column(static_cast<Offsets&&>(offsets)));
  using Offset = typename decltype(o.column)::value_type;
  return folded_by_segment<Offset, Folds...>{{o.column.data, o.extent}, make_pack(folds...)};
}

/// What holds no offsets is refused, and the type says why.
template <class Offsets, class... Folds>
  requires(!detail::offsets_like<Offsets>)
auto by_segment(Offsets&&, Folds...) -> because::by_segment_needs_offsets<std::remove_cvref_t<Offsets>> {
  return {};
}

} // namespace tally::v0
