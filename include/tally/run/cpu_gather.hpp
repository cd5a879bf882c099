// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns with axes on the CPU, their own or those of a read, and answers of segments: their elements are laid one after the other, a few leaves or a block at
// a time, and folded as any others. Layer 5, host only.
#pragma once

#include <tally/element/earlier.hpp>
#include <tally/fold/groups.hpp>
#include <tally/run/cpu_tile.hpp>
#include <tally/run/heap_array.hpp>

namespace tally::v0::cpu {

namespace detail {

/// A column whose elements are neighbours, of the same kind as one that may have axes.
template <class Column>
struct laid_out {
  using type = Column;
};
template <class T, int Rank>
struct laid_out<spread<T, Rank>> {
  using type = contiguous<T>;
};
template <class T, int Rank>
struct laid_out<earlier_along<T, Rank>> {
  using type = earlier<T>;
};
template <class Column>
  requires is_searched<Column>
struct laid_out<Column> {
  using type = earlier<typename Column::value_type>;
};
/// Whether elements of a column have to be laid out.
template <class Column>
inline constexpr bool lies_apart = axes_of_column<Column> > 0 || is_searched<Column>;

/// Lays elements [e, e + n) along some axes one after the other; extent(k), stride(k): of axis k, outermost first.
template <class T, class Extent, class Stride>
void gather_along(T const* data, int rank, Extent const& extent, Stride const& stride, i64 e, i64 n, T* to) {
  i64 index[max_axes], left = e;
  for (int k = rank - 1; k > 0; --k) {
    index[k] = left % extent(k);
    left /= extent(k);
  }
  index[0] = left;
  i64 const step = stride(rank - 1);
  while (n > 0) {
    auto const* from = data;
    for (int k = 0; k < rank; ++k) from += index[k] * stride(k);
    i64 const in_row = extent(rank - 1) - index[rank - 1], here = n < in_row ? n : in_row;
    if (step == 1)
      for (i64 i = 0; i < here; ++i) to[i] = from[i];
    else if (step == 0)
      for (i64 i = 0; i < here; ++i) to[i] = *from;
    else
      for (i64 i = 0; i < here; ++i) to[i] = from[i * step];
    to += here;
    n -= here;
    index[rank - 1] += here;
    for (int k = rank - 1; k > 0 && index[k] == extent(k); --k) {
      index[k] = 0;
      ++index[k - 1];
    }
  }
}
/// The same of a column with axes of its own.
template <class Column>
  requires(axes_of_column<Column> > 0)
void gather(Column const& c, i64 e, i64 n, typename Column::value_type* to) {
  gather_along(c.data, Column::rank, [&](int k) { return c.extents[k]; }, [&](int k) { return c.strides[k]; }, c.first + e, n, to);
}

/// And of answers of segments, segment by segment.
template <class T, class Offset>
void gather(earlier_of_segment<T, Offset> const& c, i64 e, i64 n, T* to) {
  i64 s = n > 0 ? c.segment_of(e) : 0;
  for (i64 k = 0; k < n; ++s) {
    i64 const left = static_cast<i64>(c.offsets[s + 1]) - c.first - e, end = left < n ? left : n;
    T const answer = c.answers[s];
    for (; k < end; ++k) to[k] = answer;
  }
}

template <class T, class Key>
void gather(earlier_of_key<T, Key> const& c, i64 e, i64 n, T* to) {
  for (i64 k = 0; k < n; ++k) to[k] = c.at(e + k);
}

/// How far ahead of a read that scatters its columns are asked for: the core sees no streams where it does. 2^24 numbers of 32 bits added by 16 000 keys, ns an element: not asked 1.15,
/// 1 KiB ahead 0.53, 2 KiB 0.47, 4 KiB 0.50 (two cores of an AMD EPYC of family 26, g++ 12 -O2, 2026-11-28, a loop of its own).
inline constexpr std::uintptr_t bytes_ahead = 4096;
template <int N, class T>
TALLY_INLINE void ask_ahead(T const* of) {
  for (std::size_t at = 0; at < N * sizeof(T); at += 64) __builtin_prefetch(reinterpret_cast<void const*>(reinterpret_cast<std::uintptr_t>(of) + bytes_ahead + at));
}

/// Room for N elements of a column, where it is one in memory.
template <class Column, int N>
struct room_of_block {
  Column from(Column const& c, axes_layout const&, int, bool, i64) { return c; }
};
template <memory_column Column, int N>
struct room_of_block<Column, N> {
  alignas(64) typename Column::value_type of[N];
  /// A column of the N elements from the first on, the column number of the read.
  Column from(Column const& c, axes_layout const& at, int number, bool in_order, i64 first) {
    Column block = c;
    block.data = in_order ? c.data + first : of;
    if (in_order)
      ask_ahead<N>(block.data);
    else
      gather_along(c.data, at.reduced_axes, [&](int k) { return at.reduced[k].extent; }, [&](int k) { return at.reduced[k].steps[number]; }, first, N, of);
    return block;
  }
};

/// Blocks of N elements of a read of one group, in the order of its axes: columns that lie so stay where they are, of others a block is laid out.
template <int N, class... Columns>
class blocks_in_order {
public:
  blocks_in_order(pack<Columns...> const& columns, axes_layout const& at) : columns_(columns), at_(at) {
    for (int c = 0; c < count; ++c) in_order_[c] = follows(at, [&](grid_axis const& a) { return a.steps[c]; });
  }
  /// Whether the positions of a read are counted so.
  static bool possible(axes_layout const& at) {
    return at.groups == 1 && at.reduced_axes > 0 && follows(at, [](grid_axis const& a) { return a.position_step; });
  }
  /// Columns whose element j is number first + j of the read, until the next call.
  pack<Columns...> from(i64 first) { return from_all(first, indices_up_to<count>{}); }

private:
  static constexpr int count = int(sizeof...(Columns));
  template <class StepOf>
  static bool follows(axes_layout const& at, StepOf const& step_of) {
    i64 expected = 1;
    bool all = true;
    for (int k = at.reduced_axes - 1; k >= 0; --k) {
      all = all && step_of(at.reduced[k]) == expected;
      expected *= at.reduced[k].extent;
    }
    return all;
  }
  template <int... I>
  pack<Columns...> from_all(i64 first, index_list<I...>) {
    return make_pack(get<I>(rooms_).from(get<I>(columns_), at_, I, in_order_[I], first)...);
  }

  pack<Columns...> const& columns_;
  axes_layout const& at_;
  bool in_order_[count > 0 ? count : 1];
  pack<room_of_block<Columns, N>...> rooms_;
};

/// Room for the elements of a column, where it needs some.
template <class Column, bool LiesApart = lies_apart<Column>>
struct gathered {
  void reserve(i64) {}
  Column from(Column const& c, i64 e, i64) { return c.from(e); }
};
template <class Column>
struct gathered<Column, true> {
  heap_array<typename Column::value_type> room;
  void reserve(i64 elements) { room = heap_array<typename Column::value_type>(static_cast<std::size_t>(elements)); }
  typename laid_out<Column>::type from(Column const& c, i64 e, i64 n) {
    gather(c, e, n, room.data());
    return {room.data()};
  }
};

template <class... Columns>
constexpr bool any_lies_apart(pack<Columns...> const*) {
  return (false || ... || lies_apart<Columns>);
}
template <class Program>
inline constexpr bool has_columns_apart = any_lies_apart(static_cast<typename Program::columns_type const*>(nullptr));

/// Parts of a program whose columns are laid out in rooms for so many elements, which the next part takes again.
template <class Program>
class laid_out_parts;
template <class... Columns, class... Leaves>
class laid_out_parts<program<pack<Columns...>, Leaves...>> {
public:
  using type = program<pack<typename laid_out<Columns>::type...>, Leaves...>;
  static_assert(shape_of<type> == shape_of<program<pack<Columns...>, Leaves...>>);
  laid_out_parts() = default;
  explicit laid_out_parts(i64 elements) {
    for_each_index<int(sizeof...(Columns))>([&](auto i) { get<i>(rooms_).reserve(elements); });
  }
  /// Elements [e, e + n).
  type part(program<pack<Columns...>, Leaves...> const& p, i64 e, i64 n) {
    return {[&]<int... I>(index_list<I...>) { return make_pack(get<I>(rooms_).from(get<I>(p.columns), e, n)...); }(indices_up_to<int(sizeof...(Columns))>{}), n,
            p.first + e, p.leaves};
  }

private:
  pack<gathered<Columns>...> rooms_;
};

template <class... Columns, class... Leaves>
auto fold_gathered(program<pack<Columns...>, Leaves...> const& p, i64 leaf, i64 count) {
  using States = pack<typename Leaves::state...>;
  using Parts = laid_out_parts<program<pack<Columns...>, Leaves...>>;
  constexpr i64 elements = shape_of<typename Parts::type>.elements(), at_once = 8; // leaves that the nearest cache keeps
  Parts parts((count < at_once ? count : at_once) * elements);
  neighbour_stack<States, 40> stack;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  for (i64 k = 0; k < count; k += at_once) {
    i64 const e = (leaf + k) * elements, here = count - k < at_once ? count - k : at_once;
    i64 const n = p.extent - e < here * elements ? p.extent - e : here * elements;
    stack.push(combine, cpu::fold_subtree(parts.part(p, e, n), 0, here));
  }
  return stack.root(combine);
}

} // namespace detail

/// The subtree over `count` leaves (at least 1) that start at `leaf`, of a program with columns that lie apart.
template <class Program>
  requires detail::has_columns_apart<Program>
typename Program::states fold_subtree(Program const& p, i64 leaf, i64 count) {
  return detail::fold_gathered(p, leaf, count);
}

} // namespace tally::v0::cpu
