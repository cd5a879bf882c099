// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that sorts by slot as a host function, for a driver of host memory.
#pragma once

#include <tally/tally.hpp>

#include <algorithm>
#include <vector>

using numbered = tally::v0::numbered_slot<tally::u32>;

/// One launch: elements have the keys given, one each.
inline void sort_on_host(tally::i64 bins, tally::i32 const* keys, tally::v0::slot_sort const& s, tally::v0::sort_phase phase) {
  using namespace tally::v0;
  auto const n = static_cast<std::size_t>(s.elements);
  switch (phase) {
  case sort_phase::open: s.stray[0] = ~u64(0), s.stray[2] = 0; break;
  case sort_phase::note:
    for (std::size_t i = 0; i < n; ++i) {
      bool const inside = is_in_bins(keys[i], bins);
      s.noted()[i] = static_cast<u32>(inside ? i64(keys[i]) : s.slot_count);
      if (!inside) s.stray[0] = std::min(s.stray[0], u64(i));
    }
    break;
  case sort_phase::count_digits:
  case sort_phase::add_up: break;
  case sort_phase::move: {
    std::vector<numbered> sorted(n);
    for (std::size_t i = 0; i < n; ++i) sorted[i] = s.pass == 0 ? numbered{s.noted()[i], static_cast<u32>(i)} : static_cast<numbered const*>(s.now())[i];
    int const bits = digits_of_slots(s.slot_count).bits;
    std::stable_sort(sorted.begin(), sorted.end(), [&](auto a, auto b) { return digit_of_slot(a.slot, bits, s.pass) < digit_of_slot(b.slot, bits, s.pass); });
    std::copy(sorted.begin(), sorted.end(), static_cast<numbered*>(s.next()));
    break;
  }
  case sort_phase::begin:
    for (i64 g = 0; g <= s.slot_count; ++g)
      static_cast<u32*>(s.begins)[g] =
          static_cast<u32>(first_not_below([&](i64 t) { return static_cast<numbered const*>(s.now())[t].slot; }, s.elements, g));
    if (s.stray[0] != ~u64(0)) s.stray[1] = static_cast<u64>(static_cast<i64>(keys[s.stray[0]]));
  }
}
