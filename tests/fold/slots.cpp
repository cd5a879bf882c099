// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements sorted by slot: which digits a sort goes through, that they put slots in order, and where each begins.
#include <tally/fold/slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

using namespace tally;

TEST_CASE("there are digits for every slot and for no slot") {
  static_assert(digits_of_slots(1) == 1 && digits_of_slots(255) == 1);
  static_assert(digits_of_slots(256) == 2 && digits_of_slots(65'535) == 2);
  static_assert(digits_of_slots(65'536) == 3 && digits_of_slots((i64(1) << 24) - 1) == 3);
  static_assert(digits_of_slots(i64(1) << 24) == 4 && digits_of_slots((i64(1) << 32) - 1) == 4);
  static_assert(digit_of_slot(0xfedcba98u, 0) == 0x98 && digit_of_slot(0xfedcba98u, 3) == 0xfe);
}

TEST_CASE("a stable pass for every digit puts slots in order and keeps the order within, and every slot is found") {
  std::mt19937 random(5);
  for (u32 const slots : {1u, 2u, 255u, 256u, 5000u, 70'000u, 20'000'000u}) {
    CAPTURE(slots);
    std::vector<u32> slot(10'000), number(slot.size());
    for (u32& s : slot)
      s = static_cast<u32>(random()) % (slots + 1);
    std::iota(number.begin(), number.end(), 0u);
    for (int k = 0; k < digits_of_slots(slots); ++k)
      std::stable_sort(number.begin(), number.end(), [&](u32 a, u32 b) { return digit_of_slot(slot[a], k) < digit_of_slot(slot[b], k); });
    CHECK(std::is_sorted(number.begin(), number.end(), [&](u32 a, u32 b) { return slot[a] != slot[b] ? slot[a] < slot[b] : a < b; }));
    std::vector<u32> sorted;
    for (u32 const n : number)
      sorted.push_back(slot[n]);
    for (i64 const g : {i64(0), i64(slots / 2), i64(slots) - 1, i64(slots)})
      CHECK(first_not_below(sorted.data(), i64(sorted.size()), g) ==
            std::count_if(slot.begin(), slot.end(), [&](u32 s) { return i64(s) < g; }));
  }
  CHECK(first_not_below(nullptr, 0, 3) == 0);
}

TEST_CASE("a pass moves from one half of the memory to the other") {
  u32 one[1], other[1];
  slot_sort s{{one, other}, {one, other}, nullptr, nullptr, nullptr, 1, 1, 1, 1, 1, 0};
  CHECK((s.slots_now() == one && s.slots_next() == other && s.numbers_now() == one && s.numbers_next() == other));
  s.pass = 3;
  CHECK((s.slots_now() == other && s.slots_next() == one && s.numbers_now() == other && s.numbers_next() == one));
}
