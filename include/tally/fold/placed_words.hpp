// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value and its place as words that many threads fold at once: as one of 64 bits, the better the greater, where both fit, else as two that are swapped
// together. Layer 1.
#pragma once

#include <tally/base/word_pair.hpp>
#include <tally/fold/arg.hpp>

namespace tally::v0 {

namespace detail {
/// The sooner, the greater; 0 is nowhere's.
TALLY_INLINE constexpr u32 soonness(i64 position) { return static_cast<u32>(~position); }
TALLY_INLINE constexpr i64 position_of_soonness(u32 s) { return s == 0 ? -1 : i64(static_cast<u32>(~s)); }

template <class T>
using bits_of_size = stl::conditional_t<sizeof(T) == 8, u64, stl::conditional_t<sizeof(T) == 4, u32, stl::conditional_t<sizeof(T) == 2, u16, u8>>>;
template <class T>
TALLY_INLINE constexpr u64 bits_of_value(T const& v) { return bits_as<bits_of_size<T>>(v); }
template <class T>
TALLY_INLINE constexpr T value_of_bits(u64 bits) { return bits_as<T>(static_cast<bits_of_size<T>>(bits)); }

/// Whether the states of M are a value and its place.
template <class M>
inline constexpr bool keeps_place = false;
template <class T, bool Least>
inline constexpr bool keeps_place<arg_monoid<T, Least>> = true;
template <class T, bool First>
inline constexpr bool keeps_place<end_monoid<T, First>> = sizeof(T) == sizeof(bits_of_size<T>);

/// As one word: values of up to 32 bits, at positions below 2^32 - 1.
template <class M>
struct placed_word;
template <class T, bool Least>
struct placed_word<arg_monoid<T, Least>> {
  using state = typename arg_monoid<T, Least>::state;
  using key = typename arg_monoid<T, Least>::key;
  static constexpr bool fits = sizeof(key) <= 4;
  static constexpr u32 turn = (key(-1) < key(0) ? u32(1) << 31 : 0) ^ (Least ? ~u32(0) : 0);
  TALLY_INLINE static constexpr u64 of(state const& s) { return u64(static_cast<u32>(s.value) ^ turn) << 32 | soonness(s.position); }
  TALLY_INLINE static constexpr state back(u64 w) { return {static_cast<key>(static_cast<u32>(w >> 32) ^ turn), position_of_soonness(static_cast<u32>(w))}; }
};
template <class T, bool First>
struct placed_word<end_monoid<T, First>> {
  using state = typename end_monoid<T, First>::state;
  static constexpr bool fits = sizeof(T) <= 4;
  TALLY_INLINE static constexpr u64 of(state const& s) { return u64(First ? soonness(s.position) : static_cast<u32>(s.position + 1)) << 32 | bits_of_value(s.value); }
  TALLY_INLINE static constexpr state back(u64 w) {
    u32 const high = static_cast<u32>(w >> 32);
    return {value_of_bits<T>(w), First ? position_of_soonness(high) : i64(high) - 1};
  }
};

/// As two words.
template <class T>
TALLY_INLINE constexpr word_pair pair_of(placed<T> const& s) { return {bits_of_value(s.value), static_cast<u64>(s.position)}; }
template <class T>
TALLY_INLINE constexpr placed<T> placed_of(word_pair const& w) { return {value_of_bits<T>(w.first), static_cast<i64>(w.second)}; }
} // namespace detail

} // namespace tally::v0
