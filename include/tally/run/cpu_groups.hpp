// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups along axes on the CPU: rows of numbers, as they lie or computed, and columns as they lie (cpu_rows.hpp, cpu_columns.hpp);
// neighbouring groups of others side by side in strips (cpu_strips.hpp); long groups whose elements are neighbours in memory, or
// are made so, one after the other by the tile loop. Layer 5, host only.
// How many groups or leaves a core takes at once never changes a bit.
#pragma once

#include <optional>
#include <vector>

#include <tally/element/earlier.hpp>
#include <tally/fold/groups.hpp>
#include <tally/run/cpu_columns.hpp>
#include <tally/run/cpu_gather.hpp>
#include <tally/run/cpu_rows.hpp>
#include <tally/run/cpu_strip_walk.hpp>
#include <tally/run/needs_positions.hpp>

namespace tally::v0::cpu {

/// How many strips of neighbouring groups a core walks through together, so that a visit to a row takes a whole page of f32
/// and the nodes on the way to the roots stay in the second cache.
inline constexpr i64 most_strips = 64;
inline constexpr i64 least_strips = 4;
/// Leaves of a group that are copied at once.
inline constexpr i64 copied_leaves = 4;

/// Whether the cores share each of the groups that are folded in turn, tile by tile, for there are too few to deal.
constexpr bool shares_each_group(i64 groups, i64 leaves, int cores) { return groups < 4 * cores && leaves > leaves_per_tile; }

namespace detail {

/// Answers along a group, any number of elements apart, as a column of a program of its own.
template <class T>
struct answers_along {
  using value_type = T;
  static constexpr bool lowerable = true;
  static constexpr bool is_answer = true;
  T const* data;
  i64 step;
  TALLY_INLINE constexpr T at(i64 e) const { return data[e * step]; }
  constexpr answers_along from(i64 e) const { return {data + e * step, step}; }
};

/// Whether the elements of a group are neighbours in every column but those of answers, so that the tile loop can take them.
template <class... Columns, class... Leaves>
bool groups_lie_together(program<pack<Columns...>, Leaves...> const&, axes_layout const& at) {
  if (at.reduced_axes != 1 || at.reduced[0].position_step != 1) return false;
  bool together = true;
  int c = 0;
  ((together = together && (!memory_column<Columns> || answer_column<Columns> || at.reduced[0].steps[c] == 1), ++c), ...);
  return together;
}
/// A column from a place on.
template <class Column>
auto column_of_group(Column const& c, i64 offset, i64 step, i64 position) {
  if constexpr (answer_column<Column>)
    return answers_along<typename Column::value_type>{c.data + offset, step};
  else if constexpr (memory_column<Column>)
    return contiguous<typename Column::value_type>{c.data + offset};
  else
    return c.from(position);
}
/// Group g as a program of its own.
template <class... Columns, class... Leaves>
auto program_of_group(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at, i64 g) {
  constexpr int count = int(sizeof...(Columns));
  auto const origin = group_origin<count>(at, g);
  return [&]<int... I>(index_list<I...>) {
    auto const columns = make_pack(column_of_group(get<I>(p.columns), origin.offset[I], at.reduced[0].steps[I], origin.position)...);
    return program<std::remove_cvref_t<decltype(columns)>, Leaves...>{columns, at.extent, 0, p.leaves};
  }(indices_up_to<count>{});
}

/// The tree of neighbours over n states.
template <class Program, class StateAt>
typename Program::states root_of(Program const& p, i64 n, StateAt const& state_at) {
  using States = typename Program::states;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  neighbour_stack<States, 48> tree;
  for (i64 k = 0; k < n; ++k) tree.push(combine, state_at(k));
  return tree.root(combine);
}

/// Few long groups that lie apart: each is copied, piece by piece, to where it lies together, and folded by the tile loop.
template <class Program>
class copied_groups;
template <class... Columns, class... Leaves>
class copied_groups<program<pack<Columns...>, Leaves...>> {
public:
  using program_type = program<pack<Columns...>, Leaves...>;
  using states = typename program_type::states;
  static constexpr i64 leaf_elements = shape_of<program_type>.elements();

  copied_groups(program_type const& p, axes_layout const& at) : p_(p), at_(at) {}
  /// Folds leaves [leaf, leaf + count) of every group into out.
  void fold(i64 leaf, i64 count, states* out) const {
    auto const combine = [&](states const& a, states const& b) { return p_.combine(a, b); };
    std::vector<neighbour_stack<states, 8>> trees(static_cast<std::size_t>(at_.groups));
    pack<heap_array<typename Columns::value_type>...> room;
    for_each_column([&](auto i) {
      get<i>(room) = heap_array<typename nth_t<i, Columns...>::value_type>(static_cast<std::size_t>(copied_leaves * leaf_elements));
    });
    for (i64 k = leaf; k < leaf + count; k += copied_leaves) {
      i64 const leaves = leaf + count - k < copied_leaves ? leaf + count - k : copied_leaves;
      i64 const left = at_.extent - k * leaf_elements;
      for (i64 g = 0; g < at_.groups; ++g) {
        program_type own = p_;
        own.extent = left < leaves * leaf_elements ? left : leaves * leaf_elements;
        own.first = 0;
        copy(k * leaf_elements, own.extent, group_origin<count_of_columns>(at_, g), room);
        for_each_column([&](auto i) { get<i>(own.columns).data = get<i>(room).data(); });
        // argmin and its like count from the first element of the group
        trees[static_cast<std::size_t>(g)].push(combine, fold_subtree(shifted(own, k * leaf_elements), 0, leaves));
      }
    }
    for (i64 g = 0; g < at_.groups; ++g) out[g] = trees[static_cast<std::size_t>(g)].root(combine);
  }

private:
  static constexpr int count_of_columns = int(sizeof...(Columns));
  program_type const& p_;
  axes_layout const& at_;

  /// Those that are read.
  template <class F>
  static void for_each_column(F const& f) {
    for_each_index<count_of_columns>([&](auto i) {
      if constexpr (!is_unread<nth_t<i, Columns...>>) f(i);
    });
  }
  /// The position of element 0 is `by`.
  static program_type shifted(program_type own, i64 by) {
    own.first = by;
    return own;
  }
  template <class Room>
  void copy(i64 first, i64 n, grid_place<count_of_columns> const& origin, Room const& room) const {
    for_each_column([&](auto i) {
      gather_along(get<i>(p_.columns).data + origin.offset[i], at_.reduced_axes, [&](int k) { return at_.reduced[k].extent; }, [&](int k) { return at_.reduced[k].steps[i]; }, first, n,
                   get<i>(room).data());
    });
  }
};
template <class Program>
inline constexpr bool can_be_copied = false;
template <class... Columns, class... Leaves>
inline constexpr bool can_be_copied<program<pack<Columns...>, Leaves...>> =
    !needs_positions<program<pack<Columns...>, Leaves...>> &&
    (true && ... && (is_unread<Columns> || (is_contiguous<Columns> && std::is_default_constructible_v<typename Columns::value_type>)));

template <class Program, class Emit>
void fold_few_groups(Program const& p, axes_layout const& at, int threads, Emit const& emit) {
  using States = typename Program::states;
  copied_groups<Program> const groups(p, at);
  i64 const leaves = (at.extent - 1) / groups.leaf_elements + 1, tiles = (leaves - 1) / leaves_per_tile + 1;
  std::vector<States> of_tile(static_cast<std::size_t>(tiles * at.groups), p.identity());
  spread_over_cores(tiles, threads, [&](i64 t) {
    i64 const first = t * leaves_per_tile;
    groups.fold(first, leaves - first < leaves_per_tile ? leaves - first : leaves_per_tile, of_tile.data() + t * at.groups);
  });
  for (i64 g = 0; g < at.groups; ++g) {
    auto const s = root_of(p, tiles, [&](i64 t) { return of_tile[static_cast<std::size_t>(t * at.groups + g)]; });
    emit(g, i64(1), &s);
  }
}
/// Groups [first, end), at most leaves_per_tile of them, which lie together, one after the other.
template <class Program, class Emit>
void fold_some_in_turn(Program const& p, axes_layout const& at, i64 first, i64 end, Emit const& emit) {
  i64 const leaves = (at.extent - 1) / shape_of<Program>.elements() + 1;
  typename Program::states s[leaves_per_tile];
  for (i64 g = first; g < end; ++g) s[g - first] = fold_subtree(program_of_group(p, at, g), 0, leaves);
  emit(first, end - first, s);
}
/// Long groups that lie together: several of them, or parts of one, for every core.
template <class Program, class Emit>
void fold_in_turn(Program const& p, axes_layout const& at, int threads, Emit const& emit) {
  i64 const elements = shape_of<Program>.elements(), leaves = (at.extent - 1) / elements + 1;
  int const cores = threads > 0 ? threads : core_count();
  if (shares_each_group(at.groups, leaves, cores)) {
    for (i64 g = 0; g < at.groups; ++g) {
      auto const s = cpu::fold(program_of_group(p, at, g), threads);
      emit(g, i64(1), &s);
    }
    return;
  }
  i64 const fair = at.groups / (4 * cores), room = leaves_per_tile / leaves, most = room < 1 ? 1 : room;
  i64 const in_task = fair < 1 ? 1 : fair < most ? fair : most, tasks = (at.groups - 1) / in_task + 1;
  spread_over_cores(tasks, threads, [&](i64 task) {
    fold_some_in_turn(p, at, task * in_task, at.groups < (task + 1) * in_task ? at.groups : (task + 1) * in_task, emit);
  });
}

/// The rows of a group.
template <class Program>
struct rows_of_axes;
template <class... Columns, class... Leaves>
struct rows_of_axes<program<pack<Columns...>, Leaves...>> {
  pack<Columns...> const& columns;
  axes_layout const& at;
  grid_place<int(sizeof...(Columns))> origin;
  auto row_at(i64 e) const {
    auto here = origin;
    move_along(here, at.reduced, at.reduced_axes, e);
    return row_at_place(columns, here, e);
  }
};
/// Groups one by one, element by element.
template <class... Columns, class... Leaves, class Emit>
void fold_groups_plainly(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at, i64 leaves, int threads, Emit const& emit) {
  spread_over_cores(at.groups, threads, [&](i64 g) {
    auto s = p.identity();
    rows_of_axes<program<pack<Columns...>, Leaves...>> const rows{p.columns, at, group_origin<int(sizeof...(Columns))>(at, g)};
    fold_plainly(p, rows, at.extent, 0, leaves, s);
    emit(g, i64(1), &s);
  });
}

/// Strips in blocks of as many as a core walks through together.
template <class Program>
class blocks_of_strips {
public:
  struct states {
    heap_array<typename Program::states> of;
    typename Program::states const& operator[](i64 k) const { return of[static_cast<std::size_t>(k)]; }
  };
  blocks_of_strips(strip_walk<Program> const& walk, axes_layout const& at, i64 leaves, int cores) : walk_(walk), groups_(at.groups) {
    i64 const fair = walk.strips() * leaves / (4 * cores);
    per_block_ = fair < least_strips ? least_strips : fair < most_strips ? fair : most_strips;
  }
  i64 blocks() const { return (walk_.strips() - 1) / per_block_ + 1; }
  i64 first_of(i64 block) const { return walk_.first_group(block * per_block_); }
  i64 groups_in(i64 block) const { return (block + 1 == blocks() ? groups_ : first_of(block + 1)) - first_of(block); }
  states fold(i64 block, i64 leaf, i64 count) const {
    states out{heap_array<typename Program::states>(static_cast<std::size_t>(groups_in(block)))};
    i64 const strip = block * per_block_, left = walk_.strips() - strip;
    with_registers([&]() TALLY_INLINE_LAMBDA { walk_.fold(strip, int(left < per_block_ ? left : per_block_), leaf, count, out.of.data()); });
    return out;
  }

private:
  strip_walk<Program> const& walk_;
  i64 groups_, per_block_;
};

/// Emits the states of all groups, given those of every block over each of the chunks that its trees were cut in: chunk c of block b is number
/// b * chunks + c.
template <class Program, class Walk, class Emit>
void emit_roots(Program const& p, Walk const& walk, i64 chunks, std::vector<std::optional<typename Walk::states>> const& of, int threads, Emit const& emit) {
  spread_over_cores(walk.blocks(), threads, [&](i64 block) {
    auto const part = [&](i64 chunk) -> auto& { return *of[static_cast<std::size_t>(block * chunks + chunk)]; };
    if (chunks == 1) return emit(walk.first_of(block), walk.groups_in(block), part(0));
    for (i64 g = 0; g < walk.groups_in(block); ++g) {
      auto const s = root_of(p, chunks, [&](i64 chunk) { return part(chunk)[g]; });
      emit(walk.first_of(block) + g, i64(1), &s);
    }
  });
}
/// Blocks of groups, and subtrees of their leaves where there are few blocks, spread over the cores.
template <class Program, class Walk, class Emit>
void fold_blocks(Program const& p, Walk const& walk, i64 leaves, int cores, int threads, Emit const& emit) {
  i64 const blocks = walk.blocks();
  i64 chunk = leaves; // a power of two of them is a subtree, which another core may fold
  if (blocks < 4 * cores && leaves > 1)
    for (chunk = 1; chunk * cores * 4 < leaves * blocks; chunk *= 2) {}
  constexpr i64 counted = elements_counted_in_lanes / shape_of<Program>.elements();
  if (chunk > leaves) chunk = leaves;
  if (chunk > counted) chunk = counted;
  i64 const chunks = (leaves - 1) / chunk + 1;
  std::vector<std::optional<typename Walk::states>> partial(static_cast<std::size_t>(chunks > 1 ? blocks * chunks : 0));
  spread_over_cores(blocks * chunks, threads, [&](i64 task) {
    i64 const block = task / chunks, leaf = task % chunks * chunk;
    auto own = walk.fold(block, leaf, leaves - leaf < chunk ? leaves - leaf : chunk);
    if (chunks == 1)
      emit(walk.first_of(block), walk.groups_in(block), own);
    else
      partial[static_cast<std::size_t>(task)].emplace(std::move(own));
  });
  if (chunks > 1) emit_roots(p, walk, chunks, partial, threads, emit);
}

/// What the planner knows of the groups of a program.
template <class... Columns, class... Leaves>
host_axes_facts host_axes_of(program<pack<Columns...>, Leaves...> const& p, axes_layout const& at) {
  using Program = program<pack<Columns...>, Leaves...>;
  host_axes_facts f{};
  f.groups = at.groups;
  f.extent = at.extent;
  f.has_registers = has_registers();
  if constexpr (folds_in_rows<Program>) f.in_rows = are_rows(p, at);
  if constexpr (all_in_place<Program>) f.in_columns = column_walk<Program>::can(at);
  f.looks_at_positions = needs_positions<Program>;
  f.elements_together = groups_lie_together(p, at);
  f.can_be_copied = can_be_copied<Program>;
  f.lie = lie_of_strips(static_cast<pack<Columns...> const*>(nullptr), at);
  return f;
}
} // namespace detail

/// Folds every group, of which there is at least one with at least one element; emit(g, n, states) takes the states of groups
/// g, ..., g + n - 1 once, from whichever core has them, as states[0], ..., states[n - 1].
template <class Program, class Emit>
void fold_groups(Program const& p, axes_layout const& at, int threads, Emit const& emit) {
  constexpr leaf_shape shape = shape_of<Program>;
  i64 const leaves = (at.extent - 1) / shape.elements() + 1;
  int const cores = threads > 0 ? threads : core_count();
  host_axes_route const route = choose_host_route(detail::host_axes_of(p, at));
  if constexpr (detail::folds_in_rows<Program>)
    if (route == host_axes_route::rows) return detail::fold_rows(p, at, threads, emit);
  if constexpr (detail::all_in_place<Program>)
    if (route == host_axes_route::columns)
      return detail::fold_blocks(p, detail::column_walk<Program>(p, at, leaves, cores), leaves, cores, threads, emit);
  if constexpr (!detail::needs_positions<Program>)
    if (route == host_axes_route::in_turn) return detail::fold_in_turn(p, at, threads, emit);
  if constexpr (!detail::registers_are_certain)
    if (route == host_axes_route::element_by_element) return detail::fold_groups_plainly(p, at, leaves, threads, emit);
  if constexpr (detail::can_be_copied<Program>)
    if (route == host_axes_route::copied) return detail::fold_few_groups(p, at, threads, emit);
  detail::strip_walk<Program> const walk(p, at);
  detail::fold_blocks(p, detail::blocks_of_strips<Program>(walk, at, leaves, cores), leaves, cores, threads, emit);
}

} // namespace tally::v0::cpu
