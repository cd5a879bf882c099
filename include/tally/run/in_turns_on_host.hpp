// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groupings by segment of a reduction that the host folds in one walk with each other and with the folds of the whole. Layer 5.
#pragma once

#include <optional>
#include <tuple>

#include <tally/run/in_turns.hpp>

namespace tally::v0::detail {

template <class Domains>
class segments_in_turns_on_host;
template <class... Domains>
class segments_in_turns_on_host<pack<Domains...>> {
public:
  /// Checks all offsets before anything is folded.
  segments_in_turns_on_host(pack<Domains...> const& d, int threads) : threads_(threads) {
    for_each_index<int(sizeof...(Domains))>([&](auto i) {
      check_folds(get<i>(d).program.leaves);
      std::get<i>(of_).emplace(get<i>(d), threads, true);
    });
  }
  /// Folds all of them, and the whole; its states.
  template <class Program>
  typename Program::states fold(Program whole) {
    if constexpr (Program::leaf_count > 0)
      if (whole.extent > 0) {
        check_host_can_read(whole);
        cpu::full_walk<Program> walk(whole);
        fold_with(walk);
        return walk.finish();
      }
    fold_with();
    return whole.identity();
  }
  template <int I>
  auto take() {
    return std::get<I>(of_)->take();
  }

private:
  std::tuple<std::optional<segments_on_host<Domains>>...> of_;
  int threads_;
  template <class... Walks>
  void fold_with(Walks&... walks) {
    std::apply([&](auto&... one) { cpu::take_turns(threads_, walks..., one->walk()...); }, of_);
  }
};

/// Said outside of the class, or clang would look into it where this is not called.
template <int I, class Segments>
auto take_segments(Segments& s) {
  return s.template take<I>();
}

} // namespace tally::v0::detail
