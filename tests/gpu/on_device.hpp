// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For GPU tests: columns in device memory, numbers to fill them, and answers compared bit by bit.
#pragma once

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

inline bool no_kernels() {
  if (tally::v0::gpu::device_count() > 0 && tally::v0::gpu::can_compile()) return false;
  MESSAGE("skipped: " << (tally::v0::gpu::device_count() > 0 ? "no NVRTC" : tally::v0::gpu::why_no_device()));
  return true;
}

/// A copy of a vector in the memory of GPU 0.
template <class T>
class on_device {
public:
  explicit on_device(std::vector<T> const& v) : memory_(tally::v0::gpu::stage(v.data(), v.size() * sizeof(T), 0)), size_(v.size()) {
    tally::v0::gpu::wait(0);
  }
  T* data() const { return static_cast<T*>(memory_.data()); }
  long size() const { return static_cast<long>(size_); }
  std::vector<T> back() const {
    std::vector<T> v(size_);
    tally::v0::gpu::copy(v.data(), data(), size_ * sizeof(T), 0);
    tally::v0::gpu::wait(0);
    return v;
  }

private:
  tally::v0::gpu::device_memory memory_;
  std::size_t size_;
};
/// The same memory as a column.
template <class T>
auto lying_in(on_device<T> const& d) {
  return tally::device(d.data(), d.size());
}

/// Numbers of many magnitudes, so that every other order of a sum has other bits.
template <class T>
std::vector<T> uneven_numbers(std::size_t n, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> v(n);
  for (auto& x : v)
    if constexpr (tally::v0::floating<T>)
      x = static_cast<T>(std::ldexp(double(random() % 2001) - 1000.0, int(random() % 30) - 15));
    else
      x = static_cast<T>(random());
  return v;
}

template <class A, class B>
bool same_bits(A const& a, B const& b) {
  static_assert(std::is_same_v<A, B>);
  if constexpr (requires { std::tuple_size<A>::value; })
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (true && ... && same_bits(std::get<I>(a), std::get<I>(b)));
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  else {
    static_assert(std::is_trivially_copyable_v<A>);
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
}
