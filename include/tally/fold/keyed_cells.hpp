// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GPU keeps for one slot of one fold by key, so that elements can be added in any order and at once. Layer 1. A fold has
// the words that atomics of its kind take; one without such a kind keeps its state behind a lock.
#pragma once

#include <tally/base/ordered_key.hpp>
#include <tally/fold/bits.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/exact.hpp>
#include <tally/fold/keys.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/placed_words.hpp>
#include <tally/fold/sum.hpp>

namespace tally::v0 {

enum class cell_kind {
  counted, ///< 64 bits; 32 where a block keeps them to itself
  stepped, ///< 32 bits that step through a cycle
  wrapped, ///< a word that wraps
  bits,    ///< a word of bits
  added,   ///< a float, in any order
  checked, ///< 128 bits
  digits,  ///< an exact sum by digits, each with room for carries
  ordered, ///< an ordered key, and whether any came
  placed,  ///< a value and its place, which change only where a better one comes
  locked   ///< a whole state
};

/// Bits of one digit: 2^35 numbers of one key leave room in 64 bits, 2^33 products of doubles, four pieces of which lie in one digit.
inline constexpr int bits_of_digit = 28;

namespace detail {
template <class M>
struct cell_of {
  static constexpr cell_kind kind = cell_kind::locked;
  static constexpr int bytes = int((sizeof(typename M::state) + 3) / 4 * 4);
};
template <>
struct cell_of<count_monoid> {
  static constexpr cell_kind kind = cell_kind::counted;
  static constexpr int bytes = 8;
};
template <bool Up>
struct cell_of<count_modulo_monoid<Up>> {
  static constexpr cell_kind kind = cell_kind::stepped;
  static constexpr int bytes = 4;
};
/// The word that holds an integer: 32 bits at least.
template <integer T>
using word_of = stl::conditional_t<sizeof(T) == 8, u64, stl::conditional_t<(T(-1) < T(0)), i32, u32>>;
template <integer A>
struct cell_of<sum_monoid<A>> {
  using word = word_of<A>;
  static constexpr cell_kind kind = cell_kind::wrapped;
  static constexpr int bytes = int(sizeof(word));
};
template <integer T, bit_rule Rule>
struct cell_of<bit_monoid<T, Rule>> {
  using word = word_of<T>;
  static constexpr cell_kind kind = cell_kind::bits;
  static constexpr int bytes = int(sizeof(word));
};
template <floating A>
struct cell_of<sum_monoid<A>> {
  using word = stl::conditional_t<sizeof(A) == 2, float, A>; ///< where elements come one by one
  static constexpr cell_kind kind = cell_kind::added;
  static constexpr int bytes = int(sizeof(word));
};
template <class A>
struct cell_of<checked_sum_monoid<A>> {
  static constexpr cell_kind kind = cell_kind::checked;
  static constexpr int bytes = 16;
};
template <class V, class To, int Factors>
struct cell_of<exact_sum_monoid<V, To, Factors>> {
  static constexpr cell_kind kind = cell_kind::digits;
  static constexpr int digits = ((exact_range<V, Factors>::words - 1) * 64 + bits_of_digit - 1) / bits_of_digit + 1;
  static constexpr int bytes = 8 * (digits + 1); ///< the last word says what was not finite
};
template <real T, bool Least>
struct cell_of<seen<extreme_monoid<T, Least>>> {
  using key = ordered_key_t<T>;
  /// What atomics compare: 32 bits at least.
  using word = stl::conditional_t<sizeof(key) == 8, key, stl::conditional_t<(key(-1) < key(0)), i32, u32>>;
  static constexpr cell_kind kind = cell_kind::ordered;
  static constexpr int bytes = 2 * int(sizeof(word)); ///< the key, and 32 bits that say whether any came
};
template <floating T, bool Least>
struct cell_of<extreme_number_monoid<T, Least>> : cell_of<seen<extreme_monoid<T, Least>>> {}; ///< the 32 bits say what came
template <class M>
  requires keeps_place<M>
struct cell_of<M> {
  static constexpr cell_kind kind = cell_kind::placed;
  static constexpr int bytes = int(sizeof(word_pair));
};

/// The word of a monoid of which `red` takes neighbours at once, where it does.
template <class M>
struct neighbour {
  using type = void;
};
template <floating A>
  requires(sizeof(A) <= 4)
struct neighbour<sum_monoid<A>> {
  using type = A;
};
template <small_float T, bool Least>
struct neighbour<extreme_number_monoid<T, Least>> {
  using type = T;
};
} // namespace detail

/// How a monoid is kept, in `bytes` a slot.
template <class M>
using cell_of = detail::cell_of<M>;
/// What `red` takes neighbours of, to fold them as M does; void: it takes none.
template <class M>
using neighbour_of = typename detail::neighbour<M>::type;
/// The word of a cell, which is that neighbour where they are folded at once (Beside). Counts and positions have 32 bits where no more can come. Sums of 16 bits are
/// kept in 32 where they come one by one: a red of one such word is a loop of comparing and swapping in shared memory, and three times as long
/// in global memory: 2^28 bf16 by 1000 and 10^6 keys took 128 and 8.2 ms, in floats 1.1 and 3.4 (H100, 2026-11-25, tests/bench/keyed.py --only
/// rows --types bf16 --columns 1).
template <class M, bool Beside, bool NumbersIn32>
struct kept_word {
  using type = stl::conditional_t<Beside, neighbour_of<M>, typename M::state>;
};
template <floating A, bool NumbersIn32>
struct kept_word<sum_monoid<A>, false, NumbersIn32> {
  using type = typename cell_of<sum_monoid<A>>::word;
};
template <bool Beside>
struct kept_word<count_monoid, Beside, true> {
  using type = u32;
};
template <class M, bool Beside, bool NumbersIn32>
  requires detail::keeps_place<M>
struct kept_word<M, Beside, NumbersIn32> {
  using type = stl::conditional_t<NumbersIn32 && detail::placed_word<M>::fits, u64, word_pair>;
};
/// Whether a cell is two words that are swapped together, which is of sm_90.
template <class M, bool NumbersIn32>
inline constexpr bool swaps_pairs = stl::same_as<typename kept_word<M, false, NumbersIn32>::type, word_pair>;
/// Bytes of a cell in a block's own table; 0 where it has none.
template <class M, bool NumbersIn32>
inline constexpr int own_cell_bytes = cell_of<M>::kind == cell_kind::counted  ? 4
                                      : cell_of<M>::kind == cell_kind::locked ? 0
                                      : cell_of<M>::kind == cell_kind::placed ? int(sizeof(typename kept_word<M, false, NumbersIn32>::type))
                                                                              : cell_of<M>::bytes;

/// Bits of a number of an exact sum, or of a product; 0: a product has more than 128.
template <class M>
inline constexpr int bits_of_number = 0;
template <class V, class To, int Factors>
  requires(Factors * float_shape<V>::precision <= 128)
inline constexpr int bits_of_number<exact_sum_monoid<V, To, Factors>> = Factors * float_shape<V>::precision;
/// A block's window of an exact sum is an integer in limbs of 32 bits: as many as one number has bits in wherever it begins in the lowest, and one more.
template <class M>
inline constexpr int limbs_of_number = (bits_of_number<M> + 31 + 31) / 32;
template <class M>
inline constexpr int limbs_of_window = limbs_of_number<M> + 1;
/// Numbers leave so many of its bits alone, so that what carries out of it does so seldom; and so many bits above the first they may begin: in the first
/// limb or the second.
inline constexpr int free_bits_of_window = 12;
template <class M>
inline constexpr int binades_of_window = [](int left) { return left < 64 ? left : 63; }(32 * limbs_of_window<M> - free_bits_of_window - bits_of_number<M>);
/// Digits of the sum of all that up to 32 are given to, wherever they begin in the first, and what carries out of one.
template <class M>
inline constexpr int digits_of_window = (32 * limbs_of_window<M> + 32 + bits_of_digit - 1) / bits_of_digit;
/// Words of 64 bits for what those digits are together, of 2^50 numbers, from one of the first's on, with a sign.
template <class M>
inline constexpr int words_of_window = (32 * limbs_of_window<M> - free_bits_of_window + 50 + bits_of_digit + 64 + 63) / 64;
/// A window begins at a multiple of so many bits.
inline constexpr int bits_of_aim = 4;
/// Where one may begin.
template <class M>
inline constexpr int windows_there = (cell_of<M>::digits - digits_of_window<M>) * bits_of_digit / bits_of_aim + 1;
/// Shared memory of a block that looks for the best windows.
inline constexpr int bytes_to_aim_windows = 4608;
/// The same bytes where exact sums have windows.
template <class M, bool NumbersIn32>
inline constexpr int own_bytes_in_windows = cell_of<M>::kind != cell_kind::digits ? own_cell_bytes<M, NumbersIn32>
                                            : bits_of_number<M> > 0               ? limbs_of_window<M> * int(sizeof(u32))
                                                                                  : 0;

/// Whether states of M that seldom meet, those of chunks of sorted rows, do so behind a lock.
template <class M>
inline constexpr bool meets_behind_a_lock = cell_of<M>::kind == cell_kind::placed || cell_of<M>::kind == cell_kind::locked;

/// Atomics that one element takes in global memory, at most or, of digits, most of the time.
template <class M>
inline constexpr int atomics_of_cell = cell_of<M>::kind == cell_kind::digits || cell_of<M>::kind == cell_kind::checked || cell_of<M>::kind == cell_kind::ordered ? 2 : 1;

/// Whether a cell is words that are folded each by itself, and so by the bulk engine; those of counts are if they have 32 bits.
template <class M>
inline constexpr bool is_of_words = cell_of<M>::kind != cell_kind::stepped && cell_of<M>::kind != cell_kind::checked && cell_of<M>::kind != cell_kind::placed &&
                                    cell_of<M>::kind != cell_kind::locked;

/// Whether a cell is folded by `red` of integers, one a word, in another block's memory too: one of floats is a loop of comparing and swapping there,
/// and one of the least or greatest of 64 bits is not atomic.
template <class M>
inline constexpr bool is_of_integers = cell_of<M>::kind == cell_kind::counted || cell_of<M>::kind == cell_kind::stepped || cell_of<M>::kind == cell_kind::wrapped ||
                                       cell_of<M>::kind == cell_kind::bits || (cell_of<M>::kind == cell_kind::ordered && cell_of<M>::bytes == 8);
/// Whether an atomic or two of integers fold an element in a block's own table.
template <class M>
inline constexpr bool is_of_short_atomics = is_of_integers<M> || cell_of<M>::kind == cell_kind::placed;
/// Whether a cell is a float to which is added in another block's memory by comparing and swapping once, and, where another thread was quicker, in the
/// memory of all instead.
template <class M>
inline constexpr bool is_added_once = false;
template <floating A>
inline constexpr bool is_added_once<sum_monoid<A>> = stl::same_as<typename cell_of<sum_monoid<A>>::word, float>;

/// Whether `red` takes neighbours of a fold at once: it folds every element of a slot.
template <class Leaf>
inline constexpr bool folds_neighbours = !stl::same_as<neighbour_of<typename Leaf::monoid_type>, void> && stl::same_as<decltype(Leaf::mask), in_a_bin>;
template <class Leaf>
inline constexpr int bytes_of_neighbour = 0;
template <class Leaf>
  requires folds_neighbours<Leaf>
inline constexpr int bytes_of_neighbour<Leaf> = int(sizeof(neighbour_of<typename Leaf::monoid_type>));

/// The launches of one read: cells are opened, elements folded, copies added to what they are copies of, answers written.
enum class keyed_phase : int { aim, open, fold, meet, close };

/// What a kernel is told of one leaf's memory.
inline constexpr int max_keyed_folds = 16;
struct keyed_memory {
  void* cells[max_keyed_folds];
  void* copies[max_keyed_folds]; ///< of the slots of all keys or of hot ones, where the plan has any
  u64* hot;                      ///< which those are
  u32* windows;                  ///< the first bit of each, where the plan has any
  u32* beyond;                   ///< a bit for each slot of each fold: whether something was added past them
  u32* claimed;                  ///< the same: whether somebody empties the rest of the cell for that; null: all are emptied before
  u32* locks;
  u64* stray; ///< the first position whose key names no bin, that key, and whether a checked sum overflowed
};

/// Words of a bit for each slot.
constexpr i64 words_of_bits(i64 slots) { return (slots + 31) / 32; }

/// What a kernel for other folds is told of a fold by key beside them: its bins and folds, the memory of all slots, and where a block's table
/// begins in its shared memory.
template <class Where, class Program>
struct keys_beside {
  Where where;
  Program program;
  keyed_memory to;
  u32 shared_offset;
};

} // namespace tally::v0
