// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction with groupings on the host: what one walk folds, and a walk for everything else. Layer 5.
#pragma once

#include <tally/run/grouped_items.hpp>
#include <tally/run/in_turns_on_host.hpp>
#include <tally/run/matrix_on_host.hpp>

namespace tally::v0::detail {

/// On the host: columns, rows and the whole of a matrix in one walk where that is worth it, or segments and the whole in turn, everything else in a walk
/// of its own.
template <class... Options, class R>
auto run_grouped_on_host(R const& r, on::cpu_place where, contract c) {
  auto const pipe = pipe_for<Options...>(r.pipe);
  auto const whole = bind_to(pipe, whole_folds(r.folds));
  check_folds(whole.program.leaves);
  constexpr mixed_items matrix = mixed_items_of<R>;
  constexpr bool may_join = matrix.any() && matrix.batch == 0 && int(matrix.columns >= 0) + int(matrix.rows >= 0) + int(decltype(whole.program)::leaf_count > 0) > 1;
  auto together = [&] {
    if constexpr (may_join)
      return matrix_on_host<matrix, std::remove_cvref_t<decltype(r.folds)>, std::remove_cvref_t<decltype(pipe)>, std::remove_cvref_t<decltype(whole.program)>>(r.folds, pipe, whole.program, where);
    else
      return no_matrix{};
  }();
  using Segments = decltype(segments_in_reduction(r, pipe));
  [[maybe_unused]] segments_in_turns_on_host<Segments> segments(segments_in_reduction(r, pipe), where.thread_count);
  auto const states = [&] {
    if constexpr (may_join)
      if (together.has_whole())
        return together.states();
    if constexpr (Segments::size > 0)
      return segments.fold(whole.program);
    else
      return compute(whole.program, where, c);
  }();
  check_overflow(whole.program.leaves, states);
  return answers_of_items(r, [&]<int I>(index_constant<I>) {
    auto const& item = get<I>(r.folds);
    if constexpr (Segments::size > 0 && folds_segments<std::remove_cvref_t<decltype(item)>, std::remove_cvref_t<decltype(pipe)>>) {
      return take_segments<number_of_segments<I, std::remove_cvref_t<decltype(pipe)>>(static_cast<std::remove_cvref_t<decltype(r.folds)> const*>(nullptr))>(segments);
    } else if constexpr (grouping<std::remove_cvref_t<decltype(item)>>) {
      if constexpr (may_join && (I == matrix.columns || I == matrix.rows))
        if (has_item<I>(together))
          return take_item<I>(together);
      auto const d = item.bind(pipe);
      check_folds(d.program.leaves);
      return compute_groups(d, r.pipe.source, where, c);
    } else {
      return answer_of_whole<I>(r, whole, states);
    }
  });
}

} // namespace tally::v0::detail
