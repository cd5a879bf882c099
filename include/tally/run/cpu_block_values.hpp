// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a block of elements that have keys, and where a fold wants them. Layer 5, host only.
#pragma once

#include <tally/run/cpu_keys.hpp>

namespace tally::v0::cpu::detail {

template <class V>
struct values_of_block {
  alignas(64) V of[keyed_block];
};

/// A bound monoid fed from blocks: where its elements go, and their values.
template <class Leaf, class RowOf>
struct leaf_values_of_block;
template <class M, class... Es, class Mask, class RowOf>
struct leaf_values_of_block<bound<M, pack<Es...>, Mask>, RowOf> {
  using leaf_type = bound<M, pack<Es...>, Mask>;
  using row_type = decltype(std::declval<RowOf const&>()(0));
  template <class E>
  using value = std::remove_cvref_t<decltype(std::declval<E const&>().eval(std::declval<row_type const&>()))>;
  static constexpr bool masked = !std::is_same_v<Mask, in_a_bin>;
  static constexpr bool at_once = leaf_type::lowerable && (true && ... && fits_a_buffer<value<Es>>);

  /// Whether the values of elements that go nowhere must not be asked for.
  static constexpr bool for_some = any_calls_users_code(static_cast<pack<Es...> const*>(nullptr));

  /// The values, as numbers of N, of elements whose slots are below `slots`, of others too where that harms nobody.
  template <class N, class E, class V>
  TALLY_INLINE static void compute(int count, RowOf const& row_of, E const& of, V* __restrict out, u32 const* slot, std::size_t slots) {
    E const e = of;
    for (int j = 0; j < count; ++j)
      if constexpr (E::calls_users_code)
        out[j] = slot[j] < slots ? static_cast<V>(static_cast<N>(e.eval(row_of(j)))) : V{};
      else
        out[j] = static_cast<V>(static_cast<N>(e.eval(row_of(j))));
  }
  TALLY_INLINE static void let_through(int count, RowOf const& row_of, Mask const& of, u32 idle, u32 const* slot, u32* __restrict to) {
    Mask const m = of;
    for (int j = 0; j < count; ++j)
      to[j] = (!Mask::calls_users_code || slot[j] < idle) && m.eval(row_of(j)) ? slot[j] : idle + (u32(j) & (idle_slots - 1));
  }
};

/// Bytes of a table whose slots come as soon as they are wanted; those of larger ones are asked for. 2^24 f32 by 100 000 and 200 000 keys, 1.6 and 3.2 MB: 22.6 and 25.0 ms, asked
/// for 25.7 and 27.7; by 10^6, 16 MB, 60 and, asked for one by one 24 ahead, 80 to 97 (two cores of an AMD EPYC, g++ 12 -O2, 2026-11-28, one thread).
inline constexpr std::size_t bytes_near = 4 * 1024 * 1024;

} // namespace tally::v0::cpu::detail
