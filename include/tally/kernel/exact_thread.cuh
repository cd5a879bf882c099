// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups that a thread folds alone where there are exact sums: a window of its own for each of them, which is looked through batch by batch and flushed
// into a wide integer when it is full or a batch leaves it. Layer 4. What is folded beside them has no order either.
#pragma once

#include <tally/fold/program.hpp>
#include <tally/kernel/exact_window.cuh>
#include <tally/kernel/states_beside.cuh>

namespace tally::v0::kernel {

/// Adds x * 2^at to a wide integer; rare, so its code stands once.
template <int Words>
__device__ __noinline__ void add_weighted(wide_integer<Words>& to, i64 x, int at) {
  to.add_at(at, x < 0 ? u64(0) - u64(x) : u64(x), x < 0);
}
/// Adds a number, or a product, that no window holds.
template <exact_monoid M, class... Vs>
__device__ __noinline__ void add_alone(M const& m, typename M::state& to, Vs... values) {
  m.add(to, values...);
}

/// One fold of the V groups of a thread, in any order.
template <class Leaf, int V>
struct thread_fold {
  using M = typename Leaf::monoid_type;
  using states_type = states_beside<typename Leaf::state, V>;
  struct in_memory {}; ///< what is too wide for registers: functions that are called take it by its address
  states_type states;

  __device__ __forceinline__ explicit thread_fold(Leaf const& l) {
#pragma unroll
    for (int v = 0; v < V; ++v)
      states.of[v] = l.monoid.identity();
  }
  /// Adds N elements to every group: whether element e is there, its row of group v, and the same read once more.
  template <int N, class On, class RowAt, class Again>
  __device__ __forceinline__ void add(Leaf const& l, in_memory&, On const& on, RowAt const& row_at, Again const&) {
    lanes_t<M, V> running(l.monoid);
#pragma unroll
    for (int e = 0; e < N; ++e)
#pragma unroll
      for (int v = 0; v < V; ++v)
        l.step(running, v, on(e), row_at(e, v));
#pragma unroll
    for (int v = 0; v < V; ++v)
      states.of[v] = l.monoid.combine(states.of[v], running.close(l.monoid, v));
  }
  __device__ __forceinline__ states_type close(in_memory&) const { return states; }
};

/// An exact sum.
template <class Leaf, int V>
  requires exact_monoid<typename Leaf::monoid_type>
struct thread_fold<Leaf, V> {
  using M = typename Leaf::monoid_type;
  using number = typename M::number;
  using window_type = window_of<M>;
  using states_type = states_beside<typename Leaf::state, V>;
  using in_memory = states_type;
  window_type window[V];
  u32 least[V], most[V]; ///< of the keys of a batch: of those that are not zero, and of all
  int added[V];

  __device__ __forceinline__ explicit thread_fold(Leaf const&) {
#pragma unroll
    for (int v = 0; v < V; ++v)
      added[v] = 0;
  }
  /// What an expression sees that looks at an element, adds it to a window, or adds it to the wide integer.
  struct looking {
    thread_fold& of;
    template <class... Vs>
    __device__ __forceinline__ void step(M const&, int v, bool on, i64, Vs... values) const {
      u32 const key = window_type::key(on ? static_cast<number>(values) : number(0)...), without_zero = key - 1;
      of.least[v] = without_zero < of.least[v] ? without_zero : of.least[v];
      of.most[v] = key > of.most[v] ? key : of.most[v];
    }
  };
  struct adding {
    thread_fold& of;
    template <class... Vs>
    __device__ __forceinline__ void step(M const&, int v, bool on, i64, Vs... values) const {
      of.window[v].add(on ? static_cast<number>(values) : number(0)...);
    }
  };
  struct adding_alone {
    in_memory& to;
    template <class... Vs>
    __device__ __forceinline__ void step(M const& m, int v, bool on, i64, Vs... values) const {
      if (on)
        add_alone(m, to.of[v], static_cast<number>(values)...);
    }
  };
  /// The digits of a window as what window_of::flush adds to.
  struct room {
    typename Leaf::state& state;
    __device__ __forceinline__ void add(int, i64 x, int at) const { add_weighted(state.sum, x, at); }
  };
  __device__ __forceinline__ void flush(int v, in_memory& to) {
    if (added[v] > 0) {
      room digits{to.of[v]};
      window[v].flush(digits, 0, added[v]);
    }
    added[v] = 0;
  }
  __device__ __forceinline__ bool holds(int v) const { return holds_keys(window[v], least[v], most[v]) && window[v].base >= 0; }
  /// Whether the window of group v, aimed anew if need be, holds a batch that has been looked at; then it has room for it.
  __device__ __forceinline__ bool fits(int v, int elements, in_memory& to) {
    bool const fit = holds(v);
    if (fit && added[v] + elements <= window_type::additions)
      return true;
    flush(v, to);
    if (fit)
      return true;
    aim_below(window[v], most[v], window_type::headroom);
    return holds(v);
  }
  template <int N, class On, class RowAt, class Again>
  __device__ __forceinline__ void add(Leaf const& l, in_memory& to, On const& on, RowAt const& row_at, Again const& again) {
    looking look{*this};
    adding add{*this};
    adding_alone alone{to};
    static_assert(N <= window_type::additions || window_type::additions == 1);
#pragma unroll
    for (int v = 0; v < V; ++v) {
      least[v] = 0xffffffffu, most[v] = 0;
#pragma unroll
      for (int e = 0; e < N; ++e)
        l.step(look, v, on(e), row_at(e, v));
      if (fits(v, N, to)) {
#pragma unroll
        for (int e = 0; e < N; ++e)
          l.step(add, v, on(e), row_at(e, v));
        added[v] += N;
      } else {
#pragma unroll 1
        for (int e = 0; e < N; ++e)
          l.step(alone, v, on(e), again(e, v));
      }
    }
  }
  __device__ __forceinline__ states_type close(in_memory& to) {
#pragma unroll
    for (int v = 0; v < V; ++v)
      flush(v, to);
    return to;
  }
};

/// All folds of a program whose V groups a thread folds alone.
template <int V, class Program>
struct thread_folds;
template <int V, class... Columns, class... Leaves>
struct thread_folds<V, program<pack<Columns...>, Leaves...>> {
  static_assert((true && ... && Leaves::monoid_type::law.order_free), "nothing has an order");
  using states_type = pack<typename thread_fold<Leaves, V>::states_type...>;
  pack<Leaves...> const& leaves;
  pack<thread_fold<Leaves, V>...> folds;

  __device__ __forceinline__ explicit thread_folds(pack<Leaves...> const& l)
      : leaves(l), folds(unpack([](auto const&... one) { return make_pack(thread_fold<cuda::std::remove_cvref_t<decltype(one)>, V>(one)...); }, l)) {}
  using in_memory = pack<typename thread_fold<Leaves, V>::in_memory...>;
  template <int N, class On, class RowAt, class Again>
  __device__ __forceinline__ void add(in_memory& wide, On const& on, RowAt const& row_at, Again const& again) {
    for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(folds).template add<N>(get<k>(leaves), get<k>(wide), on, row_at, again); });
  }
  __device__ __forceinline__ states_type close(in_memory& wide) {
    states_type states;
    for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(states) = get<k>(folds).close(get<k>(wide)); });
    return states;
  }
};

} // namespace tally::v0::kernel
