// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by keys that are not known, computed on the host: one walk finds the keys, a second folds by their number among them.
// Layer 5.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include <tally/pipeline/group_by.hpp>
#include <tally/run/run_keyed.hpp>

namespace tally::inline v0 {

namespace cpu {

/// A set of keys that gives each a number: open addressing, at most half full.
template <class K>
class key_numbers {
public:
  /// The number of a key that may be new.
  u32 add(K key) {
    if (2 * (keys_.size() + 1) > room_.size()) grow();
    std::size_t const at = place_of(key);
    if (room_[at] == 0) {
      keys_.push_back(key);
      room_[at] = static_cast<u32>(keys_.size());
    }
    return room_[at] - 1;
  }
  /// The number of a key that is there.
  u32 operator()(K key) const { return room_[place_of(key)] - 1; }
  std::vector<K> const& keys() const { return keys_; }

private:
  std::vector<K> keys_;
  std::vector<u32> room_; ///< one more than the number; 0 is nobody
  int bits_ = 5;

  std::size_t place_of(K key) const {
    std::size_t const mask = room_.size() - 1;
    std::size_t at = static_cast<std::size_t>((static_cast<u64>(key) * 0x9e3779b97f4a7c15u) >> (64 - bits_)) & mask;
    while (room_[at] != 0 && keys_[room_[at] - 1] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    if (keys_.size() >= std::size_t(most_bins))
      throw too_large("group_by met more than 2^31 keys.");
    room_.assign(std::size_t(1) << ++bits_, 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) room_[place_of(keys_[i])] = static_cast<u32>(i + 1);
  }
};

/// Takes every key down.
template <class K>
struct keys_met {
  static constexpr bool lazy = true;
  static constexpr bool reports = false;
  key_numbers<K>* of;
  bool has(K) const { return true; }
  u32 slot(K key) const {
    of->add(key);
    return 0;
  }
};
/// Bins that keys name by their number among all.
template <class K>
struct found_bins {
  static constexpr bool lazy = true;
  static constexpr bool reports = false;
  key_numbers<K> const* of;
  bool has(K) const { return true; }
  u32 slot(K key) const { return (*of)(key); }
};
/// A sink for those who only want the keys.
struct no_folds {
  template <int N, class RowOf>
  TALLY_INLINE void take(int, RowOf const&, detail::block_of_slots const&) {}
  template <int N, class RowOf>
  TALLY_INLINE void take_row(int, RowOf const&, u32) {}
};

/// The keys of all elements that pass, sorted, with their numbers.
template <class K, class Where, class Program>
key_numbers<K> find_keys(Where const& where, Program const& p, axes_layout const& at, int threads) {
  auto const shares = detail::share_out(at.extent, 1, 1, threads);
  std::vector<key_numbers<K>> of_worker(std::size_t(shares.workers));
  detail::spread_over_cores(shares.workers, shares.workers, [&](i64 w) {
    keys_met<K> const met{&of_worker[std::size_t(w)]};
    keyed_walk<Where, Program, keys_met<K>> const walk(where, p, at, met);
    first_stray none;
    no_folds sink;
    walk.walk(shares.first(int(w)), shares.last(int(w)), 0, static_cast<u32>(-1), 1, none, sink);
  });
  std::vector<K> all;
  for (auto const& one : of_worker) all.insert(all.end(), one.keys().begin(), one.keys().end());
  std::sort(all.begin(), all.end());
  key_numbers<K> sorted;
  for (K const key : all) sorted.add(key);
  return sorted;
}

} // namespace cpu

namespace detail {

/// The domain of found keys as one of numbered bins, whose answers are made alike.
template <int Rank, class Key, class Mask>
struct groups_by_found_key {
  Key key;
  Mask mask;
  i64 extents[1];
  static constexpr int rank = Rank, dims = 1, kept = 0;
  static constexpr bool lowerable = Key::lowerable && Mask::lowerable;
  static constexpr bool is_reduced(int) { return true; }
};

template <bool AnyOrder, class K, int Rank, class Key, class Mask, class Program, class Nodes, class Source>
auto compute_found(domain<groups_by_any_key<Rank, Key, Mask>, Program, Nodes> const& of, Source const& s, int threads) {
  using Where = groups_by_found_key<Rank, Key, Mask>;
  axes_layout const at = layout_of(s, Where::is_reduced);
  if (at.extent > 0)
    check_host_can_read_groups(of.program);
  domain<Where, Program, Nodes> d{{of.where.key, of.where.mask, {0}}, of.program, of.nodes};
  auto const found = cpu::find_keys<K>(d.where, d.program, at, threads);
  i64 const n = static_cast<i64>(found.keys().size());
  d.where.extents[0] = n;
  cpu::found_bins<K> const bins{&found};
  cpu::keyed_states<AnyOrder, Where, Program, cpu::found_bins<K>> states(d.where, d.program, at, bins, n, threads);
  if (at.extent > 0)
    states.fold();
  mdarray<K, 1> keys({n});
  std::copy(found.keys().begin(), found.keys().end(), keys.begin());
  auto answers = answers_of_bins(d, s, states, threads);
  if constexpr (Nodes::size == 1)
    return std::tuple(std::move(keys), std::move(answers));
  else
    return std::tuple_cat(std::tuple(std::move(keys)), std::move(answers));
}

} // namespace detail

/// The keys and answers of a grouping by unknown keys, on the host.
template <int Rank, class Key, class Mask, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_any_key<Rank, Key, Mask>, Program, Nodes, Direct> const& d, Source const& s,
                    on::cpu_place where, [[maybe_unused]] contract c) {
  using Where = groups_by_any_key<Rank, Key, Mask>;
  using Row = decltype(row_at_place(d.program.columns, std::declval<grid_place<decltype(d.program.columns)::size> const&>(), i64{}));
  using K = std::remove_cvref_t<decltype(d.where.key.eval(std::declval<Row const&>()))>;
  if constexpr (!detail::all_free_of_order<decltype(d.direct.program)>)
    if (c == contract::fast)
      return detail::compute_found<true, K>(d.direct, s, where.thread_count);
  return detail::compute_found<false, K>(static_cast<domain<Where, Program, Nodes> const&>(d), s, where.thread_count);
}

} // namespace tally::inline v0
