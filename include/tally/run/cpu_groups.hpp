// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups along axes on the CPU: neighbouring groups are folded side by side, one a vector lane, each along its own canonical
// tree; long groups whose elements are neighbours in memory are folded one after the other by the tile loop. Layer 5, host
// only. How many groups or leaves a core takes at once never changes a bit.
#pragma once

#include <vector>

#include <tally/fold/groups.hpp>
#include <tally/run/cpu_fold.hpp>

namespace tally::inline v0::cpu {

/// Groups that are folded side by side, and how many such strips a core walks through together, so that a visit to a row takes
/// whole pages' worth of neighbours and the running states stay in the second cache.
inline constexpr int groups_in_strip = 16;
inline constexpr int most_strips = 16;
/// Elements from which a group that lies together in memory is folded by the tile loop.
inline constexpr i64 long_group = 1024;

namespace detail {

/// Whether an expression looks at the position of its row.
template <class E>
inline constexpr bool mentions_position = false;
template <>
inline constexpr bool mentions_position<position> = true;
template <template <class...> class Node, class... Parts>
inline constexpr bool mentions_position<Node<Parts...>> = (false || ... || mentions_position<Parts>);

/// The states of the W groups of a strip.
template <class State, int W>
struct strip_states {
  State of[W];
};
template <int W, class M>
struct strip_combine {
  M const& m;
  using states = strip_states<typename M::state, W>;
  TALLY_INLINE states operator()(states const& a, states const& b) const {
    states s;
    for (int j = 0; j < W; ++j)
      s.of[j] = m.combine(a.of[j], b.of[j]);
    return s;
  }
};

/// One leaf (bound monoid) over strips of W groups.
template <leaf_shape Shape, int W, class Leaf>
class strip_folder {
public:
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  using states = strip_states<state, W>;
  static constexpr int lane_count = Shape.lanes();
  static constexpr bool by_row = !monoid_type::law.commutative;

  strip_folder(Leaf const& leaf, int strips)
      : leaf_(leaf), trees_(static_cast<std::size_t>(strips)) {}

  /// Before a leaf of n elements.
  void begin_leaf(i64 n) {
    several_rows_ = !by_row && n > lane_count;
    if (several_rows_) {
      auto const needed = trees_.size() * std::size_t(lane_count);
      running_.assign(needed, lanes_t<monoid_type, W>(leaf_.monoid));
    }
    for (auto& t : trees_) t.lanes.depth = t.rows.depth = 0, t.lanes.pushed = t.rows.pushed = 0;
  }
  /// Feeds element e of a leaf of every group of a strip; row_of(j) gives the row of group j.
  template <class RowOf>
  TALLY_INLINE void feed(int strip, int e, RowOf const& row_of) {
    if (several_rows_) {
      step(running_[std::size_t(strip) * lane_count + std::size_t(e % lane_count)], row_of);
    } else {
      lanes_t<monoid_type, W> fresh(leaf_.monoid);
      step(fresh, row_of);
      push(trees_[std::size_t(strip)].lanes, close(fresh));
      if constexpr (by_row)
        if (e % lane_count == lane_count - 1) end_row(strip);
    }
  }
  /// After the last element.
  void end_leaf() {
    for (std::size_t s = 0; s < trees_.size(); ++s) {
      auto& t = trees_[s];
      if (several_rows_)
        for (int l = 0; l < lane_count; ++l) push(t.lanes, close(running_[s * lane_count + std::size_t(l)]));
      if constexpr (by_row) {
        if (t.lanes.pushed > 0) end_row(int(s));
        push(t.leaves, t.rows.root(combine()));
      } else {
        push(t.leaves, t.lanes.root(combine()));
      }
    }
  }
  /// The states of a strip over all leaves, of which there was at least one.
  states result(int strip) { return trees_[std::size_t(strip)].leaves.root(combine()); }

private:
  struct trees {
    neighbour_stack<states, 10> lanes;
    neighbour_stack<states, by_row ? 5 : 1> rows;
    neighbour_stack<states, 48> leaves;
  };
  Leaf const& leaf_;
  std::vector<trees> trees_;
  std::vector<lanes_t<monoid_type, W>> running_;
  bool several_rows_ = false;

  strip_combine<W, monoid_type> combine() const { return {leaf_.monoid}; }
  template <class Stack>
  TALLY_INLINE void push(Stack& stack, states const& s) {
    stack.push(combine(), s);
  }
  void end_row(int strip) {
    auto& t = trees_[std::size_t(strip)];
    push(t.rows, t.lanes.root(combine()));
    t.lanes.pushed = 0;
  }
  TALLY_INLINE states close(lanes_t<monoid_type, W> const& running) const {
    states s;
    for (int j = 0; j < W; ++j) s.of[j] = running.close(leaf_.monoid, j);
    return s;
  }
  template <class V>
  struct values_of_strip {
    V of[W];
  };
  template <class RowOf>
  TALLY_INLINE void step(lanes_t<monoid_type, W>& running, RowOf const& row_of) const {
    [&]<class... Es>(pack<Es...> const& values) __attribute__((always_inline)) {
      if constexpr (Leaf::lowerable && (true && ... && fits_a_buffer<decltype(std::declval<Es const&>().eval(row_of(0)))>))
        step_together(running, row_of, values);
      else
        for (int j = 0; j < W; ++j) // host functions are called for what passes the mask, and for nothing else
          if (auto const r = row_of(j); leaf_.mask.eval(r)) leaf_.step(running, j, true, r);
    }
    (leaf_.values);
  }
  /// Values are computed for all groups first, so that the compiler knows that states do not overlap what is read.
  template <class RowOf, class... Es>
  TALLY_INLINE void step_together(lanes_t<monoid_type, W>& running, RowOf const& row_of, pack<Es...> const& values) const {
    pack<values_of_strip<decltype(std::declval<Es const&>().eval(row_of(0)))>...> v;
    [[maybe_unused]] bool on[W];
    for_each_index<int(sizeof...(Es))>([&](auto i) __attribute__((always_inline)) {
      for (int j = 0; j < W; ++j) get<i>(v).of[j] = get<i>(values).eval(row_of(j));
    });
    if constexpr (Leaf::masked)
      for (int j = 0; j < W; ++j) on[j] = leaf_.mask.eval(row_of(j));
    i64 const element = row_of(0).element;
    unpack(
        [&](auto const&... x) __attribute__((always_inline)) {
          for (int j = 0; j < W; ++j)
            if constexpr (Leaf::masked)
              running.step(leaf_.monoid, j, on[j], element, x.of[j]...);
            else
              running.step(leaf_.monoid, j, true, element, x.of[j]...);
        },
        v);
  }
};

/// What a core walks through at once: strips of one program, from a leaf on.
template <class Program>
class strip_walk;
template <class... Columns, class... Leaves>
class strip_walk<program<pack<Columns...>, Leaves...>> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  using states = typename program_type::states;
  static constexpr int column_count = int(sizeof...(Columns));
  static constexpr int width = groups_in_strip;
  static constexpr leaf_shape shape = shape_of<program_type>;

  strip_walk(program_type const& p, axes_layout const& at) : p_(p), at_(at) {
    bool beside = at.kept_axes > 0;
    if (beside) {
      int c = 0;
      ((beside = beside && (!memory_column<Columns> || at.kept[at.kept_axes - 1].steps[c] == 1), ++c), ...);
    }
    adjacent_ = beside;
    row_groups_ = at.kept_axes > 0 ? at.kept[at.kept_axes - 1].extent : 1;
    strips_in_row_ = (row_groups_ - 1) / width + 1;
  }
  i64 strips() const { return at_.groups / row_groups_ * strips_in_row_; }
  i64 first_group(i64 strip) const { return strip / strips_in_row_ * row_groups_ + strip % strips_in_row_ * width; }
  int groups_of(i64 strip) const {
    i64 const left = row_groups_ - strip % strips_in_row_ * width;
    return left < width ? int(left) : width;
  }

  /// Folds leaves [leaf, leaf + leaf_count) of strips [strip, strip + strip_count); out[k] receives the states of group k, counted from
  /// the first group of the first strip.
  TALLY_INLINE void fold(i64 strip, int strip_count, i64 leaf, i64 leaf_count, states* out) const {
    std::vector<grid_place<column_count>> origins(std::size_t(strip_count) * width);
    for (int s = 0; s < strip_count; ++s)
      for (int j = 0; j < width; ++j) {
        int const last = groups_of(strip + s) - 1;
        origins[std::size_t(s * width + j)] = group_origin<column_count>(at_, first_group(strip + s) + (j < last ? j : last));
      }
    pack<strip_folder<shape, width, Leaves>...> folders =
        unpack([&](auto const&... l) { return make_pack(strip_folder<shape, width, std::remove_cvref_t<decltype(l)>>(l, strip_count)...); },
               p_.leaves);
    walker w(at_, leaf * shape.elements());
    for (i64 k = leaf; k < leaf + leaf_count; ++k) {
      i64 const left = at_.extent - k * shape.elements();
      int const n = left < shape.elements() ? int(left) : shape.elements();
      for_each_index<int(sizeof...(Leaves))>([&](auto i) { get<i>(folders).begin_leaf(n); });
      for (int e = 0; e < n; ++e, w.advance())
        for (int s = 0; s < strip_count; ++s)
          feed(folders, s, e, w, origins.data() + s * width, adjacent_ && groups_of(strip + s) == width);
      for_each_index<int(sizeof...(Leaves))>([&](auto i) { get<i>(folders).end_leaf(); });
    }
    i64 const begin = first_group(strip);
    for (int s = 0; s < strip_count; ++s)
      for_each_index<int(sizeof...(Leaves))>([&](auto i) {
        auto const of = get<i>(folders).result(s);
        for (int j = 0; j < groups_of(strip + s); ++j) get<i>(out[first_group(strip + s) - begin + j]) = of.of[j];
      });
  }

private:
  program_type const& p_;
  axes_layout const& at_;
  bool adjacent_;
  i64 row_groups_, strips_in_row_;

  /// Walks along the reduced axes, element after element.
  struct walker {
    axes_layout const& at;
    i64 element;
    grid_place<column_count> place{};
    i64 index[max_axes]{};
    walker(axes_layout const& layout, i64 first) : at(layout), element(first) {
      move_along(place, at.reduced, at.reduced_axes, first);
      i64 left = first;
      for (int k = at.reduced_axes - 1; k >= 0; --k) {
        index[k] = left % at.reduced[k].extent;
        left /= at.reduced[k].extent;
      }
    }
    TALLY_INLINE void advance() {
      ++element;
      for (int k = at.reduced_axes - 1; k >= 0; --k) {
        place.move(at.reduced[k], 1);
        if (++index[k] < at.reduced[k].extent) return;
        place.move(at.reduced[k], -index[k]);
        index[k] = 0;
      }
    }
  };

  template <class Folders>
  TALLY_INLINE void feed(Folders& folders, int s, int e, walker const& w, grid_place<column_count> const* origins, bool beside) const {
    if (beside) {
      grid_place<column_count> base = origins[0];
      add(base, w.place);
      i64 const position_step = at_.kept[at_.kept_axes - 1].position_step;
      auto const row_of = [&](int j) __attribute__((always_inline)) {
        grid_place<column_count> here = base;
        here.position += j * position_step;
        for (i64& o : here.offset) o += j;
        return row_at_place(p_.columns, here, w.element);
      };
      for_each_index<int(sizeof...(Leaves))>([&](auto i) __attribute__((always_inline)) { get<i>(folders).feed(s, e, row_of); });
    } else {
      auto const row_of = [&](int j) __attribute__((always_inline)) {
        grid_place<column_count> here = origins[j];
        add(here, w.place);
        return row_at_place(p_.columns, here, w.element);
      };
      for_each_index<int(sizeof...(Leaves))>([&](auto i) __attribute__((always_inline)) { get<i>(folders).feed(s, e, row_of); });
    }
  }
  TALLY_INLINE static void add(grid_place<column_count>& to, grid_place<column_count> const& by) {
    to.position += by.position;
    for (int c = 0; c < column_count; ++c) to.offset[c] += by.offset[c];
  }
};

#if defined(__x86_64__) && !defined(__AVX2__)
/// The same for the wider registers that nearly every x86 has.
template <class Walk>
[[gnu::target("avx2"), gnu::noinline]] void fold_strips_avx2(Walk const& w, i64 strip, int strips, i64 leaf, i64 leaves,
                                                             typename Walk::states* out) {
  w.fold(strip, strips, leaf, leaves, out);
}
#endif
template <class Walk>
[[gnu::noinline]] void fold_strips(Walk const& w, i64 strip, int strips, i64 leaf, i64 leaves, typename Walk::states* out) {
#if defined(__x86_64__) && !defined(__AVX2__)
  if (__builtin_cpu_supports("avx2")) return fold_strips_avx2(w, strip, strips, leaf, leaves, out);
#endif
  w.fold(strip, strips, leaf, leaves, out);
}

/// Calls body(i) for every i below n, spread over the cores.
template <class Body>
void spread_over_cores(i64 n, int threads, Body const& body) {
  if (n == 1) return body(i64(0));
  cpu::for_each_tile(
      n, [](void* c, i64 i) { (*static_cast<Body const*>(c))(i); }, const_cast<void*>(static_cast<void const*>(&body)), threads);
}

/// Whether the elements of a group are neighbours in every column, so that the tile loop can take them.
template <class... Columns, class... Leaves>
bool groups_lie_together(program<pack<Columns...>, Leaves...> const&, axes_layout const& at) {
  if (at.reduced_axes != 1 || at.reduced[0].position_step != 1) return false;
  bool together = true;
  int c = 0;
  ((together = together && (!memory_column<Columns> || at.reduced[0].steps[c] == 1), ++c), ...);
  return together;
}
template <class Leaf>
inline constexpr bool leaf_mentions_position = mentions_position<decltype(Leaf::values)> || mentions_position<decltype(Leaf::mask)>;
template <class Program>
inline constexpr bool needs_positions = false;
template <class Columns, class... Leaves>
inline constexpr bool needs_positions<program<Columns, Leaves...>> = (false || ... || leaf_mentions_position<Leaves>);

/// Group g as a program of its own.
template <class... Columns, class... Leaves>
auto program_of_group(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at, i64 g) {
  constexpr int count = int(sizeof...(Columns));
  auto const origin = group_origin<count>(at, g);
  auto own = p;
  for_each_index<count>([&](auto i) {
    auto& c = get<i>(own.columns);
    if constexpr (memory_column<std::remove_cvref_t<decltype(c)>>)
      c.data += origin.offset[i];
    else
      c = c.from(origin.position);
  });
  own.extent = at.extent;
  own.first = 0;
  return own;
}
} // namespace detail

/// The states of every group; out has room for at.groups. Every group has at least one element.
template <class Program>
void fold_groups(Program const& p, axes_layout const& at, int threads, typename Program::states* out) {
  using States = typename Program::states;
  constexpr leaf_shape shape = shape_of<Program>;
  i64 const leaves = (at.extent - 1) / shape.elements() + 1;
  int const cores = threads > 0 ? threads : core_count();
  if constexpr (!detail::needs_positions<Program>)
    if (at.extent >= long_group && detail::groups_lie_together(p, at)) {
      if (at.groups >= 4 * cores || leaves <= leaves_per_tile)
        return detail::spread_over_cores(at.groups, threads, [&](i64 g) { out[g] = fold_subtree(detail::program_of_group(p, at, g), 0, leaves); });
      for (i64 g = 0; g < at.groups; ++g) out[g] = cpu::fold(detail::program_of_group(p, at, g), threads);
      return;
    }
  detail::strip_walk<Program> const walk(p, at);
  i64 const strips = walk.strips();
  i64 const blocks = (strips - 1) / most_strips + 1;
  i64 chunk = leaves; // a power of two of them is a subtree, which another core may fold
  if (blocks < 4 * cores && leaves > 1)
    for (chunk = 1; chunk * cores * 4 < leaves * blocks; chunk *= 2) {}
  if (chunk > leaves) chunk = leaves;
  i64 const chunks = (leaves - 1) / chunk + 1;
  std::vector<std::vector<States>> partial(static_cast<std::size_t>(chunks > 1 ? blocks * chunks : 0));
  auto const first_of = [&](i64 block) { return walk.first_group(block * most_strips); };
  auto const end_of = [&](i64 block) { return block + 1 == blocks ? at.groups : first_of(block + 1); };
  detail::spread_over_cores(blocks * chunks, threads, [&](i64 task) {
    i64 const block = task / chunks, part = task % chunks;
    i64 const strip = block * most_strips;
    int const count_of_strips = int(strips - strip < most_strips ? strips - strip : most_strips);
    States* to = out + first_of(block);
    if (chunks > 1) {
      partial[std::size_t(task)].resize(std::size_t(end_of(block) - first_of(block)), p.identity());
      to = partial[std::size_t(task)].data();
    }
    i64 const leaf = part * chunk;
    detail::fold_strips(walk, strip, count_of_strips, leaf, leaves - leaf < chunk ? leaves - leaf : chunk, to);
  });
  if (chunks == 1) return;
  for (i64 block = 0; block < blocks; ++block)
    for (i64 g = first_of(block); g < end_of(block); ++g) {
      neighbour_stack<States, 48> tree;
      for (i64 part = 0; part < chunks; ++part)
        tree.push([&](States const& a, States const& b) { return p.combine(a, b); },
                  partial[std::size_t(block * chunks + part)][std::size_t(g - first_of(block))]);
      out[g] = tree.root([&](States const& a, States const& b) { return p.combine(a, b); });
    }
}

} // namespace tally::inline v0::cpu
