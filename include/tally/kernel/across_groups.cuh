// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "across groups": neighbouring threads fold neighbouring groups, each along its canonical tree. Layer 4. A thread
// walks lane after lane of a leaf, so only the closed lanes of one path of the tree are kept; threads of a warp that hold the
// same groups share the lanes as neighbours, warps of a block share them as subtrees, blocks share the leaves. This is the
// route of column sums, of middle axes and of every stride that no other route takes.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/groups.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/load.cuh>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/axes_plan.hpp>

namespace tally::inline v0::kernel {

/// Values of one column: Count elements of each of V neighbouring groups.
template <axes_plan P, int I, class Column, int Count, int V>
struct strip_values {
  using T = typename Column::value_type;
  alignas(16) unsigned char bytes[memory_column<Column> ? Count : 1][memory_column<Column> ? V * sizeof(T) : 1];

  __device__ __forceinline__ void load(Column const& c, grid_place<1> const& at, int k, i64 step) {
    if constexpr (memory_column<Column>) {
      if constexpr (P.bytes_per_load[I] > int(sizeof(T))) {
#pragma unroll
        for (int b = 0; b < int(V * sizeof(T)); b += P.bytes_per_load[I])
          load_streaming<P.bytes_per_load[I]>(bytes[k] + b, reinterpret_cast<unsigned char const*>(c.data + at.offset[0]) + b);
      } else {
#pragma unroll
        for (int v = 0; v < V; ++v) {
          T const one = c.data[at.offset[0] + v * step];
          memcpy(bytes[k] + v * sizeof(T), &one, sizeof(T));
        }
      }
    }
  }
  __device__ __forceinline__ T at(Column const& c, int k, int v, i64 position) const {
    if constexpr (memory_column<Column>) {
      T one;
      memcpy(&one, bytes[k] + v * sizeof(T), sizeof(T));
      return one;
    } else {
      return c.at(position);
    }
  }
};

/// The values of all columns.
template <axes_plan P, int I, int Count, int V, class... Columns>
struct strip_rows;
template <axes_plan P, int I, int Count, int V>
struct strip_rows<P, I, Count, V> {
  template <class Origin>
  __device__ __forceinline__ void load(pack<> const&, Origin const&, int, grid_axis const&) {}
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<> const&, int, int, i64 position, i64 element, Ts... values) const {
    return group_row<Ts...>{make_pack(values...), position, element};
  }
};
template <axes_plan P, int I, int Count, int V, class Column, class... Columns>
struct strip_rows<P, I, Count, V, Column, Columns...> {
  strip_values<P, I, Column, Count, V> here;
  strip_rows<P, I + 1, Count, V, Columns...> rest;
  template <class Place>
  __device__ __forceinline__ void load(pack<Column, Columns...> const& c, Place const& at, int k, grid_axis const& kept) {
    here.load(c.first, {at.position, {at.offset[I]}}, k, kept.steps[I]);
    rest.load(c.rest, at, k, kept);
  }
  template <class... Ts>
  __device__ __forceinline__ auto row_at(pack<Column, Columns...> const& c, int k, int v, i64 position, i64 element, Ts... values) const {
    return rest.row_at(c.rest, k, v, position, element, values..., here.at(c.first, k, v, position));
  }
};

/// The states of V neighbouring groups.
template <class State, int V>
struct states_beside {
  State of[V];
};
template <class M, int V>
struct combine_beside {
  M const& m;
  using states = states_beside<typename M::state, V>;
  __device__ __forceinline__ states operator()(states const& a, states const& b) const {
    states s;
#pragma unroll
    for (int v = 0; v < V; ++v)
      s.of[v] = m.combine(a.of[v], b.of[v]);
    return s;
  }
  __device__ __forceinline__ states operator()(states const& a, states const& b, int) const { return (*this)(a, b); }
};

/// What a thread of a strip knows: where its groups begin and which lanes of a leaf are its own.
template <axes_plan P, class Program>
struct strip_thread {
  static constexpr int columns = decltype(Program::columns)::size;
  static constexpr int group_count = P.groups_per_thread;
  static constexpr int lanes_of_thread = P.lanes_in_leaf / (P.warps_per_block * P.threads_along());
  static constexpr leaf_shape shape = shape_of<Program>;
  int x, y, warp;
  i64 group; ///< the first of this thread's groups
  int present; ///< how many of them exist
  grid_place<columns> origin;

  __device__ __forceinline__ strip_thread(axes_layout const& at, axes_cut const& cut, i64 strip) {
    int const lane = int(threadIdx.x % 32);
    x = lane % P.threads_across;
    y = lane / P.threads_across;
    warp = int(threadIdx.x / 32);
    i64 const row = strip / cut.strips_per_row;
    i64 const first = (strip - row * cut.strips_per_row) * P.groups_per_strip() + x * P.groups_per_thread;
    i64 const left = cut.row_groups - first;
    present = left < 0 ? 0 : left < group_count ? int(left) : group_count;
    group = row * cut.row_groups + first;
    if constexpr (P.one_kept_axis) {
      origin = {};
      if (at.kept_axes > 0)
        origin.move(at.kept[0], group);
    } else {
      origin = group_origin<columns>(at, group);
    }
  }
  /// Lane number i of this thread.
  __device__ __forceinline__ int lane(int i) const {
    return (warp * lanes_of_thread + i) * P.threads_along() + y;
  }
  __device__ __forceinline__ grid_place<columns> place_of(axes_layout const& at, i64 e) const {
    auto here = origin;
    if constexpr (P.one_reduced_axis) {
      if (at.reduced_axes > 0)
        here.move(at.reduced[0], e);
    } else {
      move_along(here, at.reduced, at.reduced_axes, e);
    }
    return here;
  }
};

/// One fold over the lanes of a thread, and over the threads that share its groups.
template <axes_plan P, class Program, class Leaf>
struct strip_fold {
  using M = typename Leaf::monoid_type;
  using thread = strip_thread<P, Program>;
  static constexpr int V = P.groups_per_thread;
  static constexpr bool by_row = !M::law.commutative;
  using states = states_beside<typename Leaf::state, V>;
  level_stack<states, levels_of(thread::lanes_of_thread)> stack;
  states root; ///< of the lanes so far, once all are pushed
  states of_row[by_row ? P.rows_in_leaf : 1];

  /// Lane i, whose Rows elements begin at row r0: step(v, lanes) feeds them.
  template <class Step>
  __device__ __forceinline__ void add_lane(Leaf const& l, int i, Step const& step) {
    lanes_t<M, V> running(l.monoid);
    step(running);
    states s;
#pragma unroll
    for (int v = 0; v < V; ++v)
      s.of[v] = running.close(l.monoid, v);
    combine_beside<M, V> const combine{l.monoid};
#pragma unroll
    for (int h = P.threads_across; h < 32; h *= 2)
      s = combine(s, shuffled_down(s, h));
    root = stack.push(combine, i, s);
  }
  __device__ __forceinline__ void end_row(int r) { of_row[r] = root; }
  __device__ __forceinline__ states leaf(Leaf const& l) {
    if constexpr (by_row)
      return combine_in_registers(combine_beside<M, V>{l.monoid}, of_row);
    else
      return root;
  }
};

template <axes_plan P, class Program, class... Leaves>
using strip_folds = pack<strip_fold<P, Program, Leaves>...>;

template <class... Leaves>
constexpr bool any_by_row(pack<Leaves...> const*) {
  return (false || ... || !Leaves::monoid_type::law.commutative);
}

/// Feeds rows [First, First + Rows) of one leaf, `left` elements of which exist, to the folds that walk so.
template <axes_plan P, bool ByRow, int Rows, class Columns, class... Leaves, class Folds>
__device__ __forceinline__ void feed_rows(program<Columns, Leaves...> const& p, axes_layout const& at,
                                         strip_thread<P, program<Columns, Leaves...>> const& t, i64 leaf_start, i64 left, int row,
                                         Folds& folds) {
  using thread = strip_thread<P, program<Columns, Leaves...>>;
  constexpr int lanes = thread::shape.lanes(), V = P.groups_per_thread;
  constexpr int wanted = 8 / Rows < 1 ? 1 : 8 / Rows;
  constexpr int together = wanted < thread::lanes_of_thread ? wanted : thread::lanes_of_thread;
  grid_axis const& kept = at.kept[at.kept_axes > 0 ? at.kept_axes - 1 : 0];
#pragma unroll 1
  for (int i = 0; i < thread::lanes_of_thread; i += together) {
    auto rows = [&]<class... Cs>(pack<Cs...> const&) { return strip_rows<P, 0, together * Rows, V, Cs...>{}; }(p.columns);
#pragma unroll
    for (int b = 0; b < together; ++b)
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        int const e = (row + r) * lanes + t.lane(i + b);
        if (e < left && t.present > 0)
          rows.load(p.columns, t.place_of(at, leaf_start + e), b * Rows + r, kept);
      }
#pragma unroll
    for (int b = 0; b < together; ++b)
      for_each_index<int(sizeof...(Leaves))>([&](auto k) {
        auto const& l = get<k>(p.leaves);
        if constexpr (cuda::std::remove_cvref_t<decltype(get<k>(folds))>::by_row == ByRow)
          get<k>(folds).add_lane(l, i + b, [&](auto& running) {
#pragma unroll
            for (int r = 0; r < Rows; ++r) {
              int const e = (row + r) * lanes + t.lane(i + b);
              bool const there = e < left && t.present > 0;
              i64 const position = t.place_of(at, leaf_start + e).position;
#pragma unroll
              for (int v = 0; v < V; ++v)
                if (there)
                  l.step(running, v, true,
                         rows.row_at(p.columns, b * Rows + r, v, position + v * kept.position_step, leaf_start + e));
            }
          });
      });
  }
}

/// The states of this thread's groups over one leaf; valid in threads with y = 0 and, over all warps, in warp 0.
template <axes_plan P, class Columns, class... Leaves>
__device__ __forceinline__ auto fold_strip_leaf(program<Columns, Leaves...> const& p, axes_layout const& at,
                                               strip_thread<P, program<Columns, Leaves...>> const& t, i64 leaf,
                                               typename program<Columns, Leaves...>::states* meeting) {
  using Program = program<Columns, Leaves...>;
  constexpr int V = P.groups_per_thread;
  i64 const start = leaf * strip_thread<P, Program>::shape.elements();
  i64 const left = at.extent - start;
  strip_folds<P, Program, Leaves...> folds;
  constexpr bool ordered = any_by_row(static_cast<pack<Leaves...> const*>(nullptr));
  constexpr bool all_ordered = (true && ... && !Leaves::monoid_type::law.commutative);
  if constexpr (!all_ordered)
    feed_rows<P, false, P.rows_in_leaf>(p, at, t, start, left, 0, folds);
  if constexpr (ordered) {
#pragma unroll
    for (int r = 0; r < P.rows_in_leaf; ++r) {
      feed_rows<P, true, 1>(p, at, t, start, left, r, folds);
      for_each_index<int(sizeof...(Leaves))>([&](auto k) {
        if constexpr (cuda::std::remove_cvref_t<decltype(get<k>(folds))>::by_row)
          get<k>(folds).end_row(r);
      });
    }
  }
  auto states = [&]<class... Fs>(pack<Fs...>&) { return pack<typename Fs::states...>{}; }(folds);
  for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(states) = get<k>(folds).leaf(get<k>(p.leaves)); });
  if constexpr (P.warps_per_block > 1) {
    auto const slot = [&](int warp, int v) -> typename Program::states& {
      return meeting[(warp * P.threads_across + t.x) * V + v];
    };
    __syncthreads(); // whoever still reads the last leaf's
    if (t.y == 0)
#pragma unroll
      for (int v = 0; v < V; ++v)
        for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(slot(t.warp, v)) = get<k>(states).of[v]; });
    __syncthreads();
    if (t.warp == 0 && t.y == 0)
#pragma unroll
      for (int v = 0; v < V; ++v)
        for_each_index<int(sizeof...(Leaves))>([&](auto k) {
          typename nth_t<k, Leaves...>::state of_warp[P.warps_per_block];
#pragma unroll
          for (int w = 0; w < P.warps_per_block; ++w)
            of_warp[w] = get<k>(slot(w, v));
          auto const& m = get<k>(p.leaves).monoid;
          get<k>(states).of[v] = combine_in_registers([&](auto const& a, auto const& b) { return m.combine(a, b); }, of_warp);
        });
  }
  return states;
}

/// The states of one group out of those of several neighbours.
template <class Program, class Beside>
__device__ __forceinline__ typename Program::states states_of(Beside const& s, int v) {
  typename Program::states one;
  for_each_index<Program::leaf_count>([&](auto k) { get<k>(one) = get<k>(s).of[v]; });
  return one;
}

/// Folds every group; strip after strip, and for each the chunks of its leaves, which meet in `partials` (chunks x groups states)
/// and are folded in their order by the block that comes last; `arrivals` has a zero for every strip and is left so.
template <axes_plan P, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block())
    across_groups(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ axes_cut const cut,
                  __grid_constant__ Nodes const nodes, answer_arrays const to, typename Program::states* partials, u32* arrivals) {
  using States = typename Program::states;
  constexpr int V = P.groups_per_thread;
  __shared__ alignas(16) unsigned char room[P.warps_per_block > 1 ? P.warps_per_block * P.groups_per_strip() * sizeof(States) : 16];
  i64 const strip = i64(blockIdx.x) % cut.strips;
  int const chunk = int(i64(blockIdx.x) / cut.strips);
  strip_thread<P, Program> const t(at, cut, strip);
  bool const holds = t.warp == 0 && t.y == 0;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  States s[V];
  if constexpr (P.one_leaf) {
    auto const leaf = fold_strip_leaf<P>(p, at, t, 0, reinterpret_cast<States*>(room));
#pragma unroll
    for (int v = 0; v < V; ++v)
      s[v] = states_of<Program>(leaf, v);
  } else {
    neighbour_stack<States, 40> tree[V];
    i64 const first = i64(chunk) * cut.leaves_of_chunk;
    i64 const end = first + cut.leaves_of_chunk < cut.leaves ? first + cut.leaves_of_chunk : cut.leaves;
#pragma unroll 1
    for (i64 k = first; k < end; ++k) {
      auto const leaf = fold_strip_leaf<P>(p, at, t, k, reinterpret_cast<States*>(room));
      if (holds)
        for (int v = 0; v < V; ++v)
          tree[v].push(combine, states_of<Program>(leaf, v));
    }
    if (holds)
      for (int v = 0; v < V; ++v)
        s[v] = tree[v].root(combine);
  }
  if (cut.chunks > 1) {
    if (holds)
      for (int v = 0; v < t.present; ++v)
        partials[i64(chunk) * at.groups + t.group + v] = s[v];
    __threadfence();
    __syncthreads();
    __shared__ u32 before;
    if (threadIdx.x == 0)
      before = atomicInc(arrivals + strip, u32(cut.chunks) - 1); // the last one leaves a zero
    __syncthreads();
    if (before != u32(cut.chunks) - 1)
      return;
    __threadfence();
    if (holds)
      for (int v = 0; v < t.present; ++v) {
        neighbour_stack<States, 32> tree;
        for (int c = 0; c < cut.chunks; ++c)
          tree.push(combine, partials[i64(c) * at.groups + t.group + v]);
        s[v] = tree.root(combine);
      }
  }
  if (holds)
#pragma unroll
    for (int v = 0; v < V; ++v)
      if (v < t.present)
        write_answers(p, nodes, s[v], at.extent, to, t.group + v);
}

} // namespace tally::inline v0::kernel
