// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups that neighbouring lanes fold together where there are exact sums of numbers or of products of two: expansions, while what comes lies near each other. Layer 4. What is
// folded beside them has no order either.
#pragma once

#include <tally/fold/exact_nodes.hpp>
#include <tally/kernel/exact_thread.cuh>
#include <tally/kernel/near_sums.cuh>

namespace tally::v0::kernel {

template <class M>
inline constexpr bool is_near_sum = false;
template <exact_monoid M>
inline constexpr bool is_near_sum<M> = M::factors <= 2;

/// Whether answers can be made of such sums, of which there is one.
template <class Nodes, class... Leaves>
inline constexpr bool take_near_sums =
    (false || ... || is_near_sum<typename Leaves::monoid_type>) && (true && ... && (is_near_sum<typename Leaves::monoid_type> || !exact_monoid<typename Leaves::monoid_type>)) &&
    answers::all_take_near_sums<Nodes>;

/// One fold of a lane.
template <class Leaf>
class near_fold {
public:
  using state = typename Leaf::state;
  __device__ __forceinline__ explicit near_fold(Leaf const& l) : fold_(l) {}
  template <int N, class On, class RowAt>
  __device__ __forceinline__ void add(Leaf const& l, On const& on, RowAt const& row_at) {
    fold_.template add<N>(l, memory_, on, row_at, row_at);
  }
  /// What the lane and its neighbours behind it have, a power of two of lanes; valid in the first of them.
  __device__ __forceinline__ state joined(Leaf const& l, int lanes) {
    state s = fold_.close(memory_).of[0];
#pragma unroll 1
    for (int h = 1; h < lanes; h *= 2)
      s = l.monoid.combine(s, shuffled_down(s, h));
    return s;
  }
  __device__ __forceinline__ bool far() const { return false; }

private:
  thread_fold<Leaf, 1> fold_;
  typename thread_fold<Leaf, 1>::in_memory memory_;
};
template <class Leaf>
  requires is_near_sum<typename Leaf::monoid_type>
class near_fold<Leaf> {
public:
  using M = typename Leaf::monoid_type;
  using number = typename M::number;
  using state = typename near_sum<M>::quick_state;
  __device__ __forceinline__ explicit near_fold(Leaf const&) {}
  template <int N, class On, class RowAt>
  __device__ __forceinline__ void add(Leaf const& l, On const& on, RowAt const& row_at) {
    adding to{sum_};
#pragma unroll
    for (int e = 0; e < N; ++e)
      l.step(to, 0, on(e), row_at(e, 0));
  }
  __device__ __forceinline__ state joined(Leaf const&, int lanes) {
#pragma unroll 1
    for (int h = 1; h < lanes; h *= 2) {
      state const other = shuffled_down(sum_.quick(), h);
      sum_.add(other.high);
      sum_.add(other.middle);
      sum_.add(other.low);
    }
    return sum_.quick();
  }
  __device__ __forceinline__ bool far() const { return sum_.far(); }

private:
  near_sum<M> sum_;
  struct adding {
    near_sum<M>& to;
    template <class... Vs>
    __device__ __forceinline__ void step(M const&, int, bool on, i64, Vs... values) const {
      to.add(on ? static_cast<number>(values) : number(0)...);
    }
  };
};

/// All folds of a lane.
template <class... Leaves>
class near_folds {
public:
  __device__ __forceinline__ explicit near_folds(pack<Leaves...> const& l)
      : leaves_(l), folds_(unpack([](auto const&... one) { return make_pack(near_fold<cuda::std::remove_cvref_t<decltype(one)>>(one)...); }, l)) {}
  template <int N, class On, class RowAt>
  __device__ __forceinline__ void add(On const& on, RowAt const& row_at) {
    for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(folds_).template add<N>(get<k>(leaves_), on, row_at); });
  }
  __device__ __forceinline__ auto joined(int lanes) {
    pack<typename near_fold<Leaves>::state...> states;
    for_each_index<int(sizeof...(Leaves))>([&](auto k) { get<k>(states) = get<k>(folds_).joined(get<k>(leaves_), lanes); });
    return states;
  }
  /// Whether something that was added is not kept, of what joined() gave last.
  __device__ __forceinline__ bool far() const {
    return unpack([](auto const&... f) { return (false || ... || f.far()); }, folds_);
  }

private:
  pack<Leaves...> const& leaves_;
  pack<near_fold<Leaves>...> folds_;
};

} // namespace tally::v0::kernel
