// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping group_by: folds of the elements that have one key, for keys that are not known before they are read. Layer 2.
#pragma once

#include <tally/pipeline/keyed.hpp>

namespace tally::inline v0 {

/// Folds by keys that are found while reading, before it is known what of.
template <class Key, class... Folds>
struct folded_by_any_key {
  using tally_grouping = folded_by_any_key;
  Key key;
  pack<Folds...> folds;

  constexpr auto parts() const { return join(make_pack(key), folds); }
  template <class Other, class... Others>
  constexpr auto with_parts(pack<Other, Others...> const& parts) const {
    return folded_by_any_key<Other, Others...>{parts.first, parts.rest};
  }
  template <class Out>
  void print_head(Out& out) const {
    out.text("group_by(");
    as_element<max_columns>(key).print(out);
  }
  template <class Pipe>
  static constexpr auto judge() {
    return first_reason<decltype(detail::judge_key<Key, Pipe>()), decltype(detail::judge_group_folds<Pipe, Folds...>())>();
  }
  template <class Pipe>
  constexpr auto bind(Pipe const& pipe) const {
    auto const over = detail::with_axes_of(pipe.source, as_element<current_count<Pipe>>(key).substitute(pipe.values));
    auto const mask = detail::with_axes_of(pipe.source, pipe.mask);
    constexpr int rank = rank_of<std::remove_cvref_t<decltype(pipe.source)>>;
    return detail::bind_keyed(
        groups_by_any_key<rank, std::remove_cvref_t<decltype(over)>, std::remove_cvref_t<decltype(mask)>>{over, mask}, pipe,
        folds);
  }
};

/// Folds by any integer key: a std::tuple of the keys that were met, sorted, each once, and an array for every fold.
template <class Key, class... Folds>
constexpr auto group_by(Key key, Folds... folds) {
  return folded_by_any_key<Key, Folds...>{key, make_pack(folds...)};
}

} // namespace tally::inline v0
