// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What by_key, group_by and histogram share: folds by a key before it is known what of, and their binding. Layer 2. Folds are
// bound twice: once so that no order can be seen in their answers, once as they are, for the contract fast.
#pragma once

#include <tally/fold/keys.hpp>
#include <tally/pipeline/grouping.hpp>

namespace tally::v0 {

/// A domain by keys. Its own program holds the folds as exact wants them, whatever the contract: elements of one key meet in no
/// order. `direct` holds them as they are.
template <class Where, class Program, class Nodes, class Direct>
struct keyed_domain : domain<Where, Program, Nodes> {
  using exact_domain = domain<Where, Program, Nodes>;
  Direct direct;

  /// Why a GPU cannot compute it.
  static constexpr auto judge_on_gpu() {
    if constexpr (!Where::lowerable)
      return reason<because::the_gpu_needs_device_text<because::type_of<Where>>>{};
    else
      return allowed{};
  }
};

namespace detail {

/// The source and the elements of a pipe, whose rows are all in a bin.
template <class Pipe>
constexpr auto within_bins(Pipe const& p) {
  return piped<std::remove_cvref_t<decltype(p.source)>, std::remove_cvref_t<decltype(p.values)>, in_a_bin>{p.source, p.values, {}};
}
/// The same with the folds as exact wants them.
template <class Pipe>
constexpr auto within_bins_exactly(Pipe const& p) {
  using Rows = decltype(within_bins(p));
  return answers::exactly<Rows, answers::is_exact<Pipe> ? answers::powers::all : answers::powers::squares>{within_bins(p)};
}
template <class Where, class Pipe, class Folds>
constexpr auto bind_keyed(Where const& where, Pipe const& pipe, Folds const& folds) {
  auto const rows = within_bins(pipe);
  auto const exact = bind_domain(where, within_bins_exactly(pipe), folds);
  using Exact = std::remove_cvref_t<decltype(exact)>;
  auto const direct = [&] {
    if constexpr (!any_exact_leaf(static_cast<decltype(Exact::program.leaves) const*>(nullptr))) // what is left are integers, than which nothing is faster
      return exact;
    else
      return bind_domain(where, rows, folds);
  }();
  return keyed_domain<Where, decltype(Exact::program), decltype(Exact::nodes), std::remove_cvref_t<decltype(direct)>>{exact, direct};
}

/// Whether an expression can be the key of the elements of a pipe.
template <class Key, class Pipe>
constexpr auto judge_key() {
  if constexpr (fold_like<Key>) {
    return reason<because::an_element_is_no_fold<Key>>{};
  } else if constexpr (arity_of<Key>() > current_count<Pipe>) {
    return reason<because::placeholder_needs_a_column<because::names<arity_of<Key>()>, because::there_are<current_count<Pipe>>>>{};
  } else {
    using Expr = decltype(as_element<current_count<Pipe>>(std::declval<Key>()));
    using Verdict = decltype(judge_element<Expr, elements_of<Pipe>>());
    if constexpr (!std::same_as<Verdict, allowed>)
      return Verdict{};
    else if constexpr (!std::is_integral_v<std::remove_cvref_t<value_in<Expr, Pipe>>>)
      return reason<because::a_key_is_an_integer<because::type_of<value_in<Expr, Pipe>>>>{};
    else
      return allowed{};
  }
}

/// Axes named, each once, as bits; ok is false where one is named twice or is none of a source of Rank axes. None named: all.
struct named_axes {
  u32 bits;
  bool ok;
};
template <int Rank, int... Axes>
constexpr named_axes name_axes(index_list<Axes...>) {
  if constexpr (sizeof...(Axes) == 0)
    return {(u32(1) << Rank) - 1, true};
  u32 const bits = (u32(0) | ... | (Axes >= 0 && Axes < Rank ? u32(1) << Axes : u32(0)));
  int n = 0;
  for (int k = 0; k < max_axes; ++k)
    n += int(bits >> k & 1);
  return {bits, n == int(sizeof...(Axes))};
}

} // namespace detail

/// Folds by a key that names bins, before it is known what of.
template <class Axes, int Dims, bool DropsStrays, class Key, class... Folds>
struct folded_by_key {
  using tally_grouping = folded_by_key;
  Key key;
  i64 bins;
  i64 extents[Dims];
  unsound_bounds fault;
  pack<Folds...> folds;

  /// Elements whose key names no bin are left out instead of being an error.
  constexpr auto dropping_strays() const {
    return rebuilt<true>(key, folds);
  }
  /// The same bins for other folds: histogram(0, 10, 5).of(sum(_2), max(_2)).
  template <class... Others>
  constexpr auto of(Others... others) const {
    return rebuilt<DropsStrays>(key, make_pack(others...));
  }
  constexpr auto parts() const { return join(make_pack(key), folds); }
  template <class Other, class... Others>
  constexpr auto with_parts(pack<Other, Others...> const& parts) const {
    return rebuilt<DropsStrays>(parts.first, parts.rest);
  }

  template <class Pipe>
  static constexpr auto judge() {
    constexpr int rank = rank_of<decltype(Pipe::source)>;
    if constexpr (!detail::name_axes<rank>(Axes{}).ok || detail::highest_axis<Key> >= rank)
      return reason<because::over_needs_axes_of_the_source<because::type_of<Axes>, because::there_are<rank>>>{};
    else
      return first_reason<decltype(detail::judge_key<Key, Pipe>()), decltype(detail::judge_group_folds<Pipe, Folds...>())>();
  }
  template <class Pipe>
  constexpr auto bind(Pipe const& pipe) const {
    constexpr int rank = rank_of<std::remove_cvref_t<decltype(pipe.source)>>;
    auto const over = detail::with_axes_of(pipe.source, as_element<current_count<Pipe>>(key).substitute(pipe.values));
    auto const mask = detail::with_axes_of(pipe.source, pipe.mask);
    groups_by_key<rank, detail::name_axes<rank>(Axes{}).bits, Dims, std::remove_cvref_t<decltype(over)>,
                  std::remove_cvref_t<decltype(mask)>, DropsStrays>
        where{over, mask, bins, {}, fault};
    for (int k = 0; k < Dims; ++k)
      where.extents[k] = extents[k];
    return detail::bind_keyed(where, pipe, folds);
  }

  template <class Out>
  void print_head(Out& out) const {
    out.text("by_key");
    print_axes(out, Axes{});
    out.text("(");
    as_element<max_columns>(key).print(out);
    out.text(", ").number(bins);
  }

private:
  template <class Out, int... A>
  static void print_axes(Out& out, index_list<A...>) {
    int i = 0;
    ((out.text(i++ ? ", " : "<").number(A)), ...);
    out.text(i > 0 ? ">" : "");
  }
  template <bool Drops, class Other, class... Fs>
  constexpr auto rebuilt(Other const& of, pack<Fs...> const& with) const {
    folded_by_key<Axes, Dims, Drops, Other, Fs...> out{of, bins, {}, fault, with};
    for (int k = 0; k < Dims; ++k)
      out.extents[k] = extents[k];
    return out;
  }
};

template <class Axes, int Dims, bool DropsStrays, class Key, class... Folds>
inline constexpr bool looks_back<folded_by_key<Axes, Dims, DropsStrays, Key, Folds...>> = looks_back<Key> || (false || ... || looks_back<Folds>);

} // namespace tally::v0
