// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The groupings of a reduction on a GPU, queued one behind the other before any is waited for. Waited for at once is what holds much memory of
// the device, such as columns that were staged, and what tells the host of its elements by memory that the next one uses too. Layer 5.
#pragma once

#include <optional>

#include <tally/run/run_by_segment.hpp>
#include <tally/run/run_keyed.hpp>
#include <tally/run/run_over.hpp>

namespace tally::v0::detail {

/// What computes a domain while the host goes on; void: nothing does.
template <bool Fast, class Domain>
struct queued_on_gpu {
  using type = void;
};
template <bool Fast, int Rank, u32 Reduced, class Program, class Nodes>
struct queued_on_gpu<Fast, domain<groups_along_axes<Rank, Reduced>, Program, Nodes>> {
  using type = axes_on_gpu<domain<groups_along_axes<Rank, Reduced>, Program, Nodes>>;
};
template <bool Fast, int Rank, u32 Reduced, int Dims, class Key, class Mask, bool Drops, class Program, class Nodes, class Direct>
struct queued_on_gpu<Fast, keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes, Direct>> {
  using type = keyed_on_gpu<Fast, keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes, Direct>>;
};

/// Memory that is held while the next ones are queued: what has more takes longer than a wait.
inline constexpr std::size_t most_bytes_of_begun = std::size_t(64) << 20;

/// One grouping that a GPU has begun, if it was to.
template <bool Fast, class Domain, class Source>
class begun_grouping {
  using Queued = typename queued_on_gpu<Fast, Domain>::type;
  using answers = decltype(compute_groups(std::declval<Domain const&>(), std::declval<Source const&>(), std::declval<on::gpu_place>(), contract{}));
  std::optional<std::conditional_t<std::is_void_v<Queued>, char, Queued>> queued_;
  std::optional<answers> here_;

public:
  begun_grouping(bool begins, [[maybe_unused]] Domain const& d, Source const& s, on::gpu_place where, contract c) {
    if (!begins)
      return;
    check_folds(d.program.leaves);
    if constexpr (std::is_void_v<Queued>) {
      here_.emplace(compute_groups(d, s, where, c));
    } else {
      queued_.emplace(d, s, where, c);
      if (queued_->bytes() > most_bytes_of_begun) {
        here_.emplace(queued_->fetch());
        queued_.reset();
      }
    }
  }
  /// Waits.
  answers fetch() {
    if constexpr (!std::is_void_v<Queued>)
      if (queued_)
        return queued_->fetch();
    return std::move(*here_);
  }
};

/// All of a reduction, in their order; a fold of the whole source is none. `begins(index)` says which.
template <bool Fast, int I, class Pipe, class Items>
class begun_groupings {
public:
  template <class Begins>
  begun_groupings(Items const&, Pipe const&, on::gpu_place, contract, Begins const&) {}
};
template <bool Fast, int I, class Pipe, class Item, class... Items>
  requires(!grouping<Item>)
class begun_groupings<Fast, I, Pipe, pack<Item, Items...>> : public begun_groupings<Fast, I + 1, Pipe, pack<Items...>> {
public:
  template <class Begins>
  begun_groupings(pack<Item, Items...> const& items, Pipe const& pipe, on::gpu_place where, contract c, Begins const& begins)
      : begun_groupings<Fast, I + 1, Pipe, pack<Items...>>(items.rest, pipe, where, c, begins) {}
};
template <bool Fast, int I, class Pipe, class Item, class... Items>
  requires grouping<Item>
class begun_groupings<Fast, I, Pipe, pack<Item, Items...>> {
  using Source = std::remove_cvref_t<decltype(std::declval<Pipe const&>().source)>;
  begun_grouping<Fast, decltype(std::declval<Item const&>().bind(std::declval<Pipe const&>())), Source> first_;
  begun_groupings<Fast, I + 1, Pipe, pack<Items...>> rest_;

public:
  template <class Begins>
  begun_groupings(pack<Item, Items...> const& items, Pipe const& pipe, on::gpu_place where, contract c, Begins const& begins)
      : first_(begins(index_constant<I>{}), items.first.bind(pipe), pipe.source, where, c), rest_(items.rest, pipe, where, c, begins) {}
  template <int K>
  auto fetch() {
    if constexpr (K == I)
      return first_.fetch();
    else
      return rest_.template fetch<K>();
  }
};

} // namespace tally::v0::detail
