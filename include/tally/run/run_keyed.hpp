// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A grouping by key, computed: the states of every bin, then its answers as arrays. Layer 5.
#pragma once

#include <string>

#include <tally/base/error.hpp>
#include <tally/pipeline/keyed.hpp>
#include <tally/run/cpu_keyed.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_over.hpp>

namespace tally::inline v0 {

namespace detail {

/// Throws bad_bounds, extent_mismatch or too_large unless there can be a slot for every answer.
template <class Where>
void check_bins(Where const& where, i64 groups) {
  if (where.fault.axis >= 0)
    throw bad_bounds("histogram axis " + std::to_string(where.fault.axis) + " has the bounds " + std::to_string(where.fault.low) +
                     " and " + std::to_string(where.fault.high) + ": they are finite, and the first is below the second.");
  for (i64 const n : where.extents)
    if (n < 0)
      throw extent_mismatch("by_key has " + std::to_string(n) + " bins.");
  if (where.bins > most_bins)
    throw too_large("by_key has more than 2^31 bins.");
  if (groups > 0 && where.bins > cpu::most_slots / groups)
    throw too_large("by_key has " + std::to_string(where.bins) + " bins of " + std::to_string(groups) + " answers each.");
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

template <class Leaf>
inline constexpr bool may_overflow = requires(typename Leaf::monoid_type const& m, typename Leaf::state const& s) { m.overflowed(s); };
template <class... Leaves, class States>
void check_overflow_of_groups(pack<Leaves...> const& leaves, States const& states) {
  if constexpr ((false || ... || may_overflow<Leaves>))
    for (std::size_t g = 0; g < states.size(); ++g)
      check_overflow(leaves, states[g]);
}

/// The answers of a domain whose groups are bins, from the states of all slots.
template <class Where, class Domain, class Source, class States>
auto answers_of_bins(Where const&, Domain const& d, Source const& s, States const& states, int threads) {
  constexpr int kept = Where::dims + Where::kept;
  i64 extents[kept]{};
  for (int k = 0; k < Where::dims; ++k)
    extents[k] = d.where.extents[k];
  int at = Where::dims;
  for (int k = 0; k < Where::rank; ++k)
    if (!Where::is_reduced(k))
      extents[at++] = extent_along(s, k);
  check_overflow_of_groups(d.program.leaves, states);
  return arrays_of_answers<kept>(d, states, extents, threads, [](i64) { return i64(1); });
}

template <class Program>
inline constexpr bool all_free_of_order = false;
template <class Columns, class... Leaves>
inline constexpr bool all_free_of_order<program<Columns, Leaves...>> = (true && ... && Leaves::monoid_type::law.order_free);

template <bool AnyOrder, class Where, class Program, class Nodes, class Source>
auto compute_bins(domain<Where, Program, Nodes> const& d, Source const& s, int threads) {
  axes_layout const at = layout_of(s, Where::is_reduced);
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
  return answers_of_bins(d.where, d, s, states, threads);
}

} // namespace detail

/// The answers of a grouping by key, on the host.
template <int Rank, u32 Reduced, int Dims, class Key, class Mask, bool Drops, class Program, class Nodes, class Direct, class Source>
auto compute_groups(keyed_domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes, Direct> const& d, Source const& s,
                    on::cpu_place where, [[maybe_unused]] contract c) {
  if constexpr (!detail::all_free_of_order<decltype(d.direct.program)>) // else the two are one
    if (c == contract::fast)
      return detail::compute_bins<true>(d.direct, s, where.thread_count);
  return detail::compute_bins<false>(static_cast<domain<groups_by_key<Rank, Reduced, Dims, Key, Mask, Drops>, Program, Nodes> const&>(d),
                                     s, where.thread_count);
}

} // namespace tally::inline v0
