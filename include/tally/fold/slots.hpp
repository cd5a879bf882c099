// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements sorted by slot: the digits that a sort goes through, and what its kernel is told. Layer 1. A slot is a bin of one of the
// groups that stay; an element that has none is sorted behind all others. Elements of one slot keep their order.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::inline v0 {

inline constexpr int bits_of_slot_digit = 8;
inline constexpr int values_of_slot_digit = 1 << bits_of_slot_digit;

/// Digits of the numbers [0, slots], the last of which is that of no slot.
constexpr int digits_of_slots(i64 slots) {
  int n = 1;
  while (slots >> (n * bits_of_slot_digit) != 0)
    ++n;
  return n;
}
/// Digit k of a slot, the lowest first.
TALLY_INLINE constexpr u32 digit_of_slot(u32 slot, int k) { return slot >> (k * bits_of_slot_digit) & (values_of_slot_digit - 1); }

/// The first of n slots in order that is not below another.
TALLY_INLINE constexpr i64 first_not_below(u32 const* slots, i64 n, i64 slot) {
  i64 low = 0, high = n;
  while (low < high) {
    i64 const middle = low + (high - low) / 2;
    if (static_cast<i64>(slots[middle]) < slot)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// What the kernel of a sort is asked for, one a launch.
enum class sort_phase : int {
  open,   ///< the place of a stray
  note,   ///< the slot of every element, and count their lowest digits
  count_digits, ///< of every block
  add_up, ///< the counts of every digit, block by block
  move,   ///< every element to its place by one digit
  begin   ///< of every slot
};

/// What it is told beside that.
struct slot_sort {
  u32* slots[2];    ///< of the elements; a pass moves them from one to the other
  void* numbers[2]; ///< of the same elements, within their groups; in front of the first pass they are in order
  void* counts;     ///< of every digit: of all blocks in front of each; behind them, of all
  void* begins;     ///< of every slot, and the end of the last
  u64* stray;       ///< as in keyed_memory
  i64 elements;
  i64 share; ///< of them, of a block
  i64 slot_count;
  i64 groups;
  int blocks;
  int pass; ///< that comes next

  TALLY_INLINE constexpr u32* slots_now() const { return slots[pass & 1]; }
  TALLY_INLINE constexpr u32* slots_next() const { return slots[(pass & 1) ^ 1]; }
  TALLY_INLINE constexpr void* numbers_now() const { return numbers[pass & 1]; }
  TALLY_INLINE constexpr void* numbers_next() const { return numbers[(pass & 1) ^ 1]; }
};

} // namespace tally::inline v0
