// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values and masks of one leaf, as the CPU's tile loop sees them: in place where they lie in memory as they are,
// else computed into a buffer in the nearest cache, once for all neighbouring folds of the same expression. Layer 5,
// host only.
#pragma once

#include <tally/fold/exact.hpp>
#include <tally/fold/tree.hpp>
#include <tally/run/cpu_lanes.hpp>
#include <tally/run/heap_array.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tally::v0::cpu {

/// The values of a leaf, one after the other; InPlace: in the memory of the source, so that more of it will follow.
template <class V, bool InPlace>
struct value_run {
  V const* at;
};

namespace detail {

/// Whether two expressions of one type are the same function; false when that cannot be told.
template <class E>
constexpr bool same_expression(E const& a, E const& b) {
  if constexpr (!E::captures)
    return true;
  else if constexpr (requires { a.value; })
    return std::memcmp(&a.value, &b.value, sizeof a.value) == 0;
  else if constexpr (requires { a.args; } && E::lowerable)
    return [&]<int... I>(index_list<I...>) { return (true && ... && same_expression(get<I>(a.args), get<I>(b.args))); }
  (indices_up_to<decltype(a.args)::size>{});
  else return &a == &b;
}

/// The column an expression names, or -1 when it computes something.
template <class E>
inline constexpr int column_named_by = -1;
template <int I>
inline constexpr int column_named_by<placeholder<I>> = I;

template <class Column>
inline constexpr bool is_contiguous = false;
template <class T>
inline constexpr bool is_contiguous<contiguous<T>> = true;
template <class E, class Columns>
constexpr bool lies_in_memory() {
  if constexpr (column_named_by<E> >= 0)
    return is_contiguous<std::remove_cvref_t<decltype(get<column_named_by<E>>(std::declval<Columns const&>()))>>;
  else
    return false;
}

/// Elements of a vector loop: compilers make one at -O2 of a loop whose length they know, into memory that nothing else uses.
inline constexpr i64 elements_at_once = 16;

/// Writes f(0), ..., f(n - 1) into such memory, in such loops: f is called twice for some elements, unless Once.
template <bool Once, class V, class F>
TALLY_INLINE void compute_values(V* __restrict to, i64 n, F const& f) {
  constexpr i64 once = elements_at_once;
  if (Once || n < once) {
    for (i64 e = 0; e < n; ++e) to[e] = static_cast<V>(f(e));
    return;
  }
  for (i64 e = 0; e < n; e += once) {
    i64 const first = e + once <= n ? e : n - once;
    for (int k = 0; k < once; ++k) to[first + k] = static_cast<V>(f(first + k));
  }
}

/// The same into memory that f may read at the place it is called for: the elements of the last loop are computed before anything is written.
template <class T, class F>
TALLY_INLINE void write_in_loops(T* to, i64 n, F const& f) {
  constexpr i64 once = elements_at_once;
  i64 e = 0;
  if (n >= once) {
    T last[once], values[once];
    i64 const rest = n % once;
    for (e = rest == 0 ? 0 : -once; e + once <= n; e += once) {
      i64 const first = e < 0 ? n - once : e;
      for (int k = 0; k < once; ++k) values[k] = f(first + k);
      std::memcpy(e < 0 ? last : to + e, values, sizeof values);
    }
    std::memcpy(to + e, last + (once - rest), static_cast<std::size_t>(rest) * sizeof(T));
    return;
  }
  for (; e < n; ++e) to[e] = f(e);
}

/// Answers that stand along groups of `extent`, from an offset on and `step` apart from group to group, once for every element of `groups`
/// of them, in `room`.
template <class Answers>
auto repeat_each(Answers const& answers, i64 offset, i64 step, i64 extent, i64 groups, heap_array<typename Answers::value_type>& room) {
  room = heap_array<typename Answers::value_type>(static_cast<std::size_t>(groups * extent));
  auto* to = room.data();
  for (i64 g = 0; g < groups; ++g)
    for (i64 e = 0; e < extent; ++e) *to++ = answers.data[offset + g * step];
  return contiguous<typename Answers::value_type>{room.data()};
}
/// Elements of a group up to which that is done: longer ones have vector loops of their own. Softmax of rows of 16 took 1.8 ns an element with
/// and 1.45 without, of 31 1.9 and 1.0 (docs/measured/lets_on_two_cores.md).
inline constexpr i64 repeated_extent = elements_at_once - 1;

template <class E, class V>
inline constexpr char mark_of{};

/// Room for the values of one expression over one leaf, as Vs; it remembers whose values it holds.
template <int Elements, int Bytes>
struct value_buffer {
  alignas(64) unsigned char bytes[Elements * Bytes];
  void const* mark = nullptr;
  void const* expression = nullptr;

  /// Computes unless the values are there already: f(e) is the value of element e.
  template <class V, class E, class F>
  TALLY_INLINE V const* fill(E const& of, F const& f) {
    V* const out = reinterpret_cast<V*>(bytes);
    if (mark != &mark_of<E, V> || !same_expression(of, *static_cast<E const*>(expression))) {
      compute(out, f);
      mark = &mark_of<E, V>;
      expression = &of;
    }
    return out;
  }

private:
  template <class V, class F>
  TALLY_INLINE static void compute(V* __restrict out, F const& f) {
    for (int e = 0; e < Elements; ++e) out[e] = f(e);
  }
};

template <class E, class Program>
using value_of = std::remove_cvref_t<decltype(std::declval<E const&>().eval(std::declval<Program const&>().row_at(0)))>;
template <class V>
inline constexpr bool fits_a_buffer = std::is_trivially_copyable_v<V>&& std::is_default_constructible_v<V>;
/// Whether values of type V can be read as if they were of type To.
template <class V, class To>
inline constexpr bool reads_as = std::is_same_v<V, To> || (integer<V> && integer<To> && sizeof(V) == sizeof(To));

/// A copy where there may be one, so that the compiler knows that writing values into a buffer does not change what they are computed from.
template <class T>
using copied = std::conditional_t<std::is_trivially_copyable_v<T>, T, T const&>;
/// Element e of an expression over the leaf that starts at `first`.
template <class Program, class E>
struct element {
  copied<Program> p;
  copied<E> of;
  i64 first;
  TALLY_INLINE auto operator()(int e) const { return of.eval(p.row_at(first + e)); }
};

/// In what a fold wants its values (void: as they are) and its mask, which has -1 where an element passes.
template <class M>
struct wants {
  using number = void;
  using mask = i32;
};
template <has_vector_form M>
struct wants<M> {
  using number = typename vector_form<M>::number;
  using mask = integer_for<number>;
};
template <exact_monoid M>
struct wants<M> {
  using number = typename M::number;
  using mask = integer_for<number>;
};

/// What a bound monoid asks for: whether its values may be computed for a whole leaf at once (a function of the user's behind a
/// mask may not: it is called for the elements that pass and no other), how many there are, and the largest sizes.
template <class Program, class Leaf>
struct needs;
template <class Program, class M, class... Es, class Mask>
struct needs<Program, bound<M, pack<Es...>, Mask>> {
  template <class V>
  using as = std::conditional_t<std::is_void_v<typename wants<M>::number>, V, typename wants<M>::number>;
  static constexpr bool masked = !std::is_same_v<Mask, always>;
  static constexpr bool fits = (true && ... && fits_a_buffer<value_of<Es, Program>>);
  static constexpr bool at_once = fits && (!masked || bound<M, pack<Es...>, Mask>::computes_all);
  static constexpr int values = at_once ? int(sizeof...(Es)) : 0;
  static constexpr int bytes = at_once ? tally::v0::detail::max_of(1, int(sizeof(as<value_of<Es, Program>>))...) : 1;
  static constexpr int mask_bytes = at_once && masked ? int(sizeof(typename wants<M>::mask)) : 0;
};

} // namespace detail

/// The values and masks of the current leaf of a program.
template <class Program>
struct leaf_values;
template <class Columns, class... Leaves>
struct leaf_values<program<Columns, Leaves...>> {
  using program_type = program<Columns, Leaves...>;
  static constexpr int elements = shape_of<program_type>.elements();
  static constexpr int slots = tally::v0::detail::max_of(1, detail::needs<program_type, Leaves>::values...);
  static constexpr int bytes = tally::v0::detail::max_of(1, detail::needs<program_type, Leaves>::bytes...);
  static constexpr int mask_bytes = tally::v0::detail::max_of(1, detail::needs<program_type, Leaves>::mask_bytes...);
  program_type const& p;
  i64 first = 0;
  detail::value_buffer<elements, bytes> of_slot[slots];
  detail::value_buffer<elements, mask_bytes> of_mask;

  TALLY_INLINE explicit leaf_values(program_type const& all) : p(all) {}
  /// To the leaf that starts at element e.
  TALLY_INLINE void move_to(i64 e) {
    first = e;
    for (auto& b : of_slot) b.mark = nullptr;
    of_mask.mark = nullptr;
  }
  /// The values of an expression, converted to To (void: not converted).
  template <int Slot, class To, class E>
  TALLY_INLINE auto values(E const& of) {
    using Own = detail::value_of<E, program_type>;
    using V = std::conditional_t<std::is_void_v<To>, Own, To>;
    if constexpr (detail::lies_in_memory<E, Columns>() && detail::reads_as<Own, V>)
      return value_run<Own, true>{get<detail::column_named_by<E>>(p.columns).data + first};
    else
      return value_run<V, false>{of_slot[Slot].template fill<V>(
          of, [x = detail::element<program_type, E>{p, of, first}](int e) TALLY_INLINE_LAMBDA { return static_cast<V>(x(e)); })};
  }
  /// All bits set for an element that passes, none for another; null where all pass.
  template <class To, class Mask>
  TALLY_INLINE To const* mask(Mask const& of) {
    if constexpr (std::is_same_v<Mask, always>)
      return nullptr;
    else
      return of_mask.template fill<To>(of, [x = detail::element<program_type, Mask>{p, of, first}](int e) TALLY_INLINE_LAMBDA {
        return x(e) ? static_cast<To>(-1) : To(0);
      });
  }
};

} // namespace tally::v0::cpu
