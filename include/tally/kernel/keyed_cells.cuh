// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cells: what a slot of a fold by key is in memory, and how elements get there from any thread at any time. Layer 4. Cells of one
// kind lie side by side, word by word, so that neighbouring slots are neighbours in memory. A block, or the blocks of a cluster, may keep cells of
// their own in shared memory and give them to the cells of all in the end, slot by slot (give) or by the bulk engine (give_words: n slots, of which slot
// g is the first, from the one numbered `turned` on around; give_in_bulk: the same of a block's whole table, by as many threads as there are words);
// a thread may add a state of its own (add_state).
#pragma once

#include <tally/fold/keyed_cells.hpp>
#include <tally/kernel/cell_word.cuh>
#include <tally/kernel/sum_of_warp.cuh>
#include <tally/kernel/words_in_bulk.cuh>
#include <tally/plan/combinable.hpp>

namespace tally::v0::kernel {

namespace cells {
/// Indices are of 32 bits in shared memory.
template <class T, class I>
__device__ __forceinline__ T* word(char* base, I slots, I g, int w) {
  return reinterpret_cast<T*>(base) + (I(w) * slots + g);
}
} // namespace cells

/// One cell of monoid M; sums of floats and counts may be kept in another Word than their own.
template <class M, owner Of, class Word = typename M::state, cell_kind Kind = cell_of<M>::kind>
struct keyed_cell;

template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::counted> {
  using word = cuda::std::conditional_t<Of == owner::all, Word, u32>;
  static constexpr int bytes = int(sizeof(word));
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) { *cells::word<word>(base, slots, g, 0) = 0; }
  template <class I, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const&, i64, Vs...) {
    fold_into<operation::add, Of>(cells::word<word>(base, slots, g, 0), word(1));
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, u64 n) {
    fold_into<operation::add, Of>(cells::word<word>(base, slots, g, 0), static_cast<word>(n));
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    if (word const n = *cells::word<word>(own, own_slots, from, 0))
      fold_into<operation::add, owner::all>(cells::word<Word>(base, slots, g, 0), Word(n));
  }
  __device__ static void give_words(char* own, unsigned, unsigned from, char* base, i64, i64 g, unsigned n, unsigned turned) {
    fold_words_into<operation::add>(cells::word<u32>(base, i64(0), g, 0), cells::word<u32>(own, 0u, from, 0), n, turned);
  }
  __device__ static void give_in_bulk(char* own, unsigned own_slots, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    if (threadIdx.x == 0)
      give_words(own, own_slots, 0, base, slots, g, n, turned);
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) { return u64(*cells::word<word>(base, slots, g, 0)); }
};

template <bool Up, owner Of, class Word>
struct keyed_cell<count_modulo_monoid<Up>, Of, Word, cell_kind::stepped> {
  using M = count_modulo_monoid<Up>;
  static constexpr int bytes = 4;
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) { *cells::word<u32>(base, slots, g, 0) = 0; }
  template <class I, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const& m, i64, Vs...) {
    fold_into<planning::stepped_by<M>, Of>(cells::word<u32>(base, slots, g, 0), m.modulus - 1);
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const& m, u32 n) {
    u32* const at = cells::word<u32>(base, slots, g, 0);
    for (u32 before = *at, seen; (seen = atomicCAS(at, before, m.combine(before, n))) != before;)
      before = seen;
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const& m) {
    if (u32 const n = *cells::word<u32>(own, own_slots, from, 0))
      add_state(base, slots, g, nullptr, m, n);
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) { return *cells::word<u32>(base, slots, g, 0); }
};

/// Words that one operation folds: sums, and bits.
template <class M, owner Of, class Word = typename cell_of<M>::word>
struct word_cell {
  using word = Word;
  static constexpr operation op = planning::combined_by<M>;
  static constexpr int bytes = int(sizeof(word));
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const& m) {
    *cells::word<word>(base, slots, g, 0) = static_cast<word>(m.identity());
  }
  template <class I, class V>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const& m, i64 position, V v) {
    fold_into<op, Of>(cells::word<word>(base, slots, g, 0), static_cast<word>(m.lift(position, v)));
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, typename M::state s) {
    fold_into<op, Of>(cells::word<word>(base, slots, g, 0), static_cast<word>(s));
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const& m) {
    word const n = *cells::word<word>(own, own_slots, from, 0);
    if (n != static_cast<word>(m.identity()))
      fold_into<op, owner::all>(cells::word<word>(base, slots, g, 0), n);
  }
  __device__ static void give_words(char* own, unsigned, unsigned from, char* base, i64, i64 g, unsigned n, unsigned turned) {
    fold_words_into<op>(cells::word<word>(base, i64(0), g, 0), cells::word<word>(own, 0u, from, 0), n, turned);
  }
  __device__ static void give_in_bulk(char* own, unsigned own_slots, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    if (threadIdx.x == 0)
      give_words(own, own_slots, 0, base, slots, g, n, turned);
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) {
    return static_cast<typename M::state>(*cells::word<word>(base, slots, g, 0));
  }
};

template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::wrapped> : word_cell<M, Of> {};
template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::bits> : word_cell<M, Of> {};

template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::added> : word_cell<M, Of, Word> {
  /// What is added of one element.
  template <class V>
  __device__ __forceinline__ static Word neighbour(M const& m, V v) { return m.lift(0, v); }
  /// V neighbours in global memory, aligned to all of them.
  template <halves Travel = halves::in_pairs, int V>
  __device__ __forceinline__ static void add_neighbours(char* base, i64 g, Word const (&v)[V]) {
    fold_neighbours_into<planning::combined_by<M>, Travel>(reinterpret_cast<Word*>(base) + g, v);
  }
};

template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::checked> {
  static constexpr int bytes = 16;
  using word = u64;
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) {
    *cells::word<word>(base, slots, g, 0) = *cells::word<word>(base, slots, g, 1) = 0;
  }
  template <class I, class V>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const& m, i64 position, V v) {
    auto const s = m.lift(position, v);
    add_both<Of>(base, slots, g, s.low, static_cast<word>(s.high));
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, typename M::state const& s) {
    add_both<Of>(base, slots, g, s.low, static_cast<word>(s.high));
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    add_both<owner::all>(base, slots, g, *cells::word<word>(own, own_slots, from, 0), *cells::word<word>(own, own_slots, from, 1));
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const&) {
    return typename M::state{*cells::word<word>(base, slots, g, 0), static_cast<i64>(*cells::word<word>(base, slots, g, 1))};
  }

private:
  template <owner To, class I>
  __device__ __forceinline__ static void add_both(char* base, I slots, I g, word low, word high) {
    if (word const more = high + add_and_carry<To>(cells::word<word>(base, slots, g, 0), low))
      fold_into<operation::add, To>(cells::word<word>(base, slots, g, 1), more);
  }
};

/// An ordered key, and bits that say what came: that any did, or, where NaN takes no part, a number or NaN.
template <class M, class T, bool Least, owner Of>
struct ordered_cell {
  using word = typename cell_of<M>::word;
  using key = ordered_key_t<T>;
  static constexpr int bytes = cell_of<M>::bytes;
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) {
    *cells::word<word>(base, slots, g, 0) = Least ? cuda::std::numeric_limits<word>::max() : cuda::std::numeric_limits<word>::min();
    *came(base, slots, g) = 0;
  }
  template <class I>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32*, M const&, i64, T v) {
    u32 const what = kind_of(v), had = *came(base, slots, g);
    auto* const at = cells::word<word>(base, slots, g, 0);
    auto const key = static_cast<word>(ordered_key<Least>(v));
    if (is_number(what) && may_be_better(at, key))
      fold_into<meet, Of>(at, key);
    if ((had & what) == 0)
      fold_into<operation::bit_or, Of>(came(base, slots, g), what);
  }
  template <class I>
  __device__ static void add_state(char* base, I slots, I g, u32*, M const&, typename M::state const& s) {
    u32 const what = came_of(s);
    if (is_number(what))
      fold_into<meet, Of>(cells::word<word>(base, slots, g, 0), static_cast<word>(ordered_key<Least>(s.s)));
    if (what != 0)
      fold_into<operation::bit_or, Of>(came(base, slots, g), what);
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const&) {
    u32 const what = *came(own, own_slots, from);
    if (is_number(what))
      fold_into<meet, owner::all>(cells::word<word>(base, slots, g, 0), *cells::word<word>(own, own_slots, from, 0));
    if (what != 0)
      fold_into<operation::bit_or, owner::all>(came(base, slots, g), what);
  }
  __device__ static void give_words(char* own, unsigned own_slots, unsigned from, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    fold_words_into<meet>(cells::word<word>(base, slots, g, 0), cells::word<word>(own, own_slots, from, 0), n, turned);
    fold_words_into<operation::bit_or>(came(base, slots, g), came(own, own_slots, from), n, turned);
  }
  __device__ static void give_in_bulk(char* own, unsigned own_slots, char* base, i64 slots, i64 g, unsigned n, unsigned turned) {
    if (threadIdx.x == 0)
      give_words(own, own_slots, 0, base, slots, g, n, turned);
  }
  __device__ static auto read(char* base, i64 slots, i64 g, M const& m) {
    typename M::state s = m.identity();
    came_of(s) = *came(base, slots, g);
    if (is_number(came_of(s)))
      s.s = value_of(static_cast<key>(*cells::word<word>(base, slots, g, 0)));
    return s;
  }

private:
  static constexpr operation meet = Least ? operation::min : operation::max;
  /// Most elements are no better than what a block has, which a look says: lanes that look at one word do not wait for each other.
  __device__ __forceinline__ static bool may_be_better(word* at, word one) {
    if constexpr (Of == owner::block)
      return Least ? *at > one : *at < one;
    else
      return true;
  }
  static constexpr bool leaves_nan_out = requires { M::number_came; };
  __device__ __forceinline__ static u32 kind_of(T v) {
    if constexpr (leaves_nan_out)
      return v == v ? M::number_came : M::nan_came;
    else
      return 1;
  }
  __device__ __forceinline__ static bool is_number(u32 what) {
    if constexpr (leaves_nan_out)
      return (what & M::number_came) != 0;
    else
      return what != 0;
  }
  __device__ __forceinline__ static auto& came_of(auto& s) {
    if constexpr (leaves_nan_out)
      return s.came;
    else
      return s.any;
  }
  template <class I>
  __device__ __forceinline__ static u32* came(char* base, I slots, I g) {
    return reinterpret_cast<u32*>(base + slots * I(sizeof(word))) + g;
  }
  /// Keys of floats are their bits, those of negative ones turned around.
  __device__ static auto value_of(key k) {
    using S = typename extreme_monoid<T, Least>::state;
    if constexpr (floating<T>)
      return bits_as<S>(static_cast<key>(k ^ ((k >> (int(sizeof(key)) * 8 - 1)) & cuda::std::numeric_limits<key>::max())));
    else
      return static_cast<S>(k);
  }
};
template <class T, bool Least, owner Of, class Word>
struct keyed_cell<seen<extreme_monoid<T, Least>>, Of, Word, cell_kind::ordered> : ordered_cell<seen<extreme_monoid<T, Least>>, T, Least, Of> {};
template <class T, bool Least, owner Of, class Word>
struct keyed_cell<extreme_number_monoid<T, Least>, Of, Word, cell_kind::ordered> : ordered_cell<extreme_number_monoid<T, Least>, T, Least, Of> {};

/// A number of 16 bits whose neighbours are folded at once. `red` leaves the number where the other is NaN, and of two NaN the one that all
/// instructions make: another NaN says that nothing came.
template <class T, bool Least, owner Of>
struct keyed_cell<extreme_number_monoid<T, Least>, Of, T, cell_kind::ordered> {
  using M = extreme_number_monoid<T, Least>;
  static constexpr int bytes = int(sizeof(T));
  static constexpr u16 nothing = 0xffff;
  template <class I>
  __device__ static void open(char* base, I slots, I g, M const&) { cells::word<T>(base, slots, g, 0)->bits = nothing; }
  __device__ __forceinline__ static T neighbour(M const&, T v) { return v; }
  /// V neighbours in global memory, aligned to all of them.
  template <halves Travel = halves::in_pairs, int V>
  __device__ __forceinline__ static void add_neighbours(char* base, i64 g, T const (&v)[V]) {
    fold_neighbours_into<Least ? operation::min : operation::max, Travel>(reinterpret_cast<T*>(base) + g, v);
  }
  template <class I>
  __device__ static void give(char* own, I own_slots, I from, char* base, i64 slots, i64 g, M const& m) {
    auto const one = read(own, own_slots, from, m);
    auto* const at = reinterpret_cast<unsigned short*>(cells::word<T>(base, slots, g, 0));
    for (unsigned short before = *at, seen; one.came != 0; before = seen)
      if (seen = atomicCAS(at, before, m.lower(m.combine(state_of(T::from_bits(before), m), one), {}).bits); seen == before)
        return;
  }
  template <class I>
  __device__ static auto read(char* base, I slots, I g, M const& m) { return state_of(*cells::word<T>(base, slots, g, 0), m); }

private:
  __device__ static auto state_of(T v, M const& m) { return v.bits == nothing ? m.identity() : m.lift(0, v); }
};

/// A state behind a lock, written and read past the first cache.
template <class M, owner Of, class Word>
struct keyed_cell<M, Of, Word, cell_kind::locked> {
  static constexpr int bytes = cell_of<M>::bytes, words = bytes / 4;
  using state = typename M::state;
  template <class I>
  __device__ static void open(char* base, I, I g, M const& m) { put(base, g, m.identity()); }
  template <class I, class... Vs>
  __device__ __forceinline__ static void add(char* base, I slots, I g, u32* locks, M const& m, i64 position, Vs... values) {
    add_state(base, slots, g, locks, m, m.lift(position, values...));
  }
  template <class I>
  __device__ __forceinline__ static void add_state(char* base, I, I g, u32* locks, M const& m, state const& one) {
    for (bool done = false; !done;)
      if (atomicCAS(locks + g, 0u, 1u) == 0u) {
        __threadfence();
        put(base, g, m.combine(got(base, g), one));
        __threadfence();
        atomicExch(locks + g, 0u);
        done = true;
      }
  }
  template <class I>
  __device__ static void give(char*, I, I, char*, i64, i64, M const&) {}
  __device__ static auto read(char* base, i64, i64 g, M const&) { return got(base, g); }

private:
  __device__ __forceinline__ static void put(char* base, i64 g, state const& s) {
    unsigned w[words] = {};
    memcpy(w, &s, sizeof s);
    auto volatile* const to = reinterpret_cast<unsigned volatile*>(base) + g * words;
    for (int i = 0; i < words; ++i)
      to[i] = w[i];
  }
  __device__ __forceinline__ static state got(char* base, i64 g) {
    unsigned w[words];
    auto volatile const* const from = reinterpret_cast<unsigned volatile const*>(base) + g * words;
    for (int i = 0; i < words; ++i)
      w[i] = from[i];
    state s;
    memcpy(&s, w, sizeof s);
    return s;
  }
};

} // namespace tally::v0::kernel
