// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by keys that are not known, computed: one read finds the keys, a second folds by their number among them. Layer 5.
#pragma once

#include <tuple>
#include <vector>

#include <tally/pipeline/group_by.hpp>
#include <tally/run/gpu_find_keys.hpp>
#include <tally/run/run_keyed.hpp>

namespace tally::v0 {

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
  std::vector<std::conditional_t<std::is_signed_v<K>, i64, u64>> all;
  for (auto const& one : of_worker)
    for (K const key : one.keys()) all.push_back(key);
  sort(all.data(), all.data() + all.size());
  key_numbers<K> sorted;
  for (auto const key : all) sorted.add(static_cast<K>(key));
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

/// The values of an expression that is a key.
template <class Key, class Program>
using key_value = std::remove_cvref_t<decltype(std::declval<Key const&>().eval(
    row_at_place(std::declval<Program const&>().columns, std::declval<grid_place<Program::columns_type::size> const&>(), i64{})))>;

/// The keys of a grouping, which one number stands for: an array of each.
template <class Key, class Program>
struct found_keys_apart {
  static auto arrays(mdarray<key_value<Key, Program>, 1> keys) { return std::tuple(std::move(keys)); }
};
template <class... Keys, class Program>
struct found_keys_apart<call<op::keys_together, Keys...>, Program> {
  static auto arrays(mdarray<u64, 1> const& together) {
    std::tuple all{mdarray<key_value<Keys, Program>, 1>({static_cast<i64>(together.size())})...};
    for (std::size_t k = 0; k < together.size(); ++k) {
      int above = 8 * int((sizeof(key_value<Keys, Program>) + ...));
      std::apply([&](auto&... keys) { (put(keys.data()[k], together.data()[k], above), ...); }, all);
    }
    return all;
  }

private:
  /// Takes the key that lies in front of bit `above`, and moves that down.
  template <class K>
  static void put(K& key, u64 together, int& above) {
    above -= 8 * int(sizeof(K));
    key = op::keys_together::key_in<K>(together >> above);
  }
};

/// Keys, and the array or the arrays beside them.
template <class Key, class Program, int Answers, class Keys, class Arrays>
auto keys_and_answers(Keys keys, Arrays answers) {
  auto apart = found_keys_apart<Key, Program>::arrays(std::move(keys));
  if constexpr (Answers == 1)
    return std::tuple_cat(std::move(apart), std::tuple(std::move(answers)));
  else
    return std::tuple_cat(std::move(apart), std::move(answers));
}

template <bool AnyOrder, class K, int Rank, class Key, class Mask, class Program, class Nodes, class Source>
auto compute_found(domain<groups_by_any_key<Rank, Key, Mask>, Program, Nodes> const& of, Source const& s, int threads) {
  using Where = groups_by_found_key<Rank, Key, Mask>;
  axes_layout const at = layout_of(of.program, s, Where::is_reduced);
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
  for (i64 i = 0; i < n; ++i) keys.data()[i] = found.keys()[static_cast<std::size_t>(i)];
  return keys_and_answers<Key, Program, Nodes::size>(std::move(keys), answers_of_bins(d, s, states, threads));
}

/// The type of the keys of a grouping.
template <class Where, class Program>
using key_type_of = key_value<decltype(Where::key), Program>;

/// The domain of found keys as one of bins on a GPU: a key is its number in a table that is in its memory.
template <class Key, class Word>
using number_of_key = call<op::number_among, Key, literal<key_table<Word>>>;
template <class Key, class Word>
inline constexpr bool is_looked_up<number_of_key<Key, Word>> = true;
template <class Where, class Word>
struct groups_by_number;
template <int Rank, class Key, class Mask, class Word>
struct groups_by_number<groups_by_any_key<Rank, Key, Mask>, Word> {
  using type = groups_by_key<Rank, (u32(1) << Rank) - 1, 1, number_of_key<Key, Word>, Mask, true>;
  static type among(groups_by_any_key<Rank, Key, Mask> const& where, key_table<Word> const& keys, i64 n) {
    return {number_of_key<Key, Word>(make_pack(where.key, literal<key_table<Word>>(keys))), where.mask, n, {n}, {-1, 0, 0}};
  }
};

/// A keyed domain with other bins.
template <class Bins, class Where, class Program, class Nodes, class Direct>
auto keyed_by(Bins const& bins, keyed_domain<Where, Program, Nodes, Direct> const& d) {
  using As = domain<Bins, decltype(d.direct.program), decltype(d.direct.nodes)>;
  return keyed_domain<Bins, Program, Nodes, As>{{bins, d.program, d.nodes}, As{bins, d.direct.program, d.direct.nodes}};
}

/// The constants of the types of a search for keys, one object for each.
template <class Where, class Program>
struct find_keys_types;
template <class Where, class Columns, class... Leaves>
struct find_keys_types<Where, program<Columns, Leaves...>> {
  using read = program<Columns>;
  using word = key_word<key_type_of<Where, read>>;
  static std::string definitions() {
    return definitions_of<program<Columns, bound<count_monoid, pack<decltype(Where::key)>, decltype(Where::mask)>>>();
  }
  static gpu::find_keys_type const& type() {
    static gpu::find_keys_type const t{&name_of<read>, &name_of<Where>, &definitions, sizeof(read), sizeof(Where), int(sizeof(word))};
    return t;
  }
};

template <bool Fast, class Where, class Program, class Nodes, class Direct, class Source>
auto compute_found_on_gpu(keyed_domain<Where, Program, Nodes, Direct> const& of, Source const& s, on::gpu_place place, contract c) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  using types = find_keys_types<Where, Program>;
  using Word = typename types::word;
  using K = key_type_of<Where, Program>;
  using Numbered = groups_by_number<Where, Word>;
  static gpu::kernels_of<find_keys_plan> kernels;
  axes_layout const at = layout_of(of.program, s, Numbered::type::is_reduced);
  auto d = keyed_by(Numbered::among(of.where, {}, 0), of);
  typename types::read read{of.program.columns, at.extent, 0, {}};
  gpu::find_keys_request r{&types::type(), &kernels, &read, &of.where, {}, {facts_of(read, target{}, c), at, int(sizeof(K))}, place.ordinal, place.queue};
  places_in_grid(read, at, r.columns);
  if (r.ordinal < 0)
    r.ordinal = gpu::home_of(r.columns, decltype(read.columns)::size);
  if (r.ordinal < 0)
    r.ordinal = 0;
  place.ordinal = r.ordinal;
  gpu::staged_columns staged;
  gpu::found_keys found{};
  if (at.extent > 0) {
    found = gpu::find_keys(r, staged);
    gpu::number_keys(r, found);
    d = keyed_by(Numbered::among(of.where, {static_cast<key_entry<Word>*>(found.at.entries), found.at.mask}, static_cast<i64>(found.at.keys)), of);
    d.program.columns = d.direct.program.columns = read.columns; // where they were staged
  }
  auto answers = keyed_on_gpu<Fast, decltype(d)>(d, s, place, c).fetch();
  mdarray<K, 1> keys({d.where.bins});
  if (keys.size() > 0) {
    if constexpr (sizeof(K) == sizeof(Word)) {
      gpu::fetch_keys(r, found, keys.data());
    } else {
      std::vector<Word> words(keys.size());
      gpu::fetch_keys(r, found, words.data());
      for (std::size_t i = 0; i < words.size(); ++i)
        keys.data()[i] = static_cast<K>(words[i]);
    }
  }
  return keys_and_answers<decltype(Where::key), Program, Nodes::size>(std::move(keys), std::move(answers));
}

} // namespace detail

/// The keys and answers of a grouping by unknown keys, on the host.
template <int Rank, class Key, class Mask, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_any_key<Rank, Key, Mask>, Program, Nodes, Direct> const& d, Source const& s,
                    on::cpu_place where, [[maybe_unused]] contract c) {
  using Where = groups_by_any_key<Rank, Key, Mask>;
  using K = detail::key_type_of<Where, Program>;
  using Keyed = std::remove_cvref_t<decltype(d)>;
  if constexpr (detail::has_other_folds<Keyed>)
    if (c == contract::fast)
      return detail::compute_found<true, K>(d.direct, s, where.thread_count);
  return detail::compute_found<false, K>(static_cast<typename Keyed::exact_domain const&>(d), s, where.thread_count);
}

/// The same, from a GPU.
template <int Rank, class Key, class Mask, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_any_key<Rank, Key, Mask>, Program, Nodes, Direct> const& d, Source const& s,
                    on::gpu_place where, contract c) {
  if constexpr (detail::folds_as_they_are<true, std::remove_cvref_t<decltype(d)>>)
    if (c == contract::fast)
      return detail::compute_found_on_gpu<true>(d, s, where, c);
  return detail::compute_found_on_gpu<false>(d, s, where, c);
}

} // namespace tally::v0
