// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells of a value and its place, which change only where a better one comes. Layer 4.
#pragma once

#include <tally/kernel/keyed_cells.cuh>

namespace tally::v0::kernel {

/// A value and its place in one word. Most elements are no better than what is there, which a look says without an atomic.
template <class M, owner Of>
struct keyed_cell<M, Of, u64, cell_kind::placed> {
  using packed = detail::placed_word<M>;
  static constexpr int bytes = 8;
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const& m) { *cells::word<u64>(base, slots, g, 0) = packed::of(m.identity()); }
  template <class I, class V>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const& m, i64 position, V v) {
    better<Of>(cells::word<u64>(base, slots, g, 0), packed::of(m.lift(position, v)));
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, typename M::state const& s) {
    better<Of>(cells::word<u64>(base, slots, g, 0), packed::of(s));
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    better<owner::all>(cells::word<u64>(base, slots, g, 0), *cells::word<u64>(own, own_slots, from, 0));
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) { return packed::back(*cells::word<u64>(base, slots, g, 0)); }

private:
  template <owner To>
  __device__ __forceinline__ static void better(u64* at, u64 one) {
    if (*static_cast<u64 volatile*>(at) < one)
      fold_into<operation::max, To>(at, one);
  }
};
/// The same in two, slot by slot.
template <class M, owner Of>
struct keyed_cell<M, Of, word_pair, cell_kind::placed> {
  using state = typename M::state;
  static constexpr int bytes = 16;
  template <class I>
  __device__ static void open(char* base, I, I g, M const& m) { at(base, g) = detail::pair_of(m.identity()); }
  template <class I, class V>
  __device__ __forceinline__ static void add(char* base, I, I g, u32*, M const& m, i64 position, V v) {
    better<Of>(at(base, g), m, m.lift(position, v));
  }
  template <class I>
  __device__ static void add_state(char* base, I, I g, u32*, M const& m, state const& s) { better<Of>(at(base, g), m, s); }
  template <class I>
  __device__ static void give(char* own, I, I from, char* base, i64, i64 g, M const& m) {
    better<owner::all>(at(base, g), m, state_of(at(own, from)));
  }
  __device__ static auto read(char* base, i64, i64 g, M const&) { return state_of(at(base, g)); }

private:
  __device__ __forceinline__ static word_pair& at(char* base, i64 g) { return reinterpret_cast<word_pair*>(base)[g]; }
  __device__ __forceinline__ static state state_of(word_pair const& w) { return detail::placed_of<decltype(state::value)>(w); }
  template <owner To>
  __device__ __forceinline__ static void better(word_pair& to, M const& m, state const& one) {
    for (word_pair now = look_at_pair<To>(&to), was;; now = was) {
      word_pair const next = detail::pair_of(m.combine(state_of(now), one));
      if (next == now || (was = swap_pair<To>(&to, now, next)) == now)
        return;
    }
  }
};

/// A value and its place, where states seldom meet.
template <class M, owner Of>
struct keyed_cell<M, Of, typename M::state, cell_kind::placed> : keyed_cell<M, Of, typename M::state, cell_kind::locked> {};

} // namespace tally::v0::kernel
