// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grouping group_by: folds of the elements that have one key, for keys that are not known before they are read. Layer 2.
#pragma once

#include <tally/pipeline/keyed.hpp>

namespace tally::v0 {

namespace detail {
/// Whether several keys can be the key of the elements of a pipe; or one.
template <class Key, class Pipe>
struct keys_judged {
  static constexpr auto judge() { return judge_key<Key, Pipe>(); }
};
template <class... Keys, class Pipe>
struct keys_judged<call<op::keys_together, Keys...>, Pipe> {
  static constexpr auto judge() {
    using Each = decltype(first_reason<decltype(judge_key<Keys, Pipe>())...>());
    if constexpr (!std::same_as<Each, allowed>)
      return Each{};
    else if constexpr ((sizeof(value_in<Keys, Pipe>) + ...) > sizeof(u64))
      return reason<because::keys_have_8_bytes_together<because::type_of<value_in<Keys, Pipe>>...>>{};
    else
      return allowed{};
  }
};
} // namespace detail

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
    print_keys(out, as_element<max_columns>(key));
  }
  template <class Pipe>
  static constexpr auto judge() {
    return first_reason<decltype(detail::keys_judged<Key, Pipe>::judge()), decltype(detail::judge_group_folds<Pipe, Folds...>())>();
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

private:
  template <class Out, class One>
  static void print_keys(Out& out, One const& one) {
    one.print(out);
  }
  template <class Out, class... Keys>
  static void print_keys(Out& out, call<op::keys_together, Keys...> const& several) {
    char const* between = "";
    unpack([&](auto const&... one) { ((out.text(between), one.print(out), between = ", "), ...); }, several.args);
  }
};

/// Folds by any integer key: a std::tuple of the keys that were met, sorted, each once, and an array for every fold.
template <class Key, class... Folds>
constexpr auto group_by(Key key, Folds... folds) {
  return folded_by_any_key<Key, Folds...>{key, make_pack(folds...)};
}
/// The same by several keys, of up to 8 bytes together: an array for each of them comes first, sorted by the first, then by the second.
template <expression First, expression Second, class... Rest>
constexpr auto group_by(First first_key, Second second, Rest... rest) {
  return group_by(call_of<op::keys_together>(first_key, second), rest...);
}
template <expression... Keys, expression Next, class... Rest>
constexpr auto group_by(call<op::keys_together, Keys...> keys, Next next, Rest... rest) {
  return group_by(call<op::keys_together, Keys..., Next>(join(keys.args, make_pack(next))), rest...);
}

} // namespace tally::v0
