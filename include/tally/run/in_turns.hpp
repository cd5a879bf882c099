// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groupings by segment of a reduction that a GPU folds in one launch with each other, with folds of the whole and with keys beside those: which of them
// may, their requests, and their answers. Layer 5.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>

#include <tally/run/gpu_turns.hpp>
#include <tally/run/keys_beside.hpp>
#include <tally/run/run_by_segment.hpp>

namespace tally::v0::detail {

template <class Domain>
inline constexpr bool is_between_offsets = false;
template <class Offset, class Program, class Nodes>
inline constexpr bool is_between_offsets<domain<groups_between_offsets<Offset>, Program, Nodes>> = Program::leaf_count > 0;

/// The domain of an item of a reduction, in a pack, if it folds segments.
template <class Item, class Pipe>
constexpr auto segments_of_item(Item const& item, Pipe const& pipe) {
  if constexpr (grouping<Item>) {
    auto const bound = item.bind(pipe);
    if constexpr (is_between_offsets<std::remove_cvref_t<decltype(bound)>>)
      return make_pack(bound);
    else
      return pack<>{};
  } else {
    return pack<>{};
  }
}
template <class Item, class Pipe>
inline constexpr bool folds_segments = decltype(segments_of_item(std::declval<Item const&>(), std::declval<Pipe const&>()))::size > 0;
template <class Pipe>
constexpr pack<> segments_of_items(pack<> const&, Pipe const&) {
  return {};
}
template <class Pipe, class Item, class... Items>
constexpr auto segments_of_items(pack<Item, Items...> const& items, Pipe const& pipe) {
  return join(segments_of_item(items.first, pipe), segments_of_items(items.rest, pipe));
}
/// How many of the items in front of item I fold segments.
template <int I, class Pipe, class... Items>
constexpr int number_of_segments(pack<Items...> const*) {
  int n = 0, i = 0;
  ((n += i++ < I && folds_segments<Items, Pipe> ? 1 : 0), ...);
  return n;
}

/// Device text that folds of the whole, keyed domains and segments need.
template <class Program, class Keyed, class... Segments>
std::string definitions_in_turns() {
  using all = decltype(with_leaves(std::declval<Program>().columns, join_all(std::declval<decltype(Program::leaves)>(), std::declval<typename keyed_domains<Keyed>::leaves>(),
                                                                             std::declval<decltype(Segments::program.leaves)>()...)));
  return definitions_of<all>();
}

/// All groupings by segment of a reduction.
template <class Domains>
class segments_in_turns;
/// None, or more than one launch takes.
template <class Domains>
class no_segments_in_turns {
public:
  static constexpr int count = 0;
  template <class... Arguments>
  explicit no_segments_in_turns(Arguments const&...) {}
};
template <class... Domains>
  requires(sizeof...(Domains) == 0 || sizeof...(Domains) > max_segments_in_turns)
class segments_in_turns<pack<Domains...>> : public no_segments_in_turns<pack<Domains...>> {
  using no_segments_in_turns<pack<Domains...>>::no_segments_in_turns;
};
template <class... Domains>
  requires(sizeof...(Domains) > 0 && sizeof...(Domains) <= max_segments_in_turns)
class segments_in_turns<pack<Domains...>> {
public:
  static constexpr int count = sizeof...(Domains);
  segments_in_turns(pack<Domains...> const& d, on::gpu_place where, contract c)
      : domains_(d), reads_(unpack([](auto const&... of) { return make_pack(read_of(of, 0, of.program.extent)...); }, d)), where_(where), c_(c) {}
  segments_in_turns(segments_in_turns const&) = delete;

  /// Whether every one has a segment and there is an element. Throws what is wrong with offsets that the host can read, before anything is queued.
  bool prepare() {
    bool all = true;
    for_each_index<count>([&](auto i) { all = prepare_one<i>() && all; });
    return all;
  }
  /// What may take turns with the folds of `whole`, if there are any, and with keys; both must outlive it.
  template <class Program, class Keyed>
  gpu::turns_request request(gpu::full_request* whole, gpu::keys_of_read const& keys) {
    static gpu::kernels_of<gpu::plan_of_turns> kernels;
    gpu::turns_request r{whole, keys, {}, &reads_, sizeof reads_, &kernels, &definitions_in_turns<Program, Keyed, Domains...>};
    for_each_index<count>([&](auto i) {
      auto& one = std::get<i>(queued_);
      tally::v0::get<i>(reads_).at = tally::v0::get<i>(domains_).where;
      one.emplace(tally::v0::get<i>(domains_), tally::v0::get<i>(reads_), 0, where_, c_, std::get<i>(on_device_));
      r.segments[i] = &one->request();
    });
    return r;
  }
  template <int I>
  auto fetch() {
    return std::get<I>(queued_)->fetch();
  }

private:
  template <int I>
  bool prepare_one() {
    auto& d = tally::v0::get<I>(domains_);
    check_folds(d.program.leaves);
    d.where = counted(d.where, false, where_.queue);
    std::get<I>(on_device_) = gpu::residence_of(d.where.offsets) == gpu::residence::device;
    if (!std::get<I>(on_device_))
      check_offsets(d.where, d.program.extent, 0);
    return d.where.segments() > 0 && d.program.extent > 0;
  }
  pack<Domains...> domains_;
  pack<typename segments_on_gpu<Domains>::read_type...> reads_;
  std::tuple<std::optional<segments_on_gpu<Domains>>...> queued_;
  std::array<bool, count> on_device_{};
  on::gpu_place where_;
  contract c_;
};

} // namespace tally::v0::detail
