// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verb collect: ends a pipeline with its elements themselves, every one of them written. Layer 2.
#pragma once

#include <tally/pipeline/index_along.hpp>
#include <tally/pipeline/reduce.hpp>
#include <tally/pipeline/text.hpp>

namespace tally::v0 {

/// A pipeline whose answers are its elements: an array for each of them, of the shape of the source.
template <class Pipe>
struct collected {
  using tally_pipeline = collected;
  Pipe pipe;
  pack<> folds; ///< none: nothing follows
};
template <class T>
inline constexpr bool is_collected = false;
template <class Pipe>
inline constexpr bool is_collected<collected<Pipe>> = true;
template <class Pipe>
inline constexpr bool looks_back<collected<Pipe>> = true;

struct collecting {
  using tally_stage = collecting;
  template <class Pipe>
  static constexpr auto judge() {
    if constexpr (finished<Pipe>)
      return reason<because::nothing_follows_reduce<Pipe>>{};
    else if constexpr (!std::same_as<std::remove_cvref_t<decltype(Pipe::mask)>, always>)
      return reason<because::collect_leaves_nothing_out<Pipe>>{};
    else if constexpr (detail::highest_axis<std::remove_cvref_t<decltype(Pipe::values)>> >= rank_of<std::remove_cvref_t<decltype(Pipe::source)>>)
      return reason<because::over_needs_axes_of_the_source<Pipe>>{};
    else
      return allowed{};
  }
  template <class Pipe>
  using why_not = typename decltype(judge<Pipe>())::type;
  template <class Pipe>
  constexpr auto on(Pipe const& p) const {
    return collected<Pipe>{p, {}};
  }
};

/// Every element, written: run gives an mdarray of the shape of the source, or a std::tuple of one for each of several elements.
inline constexpr collecting collect{};

template <class Pipe>
[[gnu::cold]] void print_text(printer& p, collected<Pipe> const& r) {
  print_pipe(p, r.pipe);
  p.text("collect");
}

} // namespace tally::v0
