// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that few of many slots have. Layer 5, host only.
#pragma once

#include <vector>

#include <tally/base/numbers.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0 {

/// At first no slot has one; each has the value T{} as soon as it is asked for.
template <class T>
class few_of_slots {
public:
  explicit few_of_slots(std::size_t slots) : slots_(slots) {}
  T& operator[](std::size_t slot) {
    if (number_.data() == nullptr) {
      number_ = heap_array<u32>(slots_);
      for (std::size_t g = 0; g < slots_; ++g) number_[g] = 0;
    }
    if (number_[slot] == 0) {
      of_.push_back({slot, T{}});
      number_[slot] = static_cast<u32>(of_.size());
    }
    return of_[number_[slot] - 1].second;
  }
  /// nullptr: the slot has none.
  T const* find(std::size_t slot) const {
    return number_.data() != nullptr && number_[slot] != 0 ? &of_[number_[slot] - 1].second : nullptr;
  }
  /// The slots that have one, with it.
  std::vector<std::pair<std::size_t, T>>& all() { return of_; }

private:
  std::size_t slots_;
  heap_array<u32> number_; ///< of the value in of_, from 1 on; 0: none
  std::vector<std::pair<std::size_t, T>> of_;
};

} // namespace tally::v0
