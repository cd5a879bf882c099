// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by key, computed: the states of every bin, then its answers as arrays. Layer 5.
#pragma once

#include <string>

#include <tally/base/error.hpp>
#include <tally/fold/partitions.hpp>
#include <tally/pipeline/keyed.hpp>
#include <tally/run/cpu_keyed.hpp>
#include <tally/run/gpu_keys_in_any_order.hpp>
#include <tally/run/gpu_sorted_keys.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_over.hpp>
#include <tally/run/traits_of_leaves.hpp>

namespace tally::v0 {

namespace detail {

/// Throws bad_bounds, extent_mismatch or too_large unless there can be a slot for every answer.
template <class Where>
void check_bins(Where const& where, i64 groups) {
  if (where.fault.axis >= 0)
    throw_bad_bounds(where.fault.axis, where.fault.low, where.fault.high);
  for (i64 const n : where.extents)
    if (n < 0)
      throw extent_mismatch("a grouping has " + std::to_string(n) + " bins.");
  if (where.bins > most_bins)
    throw too_large("a grouping has more than 2^31 bins.");
  if (groups > 0 && where.bins > cpu::most_slots / groups)
    throw too_large("a grouping has " + std::to_string(where.bins) + " bins of " + std::to_string(groups) + " answers each.");
}
inline void throw_stray(cpu::first_stray const& s, i64 bins) {
  std::string const key = s.key_is_unsigned ? std::to_string(static_cast<u64>(s.key)) : std::to_string(s.key);
  throw key_out_of_range("the key at position " + std::to_string(s.position) + " is " + key + ", the bins are [0, " +
                         std::to_string(bins) + ").");
}

/// The host must be able to read the columns of a keyed source.
template <class Program>
void check_host_can_read_groups(Program p) {
  p.extent = 1;
  check_host_can_read(p);
}

template <class Leaves, class States>
void check_overflow_of_groups(Leaves const& leaves, States const& states) {
  if constexpr (any_checked(static_cast<Leaves const*>(nullptr)))
    for (std::size_t g = 0; g < states.size(); ++g)
      check_overflow(leaves, states[g]);
}

/// The extents of an array of answers: the bins, then the axes that stay.
template <class Where, class Source>
void extents_of_bins(Where const& where, Source const& s, i64* out) {
  for (i64 const n : where.extents)
    *out++ = n;
  for (int k = 0; k < Where::rank; ++k)
    if (!Where::is_reduced(k))
      *out++ = extent_along(s, k);
}

/// The answers of a domain whose groups are bins, from the states of all slots.
template <class Domain, class Source, class States>
auto answers_of_bins(Domain const& d, Source const& s, States const& states, int threads) {
  using Where = std::remove_cvref_t<decltype(d.where)>;
  constexpr int kept = Where::dims + Where::kept;
  i64 extents[kept]{};
  extents_of_bins(d.where, s, extents);
  check_overflow_of_groups(d.program.leaves, states);
  return arrays_of_answers<kept>(d, states, extents, threads, [](i64) { return i64(1); });
}

/// Whether atomics fold every leaf of a program.
template <class Program>
inline constexpr bool all_atomic = false;
template <class Columns, class... Leaves>
inline constexpr bool all_atomic<program<Columns, Leaves...>> = (true && ... && (cell_of<typename Leaves::monoid_type>::kind != cell_kind::locked));

/// Whether fast and other contracts fold other programs, and whether those of the others have no order.
template <class Keyed>
inline constexpr bool has_other_folds = !all_free_of_order(leaves_of<decltype(Keyed::direct.program)>);
template <class Keyed>
inline constexpr bool has_exact_folds = all_free_of_order(leaves_of<decltype(Keyed::program)>);

/// Whether a GPU may fold the folds of a keyed domain as they are: under fast, where that makes a difference.
template <bool Fast, class Keyed>
inline constexpr bool folds_as_they_are = Fast && has_other_folds<Keyed>;

/// Whether a GPU sorts the elements of a keyed domain whatever they are: some fold needs their order, and has no exact form.
template <bool AsTheyAre, class Keyed>
inline constexpr bool is_sorted = !has_exact_folds<Keyed> && !(AsTheyAre && all_atomic<decltype(Keyed::direct.program)>);

template <bool AnyOrder, class Where, class Program, class Nodes, class Source>
auto compute_bins(domain<Where, Program, Nodes> const& d, Source const& s, int threads) {
  axes_layout const at = layout_of(d.program, s, Where::is_reduced);
  check_bins(d.where, at.groups);
  if (at.groups > 0 && at.extent > 0)
    check_host_can_read_groups(d.program);
  cpu::numbered_bins<Where::drops_strays> const bins{d.where.bins};
  cpu::keyed_states<AnyOrder, Where, Program, cpu::numbered_bins<Where::drops_strays>> states(d.where, d.program, at, bins, d.where.bins,
                                                                                             threads);
  if (at.groups > 0 && at.extent > 0) {
    auto const stray = states.fold();
    if (stray.position >= 0)
      throw_stray(stray, d.where.bins);
  } else {
    states.clear();
  }
  return answers_of_bins(d, s, states, threads);
}

/// Whether a key is its number among those that were found first.
template <class Key>
inline constexpr bool is_looked_up = false;

/// The constants of a keyed grouping's types, one object for each.
template <class Where, class Program, class Nodes>
struct keyed_types;
template <class Where, class Columns, class... Leaves, class Nodes>
struct keyed_types<Where, program<Columns, Leaves...>, Nodes> {
  using Program = program<Columns, Leaves...>;
  /// A program that also folds what makes the bins, so that its definitions are found.
  static std::string definitions() {
    return definitions_of<program<Columns, Leaves..., bound<count_monoid, pack<decltype(Where::key)>, decltype(Where::mask)>>>();
  }
  static gpu::keyed_type const& type() {
    static gpu::keyed_type const t{{&name_of<Program>, &name_of<Nodes>, &definitions, sizeof(Program), alignof(Program),
                                    sizeof(typename Program::states), sizeof(Nodes)},
                                   &name_of<Where>,
                                   sizeof(Where),
                                   int(sizeof...(Leaves)),
                                   {cell_of<typename Leaves::monoid_type>::bytes...},
                                   (false || ... || meets_behind_a_lock<typename Leaves::monoid_type>),
                                   !Where::drops_strays || (false || ... || checked_leaf<Leaves>),
                                   words_of(static_cast<typename Program::states const*>(nullptr))};
    return t;
  }
  static constexpr int own_cell_bytes(bool numbers_in_32) {
    return numbers_in_32 ? of_all(tally::v0::own_cell_bytes<typename Leaves::monoid_type, true>...) : of_all(tally::v0::own_cell_bytes<typename Leaves::monoid_type, false>...);
  }
  /// The same where exact sums have windows; 0: there are none, or one has none.
  static constexpr int bytes_in_windows(bool numbers_in_32) {
    return !sums_exactly   ? 0
           : numbers_in_32 ? of_all(tally::v0::own_bytes_in_windows<typename Leaves::monoid_type, true>...)
                           : of_all(tally::v0::own_bytes_in_windows<typename Leaves::monoid_type, false>...);
  }
  /// Bytes of the neighbours of all folds that `red` takes at once; 0 where it does not.
  static constexpr int neighbour_bytes() {
    constexpr int first = bytes_of_neighbour<nth_t<0, Leaves...>>;
    return (true && ... && (bytes_of_neighbour<Leaves> == first)) ? first : 0;
  }
  static constexpr bool only_counts = (true && ... && (cell_of<typename Leaves::monoid_type>::kind == cell_kind::counted));
  static constexpr bool counts = (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::counted));
  static constexpr bool sums_exactly = (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::digits));
  static constexpr bool gives_words_beside_windows =
      (false || ... || (cell_of<typename Leaves::monoid_type>::kind != cell_kind::counted && cell_of<typename Leaves::monoid_type>::kind != cell_kind::digits &&
                        is_of_words<typename Leaves::monoid_type>));
  static constexpr bool gives_words = sums_exactly || gives_words_beside_windows;
  static constexpr bool integers = (true && ... && is_of_integers<typename Leaves::monoid_type>);
  static constexpr bool meet_in_clusters = (true && ... && (is_of_integers<typename Leaves::monoid_type> || is_added_once<typename Leaves::monoid_type>));
  static constexpr bool short_atomics = (true && ... && is_of_short_atomics<typename Leaves::monoid_type>);
  static constexpr bool places = (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::placed));
  static constexpr bool swaps_floats = (false || ... || (cell_of<typename Leaves::monoid_type>::kind == cell_kind::added));
  static constexpr bool swaps_pairs(bool numbers_in_32) {
    return (false || ... || (numbers_in_32 ? tally::v0::swaps_pairs<typename Leaves::monoid_type, true> : tally::v0::swaps_pairs<typename Leaves::monoid_type, false>));
  }
  static constexpr int atomics_of_element = (0 + ... + atomics_of_cell<typename Leaves::monoid_type>);
  /// Whether answer i is the sum that fold i added.
  static constexpr bool gives_cells = neighbour_bytes() > 0 && (true && ... && (cell_of<typename Leaves::monoid_type>::kind == cell_kind::added)) &&
                                      []<int... I>(index_list<I...>) {
    return std::same_as<Nodes, pack<answers::leaf<I>...>>;
  }(indices_up_to<int(sizeof...(Leaves))>{});

private:
  /// Of cells of which every fold has one, else 0.
  template <class... Bytes>
  static constexpr int of_all(Bytes... of_each) {
    return (true && ... && (of_each > 0)) ? (0 + ... + of_each) : 0;
  }
};

/// The domain of a keyed grouping that a contract folds: fast the folds as they are, others so that no order is seen.
template <bool Fast, class Keyed>
constexpr auto const& domain_under(Keyed const& d) {
  if constexpr (Fast)
    return d.direct;
  else
    return d;
}
/// What the planner of keys knows of a domain whose elements lie there, and whose program has its extent.
template <class Where, class Program, class Nodes>
keys_facts facts_of_keys(domain<Where, Program, Nodes> const& d, Program const& p, axes_layout const& at, target const& t, contract c) {
  using types = keyed_types<Where, Program, Nodes>;
  i64 const slots = d.where.bins * at.groups;
  bool const gives_cells = types::gives_cells && !planning::writes_home(slots, bytes_of_answers<Program>(static_cast<Nodes const*>(nullptr)));
  bool const in_32 = fits_numbers_in_32(at.extent * at.groups);
  return {facts_of(p, t, c),  at, slots, types::own_cell_bytes(in_32), rows_have_one_key<Where>(p, at),
          types::neighbour_bytes(), gives_cells, types::only_counts, types::counts, types::gives_words, types::integers, types::meet_in_clusters, is_looked_up<std::remove_cvref_t<decltype(d.where.key)>>,
          columns_folded<Program>, can_travel<Program>, types::atomics_of_element, types::short_atomics, types::places, types::swaps_pairs(in_32), types::swaps_floats, types::bytes_in_windows(in_32), types::gives_words_beside_windows};
}

/// Throws key_out_of_range or overflow where a read that has been queued met one.
template <class Where, class Program>
void throw_stray_of(gpu::keys_in_flight& flight, Where const& where, Program const& p) {
  if (auto const stray = gpu::stray_of(flight); stray.position >= 0) {
    using Row = decltype(row_at_place(p.columns, std::declval<grid_place<decltype(p.columns)::size> const&>(), i64{}));
    using K = std::remove_cvref_t<decltype(where.key.eval(std::declval<Row const&>()))>;
    throw_stray({stray.position, static_cast<i64>(stray.key), K(0) < K(-1)}, where.bins);
  }
}

/// The request of a keyed read of a program that has its extent.
template <class Where, class Program, class Nodes>
gpu::keys_request keys_request_for(domain<Where, Program, Nodes> const& d, Program& p, axes_layout const& at, on::gpu_place place, contract c) {
  gpu::keys_request r{&keyed_types<Where, Program, Nodes>::type(), &p, &d.where, &d.nodes, {}, facts_of_keys(d, p, at, target{}, c), {}, place.ordinal, place.queue};
  places_in_grid(p, at, r.columns);
  return r;
}
/// The kernels that fold a domain by key.
template <bool Sorted>
using kernels_by_key = std::conditional_t<Sorted, gpu::sorted_kernels<sorted_keys_plan>, gpu::any_order_kernels>;

/// A grouping by key that a GPU computes: queued when it is made, fetched later.
template <bool Sorted, class Domain>
class bins_on_gpu;
template <bool Sorted, class Where, class Program, class... Nodes>
class bins_on_gpu<Sorted, domain<Where, Program, pack<Nodes...>>> {
  static constexpr int kept = Where::dims + Where::kept;

public:
  template <class Source>
  bins_on_gpu(domain<Where, Program, pack<Nodes...>> const& d, Source const& s, on::gpu_place place, contract c) : d_(d) {
    if (gpu::device_count() == 0)
      throw no_gpu(gpu::why_no_device());
    static kernels_by_key<Sorted> kernels;
    axes_layout const at = layout_of(d.program, s, Where::is_reduced);
    check_bins(d.where, at.groups);
    extents_of_bins(d.where, s, extents_);
    slots_ = d.where.bins * at.groups;
    if (at.groups == 0 || at.extent == 0 || (Where::drops_strays && d.where.bins == 0))
      return;
    d_.program.extent = at.extent;
    auto r = keys_request_for(d_, d_.program, at, place, c);
    if (r.ordinal < 0)
      r.ordinal = gpu::home_of(r.columns, decltype(Program::columns)::size);
    if (r.ordinal < 0)
      r.ordinal = 0;
    answers_.emplace(r.f.slots, r.ordinal, place.queue);
    r.to = answers_->places();
    gpu::enqueue(r, kernels, flight_);
    gpu::send_stray(r, flight_);
  }
  /// Of the device, until this is gone; columns that were staged count as more than any.
  std::size_t bytes() const { return flight_.staged.any() ? ~std::size_t(0) : flight_.memory.bytes() + (answers_ ? answers_->bytes() : 0); }
  /// Throws key_out_of_range and overflow.
  auto fetch() {
    if (answers_) {
      throw_stray_of(flight_, d_.where, d_.program);
      return answers_->template fetch<kept>(extents_);
    }
    std::vector<typename Program::states> const identities(static_cast<std::size_t>(slots_), d_.program.identity());
    return arrays_of_answers<kept>(d_, identities, extents_, 0, [](i64) { return i64(1); });
  }

private:
  domain<Where, Program, pack<Nodes...>> d_;
  i64 extents_[kept]{}, slots_;
  gpu::keys_in_flight flight_{};
  std::optional<answers_on_device<Program, Nodes...>> answers_;
};

/// Whether a GPU takes the folds of `exactly` instead of those of `direct`, which it could take as they are.
template <class Direct, class Exact, class Source>
bool takes_exact(Direct const& direct, Exact const& exactly, Source const& s, on::gpu_place place, contract c) {
  axes_layout const at = layout_of(direct.program, s, std::remove_cvref_t<decltype(direct.where)>::is_reduced);
  if (at.groups == 0 || at.extent == 0 || direct.where.bins <= 0 || gpu::device_count() == 0)
    return false;
  target const t = gpu::target_of(place.ordinal < 0 ? 0 : place.ordinal);
  auto const facts = [&](auto const& d) {
    auto p = d.program;
    p.extent = at.extent;
    return facts_of_keys(d, p, at, t, c);
  };
  return are_better_exact(facts(direct), facts(exactly));
}

/// A grouping by key under fast that a GPU computes, as it is or exactly: queued when it is made, fetched later.
template <class Direct, class Exact>
class bins_in_any_order {
  std::optional<bins_on_gpu<false, Direct>> direct_;
  std::optional<bins_on_gpu<false, Exact>> exact_;

public:
  template <class Source>
  bins_in_any_order(Direct const& direct, Exact const& exactly, Source const& s, on::gpu_place place, contract c) {
    if (takes_exact(direct, exactly, s, place, c))
      exact_.emplace(exactly, s, place, c);
    else
      direct_.emplace(direct, s, place, c);
  }
  std::size_t bytes() const { return exact_ ? exact_->bytes() : direct_->bytes(); }
  auto fetch() { return exact_ ? exact_->fetch() : direct_->fetch(); }
};

/// A keyed domain that a GPU computes under a contract.
template <bool Fast, class Keyed>
class keyed_on_gpu {
  using Exact = typename Keyed::exact_domain;
  using Direct = decltype(Keyed::direct);
  static constexpr bool as_they_are = folds_as_they_are<Fast, Keyed>, either = as_they_are && has_exact_folds<Keyed>;
  using Queued = std::conditional_t<either, bins_in_any_order<Direct, Exact>, bins_on_gpu<is_sorted<as_they_are, Keyed>, std::conditional_t<as_they_are, Direct, Exact>>>;
  Queued queued_;
  template <class Source>
  static Queued queue(Keyed const& d, Source const& s, on::gpu_place place, contract c) {
    if constexpr (either)
      return Queued(d.direct, d, s, place, c);
    else if constexpr (as_they_are)
      return Queued(d.direct, s, place, c);
    else
      return Queued(d, s, place, c);
  }

public:
  template <class Source>
  keyed_on_gpu(Keyed const& d, Source const& s, on::gpu_place place, contract c) : queued_(queue(d, s, place, c)) {}
  std::size_t bytes() const { return queued_.bytes(); }
  auto fetch() { return queued_.fetch(); }
};

} // namespace detail

/// The answers of a grouping by key, from a GPU.
template <int Rank, u32 Reduced, int Dims, class Key, class Mask, bool Drops, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes, Direct> const& d, Source const& s,
                    on::gpu_place where, contract c) {
  using Keyed = std::remove_cvref_t<decltype(d)>;
  if constexpr (detail::folds_as_they_are<true, Keyed>)
    if (c == contract::fast)
      return detail::keyed_on_gpu<true, Keyed>(d, s, where, c).fetch();
  return detail::keyed_on_gpu<false, Keyed>(d, s, where, c).fetch();
}

/// The answers of a grouping by key, on the host.
template <int Rank, u32 Reduced, int Dims, class Key, class Mask, bool Drops, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes, Direct> const& d, Source const& s,
                    on::cpu_place where, [[maybe_unused]] contract c) {
  using Keyed = std::remove_cvref_t<decltype(d)>;
  if constexpr (detail::has_other_folds<Keyed>)
    if (c == contract::fast)
      return detail::compute_bins<true>(d.direct, s, where.thread_count);
  return detail::compute_bins<false>(static_cast<typename Keyed::exact_domain const&>(d), s, where.thread_count);
}

} // namespace tally::v0
