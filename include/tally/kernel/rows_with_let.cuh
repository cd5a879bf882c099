// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "rows with lets": a row comes into registers once, is folded by every let in turn, each of which may look at those before
// it, and its elements are written. Layer 4. A warp holds one leaf, the warps of a row meet in shared memory; the trees are those of
// kernel/along_group.cuh, so every let has the bits that it has alone. What the last let and the elements both compute takes the place of
// what was read. A row that one block has no room for is in a cluster of blocks (kernel/rows_in_cluster.cuh). Where few rows are on a
// multiprocessor at a time, later ones are asked for (kernel/row_ahead.cuh).
#pragma once

#include <tally/kernel/along_group.cuh>
#include <tally/kernel/store.cuh>

namespace tally::v0::kernel {

/// A row beside further values: the answers of its lets, a kept part.
template <class... Ts, class... More>
__device__ __forceinline__ group_row<Ts..., More...> row_beside(group_row<Ts...> const& r, pack<More...> const& more) {
  return {join(r.values, more), r.position, r.element};
}

/// The leaf that a warp holds, and where it is.
template <axes_plan P, class Base>
struct leaf_on_chip {
  using Loaded = loaded_leaf<P, Base>;
  static constexpr int lanes = Loaded::lanes, rows = Loaded::rows, per_row = Loaded::per_row;
  Loaded leaf;
  i64 position, start;
  int left;            ///< elements of the leaf; none or fewer where the row has ended before
  int leaves_of_block; ///< of the row, in this block
  __device__ __forceinline__ bool exists(int r, int v) const { return leaf.template exists<P.extent_fits>(r, v, left); }
  /// Calls f(whether all elements exist), a constant: of a row of several leaves all but the last do, so that most warps need not ask.
  template <class F>
  __device__ __forceinline__ void knowing_whole(F const& f) const {
    if constexpr (P.extent_fits || P.one_leaf)
      f(cuda::std::bool_constant<P.extent_fits>{});
    else if (left == shape_of<Base>.elements())
      f(cuda::std::true_type{});
    else
      f(cuda::std::false_type{});
  }
  template <class Lets>
  __device__ __forceinline__ auto row_at(Base const& p, int r, int v, Lets const& lets) const {
    int const e = r * per_row + leaf.in_row(v);
    return row_beside(leaf.values.row_at(p.columns, r, v, position + e, start + e), lets);
  }
  /// The same with what has come late of row r.
  template <class Late, class Lets>
  __device__ __forceinline__ auto row_at(Base const& p, int r, int v, Late const& late, Lets const& lets) const {
    int const e = r * per_row + leaf.in_row(v);
    return row_beside(leaf.values.row_beside(p.columns, r, v, late.values, late.slot(v), late.neighbour(v), position + e, start + e), lets);
  }
};

/// The plan of what a plan loads late: turned lanes are no neighbours, and come one by one.
template <axes_plan P>
constexpr axes_plan what_is_late() {
  axes_plan p = P;
  p.late = ~P.late;
  p.realigned = 0;
  for (int& bytes : p.bytes_per_load)
    bytes = P.realigned != 0 ? 0 : bytes;
  return p;
}
/// One row of a leaf of the columns that come late.
template <axes_plan P, class Base>
struct late_row;
template <axes_plan P, class... Columns, class... Leaves>
struct late_row<P, program<pack<Columns...>, Leaves...>> {
  using Base = program<pack<Columns...>, Leaves...>;
  using Held = leaf_on_chip<P, Base>;
  static constexpr bool one_by_one = P.realigned != 0;
  strip_rows<what_is_late<P>(), 0, one_by_one ? Held::lanes : 1, one_by_one ? 1 : Held::lanes, Columns...> values;
  __device__ __forceinline__ static int slot(int v) { return one_by_one ? v : 0; }
  __device__ __forceinline__ static int neighbour(int v) { return one_by_one ? 0 : v; }
  /// place: of the leaf. What does not exist is read from the last.
  template <class Place>
  __device__ __forceinline__ late_row(Held const& held, Base const& p, axes_layout const& at, Place const& place, int r) {
    if (held.left <= 0)
      return;
    auto const load = [&](int k, int first, int present) {
      auto here = place;
      here.move(at.reduced[0], first);
      values.load(p.columns, here, k, at.reduced[0], present);
    };
    int const begin = r * Held::per_row;
    if constexpr (one_by_one) {
#pragma unroll
      for (int v = 0; v < Held::lanes; ++v) {
        int const e = begin + held.leaf.in_row(v);
        load(v, e < held.left ? e : held.left - 1, 1);
      }
    } else {
      int const first = begin + held.leaf.first_of_thread();
      load(0, first, P.extent_fits ? Held::lanes : held.left - first);
    }
  }
};

/// A part that is kept of every element of a leaf; of none, rows stay as they are.
template <class Kept, class RowAt, int Rows, int Lanes>
struct kept_elements {
  RowAt const& row_at_;
  __device__ __forceinline__ kept_elements(Kept const&, RowAt const& row_at) : row_at_(row_at) {}
  __device__ __forceinline__ auto row_at(int r, int v) const { return row_at_(r, v); }
  template <class Row>
  __device__ __forceinline__ Row const& beside(Row const& row, int, int) const { return row; }
};
template <class Part, class RowAt, int Rows, int Lanes>
struct kept_elements<pack<Part>, RowAt, Rows, Lanes> {
  using T = cuda::std::remove_cvref_t<decltype(cuda::std::declval<Part const&>().eval(cuda::std::declval<RowAt const&>()(0, 0)))>;
  RowAt const& row_at_;
  T of[Rows][Lanes];
  __device__ __forceinline__ kept_elements(pack<Part> const& part, RowAt const& row_at) : row_at_(row_at) {
#pragma unroll
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int v = 0; v < Lanes; ++v)
        of[r][v] = part.first.eval(row_at(r, v));
  }
  __device__ __forceinline__ auto row_at(int r, int v) const { return beside(row_at_(r, v), r, v); }
  template <class Row>
  __device__ __forceinline__ auto beside(Row const& row, int r, int v) const { return row_beside(row, make_pack(of[r][v])); }
};

/// The states of the blocks of a cluster become one state, in every thread of them: kernel/rows_in_cluster.cuh.
template <int Blocks>
__device__ __forceinline__ void begin_in_cluster();
template <int Blocks, int Let, class Combine, class State>
__device__ __forceinline__ State meet_in_cluster(Combine const& combine, State const& s);

/// A later row is on its way to L2: kernel/row_ahead.cuh.
template <axes_plan P, class Base, class Place>
__device__ __forceinline__ void ask_for_row(leaf_on_chip<P, Base> const& held, Base const& p, axes_layout const& at, Place const& here, i64 row);

/// The states of one let over the row whose elements are row_at(r, v), in every thread of it.
template <axes_plan P, int Blocks, int Let, class Base, class RowAt, class... Leaves>
__device__ __forceinline__ auto fold_row(leaf_on_chip<P, Base> const& held, program<pack<>, Leaves...> const& step, RowAt const& row_at) {
  using States = typename program<pack<>, Leaves...>::states;
  States s[1];
  for_each_index<int(sizeof...(Leaves))>([&](auto i) {
    auto const& l = get<i>(step.leaves);
    using of = leaf_along<P, nth_t<i, Leaves...>>;
    auto& state = get<i>(s[0]);
    held.knowing_whole([&](auto whole) {
      state = of::fold(l, of::rows, held.leaf.turn, [&](auto& running, int r, int v) {
        l.step(running, v, decltype(whole)::value || held.exists(r, v), row_at(r, v));
      });
    });
  });
  leaves_meet<P, 1>::meet(step, s);
  if constexpr (P.one_leaf) {
    return shuffled_from(s[0], int(threadIdx.x % 32) / P.threads_along() * P.threads_along());
  } else {
    constexpr int sharing = P.warps_per_group;
    alignas(16) __shared__ unsigned char room[P.warps_per_block * sizeof(States)];
    States* const of_warp = reinterpret_cast<States*>(room);
    int const warp = int(threadIdx.x / 32);
    __syncthreads(); // a let of the same type may have left its states here
    if (threadIdx.x % 32 == 0)
      of_warp[warp] = s[0];
    __syncthreads();
    int const lane = int(threadIdx.x % 32), leaves = Blocks > 1 ? held.leaves_of_block : sharing;
    auto const combine = [&](States const& a, States const& b) { return step.combine(a, b); };
    States all = combine_lanes<sharing>(combine, of_warp[warp / sharing * sharing + (lane < leaves ? lane : 0)], leaves, lane);
    if constexpr (Blocks > 1)
      all = meet_in_cluster<Blocks, Let>(combine, all);
    return shuffled_from(all, 0);
  }
}

/// The answer of one let over that row.
template <axes_plan P, int Blocks, int Let, class Base, class RowAt, class Step, class Node>
__device__ __forceinline__ auto answer_of_row(leaf_on_chip<P, Base> const& held, Step const& step, Node const& node, RowAt const& row_at, i64 extent) {
  auto const s = fold_row<P, Blocks, Let>(held, step, row_at);
  answers::outcome<cuda::std::remove_cvref_t<decltype(step.leaves)>, cuda::std::remove_cvref_t<decltype(s)>> const o{step.leaves, s, {extent}};
  return answers::with_one_nan(node.value(o));
}
/// Folds the lets from the I-th on but for the last, each into its place.
template <int I, int Blocks, axes_plan P, class Base, class Steps, class Nodes, class Lets>
__device__ __forceinline__ void fold_lets(leaf_on_chip<P, Base> const& held, Base const& p, Steps const& steps, Nodes const& nodes, Lets& lets, i64 extent) {
  if constexpr (I + 1 < Steps::size) {
    get<I>(lets) = answer_of_row<P, Blocks, I>(held, get<I>(steps), get<I>(nodes), [&](int r, int v) { return held.row_at(p, r, v, lets); }, extent);
    fold_lets<I + 1, Blocks>(held, p, steps, nodes, lets, extent);
  }
}

/// Writes the rows of a leaf one after the other, held as pieces of 16 bytes that are aligned where they go. Of each row the first thread of a
/// warp has the beginning and, in its first `turn` places, the end: with the beginning of the next row that end is a piece.
template <axes_plan P, class Base, class T>
struct piece_writer {
  using Held = leaf_on_chip<P, Base>;
  static constexpr int V = Held::lanes;
  Held const& held;
  T* pieces;
  int in_front; ///< values of this thread that go to the end of their row
  T before[V]{};
  __device__ __forceinline__ piece_writer(Held const& h, T* leaf)
      : held(h), pieces(leaf + h.leaf.first_of_thread() - h.leaf.turn), in_front(threadIdx.x % 32 == 0 ? h.leaf.turn : 0) {}
  __device__ __forceinline__ void store(int r, T const (&v)[V]) {
    T piece[V];
#pragma unroll
    for (int k = 0; k < V; ++k) {
      piece[k] = k < in_front ? before[k] : v[k];
      before[k] = v[k];
    }
    if (held.exists(r, V - 1) && (r > 0 || in_front == 0)) {
      store_neighbours<16>(pieces + r * Held::per_row, piece);
    } else {
#pragma unroll
      for (int k = 0; k < V; ++k)
        if (k < in_front ? r > 0 && held.exists(r - 1, k) : held.exists(r, k))
          pieces[r * Held::per_row + k] = piece[k];
    }
  }
  /// The end of the last row.
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (k < in_front && held.exists(Held::rows - 1, k))
        pieces[Held::rows * Held::per_row + k] = before[k];
  }
};

/// Whether neighbours that a plan stores so pass through shared memory, and whether any values of rows do.
template <int Store, class T, int V>
inline constexpr bool goes_one_by_one = Store <= int(sizeof(T)) && passes_shared<T, V>;
template <class Row, int V, int... Store, class... Values>
constexpr bool any_goes_one_by_one(pack<Values...> const*) {
  return (false || ... || goes_one_by_one<Store, cuda::std::remove_cvref_t<decltype(cuda::std::declval<Values const&>().eval(cuda::std::declval<Row const&>()))>, V>);
}

/// Writes row r of a leaf, Store bytes at once; the whole warp calls it. Room: of the warp.
template <axes_plan P, int Store, class Base, class T, int V>
__device__ __forceinline__ void store_row(leaf_on_chip<P, Base> const& held, int r, T* row, T const (&v)[V], bool there, unsigned char* room) {
  int const first = held.leaf.first_of_thread(), present = there ? held.left - r * held.per_row : 0; // of this row
  if constexpr (Store > int(sizeof(T))) {
    if (first < present)
      store_neighbours<Store>(row + first, v);
  } else if constexpr (goes_one_by_one<Store, T, V>) {
    store_one_by_one<P.threads_along()>(row, v, present, room);
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (first + k < present)
        row[first + k] = v[k];
  }
}

/// Writes the elements of the rows of a base, whose lets are folded by steps and lowered by nodes into Lets. The last step and the values are
/// of rows that have the part that is kept behind the lets, if there is one. Blocks > 1: the grid is of clusters of as many, one a row. Asks:
/// for the row that comes rows_ahead behind.
template <axes_plan P, int Blocks, bool Asks, class Base, class Steps, class Nodes, class Lets, class Kept, class Values, int... BytesPerStore>
__global__ void __launch_bounds__(P.threads_per_block(), P.blocks_per_multiprocessor)
    rows_with_let(__grid_constant__ Base const p, __grid_constant__ axes_layout const at, __grid_constant__ Steps const steps,
                  __grid_constant__ Nodes const nodes, __grid_constant__ Kept const part, __grid_constant__ Values const values, answer_arrays const to, i64 const rows_ahead) {
  constexpr int lanes = leaf_on_chip<P, Base>::lanes, rows = leaf_on_chip<P, Base>::rows;
  int const warp = int(threadIdx.x / 32), lane = int(threadIdx.x % 32);
  if constexpr (Blocks > 1)
    begin_in_cluster<Blocks>();
  i64 g;
  if constexpr (P.one_leaf)
    g = (i64(blockIdx.x) * P.warps_per_block + warp) * P.threads_across + lane / P.threads_along();
  else
    g = i64(blockIdx.x / Blocks) * (P.warps_per_block / P.warps_per_group) + warp / P.warps_per_group;
  bool const there = g < at.groups;
  constexpr int of_leaf = shape_of<Base>.elements();
  leaf_on_chip<P, Base> held;
  i64 const first_of_block = Blocks > 1 ? i64(blockIdx.x % Blocks) * P.warps_per_group * of_leaf : 0;
  held.start = P.one_leaf ? 0 : first_of_block + i64(warp % P.warps_per_group) * of_leaf;
  i64 const left = at.extent - held.start;
  held.left = left < of_leaf ? int(left) : of_leaf;
  held.leaves_of_block = int(least_of_two((at.extent - first_of_block - 1) / of_leaf + 1, P.warps_per_group));
  auto place = origin_of<P, Base>(at, there ? g : at.groups - 1);
  place.move(at.reduced[0], held.start);
  held.position = place.position;
  if (Blocks == 1 || held.left > 0)
    held.knowing_whole([&](auto whole) { held.leaf.template load<decltype(whole)::value>(p, at, place, held.left); });
  if constexpr (Asks)
    ask_for_row(held, p, at, place, g + rows_ahead);
  Lets lets{};
  fold_lets<0, Blocks>(held, p, steps, nodes, lets, at.extent);
  auto const row_beside_lets = [&](int r, int v) { return held.row_at(p, r, v, lets); };
  kept_elements<Kept, decltype(row_beside_lets), rows, lanes> const kept(part, row_beside_lets);
  auto const row_at = [&](int r, int v) { return kept.row_at(r, v); };
  constexpr int last = Steps::size - 1;
  get<last>(lets) = answer_of_row<P, Blocks, last>(held, get<last>(steps), get<last>(nodes), row_at, at.extent);
  constexpr bool one_by_one = any_goes_one_by_one<decltype(row_at(0, 0)), lanes, BytesPerStore...>(static_cast<Values const*>(nullptr));
  alignas(32) __shared__ unsigned char room[one_by_one ? P.threads_per_block() * 32 : 1];
  for_each_index<int(sizeof...(BytesPerStore))>([&](auto i) {
    constexpr int store = nth_number<decltype(i)::value, BytesPerStore...>();
    auto const& of = get<i>(values);
    using T = cuda::std::remove_cvref_t<decltype(of.eval(row_at(0, 0)))>;
    T* const leaf = static_cast<T*>(to.at[i]) + g * at.extent + held.start;
    bool const by_pieces = P.realigned != 0 && lanes * sizeof(T) % 16 == 0 && reinterpret_cast<u64>(leaf - held.leaf.turn) % 16 == 0;
    piece_writer<P, Base, T> pieces(held, leaf);
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      T v[lanes];
      auto const fill = [&](auto const& row_of) {
#pragma unroll
        for (int k = 0; k < lanes; ++k)
          v[k] = answers::with_one_nan(of.eval(row_of(k)));
      };
      if constexpr (P.late != 0) {
        late_row<P, Base> const late(held, p, at, place, r);
        fill([&](int k) { return kept.beside(held.row_at(p, r, k, late, lets), r, k); });
      } else {
        fill([&](int k) { return row_at(r, k); });
      }
      if (by_pieces) {
        if (there)
          pieces.store(r, v);
        continue;
      }
      if constexpr (P.realigned != 0)
        turn_values(v, held.leaf.turn);
      store_row<P, store>(held, r, leaf + r * held.per_row, v, there, room + warp * 1024);
    }
    if (by_pieces && there)
      pieces.finish();
  });
}

} // namespace tally::v0::kernel
