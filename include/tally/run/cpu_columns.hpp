// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups that are neighbours in memory, element for element, folded side by side: a slice of every row is read as it lies, and
// the nodes of the slice's trees stay in the nearest caches. Layer 5, host only.
#pragma once

#include <tally/run/cpu_in_place.hpp>

namespace tally::v0::cpu {

/// Bytes of a slice. Sums of 4096 columns of f32, of a plain read: slices of 1 KiB 0.8, of 8 KiB 1.0, of 16 KiB 1.1. EPYC, one core,
/// 2026-11-22, g++ -O2, build/bench/cpu_axes.
inline constexpr i64 bytes_of_slice = 16384, least_slice = 1024;
/// How far ahead a row is asked for. Sums of 256, 1024, 4096 and 32768 columns of f32, GB/s of one core with 256 bytes 23.8, 25.6, 29.0, 22.0, with 1024
/// 18.0, 18.7, 20.2, 17.3, without 22.2, 22.7, 28.1, 21.4; the sum of all 27. EPYC 9004, 2026-11-25, g++ -O2, build/bench/cpu_axes.
inline constexpr std::uintptr_t bytes_ahead_in_row = 256;
/// Bytes of neighbouring rows that are read at once where rows are short.
inline constexpr i64 bytes_beside = 8192;

namespace detail {

/// Where the numbers of some columns lie: `beside` lanes of them one after the other.
template <class Number>
struct column_slice {
  Number const* origin = nullptr;
  i64 width = 0;
  int beside = 1;
  int column = 0;
  axes_layout const* at = nullptr;
  /// Where element e of the first group is.
  Number const* element(i64 e) const {
    if (at->reduced_axes == 1) return origin + e * at->reduced[0].steps[column];
    i64 offset = 0;
    for (int k = at->reduced_axes - 1; k >= 0; --k) {
      offset += (k > 0 ? e % at->reduced[k].extent : e) * at->reduced[k].steps[column];
      e /= at->reduced[k].extent;
    }
    return origin + offset;
  }
};

/// One fold over a slice.
template <leaf_shape Shape, class Leaf>
class column_folder {
public:
  using M = typename Leaf::monoid_type;
  using form = strip_form<M, false>;
  using number = typename form::number;
  using block = typename form::block;
  using vector = typename form::vector;
  using state = typename M::state;
  static constexpr int n = form::width, rows = Shape.rows, lanes = Shape.lanes(), registers = int(sizeof(block) / sizeof(vector));

  column_folder() = default;
  TALLY_INLINE column_folder(column_slice<number> const& slice, i64 leaf_count) : slice_(slice) {
    for (i64 pushes = leaf_count * lanes; pushes > 0; pushes >>= 1) ++levels_;
    apart_ = rounded(slice.width);
    beside_ = rounded(slice.width * slice.beside);
    room_ = heap_array<number>(static_cast<std::size_t>(registers * (levels_ * apart_ + 2 * beside_)));
  }
  /// Folds lanes [begin, end) of a leaf, as far as they have an element. Lanes come in their order, and where fewer than all come at once, as many
  /// as lie beside each other or a power of two of those.
  TALLY_INLINE void add_lanes(i64 leaf, int begin, int end) {
    i64 const first = leaf * Shape.elements(), left = slice_.at->extent - first;
    int const elements = left < Shape.elements() ? int(left) : Shape.elements(), existing = elements < lanes ? elements : lanes;
    fold_leaf(first, elements, begin, end < existing ? end : existing);
  }
  TALLY_INLINE void root(state* out) const {
    int const depth = __builtin_popcountll(static_cast<u64>(pushed_));
    for (i64 e = 0; e < slice_.width; e += n) {
      block b;
      level(depth - 1).get(b, e);
      for (int k = depth - 2; k >= 0; --k) {
        merge_onto(level(k), b, e);
      }
      put_states<form>(b, slice_.width - e < n ? int(slice_.width - e) : n, out + e);
    }
  }

private:
  /// Blocks, register by register, each of which begins at any number.
  struct planes {
    number* of;
    i64 apart;
    // through a register, or g++ copies a block in pieces of 16 bytes
    TALLY_INLINE void get(block& b, i64 e) const {
#pragma GCC unroll 4
      for (int q = 0; q < registers; ++q) {
        vector v;
        load(v, of + q * apart + e);
        std::memcpy(reinterpret_cast<char*>(&b) + std::size_t(q) * sizeof v, &v, sizeof v);
      }
    }
    TALLY_INLINE void put(block const& b, i64 e) const {
#pragma GCC unroll 4
      for (int q = 0; q < registers; ++q) {
        vector v;
        std::memcpy(&v, reinterpret_cast<char const*>(&b) + std::size_t(q) * sizeof v, sizeof v);
        std::memcpy(of + q * apart + e, &v, sizeof v);
      }
    }
  };
  TALLY_INLINE static void merge_onto(planes const& left, block& b, i64 e) {
    block both;
    left.get(both, e);
    both.merge(b, 0);
    copy_registers<form>(b, both);
  }
  /// Nodes to the left of what is pushed, which become one with it, and where that goes.
  struct place_in_trees {
    planes left[48], to;
    int merges = 0;
    TALLY_INLINE void take(block& b, i64 e) const {
      for (int q = 0; q < merges; ++q) merge_onto(left[q], b, e);
      to.put(b, e);
    }
  };
  column_slice<number> slice_;
  int levels_ = 0;
  i64 apart_ = 0, beside_ = 0, pushed_ = 0; ///< lanes
  heap_array<number> room_;

  /// Not a multiple of a page, or loads of one level would wait for stores to another.
  static i64 rounded(i64 numbers) { return (numbers + n - 1) / n * n + 64 / int(sizeof(number)); }
  planes level(int k) const { return {room_.data() + k * registers * apart_, apart_}; }
  planes scratch(int k) const { return {room_.data() + registers * (levels_ * apart_ + k * beside_), beside_}; }

  /// The place for nodes of 2^height lanes.
  TALLY_INLINE void next_place(place_in_trees& p, int height) {
    int depth = __builtin_popcountll(static_cast<u64>(pushed_));
    p.merges = 0;
    for (i64 k = pushed_ >> height; k & 1; k >>= 1) p.left[p.merges++] = level(--depth);
    p.to = level(depth);
    pushed_ += i64(1) << height;
  }
  /// Lanes [l, end) of a leaf of `elements`.
  TALLY_INLINE void fold_leaf(i64 first, int elements, int l, int end) {
    int const whole = elements / lanes, rest = elements % lanes;
    while (l < end) {
      // lanes with another row come first
      int const rows_here = whole + (l < rest ? 1 : 0), alike = (l < rest && rest < end ? rest : end) - l;
      if (slice_.beside > 1) {
        fold_beside(first, l, end - l < slice_.beside ? end - l : slice_.beside, whole, rest);
        l += slice_.beside;
      } else if (rows_here == 1 && alike >= 8 && l % 8 == 0) {
        fold_lanes<8, 1>(first + l);
        l += 8;
      } else if (rows_here == 2 && alike >= 4 && l % 4 == 0) {
        fold_lanes<4, 2>(first + l);
        l += 4;
      } else if (rows_here == 3 && alike >= 2 && l % 2 == 0) {
        fold_lanes<2, 3>(first + l);
        l += 2;
      } else if (rows_here == 4 && alike >= 2 && l % 2 == 0) {
        fold_lanes<2, 4>(first + l);
        l += 2;
      } else {
        fold_lane(first + l, rows_here);
        l += 1;
      }
    }
  }
  /// What feed(e, x) is told of: numbers [0, count) of some rows, register by register; x(r) is the register of row r.
  template <class Feed>
  TALLY_INLINE static void along(number const* const* at, int rows_here, i64 count, Feed const& feed) {
    i64 e = 0;
    for (; e + n <= count; e += n)
      feed(e, [&](vector& x, int r) TALLY_INLINE_LAMBDA {
        __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(at[r] + e) + bytes_ahead_in_row));
        load(x, at[r] + e);
      });
    if (e == count) return;
    alignas(64) number rest[8][n]{};
    for (int r = 0; r < rows_here; ++r)
      for (int j = 0; j < count - e; ++j) rest[r][j] = at[r][e + j];
    feed(e, [&](vector& x, int r) TALLY_INLINE_LAMBDA { load(x, rest[r]); });
  }
  /// Row after row of one lane, or of lanes beside each other.
  template <int Rows, class Take>
  TALLY_INLINE static void down(number const* const* at, int rows_here, i64 count, Take const& take) {
    number const* row[rows];
    for (int r = 0; r < rows; ++r) row[r] = at[r < rows_here ? r : 0];
    along(row, rows_here, count, [&](i64 e, auto const& of) TALLY_INLINE_LAMBDA {
      block b;
      vector x;
      of(x, 0);
      b.begin(x);
      step_all<form>(b, x);
      int const last = Rows > 0 ? Rows : rows_here;
#pragma GCC unroll 8
      for (int r = 1; r < last; ++r) {
        of(x, r);
        step_all<form>(b, x);
      }
      b.close(last);
      take(b, e);
    });
  }
  template <class Take>
  TALLY_INLINE static void down_any(number const* const* at, int rows_here, i64 count, Take const& take) {
    if (rows_here == rows)
      down<rows>(at, rows_here, count, take);
    else
      down<0>(at, rows_here, count, take);
  }
  TALLY_INLINE void fold_lane(i64 element, int rows_here) {
    number const* at[rows]{};
    for (int r = 0; r < rows_here; ++r) at[r] = slice_.element(element + r * lanes);
    place_in_trees p;
    next_place(p, 0);
    down_any(at, rows_here, slice_.width, [&](block& b, i64 e) TALLY_INLINE_LAMBDA { p.take(b, e); });
  }
  /// Neighbouring lanes of few rows: read one after the other, there would be as many nodes to keep as numbers to read.
  template <int Lanes, int Rows>
  TALLY_INLINE void fold_lanes(i64 element) {
    constexpr int all = Lanes * Rows;
    number const* at[all];
    for (int k = 0; k < all; ++k) at[k] = slice_.element(element + k / Rows + i64(k % Rows) * lanes);
    place_in_trees p;
    next_place(p, Lanes == 2 ? 1 : Lanes == 4 ? 2 : 3);
    along(at, all, slice_.width, [&](i64 e, auto const& of) TALLY_INLINE_LAMBDA {
      block b[Lanes];
#pragma GCC unroll 8
      for (int k = 0; k < Lanes; ++k) {
        vector x;
        of(x, k * Rows);
        b[k].begin(x);
        step_all<form>(b[k], x);
#pragma GCC unroll 4
        for (int r = 1; r < Rows; ++r) {
          of(x, k * Rows + r);
          step_all<form>(b[k], x);
        }
        b[k].close(Rows);
      }
#pragma GCC unroll 3
      for (int h = 1; h < Lanes; h *= 2)
#pragma GCC unroll 4
        for (int k = 0; k < Lanes; k += 2 * h) b[k].merge(b[k + h], 0);
      p.take(b[0], e);
    });
  }
  /// Lanes beside each other: first every lane down its rows, then neighbours together until one is left.
  TALLY_INLINE void fold_beside(i64 first, int l, int count, int whole, int rest) {
    number const* at[rows]{};
    for (int r = 0; r < whole + 1 && r < rows; ++r) at[r] = slice_.element(first + l + i64(r) * lanes);
    planes from = scratch(0), to = scratch(1);
    int const more = l >= rest ? 0 : rest - l < count ? rest - l : count;
    auto const keep = [&](i64 begin) {
      return [&, begin](block& b, i64 e) TALLY_INLINE_LAMBDA { from.put(b, begin + e); };
    };
    i64 const longer = more * slice_.width;
    if (more > 0) down_any(at, whole + 1, longer, keep(0)); // writes up to a register behind its end, so it comes first
    if (more < count) {
      for (int r = 0; r < whole; ++r) at[r] += longer;
      down_any(at, whole, (count - more) * slice_.width, keep(longer));
    }
    int height = 0;
    for (int beside = slice_.beside; beside > 1; beside /= 2, ++height) {
      for (int k = 0; k < count; k += 2)
        for (i64 e = 0; e < slice_.width; e += n) {
          block a, b;
          from.get(a, k * slice_.width + e);
          if (k + 1 < count) {
            from.get(b, (k + 1) * slice_.width + e);
            a.merge(b, 0);
          }
          to.put(a, k / 2 * slice_.width + e);
        }
      count = (count + 1) / 2;
      planes const other = from;
      from = to, to = other;
    }
    place_in_trees p;
    next_place(p, height);
    for (i64 e = 0; e < slice_.width; e += n) {
      block b;
      from.get(b, e);
      p.take(b, e);
    }
  }
};

template <leaf_shape Shape, class Leaf>
void add_lanes(column_folder<Shape, Leaf>& f, i64 leaf, i64 leaf_count, int begin, int end) {
  with_registers([&]() TALLY_INLINE_LAMBDA {
    auto own = std::move(f); // what nobody else can name stays in registers
    for (i64 k = leaf; k < leaf + leaf_count; ++k) own.add_lanes(k, begin, end);
    f = std::move(own);
  });
}

/// How cores share groups that are neighbours in memory: slices of them, leaf after leaf.
template <class Program>
class column_walk;
template <class... Columns, class... Leaves>
class column_walk<program<pack<Columns...>, Leaves...>> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  using states = states_apart<typename Leaves::state...>;

  /// cores: how many there are to share them.
  column_walk(program_type const& p, axes_layout const& at, i64 leaves, int cores) : p_(p), at_(at), width_(at.kept[at.kept_axes - 1].extent) {
    constexpr i64 size = tally::v0::detail::max_of(int(sizeof(typename vector_form<typename Leaves::monoid_type>::number))...);
    i64 const most = bytes_of_slice / size, least = least_slice / size, fair = cores == 1 ? most : at.groups * leaves / (4 * cores) / 16 * 16;
    slice_ = fair > most ? most : fair < least ? least : fair;
    if (slice_ >= width_) slice_ = width_;
    if (slice_ == width_ && lie_densely())
      while (beside_ < shape_of<program_type>.lanes() && 2 * beside_ * width_ * size <= bytes_beside) beside_ *= 2;
    slices_ = (width_ - 1) / slice_ + 1;
  }
  /// Whether groups of a program can be folded so.
  static bool can(axes_layout const& at) {
    if (at.kept_axes == 0) return false;
    grid_axis const& inner = at.kept[at.kept_axes - 1];
    bool together = true, dense = at.reduced_axes == 1;
    ((together = together && inner.steps[column<Leaves>] == 1, dense = dense && at.reduced[0].steps[column<Leaves>] == inner.extent), ...);
    return together && (dense || inner.extent >= groups_in_strip);
  }
  i64 blocks() const { return at_.groups / width_ * slices_; }
  i64 first_of(i64 block) const { return block / slices_ * width_ + block % slices_ * slice_; }
  i64 groups_in(i64 block) const {
    i64 const left = width_ - block % slices_ * slice_;
    return left < slice_ ? left : slice_;
  }
  /// Groups beside each other, of short rows: as many lanes are folded at once.
  int lanes_beside() const { return beside_; }
  using folders = pack<column_folder<shape_of<program_type>, Leaves>...>;
  /// The trees of a block, which grow by lanes of `count` leaves.
  folders begin(i64 block, i64 count) const {
    auto const origin = group_origin<int(sizeof...(Columns))>(at_, first_of(block));
    folders out;
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      using Leaf = nth_t<i, Leaves...>;
      using number = typename vector_form<typename Leaf::monoid_type>::number;
      constexpr int c = column<Leaf>;
      column_slice<number> const slice{reinterpret_cast<number const*>(get<c>(p_.columns).data + origin.offset[c]), groups_in(block), beside_, c, &at_};
      get<i>(out) = column_folder<shape_of<program_type>, Leaf>(slice, count);
    });
    return out;
  }
  /// Folds lanes [begin, end) of leaves [leaf, leaf + count).
  static void add(folders& f, i64 leaf, i64 count, int begin, int end) {
    for_each_index<int(sizeof...(Leaves))>([&](auto i) { add_lanes(get<i>(f), leaf, count, begin, end); });
  }
  /// The states of what was folded.
  states end(folders const& f, i64 block) const {
    states out(groups_in(block));
    for_each_index<int(sizeof...(Leaves))>([&](auto i) {
      with_registers([&]() TALLY_INLINE_LAMBDA { get<i>(f).root(out.template of<i>()); });
    });
    return out;
  }
  /// The states of a block over leaves [leaf, leaf + count).
  states fold(i64 block, i64 leaf, i64 count) const {
    auto f = begin(block, count);
    add(f, leaf, count, 0, shape_of<program_type>.lanes());
    return end(f, block);
  }

private:
  program_type const& p_;
  axes_layout const& at_;
  i64 width_, slice_ = 1, slices_ = 1;
  int beside_ = 1;
  template <class Leaf>
  static constexpr int column = read_in_place<pack<Columns...>, Leaf>::column;
  bool lie_densely() const {
    return at_.reduced_axes == 1 && ((at_.reduced[0].steps[column<Leaves>] == width_) && ...);
  }
};

} // namespace detail

} // namespace tally::v0::cpu
