// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile loop of the CPU back end: folds leaves of the canonical tree. Layer 5. A whole leaf goes in two steps: the
// values of its elements, in place where they lie in memory as they are, else computed into a buffer that all folds of
// the same expression share; then each fold over those values, in registers where it has a vector form. What is left (the
// last leaf, host functions behind a mask) goes element by element. Spreading tiles over cores lives in dsl/cpu.
#pragma once

#include <cstring>
#include <type_traits>

#include <tally/fold/tree.hpp>
#include <tally/run/cpu_lanes.hpp>

namespace tally::inline v0::cpu {

/// Lanes that are in flight together where a fold has no vector form.
inline constexpr int lanes_in_flight = 16;

/// The start of a leaf and how many elements of it there are.
struct leaf_place {
  i64 first;
  int count;
};

/// One leaf of one bound monoid, straight from the text of fold/tree.hpp. Values behind a false mask are not computed.
template <leaf_shape Shape, class Program, class Leaf>
[[gnu::noinline]] typename Leaf::state fold_element_by_element(Program const& p, Leaf const& leaf, leaf_place at) {
  using State = typename Leaf::state;
  auto const& m = leaf.monoid;
  auto const combine = [&](State const& a, State const& b) { return m.combine(a, b); };
  constexpr int lanes = Shape.lanes(), rows = Shape.rows;
  constexpr bool by_row = !Leaf::monoid_type::law.commutative;
  State closed[lanes];
  State of_row[rows];
  for (int pass = 0; pass < (by_row ? rows : 1); ++pass) {
    for (int l = 0; l < lanes; ++l) {
      lanes_t<typename Leaf::monoid_type, 1> running(m);
      for (int r = by_row ? pass : 0; r < (by_row ? pass + 1 : rows); ++r)
        if (int const e = r * lanes + l; e < at.count) {
          auto const row = p.row_at(at.first + e);
          if (leaf.mask.eval(row))
            leaf.step(running, 0, true, row);
        }
      closed[l] = running.close(m, 0);
    }
    combine_neighbours(combine, closed, lanes);
    of_row[pass] = closed[0];
  }
  if constexpr (by_row)
    combine_neighbours(combine, of_row, rows);
  return of_row[0];
}

namespace detail {

/// Whether two expressions of one type are the same function; false when that cannot be told.
template <class E>
constexpr bool same_expression(E const& a, E const& b) {
  if constexpr (!E::captures)
    return true;
  else if constexpr (requires { a.value; })
    return std::memcmp(&a.value, &b.value, sizeof a.value) == 0;
  else if constexpr (requires { a.args; } && E::lowerable)
    return [&]<int... I>(index_list<I...>) {
      return (true && ... && same_expression(get<I>(a.args), get<I>(b.args)));
    }(indices_up_to<decltype(a.args)::size>{});
  else
    return &a == &b;
}

template <class E>
inline constexpr int column_named_by = -1;
template <int I>
inline constexpr int column_named_by<placeholder<I>> = I;
template <class Column>
inline constexpr bool is_contiguous = false;
template <class T>
inline constexpr bool is_contiguous<contiguous<T>> = true;

template <class E>
inline constexpr char type_mark{};

/// The values of one expression over one leaf; the buffer remembers whose values it holds.
template <int Elements, int Bytes>
struct value_buffer {
  alignas(64) unsigned char bytes[Elements * Bytes];
  void const* type = nullptr;
  void const* expression = nullptr;

  /// Computes unless the buffer has them already: f(e) is the value of element e.
  template <class V, class E, class F>
  TALLY_INLINE V const* fill(E const& of, F const& f) {
    V* const out = reinterpret_cast<V*>(bytes);
    if (type != &type_mark<E> || !same_expression(of, *static_cast<E const*>(expression))) {
      compute(out, f);
      type = &type_mark<E>;
      expression = &of;
    }
    return out;
  }

private:
  template <class V, class F>
  TALLY_INLINE static void compute(V* __restrict out, F const& f) {
    for (int e = 0; e < Elements; ++e)
      out[e] = f(e);
  }
};

template <class E, class Program>
using value_of = std::remove_cvref_t<decltype(std::declval<E const&>().eval(std::declval<Program const&>().row_at(0)))>;

template <class V>
inline constexpr bool fits_a_buffer = std::is_trivially_copyable_v<V> && std::is_default_constructible_v<V>;

/// What the values of a bound monoid need: whether they may be computed for a whole leaf at once, how many there are,
/// and the size of the largest.
template <class Program, class Leaf>
struct needs;
template <class Program, class M, class... Es, class Mask>
struct needs<Program, bound<M, pack<Es...>, Mask>> {
  using leaf = bound<M, pack<Es...>, Mask>;
  static constexpr bool at_once = (true && ... && fits_a_buffer<value_of<Es, Program>>) &&
                                  (!leaf::masked || (Mask::lowerable && (true && ... && Es::lowerable)));
  static constexpr int values = at_once ? int(sizeof...(Es)) : 0;
  static constexpr int bytes = at_once ? tally::detail::max_of(1, int(sizeof(value_of<Es, Program>))...) : 1;
};

} // namespace detail

/// The values and masks of the current leaf of a program.
template <class Program>
struct leaf_values;
template <class Columns, class... Leaves>
struct leaf_values<program<Columns, Leaves...>> {
  using program_type = program<Columns, Leaves...>;
  static constexpr int elements = shape_of<program_type>.elements();
  static constexpr int slots = tally::detail::max_of(0, detail::needs<program_type, Leaves>::values...);
  static constexpr int bytes = tally::detail::max_of(1, detail::needs<program_type, Leaves>::bytes...);
  static constexpr bool masked = (false || ... || Leaves::masked);
  program_type const& p;
  i64 first = 0;
  detail::value_buffer<elements, bytes> of_slot[slots > 0 ? slots : 1];
  detail::value_buffer<masked ? elements : 1, 1> of_mask;

  TALLY_INLINE explicit leaf_values(program_type const& all) : p(all) {}
  TALLY_INLINE void move_to(i64 e) {
    first = e;
    for (auto& b : of_slot)
      b.type = nullptr;
    of_mask.type = nullptr;
  }
  template <int Slot, class E>
  TALLY_INLINE auto const* values(E const& of) {
    using V = detail::value_of<E, program_type>;
    if constexpr (constexpr int c = detail::column_named_by<E>; c >= 0) {
      if constexpr (detail::is_contiguous<std::remove_cvref_t<decltype(get<c>(p.columns))>>)
        return static_cast<V const*>(get<c>(p.columns).data + first);
      else
        return of_slot[Slot].template fill<V>(of, [&](int e) { return of.eval(p.row_at(first + e)); });
    } else {
      return of_slot[Slot].template fill<V>(of, [&](int e) { return of.eval(p.row_at(first + e)); });
    }
  }
  /// 0 or -1 for each element.
  template <class Mask>
  TALLY_INLINE i8 const* mask(Mask const& of) {
    if constexpr (cuda::std::same_as<Mask, always>)
      return nullptr;
    else
      return of_mask.template fill<i8>(
          of, [&](int e) { return static_cast<i8>(of.eval(p.row_at(first + e)) ? -1 : 0); });
  }
};

namespace detail {

/// N values that start at x, as the numbers of the lanes.
template <class Number, int N, class V>
TALLY_INLINE void load(wide<Number, N>& to, V const* x) {
  if constexpr (cuda::std::same_as<V, Number> || (sizeof(V) == sizeof(Number) && integer<V> && integer<Number>)) {
    std::memcpy(&to, x, sizeof to);
  } else {
    Number converted[N];
    for (int j = 0; j < N; ++j)
      converted[j] = static_cast<Number>(x[j]);
    std::memcpy(&to, converted, sizeof to);
  }
}
template <class Number, int N>
TALLY_INLINE void load_mask(wide_mask<Number, N>& to, i8 const* on) {
  detail::integer_for<Number> widened[N];
  for (int j = 0; j < N; ++j)
    widened[j] = on[j];
  std::memcpy(&to, widened, sizeof to);
}

/// The even and the odd lanes of a and b.
template <int N, class Lanes>
TALLY_INLINE void part(Lanes& even, Lanes& odd, Lanes const& a, Lanes const& b) {
  [&]<int... I>(index_list<I...>) {
    Lanes::each_register(even, a, b, [](auto& to, auto const& x, auto const& y) __attribute__((always_inline)) {
      to = __builtin_shufflevector(x, y, (2 * I)...);
    });
    Lanes::each_register(odd, a, b, [](auto& to, auto const& x, auto const& y) __attribute__((always_inline)) {
      to = __builtin_shufflevector(x, y, (2 * I + 1)...);
    });
  }(indices_up_to<N>{});
}

/// One bound monoid on its way over the leaves of a tile.
template <leaf_shape Shape, int Bytes, class Leaf>
struct folder {
  using monoid_type = typename Leaf::monoid_type;
  using state = typename Leaf::state;
  static constexpr int lanes = Shape.lanes(), rows = Shape.rows;
  Leaf const& leaf;
  neighbour_stack<state, 40> stack;
  TALLY_INLINE explicit folder(Leaf const& l) : leaf(l) {}

  TALLY_INLINE void add(state const& s) {
    stack.push([&](state const& a, state const& b) { return leaf.monoid.combine(a, b); }, s);
  }
  TALLY_INLINE state result() {
    return stack.root([&](state const& a, state const& b) { return leaf.monoid.combine(a, b); });
  }
  template <class... Vs>
  TALLY_INLINE void whole_leaf(i64 position, i8 const* on, Vs const*... x) {
    if constexpr (has_vector_form<monoid_type> && sizeof...(Vs) == 1)
      add(in_registers(on, x...));
    else
      add(lane_by_lane(position, on, x...));
  }

private:
  template <class V>
  TALLY_INLINE state in_registers([[maybe_unused]] i8 const* on, V const* x) {
    using form = vector_form<monoid_type>;
    using number = typename form::number;
    constexpr int n = Bytes / int(sizeof(number)), blocks = lanes / n;
    using block = typename form::template lanes<n, Leaf::masked>;
    block closed[blocks];
    for (int b = 0; b < blocks; ++b) {
      block running;
      wide<number, n> v;
      load<number, n>(v, x + b * n);
      running.begin(v);
      for_each_index<rows>([&](auto r) __attribute__((always_inline)) {
        load<number, n>(v, x + r * lanes + b * n);
        if constexpr (Leaf::masked) {
          wide_mask<number, n> let;
          load_mask<number, n>(let, on + r * lanes + b * n);
          running.step(v, let);
        } else {
          running.step(v);
        }
      });
      running.close(rows);
      closed[b] = running;
    }
    int met = rows; // elements of a lane
    if constexpr (requires(block c) { block::each_register(c, c, c, [](auto&, auto const&, auto const&) {}); }) {
      block even, odd;
      for (int w = blocks / 2; w > 0; w /= 2, met *= 2)
        for (int b = 0; b < w; ++b) {
          part<n>(even, odd, closed[2 * b], closed[2 * b + 1]);
          even.merge(odd, met);
          closed[b] = even;
        }
      for (int w = n / 2; w > 0; w /= 2, met *= 2) {
        part<n>(even, odd, closed[0], closed[0]);
        even.merge(odd, met);
        closed[0] = even;
      }
      return closed[0].state(0, met);
    } else {
      for (int b = 1; b < blocks; ++b)
        closed[0].merge(closed[b], met);
      state s = closed[0].state(0, met);
      for (int j = 1; j < n; ++j)
        s = leaf.monoid.combine(s, closed[0].state(j, met));
      return s;
    }
  }
  template <class... Vs>
  TALLY_INLINE state lane_by_lane(i64 position, [[maybe_unused]] i8 const* on, Vs const*... x) {
    auto const combine = [&](state const& a, state const& b) { return leaf.monoid.combine(a, b); };
    constexpr int width = lanes < lanes_in_flight ? lanes : lanes_in_flight;
    constexpr bool by_row = !monoid_type::law.commutative;
    state closed[lanes];
    state of_row[rows];
    for (int pass = 0; pass < (by_row ? rows : 1); ++pass) {
      for (int l = 0; l < lanes; l += width) {
        lanes_t<monoid_type, width> running(leaf.monoid);
        for (int r = by_row ? pass : 0; r < (by_row ? pass + 1 : rows); ++r) {
          int const e = r * lanes + l;
          for (int j = 0; j < width; ++j)
            running.step(leaf.monoid, j, Leaf::masked ? on[e + j] != 0 : true, position + e + j, x[e + j]...);
        }
        for (int j = 0; j < width; ++j)
          closed[l + j] = running.close(leaf.monoid, j);
      }
      combine_neighbours(combine, closed, lanes);
      of_row[pass] = closed[0];
    }
    if constexpr (by_row)
      combine_neighbours(combine, of_row, rows);
    return of_row[0];
  }
};

/// The subtree over `count` leaves that start at `leaf`, in registers of `Bytes`.
template <int Bytes, class Columns, class... Leaves>
TALLY_INLINE void fold_tile(program<Columns, Leaves...> const& p, i64 leaf, i64 count, pack<typename Leaves::state...>& out) {
  using Program = program<Columns, Leaves...>;
  constexpr leaf_shape shape = shape_of<Program>;
  [&]<int... I>(index_list<I...>) __attribute__((always_inline)) {
    leaf_values<Program> read(p);
    auto folders = make_pack(folder<shape, Bytes, Leaves>(get<I>(p.leaves))...);
    for (i64 k = leaf; k < leaf + count; ++k) {
      i64 const first = k * shape.elements(), left = p.extent - first;
      read.move_to(first);
      auto const fold_one = [&](auto& f) __attribute__((always_inline)) {
        using Leaf = std::remove_cvref_t<decltype(f.leaf)>;
        leaf_place const at{first, left < shape.elements() ? int(left) : shape.elements()};
        if constexpr (needs<Program, Leaf>::at_once) {
          if (at.count == shape.elements()) {
            [&]<int... S>(index_list<S...>) __attribute__((always_inline)) {
              f.whole_leaf(p.first + first, read.mask(f.leaf.mask), read.template values<S>(get<S>(f.leaf.values))...);
            }(indices_up_to<decltype(f.leaf.values)::size>{});
            return;
          }
        }
        f.add(fold_element_by_element<shape>(p, f.leaf, at));
      };
      (fold_one(get<I>(folders)), ...);
    }
    ((get<I>(out) = get<I>(folders).result()), ...);
  }(indices_up_to<int(sizeof...(Leaves))>{});
}

#if defined(__x86_64__) && !defined(__AVX2__)
template <class Program>
[[gnu::target("avx2"), gnu::noinline]] void fold_tile_avx2(Program const& p, i64 leaf, i64 count,
                                                           typename Program::states& out) {
  fold_tile<32>(p, leaf, count, out);
}
#endif
} // namespace detail

/// The subtree over `count` leaves that start at `leaf`.
template <class Program>
typename Program::states fold_subtree(Program const& p, i64 leaf, i64 count) {
  typename Program::states s = p.identity();
#if defined(__AVX2__)
  detail::fold_tile<32>(p, leaf, count, s);
#else
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2"))
    detail::fold_tile_avx2(p, leaf, count, s);
  else
#endif
    detail::fold_tile<16>(p, leaf, count, s);
#endif
  return s;
}

} // namespace tally::inline v0::cpu
