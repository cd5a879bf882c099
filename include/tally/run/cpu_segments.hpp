// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments on the CPU: runs of neighbouring segments, equal in elements and offsets, are spread over cores; a short segment is one
// straight tree, a long one goes to the tile loop, a giant one is cut at subtree borders into parts, which belong to the runs that they begin in
// and meet at the end. Layer 5, host only. Where a segment is folded never changes a bit.
#pragma once

#include <vector>

#include <tally/element/shared_part.hpp>
#include <tally/fold/segments.hpp>
#include <tally/run/cpu_gather.hpp>
#include <tally/run/cpu_groups.hpp>

namespace tally::v0::cpu {

/// What a segment costs beside its elements, in elements; how much of both one core takes at least; how many runs a core has to
/// balance with.
inline constexpr i64 cost_of_segment = 8;
inline constexpr i64 least_run = 16384;
inline constexpr i64 runs_per_core = 16;
/// The same where walks take turns: a cache has a run while another walk reads it.
inline constexpr i64 run_in_turns = 65536;
/// Elements from which a segment is shared by the cores.
inline constexpr i64 giant_segment = 1 << 18;

namespace detail {

/// Elements [e, e + N) of a segment as a balanced tree of neighbours.
template <int N, class Leaf, class Rows>
TALLY_INLINE auto fold_block(Leaf const& leaf, Rows const& rows, i64 e) {
  if constexpr (N > 1) {
    auto const left = fold_block<N / 2>(leaf, rows, e);
    return leaf.monoid.combine(left, fold_block<N / 2>(leaf, rows, e + N / 2));
  } else {
    lanes_t<typename Leaf::monoid_type, 1> lane(leaf.monoid);
    auto const row = rows.row_at(e);
    if constexpr (Leaf::masked && !Leaf::computes_all) { // the user's functions are called for what passes the mask, and for nothing else
      if (leaf.mask.eval(row))
        leaf.step(lane, 0, true, row);
    } else {
      leaf.step(lane, 0, true, row);
    }
    return lane.close(leaf.monoid, 0);
  }
}

/// The last n elements of a tree, fewer than 2 N of them and at least one, when e are before them.
template <int N, class Leaf, class Rows>
TALLY_INLINE auto fold_rest(Leaf const& leaf, Rows const& rows, i64 e, int n) {
  if constexpr (N == 1)
    return fold_block<1>(leaf, rows, e);
  else if (n < N)
    return fold_rest<N / 2>(leaf, rows, e, n);
  else if (n == N)
    return fold_block<N>(leaf, rows, e);
  else
    return leaf.monoid.combine(fold_block<N>(leaf, rows, e), fold_rest<N / 2>(leaf, rows, e + N, n - N));
}

/// Elements [e, e + n), n >= 1, as a balanced tree of neighbours: a leaf of one row, and any leaf of a fold that is taken row by row.
template <class Leaf, class Rows>
TALLY_INLINE auto fold_straight(Leaf const& leaf, Rows const& rows, i64 e, int n) {
  using State = typename Leaf::state;
  constexpr int block = sizeof(State) <= 16 ? 8 : 1;
  if (n < 2 * block)
    return fold_rest<block>(leaf, rows, e, n);
  auto const combine = [&](State const& a, State const& b) TALLY_INLINE_LAMBDA { return leaf.monoid.combine(a, b); };
  neighbour_stack<State, 12> tree;
  int i = 0;
  for (; i + block <= n; i += block)
    tree.push(combine, fold_block<block>(leaf, rows, e + i));
  if constexpr (block > 1)
    if (i < n)
      tree.kept[tree.depth++] = fold_rest<block / 2>(leaf, rows, e + i, n - i);
  return tree.root(combine);
}

/// Lanes that are in flight together in a leaf of several rows.
inline constexpr int segment_lanes = 16;

/// The leaf that starts at element e of a segment and has n >= 1 elements.
template <leaf_shape Shape, class Leaf, class Rows>
TALLY_INLINE auto fold_leaf_of_segment(Leaf const& leaf, Rows const& rows, i64 e, int n) {
  using State = typename Leaf::state;
  constexpr int width = Shape.lanes() < segment_lanes ? Shape.lanes() : segment_lanes;
  constexpr int lanes = Leaf::monoid_type::law.order_free ? width : Shape.lanes(); // where no order is seen, as many as are in flight
  if constexpr (exact_monoid<typename Leaf::monoid_type>) {
    State s = leaf.monoid.identity();
    add_ragged(rows, leaf, s, e, n);
    return s;
  } else {
    if (!Leaf::monoid_type::law.commutative || n <= lanes)
      return fold_straight(leaf, rows, e, n);
    State closed[lanes];
    for (int l = 0; l < lanes; l += width) {
      lanes_t<typename Leaf::monoid_type, width> running(leaf.monoid);
      auto const feed = [&](int j, int at) TALLY_INLINE_LAMBDA {
        auto const row = rows.row_at(e + at);
        if (!(Leaf::masked && !Leaf::computes_all) || leaf.mask.eval(row))
          leaf.step(running, j, true, row);
      };
      int at = l;
      for (; at + width <= n; at += lanes)
        for (int j = 0; j < width; ++j)
          feed(j, at + j);
      for (int j = 0; at + j < n && j < width; ++j)
        feed(j, at + j);
      for (int j = 0; j < width; ++j)
        closed[l + j] = running.close(leaf.monoid, j);
    }
    combine_neighbours([&](State const& a, State const& b) TALLY_INLINE_LAMBDA { return leaf.monoid.combine(a, b); }, closed, lanes);
    return closed[0];
  }
}

/// How a leaf takes short segments: element by element, from the rows of the source.
template <class Program, class Leaf>
struct segment_values {
  template <leaf_shape Shape>
  TALLY_INLINE typename Leaf::state fold(Program const& p, Leaf const& leaf, i64 begin, int n) {
    return fold_leaf_of_segment<Shape>(leaf, segment_rows<Program>{p, begin}, 0, n);
  }
};
/// Whether its values are computed for many elements at once, whatever segments they are of.
template <class Program, class Leaf>
inline constexpr bool computes_segments = false;
template <class Program, class M, class E>
inline constexpr bool computes_segments<Program, bound<M, pack<E>, always>> =
    operations_in<E> > 0 && E::lowerable && !needs_positions<Program> && !exact_monoid<M> && fits_a_buffer<value_of<E, Program>>;
template <class Program, class M, class E>
  requires computes_segments<Program, bound<M, pack<E>, always>>
struct segment_values<Program, bound<M, pack<E>, always>> {
  using number = value_of<E, Program>;
  struct rows {
    number const* of;
    TALLY_INLINE auto row_at(i64 e) const { return group_row<number>{make_pack(of[e]), 0, e}; }
  };
  static constexpr i64 most = 2 * shape_of<Program>.elements();
  number room[most];
  i64 first = 0, behind = 0; ///< the elements whose values are there
  laid_out_parts<Program> parts{most};
  template <leaf_shape Shape>
  TALLY_INLINE typename M::state fold(Program const& p, bound<M, pack<E>, always> const& leaf, i64 begin, int n) {
    if (begin < first || begin + n > behind) {
      i64 const left = p.extent - begin;
      first = begin, behind = begin + (left < most ? left : most);
      auto const laid = parts.part(p, first, behind - first);
      compute_values<false>(room, behind - first, [x = element<typename laid_out_parts<Program>::type, E>{laid, leaf.values.first, 0}](i64 e) TALLY_INLINE_LAMBDA {
        return x(static_cast<int>(e));
      });
    }
    return fold_leaf_of_segment<Shape>(bound<M, pack<placeholder<0>>, always>{leaf.monoid, {}, {}}, rows{room + (begin - first)}, 0, n);
  }
};
template <class Program>
struct values_of_segments;
template <class Columns, class... Leaves>
struct values_of_segments<program<Columns, Leaves...>> {
  pack<segment_values<program<Columns, Leaves...>, Leaves>...> of;
};

/// Leaves [leaf, leaf + count) of a segment of n elements that begins at `begin`, a subtree.
template <class Program>
[[gnu::noinline]] typename Program::states fold_part_of_segment(Program const& p, i64 begin, i64 n, i64 leaf, i64 count) {
  if constexpr (needs_positions<Program>) {
    constexpr leaf_shape shape = shape_of<Program>;
    typename Program::states out = p.identity();
    segment_rows<Program> const rows{p, begin};
    for_each_index<Program::leaf_count>([&](auto i) {
      auto const& l = get<i>(p.leaves);
      using State = std::remove_cvref_t<decltype(get<i>(out))>;
      auto const combine = [&](State const& a, State const& b) TALLY_INLINE_LAMBDA { return l.monoid.combine(a, b); };
      neighbour_stack<State, 48> tree;
      for (i64 k = leaf; k < leaf + count; ++k) {
        i64 const left = n - k * shape.elements();
        tree.push(combine, fold_leaf_of_segment<shape>(l, rows, k * shape.elements(), left < shape.elements() ? int(left) : shape.elements()));
      }
      get<i>(out) = tree.root(combine);
    });
    return out;
  } else {
    auto own = p.part(begin, n);
    own.first = 0;
    return fold_subtree(own, leaf, count);
  }
}

template <class Program>
constexpr i64 leaves_of(i64 n) {
  return (n - 1) / shape_of<Program>.elements() + 1;
}

/// The first segment at which elements and segments before it cost `cost` together.
template <class Offset>
i64 segment_at_cost(groups_between_offsets<Offset> const& at, i64 cost) {
  i64 low = 0, high = at.segments();
  while (low < high) {
    i64 const middle = low + (high - low) / 2;
    if (at.begin(middle) - at.begin(0) + middle * cost_of_segment < cost)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
} // namespace detail

/// A walk over all segments, in tasks that any core takes: sink(segment, states, elements) is called once for each of them, from any core. Offsets
/// never fall and stay within the source.
template <class Program, class Offset, class Sink>
class segments_walk {
  using States = typename Program::states;
  static constexpr leaf_shape shape = shape_of<Program>;
  static constexpr i64 elements_of_part = leaves_per_tile * shape.elements();
  struct part {
    i64 segment;
    States states;
  };

public:
  segments_walk(Program const& p, groups_between_offsets<Offset> const& at, int threads, bool takes_turns, Sink const& sink)
      : p_(p), at_(at), sink_(sink) {
    i64 const segments = at.segments();
    if (segments <= 0)
      return;
    p_.extent = at.begin(segments); // what lies behind is not read
    work_ = at.begin(segments) - at.begin(0) + segments * cost_of_segment;
    i64 const cores = threads > 0 ? threads : core_count();
    runs_ = work_ / (takes_turns ? run_in_turns : least_run) + 1;
    if (!takes_turns && runs_ > cores * runs_per_core)
      runs_ = cores == 1 ? 1 : cores * runs_per_core;
    giant_ = runs_ == 1 ? work_ : giant_segment;
    parts_.resize(static_cast<std::size_t>(runs_));
  }
  i64 tasks() const { return runs_; }
  void operator()(i64 run) {
    if constexpr (!detail::registers_are_certain)
      if (!detail::has_registers()) return fold_run<true>(run);
    detail::with_registers([&]() TALLY_INLINE_LAMBDA { fold_run<false>(run); });
  }
  /// After all tasks.
  void finish() {
    std::vector<States> of_one;
    i64 segment = -1;
    auto const close = [&] {
      if (of_one.empty()) return;
      combine_neighbours([&](States const& a, States const& b) { return p_.combine(a, b); }, of_one.data(), static_cast<i64>(of_one.size()));
      sink_(segment, of_one[0], at_.end(segment) - at_.begin(segment));
      of_one.clear();
    };
    for (auto const& of_run : parts_)
      for (auto const& one : of_run) {
        if (one.segment != segment) close();
        segment = one.segment;
        of_one.push_back(one.states);
      }
    close();
  }

private:
  Program p_;
  groups_between_offsets<Offset> at_;
  Sink sink_;
  i64 work_ = 0, runs_ = 0, giant_ = 0;
  std::vector<std::vector<part>> parts_; ///< of giant segments, of every run

  /// What is in front of run r, in cost.
  i64 cost_of(i64 run) const { return run == runs_ ? work_ + 1 : work_ / runs_ * run; }
  bool is_giant(i64 n) const { return Program::leaf_count > 0 && n > giant_; }
  /// The parts of a giant segment that begin between two costs.
  void fold_parts(i64 s, i64 begin_cost, i64 end_cost, std::vector<part>& to) {
    i64 const begin = at_.begin(s), n = at_.end(s) - begin, leaves = detail::leaves_of<Program>(n);
    i64 const cost = begin - at_.begin(0) + s * cost_of_segment, from = begin_cost - cost;
    for (i64 k = from <= 0 ? 0 : (from - 1) / elements_of_part + 1; k * elements_of_part < n && cost + k * elements_of_part < end_cost; ++k) {
      i64 const leaf = k * leaves_per_tile;
      to.push_back({s, detail::fold_part_of_segment(p_, begin, n, leaf, leaves - leaf < leaves_per_tile ? leaves - leaf : leaves_per_tile)});
    }
  }
  /// The segments that begin in a run, and parts of giant ones. Plainly: element by element.
  template <bool Plainly>
  TALLY_INLINE void fold_run(i64 run) {
    i64 const begin_cost = cost_of(run), end_cost = cost_of(run + 1);
    i64 s = detail::segment_at_cost(at_, begin_cost);
    i64 const end = run + 1 == runs_ ? at_.segments() : detail::segment_at_cost(at_, end_cost);
    auto& parts = parts_[static_cast<std::size_t>(run)];
    if (s > 0 && is_giant(at_.end(s - 1) - at_.begin(s - 1)))
      fold_parts(s - 1, begin_cost, end_cost, parts);
    if (s >= end)
      return;
    detail::values_of_segments<Program> values;
    for (i64 begin = at_.begin(s); s < end; ++s) {
      i64 const next = at_.end(s), n = next - begin;
      if (is_giant(n)) {
        fold_parts(s, begin_cost, end_cost, parts);
      } else if (Program::leaf_count > 0 && n >= shape.elements()) {
        sink_(s, detail::fold_part_of_segment(p_, begin, n, 0, detail::leaves_of<Program>(n)), n);
      } else {
        States states = p_.identity();
        if constexpr (Plainly) {
          if (n > 0) detail::fold_plainly(p_, segment_rows<Program>{p_, begin}, n, 0, 1, states);
        } else if (n > 0) {
          for_each_index<Program::leaf_count>([&](auto i) TALLY_INLINE_LAMBDA {
            get<i>(states) = get<i>(values.of).template fold<shape>(p_, get<i>(p_.leaves), begin, int(n));
          });
        }
        sink_(s, states, n);
      }
      begin = next;
    }
  }
};

} // namespace tally::v0::cpu
