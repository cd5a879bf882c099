// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mdarray: the answers of a grouping, an array that owns its elements and knows its axes (P1684's word, and its calls).
// Layer 5, host only.
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <tally/base/numbers.hpp>
#include <tally/pipeline/grid.hpp>
#include <tally/run/cpu_door.hpp>

namespace tally::v0 {

/// Rank axes of T in row-major order, in host memory.
template <class T, int Rank>
class mdarray {
public:
  using value_type = T;
  using element_type = T;

  mdarray() = default;
  /// Elements are not set.
  explicit mdarray(i64 const (&extents)[Rank]) {
    for (int k = 0; k < Rank; ++k)
      extents_[k] = extents[k];
    data_ = new T[size()];
    if (std::is_trivially_default_constructible_v<T> && size() * sizeof(T) >= cpu::worth_large_pages)
      cpu::prefer_large_pages(data_, size() * sizeof(T));
  }
  mdarray(mdarray const& other) : mdarray(other.extents_) {
    for (std::size_t i = 0; i < size(); ++i)
      data_[i] = other.data_[i];
  }
  mdarray(mdarray&& other) noexcept { swap(other); }
  mdarray& operator=(mdarray other) noexcept { return swap(other), *this; }
  ~mdarray() { delete[] data_; }
  void swap(mdarray& other) noexcept {
    std::swap(data_, other.data_);
    for (int k = 0; k < Rank; ++k)
      std::swap(extents_[k], other.extents_[k]);
  }

  static constexpr std::size_t rank() { return Rank; }
  /// How many elements lie along axis k.
  i64 extent(int k) const { return extents_[k]; }
  /// How many elements there are.
  std::size_t size() const {
    std::size_t n = 1;
    for (i64 const e : extents_)
      n *= static_cast<std::size_t>(e);
    return n;
  }
  T* data() { return data_; }
  T const* data() const { return data_; }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  T const* begin() const { return data(); }
  T const* end() const { return data() + size(); }

  /// The element at these indices, one an axis.
  template <class... Indices>
    requires(sizeof...(Indices) == Rank && (std::is_integral_v<Indices> && ...))
  T const& operator()(Indices... indices) const {
    return data_[static_cast<std::size_t>(place_of(static_cast<i64>(indices)...))];
  }
  template <class... Indices>
    requires(sizeof...(Indices) == Rank && (std::is_integral_v<Indices> && ...))
  T& operator()(Indices... indices) {
    return data_[static_cast<std::size_t>(place_of(static_cast<i64>(indices)...))];
  }
  /// Element i in row-major order.
  T const& operator[](std::size_t i) const { return data_[i]; }
  T& operator[](std::size_t i) { return data_[i]; }

  /// Same extents and equal elements.
  friend bool operator==(mdarray const& a, mdarray const& b) {
    for (int k = 0; k < Rank; ++k)
      if (a.extents_[k] != b.extents_[k])
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(a.data_[i] == b.data_[i]))
        return false;
    return true;
  }

private:
  template <class... Indices>
  i64 place_of(Indices... indices) const {
    i64 at = 0;
    int k = 0;
    ((assert(indices >= 0 && indices < extents_[k]), at = at * extents_[k++] + indices), ...);
    return at;
  }
  i64 extents_[Rank]{};
  T* data_ = nullptr;
};

} // namespace tally::v0

namespace tally {

/// Answers of several axes are read with them; of one, as any container.
template <v0::element T, int Rank>
  requires(Rank > 1)
struct column_of<v0::mdarray<T, Rank>> {
  static constexpr bool owns = true;
  static auto make(v0::mdarray<T, Rank> const& a) {
    v0::shaped_column<v0::contiguous<T>, Rank> out{{a.data()}, static_cast<v0::i64>(a.size()), {}};
    for (int k = 0; k < Rank; ++k)
      out.axes[k] = a.extent(k);
    return out;
  }
};

} // namespace tally
