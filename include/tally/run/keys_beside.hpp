// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keyed groupings of a reduction whose elements another read on a GPU folds too: which of them may, their requests, and their answers. Layer 5.
#pragma once

#include <optional>

#include <tally/run/gpu_keys_beside.hpp>
#include <tally/run/run_keyed.hpp>

namespace tally::v0::detail {

/// The types of a pack of keyed domains: leaves that know all of them, and the columns that they read, a bit each.
template <class Domains>
struct keyed_domains;
template <>
struct keyed_domains<pack<>> {
  using leaves = pack<>;
  static constexpr u32 columns = 0;
};
template <class Where, class Columns, class... Leaves, class Nodes, class... Domains>
struct keyed_domains<pack<domain<Where, program<Columns, Leaves...>, Nodes>, Domains...>> {
  using leaves = decltype(join(std::declval<pack<Leaves..., bound<count_monoid, pack<decltype(Where::key)>, decltype(Where::mask)>>>(),
                               std::declval<typename keyed_domains<pack<Domains...>>::leaves>()));
  static constexpr u32 columns = columns_folded<program<Columns, Leaves...>> | columns_of_key<Where> | keyed_domains<pack<Domains...>>::columns;
};

/// A program of other leaves over the same columns.
template <class Columns, class... Leaves>
auto with_leaves(Columns const& c, pack<Leaves...> const& leaves) {
  return program<Columns, Leaves...>{c, 0, 0, leaves};
}
/// Device text that a program and keyed domains need.
template <class Program, class Domains>
std::string definitions_with_keys() {
  using all = decltype(with_leaves(std::declval<Program>().columns, join(std::declval<Program>().leaves, std::declval<typename keyed_domains<Domains>::leaves>())));
  return definitions_of<all>();
}
/// The folds of the whole as a read of a source folds them that has keyed domains beside; a read of keys alone counts.
template <class Domains, class Source, class Program>
auto read_with_keys(Source const& s, Program const& whole) {
  if constexpr (Program::leaf_count > 0)
    return program_of<keyed_domains<Domains>::columns>(s.columns, whole.extent, whole.leaves);
  else
    return program_of<keyed_domains<Domains>::columns>(s.columns, whole.extent, pack<bound<count_monoid, pack<>, in_a_bin>>{});
}

/// Whether the table beside is of folds as they are: of those that are better exact, where exact ones have a table that may be there, it is not.
template <bool Fast, class Keyed>
inline constexpr bool are_as_they_are_beside = folds_as_they_are<Fast, Keyed> && (all_atomic<decltype(Keyed::direct.program)> || !has_exact_folds<Keyed>);
/// Whether a keyed domain is folded without sorting into one table, under a contract.
template <bool Fast, class Keyed>
constexpr bool may_be_beside() {
  if constexpr (requires { Keyed::direct; std::declval<Keyed const&>().where.bins; })
    return decltype(Keyed::where)::kept == 0 && !is_sorted<folds_as_they_are<Fast, Keyed>, Keyed>;
  else
    return false;
}
/// The domain of an item of a grouped reduction, in a pack, if it may be beside.
template <bool Fast, class Item, class Pipe>
constexpr auto domain_beside(Item const& item, Pipe const& pipe) {
  if constexpr (grouping<Item>) {
    auto const bound = item.bind(pipe);
    using Keyed = std::remove_cvref_t<decltype(bound)>;
    if constexpr (!requires { bound.direct; }) {
      return pack<>{};
    } else if constexpr (may_be_beside<Fast, Keyed>()) {
      if constexpr (are_as_they_are_beside<Fast, Keyed>)
        return make_pack(bound.direct);
      else
        return make_pack(typename Keyed::exact_domain(bound));
    } else {
      return pack<>{};
    }
  } else {
    return pack<>{};
  }
}
template <bool Fast, class Item, class Pipe>
inline constexpr bool is_beside = decltype(domain_beside<Fast>(std::declval<Item const&>(), std::declval<Pipe const&>()))::size > 0;
/// The domains of all items that may be, in their order, as many as may be.
template <bool Fast, class Pipe>
constexpr pack<> domains_beside(pack<> const&, Pipe const&) {
  return {};
}
template <bool Fast, class Pipe, class Item, class... Items>
constexpr auto domains_beside(pack<Item, Items...> const& items, Pipe const& pipe) {
  return join(domain_beside<Fast>(items.first, pipe), domains_beside<Fast>(items.rest, pipe));
}
/// How many of the items in front of item I may be.
template <bool Fast, int I, class Pipe, class... Items>
constexpr int number_beside(pack<Items...> const*) {
  int n = 0, i = 0;
  ((n += i++ < I && is_beside<Fast, Items, Pipe> ? 1 : 0), ...);
  return n;
}

/// One of them: its request, and its answers afterwards.
template <class Domain>
class key_beside;
template <class Where, class Program, class... Nodes>
class key_beside<domain<Where, Program, pack<Nodes...>>> {
public:
  template <class Source>
  key_beside(domain<Where, Program, pack<Nodes...>> const& d, Source const& s, on::gpu_place place, contract c)
      : argument_{d.where, d.program, {}, 0}, nodes_(d.nodes) {
    static gpu::kernels_of<keys_plan> kernels;
    check_folds(d.program.leaves);
    axes_layout const at = layout_of(d.program, s, Where::is_reduced);
    check_bins(d.where, at.groups);
    extents_of_bins(d.where, s, extents_);
    reads_ = at.extent > 0 && d.where.bins > 0;
    argument_.program.extent = at.extent;
    request_.keys = {&keyed_types<Where, Program, pack<Nodes...>>::type(), &argument_.program, &argument_.where, &nodes_, {},
                     facts_of_keys(d, argument_.program, at, target{}, c), {}, place.ordinal, place.queue};
    places_in_grid(argument_.program, at, request_.keys.columns);
    request_.kernels = &kernels;
    request_.argument = &argument_;
    request_.argument_bytes = sizeof argument_;
    request_.memory = &argument_.to;
    request_.shared_offset = &argument_.shared_offset;
  }
  key_beside(key_beside const&) = delete;
  /// Null where there is nothing to read or nowhere to add.
  gpu::keys_beside_request* request() { return reads_ ? &request_ : nullptr; }
  void make_room() {
    answers_.emplace(request_.keys.f.slots, request_.keys.ordinal, request_.keys.stream);
    request_.keys.to = answers_->places();
  }
  /// Waits. Throws key_out_of_range and overflow.
  auto fetch() {
    throw_stray_of(request_.flight, argument_.where, argument_.program);
    return answers_->template fetch<Where::dims>(extents_);
  }

private:
  tally::v0::keys_beside<Where, Program> argument_;
  pack<Nodes...> nodes_;
  i64 extents_[Where::dims]{};
  bool reads_;
  gpu::keys_beside_request request_{};
  std::optional<answers_on_device<Program, Nodes...>> answers_;
};

/// All of them.
template <class... Domains>
struct all_keys_beside {
  using domains = pack<>;
  template <class Source>
  all_keys_beside(pack<> const&, Source const&, on::gpu_place, contract) {}
  void list(gpu::keys_beside_request**, int) {}
  void make_room(gpu::keys_of_read const&) {}
};
template <class Domain, class... Domains>
struct all_keys_beside<Domain, Domains...> {
  using domains = pack<Domain, Domains...>;
  key_beside<Domain> first;
  all_keys_beside<Domains...> rest;
  template <class Source>
  all_keys_beside(pack<Domain, Domains...> const& d, Source const& s, on::gpu_place place, contract c)
      : first(d.first, s, place, c), rest(d.rest, s, place, c) {}
  /// The first `room` of them.
  void list(gpu::keys_beside_request** to, int room) {
    if (room == 0)
      return;
    *to = first.request();
    rest.list(to + 1, room - 1);
  }
  /// For the answers of those that join a read.
  void make_room(gpu::keys_of_read const& joined) {
    for (auto const* one : joined.of)
      if (one != nullptr && one == first.request())
        first.make_room();
    rest.make_room(joined);
  }
  template <int I>
  auto& get() {
    if constexpr (I == 0)
      return first;
    else
      return rest.template get<I - 1>();
  }
};
template <class... Domains, class Source>
auto keys_beside_of(pack<Domains...> const& d, Source const& s, on::gpu_place place, contract c) {
  return all_keys_beside<Domains...>(d, s, place, c);
}

} // namespace tally::v0::detail
