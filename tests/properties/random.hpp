// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random sources for the property tests: shapes and strides of every kind, and pools of elements to lay them over. All of it
// follows from one seed. Test layer.
#pragma once

#include <tally/base/half.hpp>
#include <tally/base/numbers.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace properties {

using tally::v0::i64;
using tally::v0::u32;
using tally::v0::u64;

/// A stream of random numbers that is the same on every machine.
class dice {
public:
  explicit dice(u64 seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  u64 bits() {
    u64 z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// A number in [0, n).
  i64 below(i64 n) { return static_cast<i64>(bits() % static_cast<u64>(n)); }
  bool percent(int p) { return below(100) < p; }

private:
  u64 state_;
};

/// Elements of T: numbers of one size, then few numbers that meet often, then numbers of every size (with NaN, infinities and
/// zeros of both signs among floats).
inline constexpr i64 pool_size = i64(1) << 18;
template <class T>
T any_element(dice& d, int kind) {
  if constexpr (tally::v0::floating<T>) {
    double const u = static_cast<double>(d.below(1 << 24)) / (1 << 20) - 8;
    if (kind == 0)
      return T(u);
    if (kind == 1)
      return T(static_cast<double>(d.below(7)) - 3);
    int const reach = sizeof(T) == 8 ? 300 : sizeof(T) == 4 ? 30 : 4;
    if (d.percent(2))
      return T(d.percent(50) ? -0.0 : 0.0);
    if (d.percent(1))
      return T(d.percent(30) ? std::numeric_limits<double>::quiet_NaN() : d.percent(50) ? HUGE_VAL : -HUGE_VAL);
    return T(std::ldexp(u, static_cast<int>(d.below(2 * reach)) - reach));
  } else if constexpr (std::is_same_v<T, bool>) {
    return d.percent(50);
  } else {
    return kind == 1 ? static_cast<T>(d.below(7)) : static_cast<T>(d.bits());
  }
}
template <class T>
std::vector<T> const& pool() {
  static std::vector<T> const all = [] {
    std::vector<T> x(static_cast<std::size_t>(pool_size));
    dice d(20261120 + sizeof(T));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = any_element<T>(d, static_cast<int>(3 * i / x.size()));
    return x;
  }();
  return all;
}
template <>
inline std::vector<bool> const& pool<bool>() = delete; // has no data()

/// How many elements lie along every axis. Ranks are numbers here and below, so that all shapes share one set of code.
inline constexpr int most_axes = 5;
struct extents {
  int rank;
  i64 of[most_axes]{};
  i64 product() const {
    i64 p = 1;
    for (int k = 0; k < rank; ++k)
      p *= of[k];
    return p;
  }
};

inline extents random_extents(dice& d, int rank) {
  static constexpr i64 sizes[] = {2,  3,   4,   5,   7,   8,   13,  15,  16,  17,  31,   32,   33,   61,   64,   65,
                                  97, 127, 128, 129, 251, 255, 256, 257, 509, 512, 1021, 1023, 1024, 1025, 2048, 2051,
                                  4096, 4099, 9973, 16385, 32771};
  i64 budget = d.percent(88) ? 600 : d.percent(80) ? 5000 : 40000;
  extents e{rank};
  int order[most_axes];
  for (int k = 0; k < rank; ++k)
    order[k] = k;
  for (int k = rank - 1; k > 0; --k)
    std::swap(order[k], order[d.below(k + 1)]);
  for (int i = 0; i < rank; ++i) {
    int const k = order[i];
    int fitting = 0;
    for (i64 const s : sizes)
      fitting += s <= budget ? 1 : 0;
    i64 const at = fitting == 0 ? 0 : d.below(fitting);
    e.of[k] = fitting == 0 || d.percent(12) ? 1 : sizes[at];
    if (d.percent(1))
      e.of[k] = 0;
    budget /= e.of[k] > 0 ? e.of[k] : 1;
  }
  return e;
}

/// Where a column lies: strides, and the place of its first element in a pool.
struct lie {
  i64 strides[most_axes]{};
  i64 first = 0;
};

inline lie random_lie(dice& d, extents const& e) {
  lie l;
  int order[most_axes];
  for (int k = 0; k < e.rank; ++k)
    order[k] = e.rank - 1 - k; // row by row
  if (d.percent(50))
    for (int k = e.rank - 1; k > 0; --k)
      std::swap(order[k], order[d.below(k + 1)]);
  bool const overlapping = d.percent(5), sparse = e.product() < 40000 && d.percent(40);
  i64 next = sparse && d.percent(50) ? 1 + d.below(3) : 1;
  i64 low = 0, high = 0;
  for (int i = 0; i < e.rank; ++i) {
    int const k = order[i];
    i64& s = l.strides[k];
    s = overlapping ? d.below(3) : next;
    if (sparse && d.percent(10))
      s = 0; // broadcast
    else
      next = s * e.of[k] + (sparse && d.percent(25) ? d.below(3) : 0);
    if (d.percent(15))
      s = -s;
    i64 const reach = (e.of[k] > 0 ? e.of[k] - 1 : 0) * s;
    (reach < 0 ? low : high) += reach;
  }
  if (high - low >= pool_size)
    return random_lie(d, e); // too sparse for the pool
  l.first = d.below(pool_size - (high - low)) - low;
  return l;
}

/// Moves to the next index along the axes whose bits are set, the last axis quickest; the other indices stay. False behind the last.
inline bool next_index(extents const& e, u32 axes, i64* index) {
  for (int k = e.rank - 1; k >= 0; --k) {
    if ((axes >> k & 1) == 0)
      continue;
    if (++index[k] < e.of[k])
      return true;
    index[k] = 0;
  }
  return false;
}
/// Moves to the first such index. False where there is none.
inline bool first_index(extents const& e, u32 axes, i64* index) {
  for (int k = 0; k < e.rank; ++k)
    if ((axes >> k & 1) != 0) {
      index[k] = 0;
      if (e.of[k] == 0)
        return false;
    }
  return true;
}

inline std::string list(i64 const* numbers, int n) {
  std::string s = "{";
  for (int k = 0; k < n; ++k)
    s += (k > 0 ? ", " : "") + std::to_string(numbers[k]);
  return s + "}";
}

} // namespace properties
