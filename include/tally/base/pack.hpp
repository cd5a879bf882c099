// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A heterogeneous list of values with one layout on every compiler. Layer 0. A pipeline crosses from the host compiler to
// NVRTC as bytes, so its members may not depend on how a standard library squeezes empty bases; and cuda::std::tuple
// costs NVRTC 0.7 s where this costs nothing.
#pragma once

#include <tally/base/config.hpp>
#include <tally/base/stl.hpp>

namespace tally::v0 {

template <class... Ts>
struct pack;

/// The empty list.
template <>
struct pack<> {
  static constexpr int size = 0;
};

/// A list of values, first to last.
template <class T, class... Ts>
struct pack<T, Ts...> {
  static constexpr int size = 1 + sizeof...(Ts);
  T first;
  pack<Ts...> rest;
};

namespace detail {
template <int I, class T, class... Ts>
struct nth {
  using type = typename nth<I - 1, Ts...>::type;
};
template <class T, class... Ts>
struct nth<0, T, Ts...> {
  using type = T;
};
} // namespace detail

/// The I-th of some types.
template <int I, class... Ts>
using nth_t = typename detail::nth<I, Ts...>::type;

/// The I-th value of a pack.
template <int I, class T, class... Ts>
TALLY_INLINE constexpr auto& get(pack<T, Ts...>& p) {
  if constexpr (I == 0)
    return p.first;
  else
    return get<I - 1>(p.rest);
}
template <int I, class T, class... Ts>
TALLY_INLINE constexpr auto const& get(pack<T, Ts...> const& p) {
  if constexpr (I == 0)
    return p.first;
  else
    return get<I - 1>(p.rest);
}

/// A pack of the given values.
TALLY_INLINE constexpr pack<> make_pack() { return {}; }
template <class T, class... Ts>
TALLY_INLINE constexpr pack<T, Ts...> make_pack(T first, Ts... rest) {
  return {first, make_pack(rest...)};
}

/// The integers 0 to N - 1 as a type: index_list<0, ..., N - 1>.
template <int... I>
struct index_list {};

namespace detail {
template <int N, int... I>
struct indices : indices<N - 1, N - 1, I...> {};
template <int... I>
struct indices<0, I...> {
  using type = index_list<I...>;
};
} // namespace detail

template <int N>
using indices_up_to = typename detail::indices<N>::type;

namespace detail {
template <class F, class... Ts, int... I>
TALLY_INLINE constexpr decltype(auto) unpack_at(F&& f, pack<Ts...> const& p, index_list<I...>) {
  return static_cast<F&&>(f)(get<I>(p)...);
}
} // namespace detail

/// Calls f(value...) with every value of the pack.
template <class F, class... Ts>
TALLY_INLINE constexpr decltype(auto) unpack(F&& f, pack<Ts...> const& p) {
  return detail::unpack_at(static_cast<F&&>(f), p, indices_up_to<sizeof...(Ts)>{});
}

/// Two packs, one after the other.
template <class... As, class... Bs>
TALLY_INLINE constexpr pack<As..., Bs...> join([[maybe_unused]] pack<As...> const& a, pack<Bs...> const& b) {
  if constexpr (sizeof...(As) == 0)
    return b;
  else
    return {a.first, join(a.rest, b)};
}

/// Any number of them.
TALLY_HD constexpr pack<> join_all() { return {}; }
template <class One, class... More>
TALLY_HD constexpr auto join_all(One const& one, More const&... more) {
  return join(one, join_all(more...));
}

/// A compile-time integer that is a value and a type.
template <int I>
struct index_constant {
  static constexpr int value = I;
  TALLY_HD constexpr operator int() const { return I; }
};

namespace detail {
template <class F, int... I>
TALLY_INLINE constexpr void call_with_each(F&& f, index_list<I...>) {
  (f(index_constant<I>{}), ...);
}
} // namespace detail

/// Calls f(index_constant<0>), ..., f(index_constant<N - 1>) in order.
template <int N, class F>
TALLY_INLINE constexpr void for_each_index(F&& f) {
  detail::call_with_each(f, indices_up_to<N>{});
}

} // namespace tally::v0
