// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "across groups": neighbouring threads fold neighbouring groups, each along its canonical tree. Layer 4. A thread
// walks lane after lane of a leaf, so only the closed lanes of one path of the tree are kept; threads of a warp that hold the
// same groups share the lanes as neighbours, warps of a block share them as subtrees, blocks share the leaves. This is the
// route of column sums, of middle axes and of every stride that no other route takes.
#pragma once

#include <tally/fold/folds.hpp>
#include <tally/fold/tree.hpp>
#include <tally/kernel/answers.cuh>
#include <tally/kernel/chunks.cuh>
#include <tally/kernel/states_beside.cuh>
#include <tally/kernel/strip.cuh>
#include <tally/kernel/warp_tree.cuh>
#include <tally/plan/axes_plan.hpp>

namespace tally::v0::kernel {

/// What a thread of a strip knows: where its groups begin and which lanes of a leaf are its own.
template <axes_plan P, class Program>
struct strip_thread {
  static constexpr int columns = decltype(Program::columns)::size;
  static constexpr int group_count = P.groups_per_thread;
  static constexpr int strips_of_block = P.warps_per_block / P.warps_on_lanes;
  static constexpr int lanes_of_thread = P.lanes_in_leaf / (P.warps_on_lanes * P.threads_along());
  static constexpr leaf_shape shape = shape_of<Program>;
  int x, y;
  int warp; ///< among those that share the lanes of its strip
  i64 group; ///< the first of this thread's groups
  int present; ///< how many of them exist
  grid_place<columns> origin;

  /// The first group of a strip, and how many are in its row from there on. One in stripes lacks none: it ends where its row does, and folds some groups
  /// that the strip before it folds, too, to the same bits.
  __device__ __forceinline__ static i64 first_group(axes_cut const& cut, i64 strip, i64& in_strip) {
    i64 const row = P.one_kept_axis ? 0 : strip / cut.strips_per_row;
    i64 first = (strip - row * cut.strips_per_row) * P.groups_per_strip();
    if (P.in_stripes() && first > cut.row_groups - P.groups_per_strip())
      first = cut.row_groups - P.groups_per_strip();
    in_strip = strip < cut.strips ? cut.row_groups - first : 0;
    return row * cut.row_groups + first;
  }
  __device__ __forceinline__ strip_thread(axes_layout const& at, axes_cut const& cut, i64 strip) {
    int const lane = int(threadIdx.x % 32);
    x = lane % P.threads_across;
    y = lane / P.threads_across;
    warp = int(threadIdx.x / 32) % P.warps_on_lanes;
    i64 in_strip;
    group = first_group(cut, strip, in_strip) + P.group_in_strip(x, 0);
    i64 const left = P.in_stripes() ? in_strip : in_strip - x * group_count;
    present = left < 0 ? 0 : left < group_count ? int(left) : group_count;
    i64 const seen = present > 0 ? group : 0; // threads without groups load those of the first, in vain
    if constexpr (P.one_kept_axis) {
      origin = {};
      if (at.kept_axes > 0)
        origin.move(at.kept[0], seen);
    } else {
      origin = group_origin<columns>(at, seen);
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

/// Calls fold(i, on, row_at, again) for rows [row, row + Rows) of the lanes from i on, Together of them, of one leaf, `left` elements of which
/// exist: whether element (b, r) of lane i + b does, its row of group v, and the same read once more. While some lanes are folded the loads of
/// the next are on their way.
template <axes_plan P, int Together, int Rows, bool Whole, class Program, class Fold>
__device__ __forceinline__ void each_batch(Program const& p, axes_layout const& at, strip_thread<P, Program> const& t, i64 leaf_start, i64 left, int row,
                                          Fold const& fold) {
  using thread = strip_thread<P, Program>;
  using Place = grid_place<thread::columns>;
  constexpr int lanes = thread::shape.lanes(), V = P.groups_per_thread, steps = thread::lanes_of_thread / Together;
  grid_axis const& kept = at.kept[at.kept_axes > 0 ? at.kept_axes - 1 : 0];
  grid_axis const& along = at.reduced[at.reduced_axes > 0 ? at.reduced_axes - 1 : 0];
  using batch = decltype(strip_of<P, Together * Rows, V>(p.columns));
  auto const place_of = [&](int i, int r) {
    i64 const e = (row + r) * lanes + t.lane(i);
    return t.place_of(at, leaf_start + (Whole || e < left ? e : left - 1));
  };
  Place next = t.place_of(at, leaf_start + row * lanes + t.lane(0)); // of the lane to load next, where one step leads on
  auto const load_by_steps = [&](batch& rows) {
#pragma unroll
    for (int b = 0; b < Together; ++b) {
      Place here = next;
#pragma unroll
      for (int r = 0; r < Rows; ++r) {
        rows.template load_groups<loaded_columns::passing>(p.columns, here, b * Rows + r, kept);
        here.move(along, lanes);
      }
      next.move(along, P.threads_along());
    }
  };
  i64 const left_of_last_row = left - (row + Rows - 1) * lanes;
  i64 const whole_lanes = left_of_last_row < 0 ? 0 : left_of_last_row / P.threads_along() - t.warp * thread::lanes_of_thread; // of this thread, and its neighbours
  auto const load = [&](batch& rows, int i) {
    if (P.one_reduced_axis && (Whole || i + Together <= whole_lanes)) {
      load_by_steps(rows);
    } else {
#pragma unroll
      for (int b = 0; b < Together; ++b)
#pragma unroll
        for (int r = 0; r < Rows; ++r)
          rows.template load_groups<loaded_columns::passing>(p.columns, place_of(i + b, r), b * Rows + r, kept);
    }
  };
  auto const seen = [&](auto const& rows, int i, int b, int r, int v, int slot) {
    i64 const position = place_of(i + b, r).position;
    return rows.row_at(p.columns, slot, v, position + P.group_in_strip(0, v) * kept.position_step, leaf_start + (row + r) * lanes + t.lane(i + b));
  };
  auto const fold_batch = [&](batch const& rows, int i) {
    fold(
        i, [&](int b, int r) { return Whole || (row + r) * lanes + t.lane(i + b) < left; },
        [&](int b, int r, int v) { return seen(rows, i, b, r, v, b * Rows + r); },
        [&](int b, int r, int v) {
          auto one = strip_of<P, 1, V>(p.columns);
          one.load_groups(p.columns, place_of(i + b, r), 0, kept);
          return seen(one, i, b, r, v, 0);
        });
  };
  batch rows;
  rows.template load_groups<loaded_columns::lasting>(p.columns, t.origin, 0, kept);
  load(rows, 0);
  if constexpr (steps == 1) {
    fold_batch(rows, 0);
  } else {
    batch other;
    other.template load_groups<loaded_columns::lasting>(p.columns, t.origin, 0, kept);
#pragma unroll 1
    for (int i = 0; i < steps; i += 2) {
      load(other, (i + 1) * Together);
      fold_batch(rows, i * Together);
      if (i + 2 < steps)
        load(rows, (i + 2) * Together);
      fold_batch(other, (i + 1) * Together);
    }
  }
}

/// Lanes of a thread whose elements are loaded together.
template <axes_plan P, class Program, int Wanted = P.lanes_at_once>
inline constexpr int lanes_together = Wanted < strip_thread<P, Program>::lanes_of_thread ? Wanted : strip_thread<P, Program>::lanes_of_thread;

/// Feeds rows [row, row + Rows) of one leaf, `left` elements of which exist, to the folds that walk so.
template <axes_plan P, bool ByRow, int Rows, bool Whole, class Columns, class... Leaves, class Folds>
__device__ __forceinline__ void feed_rows(program<Columns, Leaves...> const& p, axes_layout const& at,
                                         strip_thread<P, program<Columns, Leaves...>> const& t, i64 leaf_start, i64 left, int row,
                                         Folds& folds) {
  constexpr int together = lanes_together<P, program<Columns, Leaves...>, ByRow ? 8 : P.lanes_at_once>, V = P.groups_per_thread;
  each_batch<P, together, Rows, Whole>(p, at, t, leaf_start, left, row, [&](int i, auto const& on, auto const& row_at, auto const&) {
#pragma unroll
    for (int b = 0; b < together; ++b)
      for_each_index<int(sizeof...(Leaves))>([&](auto k) {
        auto const& l = get<k>(p.leaves);
        if constexpr (cuda::std::remove_cvref_t<decltype(get<k>(folds))>::by_row == ByRow)
          get<k>(folds).add_lane(l, i + b, [&](auto& running) {
#pragma unroll
            for (int r = 0; r < Rows; ++r)
#pragma unroll
              for (int v = 0; v < V; ++v)
                l.step(running, v, on(b, r), row_at(b, r, v));
          });
      });
  });
}

/// The warps that share the lanes of a strip combine their states, which are then valid in warp 0, in threads with y = 0.
template <axes_plan P, class Columns, class... Leaves, class Beside>
__device__ __forceinline__ void meet_warps(program<Columns, Leaves...> const& p, strip_thread<P, program<Columns, Leaves...>> const& t, Beside& states,
                                          typename program<Columns, Leaves...>::states* meeting) {
  using Program = program<Columns, Leaves...>;
  constexpr int V = P.groups_per_thread;
  if constexpr (P.warps_on_lanes > 1) {
    auto const slot = [&](int warp, int v) -> typename Program::states& {
      return meeting[((int(threadIdx.x) / 32 / P.warps_on_lanes * P.warps_on_lanes + warp) * P.threads_across + t.x) * V + v];
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
          typename nth_t<k, Leaves...>::state of_warp[P.warps_on_lanes];
#pragma unroll
          for (int w = 0; w < P.warps_on_lanes; ++w)
            of_warp[w] = get<k>(slot(w, v));
          auto const& m = get<k>(p.leaves).monoid;
          get<k>(states).of[v] = combine_in_registers([&](auto const& a, auto const& b) { return m.combine(a, b); }, of_warp);
        });
  }
}

/// The states of this thread's groups over one leaf; valid in threads with y = 0 and, over all warps, in warp 0.
template <axes_plan P, class Columns, class... Leaves>
__device__ __forceinline__ auto fold_strip_leaf(program<Columns, Leaves...> const& p, axes_layout const& at,
                                               strip_thread<P, program<Columns, Leaves...>> const& t, i64 leaf,
                                               typename program<Columns, Leaves...>::states* meeting) {
  using Program = program<Columns, Leaves...>;
  i64 const start = leaf * strip_thread<P, Program>::shape.elements();
  i64 const left = at.extent - start;
  strip_folds<P, Program, Leaves...> folds;
  constexpr bool ordered = any_by_row(static_cast<pack<Leaves...> const*>(nullptr));
  constexpr bool all_ordered = (true && ... && !Leaves::monoid_type::law.commutative);
  if constexpr (!all_ordered) {
    if (left >= P.lanes_in_leaf * P.rows_in_leaf)
      feed_rows<P, false, P.rows_in_leaf, true>(p, at, t, start, left, 0, folds);
    else
      feed_rows<P, false, P.rows_in_leaf, false>(p, at, t, start, left, 0, folds);
  }
  if constexpr (ordered) {
#pragma unroll
    for (int r = 0; r < P.rows_in_leaf; ++r) {
      feed_rows<P, true, 1, false>(p, at, t, start, left, r, folds);
      for_each_index<int(sizeof...(Leaves))>([&](auto k) {
        if constexpr (cuda::std::remove_cvref_t<decltype(get<k>(folds))>::by_row)
          get<k>(folds).end_row(r);
      });
    }
  }
  auto states = [&]<class... Fs>(pack<Fs...>&) { return pack<typename Fs::states...>{}; }(folds);
  for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(states) = get<k>(folds).leaf(get<k>(p.leaves)); });
  meet_warps<P>(p, t, states, meeting);
  return states;
}

/// The states of one group out of those of several neighbours.
template <class Program, class Beside>
__device__ __forceinline__ typename Program::states states_of(Beside const& s, int v) {
  typename Program::states one;
  for_each_index<Program::leaf_count>([&](auto k) { get<k>(one) = get<k>(s).of[v]; });
  return one;
}

/// How a thread folds all its leaves where there are exact sums, in windows: kernel/exact_across.cuh.
template <axes_plan P, class Program>
struct strip_in_windows;

/// Folds every group; the warps of a block take strips of groups, or share the lanes of one, and blocks take chunks of their leaves.
template <axes_plan P, class Program, class Nodes>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor)
    across_groups(__grid_constant__ Program const p, __grid_constant__ axes_layout const at, __grid_constant__ axes_cut const cut,
                  __grid_constant__ Nodes const nodes, answer_arrays const to, chunk_meeting<typename Program::states> const meeting) {
  using States = typename Program::states;
  using thread = strip_thread<P, Program>;
  constexpr int V = P.groups_per_thread, strips = thread::strips_of_block;
  alignas(16) __shared__ unsigned char room[P.warps_on_lanes > 1 ? P.warps_per_block * P.groups_per_strip() * sizeof(States) : 16];
  int const chunk = cut.chunks == 1 ? 0 : int(blockIdx.x / u32(cut.sets));
  i64 const set = blockIdx.x - u32(chunk) * u32(cut.sets);
  thread const t(at, cut, set * strips + int(threadIdx.x) / 32 / P.warps_on_lanes);
  bool const holds = t.warp == 0 && t.y == 0;
  auto const combine = [&](States const& a, States const& b) { return p.combine(a, b); };
  States s[V];
  i64 const first = i64(chunk) * cut.leaves_of_chunk;
  i64 const end = first + cut.leaves_of_chunk < cut.leaves ? first + cut.leaves_of_chunk : cut.leaves;
  if constexpr (P.in_windows) {
    auto const all = strip_in_windows<P, Program>::fold(p, at, t, first, end, reinterpret_cast<States*>(room));
#pragma unroll
    for (int v = 0; v < V; ++v)
      s[v] = states_of<Program>(all, v);
  } else if constexpr (P.one_leaf) {
    auto const leaf = fold_strip_leaf<P>(p, at, t, 0, reinterpret_cast<States*>(room));
#pragma unroll
    for (int v = 0; v < V; ++v)
      s[v] = states_of<Program>(leaf, v);
  } else {
    neighbour_stack<States, 40> tree[V];
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
  if constexpr (P.blocks_share) {
    if (holds)
      for (int v = 0; v < t.present; ++v)
        meeting.partials[i64(chunk) * at.groups + t.group + P.group_in_strip(0, v)] = s[v];
    meet_in_chunks<P.threads_per_block(), strips * P.groups_per_strip(), strips>(
        p, at, cut, meeting, set, chunk, t.warp == 0,
        [&](int i) {
          i64 in_strip;
          i64 const first_of_strip = thread::first_group(cut, set * strips + i / P.groups_per_strip(), in_strip);
          int const k = i % P.groups_per_strip();
          return k < in_strip ? first_of_strip + k : -1;
        },
        [&](i64 g, States const& total) { write_answers(p, nodes, total, at.extent, to, g); });
    return;
  }
  if (holds) {
#pragma unroll
    for (int v = 0; v < V; v += P.groups_beside) {
      States beside[P.groups_beside];
#pragma unroll
      for (int k = 0; k < P.groups_beside; ++k)
        beside[k] = s[v + k];
      write_answers_beside(p, nodes, beside, at.extent, to, t.group + P.group_in_strip(0, v), t.present - v);
    }
  }
}

} // namespace tally::v0::kernel
