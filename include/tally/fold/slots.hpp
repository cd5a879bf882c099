// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements sorted by slot: the digits that a sort goes through, and what its kernel is told. Layer 1. A slot is a bin of one of the
// groups that stay; an element that has none is sorted behind all others. Elements of one slot keep their order.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/numbers.hpp>

namespace tally::v0 {

/// The digits of the numbers [0, slots], the last of which is that of no slot: as few as there can be, and those as short.
inline constexpr int least_bits_of_digit = 8, most_bits_of_digit = 10;
struct slot_digits {
  int passes, bits;
  friend constexpr bool operator==(slot_digits const&, slot_digits const&) = default;
};
constexpr slot_digits digits_of_slots(i64 slots) {
  int width = 1;
  while (slots >> width != 0)
    ++width;
  int const passes = (width - 1) / most_bits_of_digit + 1, bits = (width - 1) / passes + 1;
  return {passes, bits < least_bits_of_digit ? least_bits_of_digit : bits};
}
/// Digit k of a slot, the lowest first.
TALLY_INLINE constexpr u32 digit_of_slot(u32 slot, int bits, int k) { return slot >> (k * bits) & ((u32(1) << bits) - 1); }

/// The first of n slots in order that is not below another.
template <class SlotAt>
TALLY_INLINE constexpr i64 first_not_below(SlotAt const& slot_at, i64 n, i64 slot) {
  i64 low = 0, high = n;
  while (low < high) {
    i64 const middle = low + (high - low) / 2;
    if (static_cast<i64>(slot_at(middle)) < slot)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// An element by its number within its group.
template <class Number>
struct alignas(2 * sizeof(Number)) numbered_slot {
  u32 slot;
  Number number;
};

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
  void* moved[2]; ///< numbered slots, as the passes leave them in turn; slots are noted in the second, in front of the first pass
  void* counts;   ///< of every digit: of all blocks in front of each; behind them, of all
  void* begins;   ///< of every slot, and the end of the last
  u64* stray;     ///< as in keyed_memory
  i64 elements;
  i64 share; ///< of them, of a block
  i64 slot_count;
  i64 groups;
  int blocks;
  int pass; ///< that comes next

  TALLY_INLINE constexpr u32* noted() const { return static_cast<u32*>(moved[1]); }
  /// What the last pass has left, and where the next one leaves it.
  TALLY_INLINE constexpr void* now() const { return moved[(pass & 1) ^ 1]; }
  TALLY_INLINE constexpr void* next() const { return moved[pass & 1]; }
};

} // namespace tally::v0
