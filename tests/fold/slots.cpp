// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements sorted by slot: which digits a sort goes through, that they put slots in order, and where each begins.
#include <tally/fold/slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace tally::v0;

TEST_CASE("there are digits for every slot and for no slot, as few as ten bits each allow, and as short") {
  static_assert(digits_of_slots(1) == slot_digits{1, 8} && digits_of_slots(255) == slot_digits{1, 8});
  static_assert(digits_of_slots(256) == slot_digits{1, 9} && digits_of_slots(1023) == slot_digits{1, 10});
  static_assert(digits_of_slots(1024) == slot_digits{2, 8} && digits_of_slots(65'535) == slot_digits{2, 8});
  static_assert(digits_of_slots(100'000) == slot_digits{2, 9} && digits_of_slots((1 << 20) - 1) == slot_digits{2, 10});
  static_assert(digits_of_slots(1 << 20) == slot_digits{3, 8} && digits_of_slots((i64(1) << 30) - 1) == slot_digits{3, 10});
  static_assert(digits_of_slots(i64(1) << 30) == slot_digits{4, 8} && digits_of_slots((i64(1) << 32) - 1) == slot_digits{4, 8});
  static_assert(digit_of_slot(0xfedcba98u, 8, 0) == 0x98 && digit_of_slot(0xfedcba98u, 8, 3) == 0xfe);
  static_assert(digit_of_slot(0xfedcba98u, 10, 0) == 0x298 && digit_of_slot(0xfedcba98u, 10, 1) == 0x32e);
}

TEST_CASE("a stable pass for every digit puts slots in order and keeps the order within, and every slot is found") {
  std::mt19937 random(5);
  for (u32 const slots : {1u, 2u, 255u, 256u, 1023u, 1024u, 5000u, 70'000u, 20'000'000u, 4'000'000'000u}) {
    CAPTURE(slots);
    std::vector<u32> slot(10'000), number(slot.size());
    for (u32& s : slot)
      s = static_cast<u32>(random() % (u64(slots) + 1));
    std::iota(number.begin(), number.end(), 0u);
    auto const digits = digits_of_slots(slots);
    for (int k = 0; k < digits.passes; ++k)
      std::stable_sort(number.begin(), number.end(),
                       [&](u32 a, u32 b) { return digit_of_slot(slot[a], digits.bits, k) < digit_of_slot(slot[b], digits.bits, k); });
    CHECK(std::is_sorted(number.begin(), number.end(), [&](u32 a, u32 b) { return slot[a] != slot[b] ? slot[a] < slot[b] : a < b; }));
    for (i64 const g : {i64(0), i64(slots / 2), i64(slots) - 1, i64(slots)})
      CHECK(first_not_below([&](i64 t) { return slot[number[std::size_t(t)]]; }, i64(slot.size()), g) ==
            std::count_if(slot.begin(), slot.end(), [&](u32 s) { return i64(s) < g; }));
  }
  CHECK(first_not_below([](i64) { return 0u; }, 0, 3) == 0);
}

TEST_CASE("a pass moves from one half of the memory to the other, the first from what was noted") {
  u32 one[1], other[1];
  slot_sort s{{one, other}, nullptr, nullptr, nullptr, 1, 1, 1, 1, 1, 0};
  CHECK((s.noted() == other && s.next() == one));
  s.pass = 1;
  CHECK((s.now() == one && s.next() == other));
  s.pass = 2;
  CHECK((s.now() == other && s.next() == one));
  static_assert(sizeof(numbered_slot<u32>) == 8 && sizeof(numbered_slot<u64>) == 16);
}
