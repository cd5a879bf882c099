// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A word that threads share. Layer 5, host only. What of std::atomic the headers use: <atomic>, with its waiting, takes every user's
// compiler as long as 25 headers of the library (docs/decisions/what_a_users_compiler_pays.md).
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0 {

template <class T>
class shared_word {
public:
  constexpr shared_word() = default;
  shared_word(shared_word const&) = delete;
  shared_word& operator=(shared_word const&) = delete;
  /// What was written before the value that this finds was stored is seen behind it.
  T load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  void store(T value) { __atomic_store_n(&value_, value, __ATOMIC_RELEASE); }
  /// Puts `value` where `expected` is; else says what is there.
  bool replace(T& expected, T value) {
    return __atomic_compare_exchange_n(&value_, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }

private:
  T value_{};
};

} // namespace tally::v0
