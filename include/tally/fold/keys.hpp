// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups by a key: which bin the elements of a read go to. Layer 1. A key is an integer that every element has; the elements that
// pass the filter and have one key are a group, and along the axes that are not keyed away every index has groups of its own.
#pragma once

#include <tally/element/functions.hpp>
#include <tally/fold/columns_read.hpp>
#include <tally/fold/groups.hpp>

namespace tally::v0 {

inline constexpr i64 most_bins = i64(1) << 31;

/// The mask of the folds of a group, whose elements are in a bin already: it lets through, but a count behind it is counted, and a
/// minimum knows whether it has met anything.
struct in_a_bin : leaf_expression<in_a_bin> {
  template <class Row>
  TALLY_INLINE constexpr bool eval(Row const&) const {
    return true;
  }
  template <class Out>
  void print(Out& out) const {
    out.text("in_a_bin");
  }
};

/// Bounds that make no bins: axis says of which histogram axis, -1 of none.
struct unsound_bounds {
  int axis;
  double low, high;
};

/// Elements by key: bit k of Reduced is set where axis k of Rank is keyed away; the bins form an array of Dims axes.
template <int Rank, u32 Reduced, int Dims, class Key, class Mask, bool DropsStrays>
struct groups_by_key {
  Key key;   ///< over the columns of the source
  Mask mask; ///< of the pipe: an element that it holds back has no key
  i64 bins;  ///< all of them
  i64 extents[Dims];
  unsound_bounds fault;

  static constexpr int rank = Rank;
  static constexpr int dims = Dims;
  static constexpr bool drops_strays = DropsStrays;
  static constexpr bool lowerable = Key::lowerable && Mask::lowerable;
  static constexpr bool is_reduced(int axis) { return (Reduced >> axis & 1) != 0; }
  static constexpr int kept = [] {
    int n = 0;
    for (int k = 0; k < Rank; ++k)
      n += is_reduced(k) ? 0 : 1;
    return n;
  }();
};

/// Elements by a key whose values are not known before they are read.
template <int Rank, class Key, class Mask>
struct groups_by_any_key {
  Key key;
  Mask mask;
  static constexpr bool lowerable = Key::lowerable && Mask::lowerable;
};

/// Whether a key names one of the bins, at most 2^31 of them; below 2^32 bits are enough to ask.
template <class K>
TALLY_INLINE constexpr bool is_in_bins(K key, i64 bins) {
  if constexpr (sizeof(K) <= 4)
    return static_cast<u32>(static_cast<i64>(key)) < static_cast<u32>(bins);
  else
    return static_cast<u64>(key) < static_cast<u64>(bins);
}

/// Even bins over [low, high]: bin k holds what is at least low + k * step and below low + (k + 1) * step, computed in double; the
/// last bin also holds high itself.
struct uniform_bins {
  double low, high, scale, step, last;
  float near_low, near_scale; ///< the same, roughly
  float near_end;             ///< the end of the last bin, in bins, or where floats no longer tell bins apart
  float doubt;                ///< how far from an edge, in bins, a rough number may be wrong
  static constexpr uniform_bins over(double low, double high, i64 bins) {
    double const n = static_cast<double>(bins), width = high - low;
    double const scale = width > 0 ? n / width : 0, size = (low < 0 ? -low : low) + (high < 0 ? -high : high);
    double const doubt = size * scale * 0x1p-21 + n * 0x1p-20; // some 8 roundings of numbers and of bins
    bool const rough = size < 1e37 && scale < 1e37 && scale > 1e-37 && doubt < 0.25; // else all are settled in double
    return {low,
            high,
            scale,
            bins > 0 ? width / n : 0,
            n - 1,
            rough ? static_cast<float>(low) : 0.f,
            rough ? static_cast<float>(scale) : 0.f,
            static_cast<float>(n < 0x1p24 ? n : 0x1p24),
            rough ? static_cast<float>(doubt) : 1.f};
  }
  /// The same doubt where the rough number is of doubles; 1 where they may leave their range, or the numbers of bins that of i32.
  constexpr double doubt_in_double() const {
    double const size = (low < 0 ? -low : low) + (high < 0 ? -high : high), n = last + 1;
    return size < 1e300 && scale < 1e300 && scale > 1e-300 && n < 0x1p30 ? size * scale * 0x1p-50 + n * 0x1p-49 : 1.0;
  }
  /// The bin of x; -1 where it has none, as NaN.
  TALLY_INLINE constexpr i32 operator()(double x) const {
    double const free = (x - low) * scale, bounded = free < last ? free : last; // without a branch, so that lanes keep together
    i32 const k = static_cast<i32>(bounded > 0.0 ? bounded : 0.0);
    double const at = static_cast<double>(k), lower = low + at * step, upper = low + (at + 1.0) * step;
    i32 const below = x < lower ? 1 : 0, above = (at < last ? 1 : 0) & (x >= upper ? 1 : 0);
    i32 const inside = (x >= low ? 1 : 0) & (x <= high ? 1 : 0) & (last >= 0.0 ? 1 : 0);
    return (k - below + above) | (inside - 1);
  }
  /// The same of a float: rough arithmetic settles it unless an edge is near.
  TALLY_INLINE constexpr i32 operator()(float x) const {
    float const rough = (x - near_low) * near_scale, bounded = ((rough > 0.f) & (rough < near_end)) ? rough : 0.f; // with one branch, below
    i32 const k = static_cast<i32>(bounded);
    float const beyond = bounded - static_cast<float>(k);
    return ((beyond > doubt) & (beyond < 1.f - doubt)) ? k : (*this)(static_cast<double>(x));
  }
};

/// Whether neighbours along the one axis that stays have one key, and lie side by side in what is folded.
template <class Where, class... Columns, class... Leaves>
constexpr bool rows_have_one_key(program<pack<Columns...>, Leaves...> const&, axes_layout const& at) {
  constexpr u32 keyed = columns_of_key<Where>;
  constexpr u32 folded = columns_folded<program<pack<Columns...>, Leaves...>>;
  constexpr bool memory[] = {memory_column<Columns>...};
  if (looks_at_position<decltype(Where::key)> || looks_at_position<decltype(Where::mask)> || at.kept_axes != 1)
    return false;
  for (int c = 0; c < int(sizeof...(Columns)); ++c) {
    i64 const step = at.kept[0].steps[c];
    if ((keyed >> c & 1) != 0 && (!memory[c] || step != 0))
      return false;
    if ((folded >> c & 1) != 0 && memory[c] && step != 1)
      return false;
  }
  return true;
}

namespace op {
/// The number of an even bin.
struct bin {
  static constexpr char const* spelling = "bin";
  template <real T>
  TALLY_INLINE static constexpr i32 apply(T x, uniform_bins const& bins) {
    if constexpr (stl::same_as<decltype(widen(x)), float>)
      return bins(widen(x));
    else
      return bins(static_cast<double>(widen(x)));
  }
};
/// The bin of a key, which is the key; -1 where it has none. What is no integer stays none, and is refused as a key.
struct key_bin {
  static constexpr char const* spelling = "key_bin";
  template <real K>
  TALLY_INLINE static constexpr auto apply(K key, i64 bins) {
    if constexpr (stl::integral<K>)
      return is_in_bins(key, bins) ? static_cast<i32>(key) : i32(-1);
    else
      return key;
  }
};
/// Keys of up to 64 bits in all side by side in one number, which is ordered as they are, the first counting most.
struct keys_together {
  static constexpr char const* spelling = "keys_together";
  template <real... Ks>
  TALLY_INLINE static constexpr u64 apply(Ks... keys) {
    u64 all = 0;
    ((all = all << 4 * sizeof(Ks) << 4 * sizeof(Ks) | ((static_cast<u64>(keys) ^ lowest<Ks>) & bits_of<Ks>)), ...);
    return all;
  }
  /// The key that has the lowest bits of such a number.
  template <class K>
  static constexpr K key_in(u64 all) {
    return static_cast<K>((all ^ lowest<K>) & bits_of<K>);
  }

private:
  template <class K>
  static constexpr u64 bits_of = ~u64(0) >> (64 - 8 * sizeof(K));
  /// The bit that is turned over, so that numbers below zero come first.
  template <class K>
  static constexpr u64 lowest = K(-1) < K(0) ? u64(1) << (8 * sizeof(K) - 1) : 0;
};
/// The number of a bin of several axes, row by row; -1 where one axis has none.
struct bin_beside {
  static constexpr char const* spelling = "bin_beside";
  template <real Outer, real Inner>
  TALLY_INLINE static constexpr auto apply(Outer outer, Inner inner, i64 inner_bins) {
    if constexpr (!stl::integral<Outer>)
      return outer;
    else if constexpr (!stl::integral<Inner>)
      return inner;
    else
      return outer < 0 || inner < 0 ? i64(-1) : static_cast<i64>(outer) * inner_bins + inner;
  }
};
} // namespace op

} // namespace tally::v0
