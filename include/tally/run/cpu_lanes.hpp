// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which folds the CPU runs in vector registers, and how: N lanes of a fold as registers that are stepped, closed and
// merged together. Layer 5, host only. Each form gives bit for bit what the lanes and combine of its monoid give
// (fold/sum.hpp, fold/min_max.hpp, fold/variance.hpp); a fold without a form here runs lane by lane. Registers go by
// reference, because their way by value depends on the caller's instruction set.
#pragma once

#include <type_traits>

#include <cstring>

#include <tally/base/two_sum.hpp>
#include <tally/fold/logsumexp.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/sum.hpp>
#include <tally/fold/variance.hpp>

namespace tally::v0::cpu {

namespace detail {
template <class T, int N>
struct register_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T>
using integer_for = std::conditional_t<(sizeof(T) < 4), std::conditional_t<sizeof(T) == 1, i8, i16>,
                                       std::conditional_t<sizeof(T) == 4, i32, i64>>;
template <class T>
struct without_sign {
  using type = T;
};
template <integer T>
struct without_sign<T> : std::make_unsigned<T> {};
} // namespace detail

/// N numbers in one register.
template <class T, int N>
using wide = typename detail::register_of<T, N>::type;
/// What a comparison of two of them gives: all bits set where it holds.
template <class T, int N>
using wide_mask = wide<detail::integer_for<T>, N>;

/// Has `number` (what one lane holds), `order_free`, and `lanes<N, Masked>`: step(x) or step(x, on) feeds one row,
/// begin(x) is called with the first before it; closed lanes merge with lanes of as many elements n, and become states.
template <class M>
struct vector_form;

template <class M>
concept has_vector_form = requires { typename vector_form<M>::number; };
/// Forms that groups side by side use too: not those that compilers make vectors of in the long loops of tiles alone.
template <class M>
concept has_group_form = has_vector_form<M> && !requires { vector_form<M>::in_tiles_alone; };

template <class T>
concept machine_float = stl::same_as<T, float> || stl::same_as<T, double>;
template <class T>
concept machine_number = integer<T> || machine_float<T>;

/// Sums: s += x. Integers add as unsigned ones, which wrap.
template <machine_number A>
struct vector_form<sum_monoid<A>> {
  using number = typename detail::without_sign<A>::type;
  static constexpr bool order_free = sum_monoid<A>::law.order_free;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<number, N>;
    using mask = wide_mask<number, N>;
    vector sum;
    TALLY_INLINE void begin(vector const&) { sum = vector{}; }
    TALLY_INLINE void step(vector const& x) { sum += x; }
    TALLY_INLINE void step(vector const& x, mask const& on) { sum = on ? sum + x : sum; }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int) { sum += b.sum; }
    template <class F>
    TALLY_INLINE static void each_register(lanes& to, lanes const& a, lanes const& b, F const& f) {
      f(to.sum, a.sum, b.sum);
    }
    TALLY_INLINE A state(int j, int) const { return static_cast<A>(sum[j]); }
  };
};

/// Sums that carry their rounding errors: Neumaier's two-sum, in the order of compensated_sum_monoid::combine.
template <machine_float A>
struct vector_form<compensated_sum_monoid<A>> {
  using number = A;
  static constexpr bool order_free = false;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<A, N>;
    using mask = wide_mask<A, N>;
    vector high, low;
    TALLY_INLINE void begin(vector const&) { high = low = vector{}; }
    TALLY_INLINE void step(vector const& x) { add(x, vector{}); }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      vector const h = high, l = low;
      add(x, vector{});
      high = on ? high : h;
      low = on ? low : l;
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int) { add(b.high, b.low); }
    template <class F>
    TALLY_INLINE static void each_register(lanes& to, lanes const& a, lanes const& b, F const& f) {
      f(to.high, a.high, b.high);
      f(to.low, a.low, b.low);
    }
    TALLY_INLINE typename compensated_sum_monoid<A>::state state(int j, int) const { return {high[j], low[j]}; }

  private:
    TALLY_INLINE void add(vector const& h, vector const& l) {
      vector error;
      two_sum(high, h, error);
      low = (low + l) + (error == error ? error : vector{});
    }
  };
};

/// Least or greatest of integers.
template <integer T, bool Least>
struct vector_form<extreme_monoid<T, Least>> {
  using number = T;
  static constexpr bool order_free = true;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<T, N>;
    using mask = wide_mask<T, N>;
    vector best;
    TALLY_INLINE void begin(vector const&) { best = vector{} + farthest<T, Least>(); }
    TALLY_INLINE void step(vector const& x) {
      if constexpr (Least)
        best = x < best ? x : best;
      else
        best = x > best ? x : best;
    }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      vector const kept = on ? x : best;
      step(kept);
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int) { step(b.best); }
    TALLY_INLINE T state(int j, int) const { return best[j]; }
  };
};

/// Least or greatest of floats: the running value by a plain comparison that lets NaN fall through, whether there was a
/// NaN, and the sign bits seen, which decide between -0 and +0 when the answer is zero.
template <class T, bool Least>
  requires machine_float<typename extreme_monoid<T, Least>::state>
struct vector_form<extreme_monoid<T, Least>> {
  using number = typename extreme_monoid<T, Least>::state;
  static constexpr bool order_free = true;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<number, N>;
    using mask = wide_mask<number, N>;
    vector best;
    mask nan;
    mask signs; // of all elements: or (Least), and (greatest)
    TALLY_INLINE void begin(vector const&) {
      best = vector{} + farthest<number, Least>();
      nan = mask{};
      signs = mask{} - (Least ? 0 : 1);
    }
    TALLY_INLINE void step(vector const& x) {
      advance(x);
      nan |= x != x;
      gather(__builtin_bit_cast(mask, x));
    }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      vector const kept = on ? x : best;
      advance(kept);
      nan |= on & (x != x);
      gather(Least ? on & __builtin_bit_cast(mask, x) : ~on | __builtin_bit_cast(mask, x));
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int) {
      advance(b.best);
      nan |= b.nan;
      gather(b.signs);
    }
    TALLY_INLINE number state(int j, int) const {
      if (nan[j] != 0) return stl::numeric_limits<number>::quiet_NaN();
      if (best[j] == number(0)) return signs[j] < 0 ? -number(0) : number(0);
      return best[j];
    }

  private:
    TALLY_INLINE void advance(vector const& x) {
      if constexpr (Least)
        best = x < best ? x : best;
      else
        best = x > best ? x : best;
    }
    TALLY_INLINE void gather(mask const& bits) {
      if constexpr (Least)
        signs |= bits;
      else
        signs &= bits;
    }
  };
};

/// The same behind a mask: also whether anything came through.
template <class T, bool Least>
  requires machine_number<typename extreme_monoid<T, Least>::state>
struct vector_form<seen<extreme_monoid<T, Least>>> {
  using number = typename extreme_monoid<T, Least>::state;
  static constexpr bool order_free = true;
  template <int N, bool Masked>
  struct lanes {
    using inner = typename vector_form<extreme_monoid<T, Least>>::template lanes<N, Masked>;
    using vector = typename inner::vector;
    using mask = typename inner::mask;
    inner of;
    mask any;
    TALLY_INLINE void begin(vector const& x) {
      of.begin(x);
      any = mask{};
    }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      of.step(x, on);
      any |= on;
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int n) {
      of.merge(b.of, n);
      any |= b.any;
    }
    TALLY_INLINE auto state(int j, int n) const {
      return typename seen<extreme_monoid<T, Least>>::state{of.state(j, n), any[j] != 0 ? 1u : 0u};
    }
  };
};
/// The least or greatest number: NaN stays outside, and only whether there was one is kept.
template <class T, bool Least>
  requires machine_float<typename extreme_monoid<T, Least>::state>
struct vector_form<extreme_number_monoid<T, Least>> {
  using monoid = extreme_number_monoid<T, Least>;
  using number = typename extreme_monoid<T, Least>::state;
  static constexpr bool order_free = true;
  template <int N, bool Masked>
  struct lanes {
    using inner = typename vector_form<extreme_monoid<T, Least>>::template lanes<N, Masked>;
    using vector = typename inner::vector;
    using mask = typename inner::mask;
    inner of;
    mask numbers, nan;
    TALLY_INLINE void begin(vector const& x) {
      of.begin(x);
      numbers = nan = mask{};
    }
    TALLY_INLINE void step(vector const& x) {
      of.step(x, x == x);
      numbers |= x == x;
      nan |= x != x;
    }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      of.step(x, on & (x == x));
      numbers |= on & (x == x);
      nan |= on & (x != x);
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int n) {
      of.merge(b.of, n);
      numbers |= b.numbers;
      nan |= b.nan;
    }
    TALLY_INLINE auto state(int j, int n) const {
      return typename monoid::state{of.state(j, n), (numbers[j] != 0 ? monoid::number_came : 0u) |
                                                        (nan[j] != 0 ? monoid::nan_came : 0u)};
    }
  };
};

/// Variance: sums of deviations from the lane's first element, then Chan's formula on (mean, squares). Without a mask
/// every lane has met the same number of elements, which is then no register.
template <machine_float A>
struct vector_form<variance_monoid<A>> {
  using number = A;
  static constexpr bool order_free = false;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<A, N>;
    using mask = wide_mask<A, N>;
    vector mean; // the pivot until the lane is closed
    vector sum;
    vector squares;
    vector count; // Masked: of each lane
    TALLY_INLINE void begin(vector const& x) {
      mean = Masked ? vector{} : x;
      sum = squares = count = vector{};
    }
    TALLY_INLINE void step(vector const& x) {
      vector const d = x - mean;
      sum += d;
      squares += d * d;
    }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      mean = (on & (count == A(0))) ? x : mean;
      vector const d = x - mean;
      sum = on ? sum + d : sum;
      squares = on ? squares + d * d : squares;
      count = on ? count + A(1) : count;
    }
    TALLY_INLINE void close(int n) {
      vector share;
      if constexpr (Masked)
        share = sum / (count == A(0) ? vector{} + A(1) : count);
      else
        share = sum / static_cast<A>(n);
      vector const rest = squares - sum * share;
      mean += share;
      squares = rest < A(0) ? vector{} : rest;
    }
    TALLY_INLINE void merge(lanes const& b, int n) {
      vector const d = b.mean - mean;
      if constexpr (Masked) {
        vector const both = count + b.count;
        vector const share = b.count / (both == A(0) ? vector{} + A(1) : both);
        vector const m = mean + d * share;
        vector const s = (squares + b.squares) + (d * d) * (count * share);
        mean = b.count == A(0) ? mean : (count == A(0) ? b.mean : m);
        squares = b.count == A(0) ? squares : (count == A(0) ? b.squares : s);
        count = both;
      } else {
        mean += d * A(0.5);
        squares = (squares + b.squares) + (d * d) * (static_cast<A>(n) * A(0.5));
      }
    }
    template <class F>
    TALLY_INLINE static void each_register(lanes& to, lanes const& a, lanes const& b, F const& f) {
      f(to.mean, a.mean, b.mean);
      f(to.squares, a.squares, b.squares);
      if constexpr (Masked) f(to.count, a.count, b.count);
    }
    TALLY_INLINE deviations<A> state(int j, int n) const {
      return {Masked ? static_cast<u64>(count[j]) : static_cast<u64>(n), mean[j], squares[j]};
    }
  };
};

/// logsumexp: lane by lane what its monoid says, in loops that compilers know the length of. A lane that has met nothing changes no other,
/// so the first element is like the next ones.
template <machine_float A>
struct vector_form<logsumexp_monoid<A>> {
  using number = A;
  static constexpr bool order_free = false;
  static constexpr bool in_tiles_alone = true;
  template <int N, bool Masked>
  struct lanes {
    using vector = wide<A, N>;
    using mask = wide_mask<A, N>;
    vector largest, sum;
    TALLY_INLINE void begin(vector const&) {
      largest = vector{} - stl::numeric_limits<A>::infinity();
      sum = vector{};
    }
    TALLY_INLINE void step(vector const& x) { combine(x, vector{} + A(1)); }
    TALLY_INLINE void step(vector const& x, mask const& on) {
      vector const l = largest, s = sum;
      step(x);
      largest = on ? largest : l;
      sum = on ? sum : s;
    }
    TALLY_INLINE void close(int) {}
    TALLY_INLINE void merge(lanes const& b, int) { combine(b.largest, b.sum); }
    template <class F>
    TALLY_INLINE static void each_register(lanes& to, lanes const& a, lanes const& b, F const& f) {
      f(to.largest, a.largest, b.largest);
      f(to.sum, a.sum, b.sum);
    }
    TALLY_INLINE typename logsumexp_monoid<A>::state state(int j, int) const { return {largest[j], sum[j]}; }

  private:
    TALLY_INLINE void combine(vector const& l, vector const& s) {
      A own_largest[N], own_sum[N], other_largest[N], other_sum[N];
      std::memcpy(own_largest, &largest, sizeof largest), std::memcpy(own_sum, &sum, sizeof sum);
      std::memcpy(other_largest, &l, sizeof l), std::memcpy(other_sum, &s, sizeof s);
      for (int j = 0; j < N; ++j) {
        auto const both = logsumexp_monoid<A>{}.combine({own_largest[j], own_sum[j]}, {other_largest[j], other_sum[j]});
        own_largest[j] = both.largest, own_sum[j] = both.sum;
      }
      std::memcpy(&largest, own_largest, sizeof largest), std::memcpy(&sum, own_sum, sizeof sum);
    }
  };
};

} // namespace tally::v0::cpu
