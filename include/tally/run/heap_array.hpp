// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An array on the heap whose elements are default-initialised: numbers are not written, as std::vector would. A large one is in large pages, where the system has
// them. Layer 5, host only.
// <memory>, with the same for std::unique_ptr, takes every user's compiler longer than many a header of the library
// (docs/decisions/what_a_users_compiler_pays.md).
#pragma once

#include <cstddef>
#include <utility>

#include <tally/run/cpu_door.hpp>

namespace tally::v0 {

template <class T>
class heap_array {
public:
  heap_array() = default;
  explicit heap_array(std::size_t n) : data_(new T[n]) {
    if (n * sizeof(T) >= cpu::worth_large_pages) cpu::prefer_large_pages(data_, n * sizeof(T));
  }
  heap_array(heap_array&& from) noexcept : data_(std::exchange(from.data_, nullptr)) {}
  heap_array& operator=(heap_array&& from) noexcept { return std::swap(data_, from.data_), *this; }
  ~heap_array() { delete[] data_; }
  T* data() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

private:
  T* data_ = nullptr;
};

} // namespace tally::v0
