// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU's tile loop against the canonical tree spelled out a second time, slowly: whatever the registers, the tiles,
// the threads and the alignment, the bits are those of the text in fold/tree.hpp. Layer 5.
#include <tally/fold/arg.hpp>
#include <tally/fold/count.hpp>
#include <tally/fold/fold_of.hpp>
#include <tally/fold/mean.hpp>
#include <tally/fold/min_max.hpp>
#include <tally/fold/variance.hpp>
#include <tally/pipeline/answer.hpp>
#include <tally/pipeline/filter.hpp>
#include <tally/pipeline/from.hpp>
#include <tally/pipeline/map.hpp>
#include <tally/run/compute.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <vector>

namespace {

using tally::v0::i64;
using tally::v0::u32;
using tally::v0::u64;

// ---- the tree, from its text -------------------------------------------------------------------------------------

template <class Rule, class State>
State neighbours(Rule const& rule, std::vector<State> nodes) {
  while (nodes.size() > 1) {
    std::vector<State> above;
    for (std::size_t i = 0; i < nodes.size(); i += 2)
      above.push_back(i + 1 < nodes.size() ? rule.combine(nodes[i], nodes[i + 1]) : nodes[i]);
    nodes = above;
  }
  return nodes[0];
}

/// What `rule` makes of x where `on`; a group is 16 bytes of V, at most 8 elements.
template <class Rule, class V>
auto slowly(Rule const& rule, std::vector<V> const& x, std::vector<bool> const& on) {
  std::size_t const group = 16 / sizeof(V) > 8 ? 8 : 16 / sizeof(V);
  std::size_t const lanes = 32 * group, rows = 8, leaf = lanes * rows;
  using State = decltype(rule.close(rule.lane()));
  std::vector<State> of_leaf;
  for (std::size_t first = 0; first < x.size(); first += leaf) {
    auto const fold_lanes = [&](std::size_t row, std::size_t end) {
      std::vector<State> closed;
      for (std::size_t l = 0; l < lanes; ++l) {
        auto lane = rule.lane();
        for (std::size_t r = row; r < end; ++r)
          if (std::size_t const e = first + r * lanes + l; e < x.size() && on[e]) rule.step(lane, x[e]);
        closed.push_back(rule.close(lane));
      }
      return neighbours(rule, closed);
    };
    if (rule.commutes) {
      of_leaf.push_back(fold_lanes(0, rows));
    } else {
      std::vector<State> of_row;
      for (std::size_t r = 0; r < rows; ++r) of_row.push_back(fold_lanes(r, r + 1));
      of_leaf.push_back(neighbours(rule, of_row));
    }
  }
  return of_leaf.empty() ? rule.close(rule.lane()) : neighbours(rule, of_leaf);
}

/// Folds whose lanes are states.
template <class State>
struct plain_lanes {
  static constexpr bool commutes = true;
  State close(State s) const { return s; }
};
template <class A>
struct sums : plain_lanes<A> {
  A lane() const { return A(0); }
  template <class V>
  void step(A& s, V x) const {
    s = s + A(x);
  }
  A combine(A a, A b) const { return a + b; }
};
template <class A>
struct compensated_sums {
  static constexpr bool commutes = true;
  using state = typename tally::v0::compensated_sum_monoid<A>::state;
  state lane() const { return {0, 0}; }
  state close(state s) const { return s; }
  state combine(state a, state b) const {
    A const s = a.high + b.high, of_b = s - a.high;
    A const error = (a.high - (s - of_b)) + (b.high - of_b);
    return {s, (a.low + b.low) + (std::isnan(error) ? A(0) : error)};
  }
  void step(state& s, A x) const { s = combine(s, {x, 0}); }
};
template <class T>
struct extremes : plain_lanes<T> {
  bool least;
  explicit extremes(bool l) : least(l) {}
  T lane() const { return least ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity(); }
  T combine(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) == least ? a : b;
    return (a < b) == least ? a : b;
  }
  void step(T& s, T x) const { s = combine(s, x); }
};
template <class A>
struct variances {
  static constexpr bool commutes = true;
  struct running {
    u64 n;
    A pivot, sum, squares;
  };
  using state = tally::v0::deviations<A>;
  running lane() const { return {0, 0, 0, 0}; }
  template <class V>
  void step(running& l, V x) const {
    if (l.n == 0) l.pivot = A(x);
    A const d = A(x) - l.pivot;
    l.sum = l.sum + d;
    l.squares = l.squares + d * d;
    l.n = l.n + 1;
  }
  state close(running l) const {
    if (l.n == 0) return {0, 0, 0};
    A const share = l.sum / A(l.n), rest = l.squares - l.sum * share;
    return {l.n, l.pivot + share, rest < 0 ? A(0) : rest};
  }
  state combine(state a, state b) const {
    if (b.n == 0) return a;
    if (a.n == 0) return b;
    A const d = b.mean - a.mean, share = A(b.n) / A(a.n + b.n);
    return {a.n + b.n, a.mean + d * share, (a.squares + b.squares) + (d * d) * (A(a.n) * share)};
  }
};
constexpr u32 rotate_and_add(u32 a, u32 b) { return ((a << 5) | (a >> 27)) + b; }
struct rotations : plain_lanes<u32> {
  static constexpr bool commutes = false;
  u32 lane() const { return 0; }
  template <class V>
  void step(u32& s, V x) const {
    s = rotate_and_add(s, u32(x));
  }
  u32 combine(u32 a, u32 b) const { return rotate_and_add(a, b); }
};
/// The same in lanes: commuting is a lie that the tree must not notice.
struct lane_rotations : rotations {
  static constexpr bool commutes = true;
};

// ---- the library -------------------------------------------------------------------------------------------------

/// Stands for a number of threads: one tile, element by element.
constexpr int without_registers = 0;

template <class R>
auto states_of(R const& r, int threads) {
  auto const p = tally::v0::bind(r).program;
  auto s = p.identity();
  if (p.extent == 0) return s;
  if (threads != without_registers) return tally::v0::cpu::fold(p, threads);
  tally::v0::cpu::detail::fold_plainly(p, p, p.extent, 0, (p.extent - 1) / tally::v0::shape_of<std::remove_const_t<decltype(p)>>.elements() + 1, s);
  return s;
}

auto const rotation = tally::v0::fold_of(
    u32(0), [](u32 a, u32 b) { return rotate_and_add(a, b); }, [](auto x) { return u32(x); }, [](u32 s) { return s; },
    tally::v0::associative);
auto const lane_rotation = tally::v0::fold_of(
    u32(0), [](u32 a, u32 b) { return rotate_and_add(a, b); }, [](auto x) { return u32(x); }, [](u32 s) { return s; },
    tally::v0::associative, tally::v0::commutative);

template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) && std::isnan(b)) return true;
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class A>
bool same_bits(tally::v0::deviations<A> a, tally::v0::deviations<A> b) {
  return a.n == b.n && same_bits(a.mean, b.mean) && same_bits(a.squares, b.squares);
}
template <class S>
  requires requires(S s) { s.high; }
bool same_bits(S a, S b) {
  return same_bits(a.high, b.high) && same_bits(a.low, b.low);
}
template <class S, class T>
  requires requires(S s) { s.any; }
bool same_bits(S a, T b) { // a state that knows whether it has seen anything
  return same_bits(a.s, b);
}

/// Numbers of very different size and both signs, the same on every run.
template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> x(n);
  u64 seed = 12345;
  for (auto& v : x) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double const u = double(i64(seed >> 20)) / double(i64(1) << 43) - 1;
    v = T(u * std::ldexp(1.0, int((seed >> 13) & 31) - 8));
  }
  return x;
}

/// A copy of x that starts `bytes` bytes behind a 64-byte border.
template <class T>
class displaced {
public:
  displaced(std::vector<T> const& x, std::size_t bytes) : memory_(x.size() * sizeof(T) + 128), n_(x.size()) {
    auto const border = (reinterpret_cast<std::uintptr_t>(memory_.data()) + 63) / 64 * 64;
    start_ = reinterpret_cast<unsigned char*>(border + bytes);
    if (n_ > 0) std::memcpy(start_, x.data(), n_ * sizeof(T));
  }
  auto column() const { return tally::v0::device(reinterpret_cast<T const*>(start_), i64(n_)); }

private:
  std::vector<unsigned char> memory_;
  std::size_t n_;
  unsigned char* start_;
};

constexpr std::size_t tile = 64 * 1024;
std::vector<std::size_t> border_sizes(std::size_t leaf) {
  return {leaf - 1, leaf, leaf + 1, 3 * leaf + 5, 7 * leaf, tile - 1, tile, tile + 1, 3 * tile + leaf + 3};
}

/// Every fold of T over x: all of it, and the part above a threshold.
template <class T>
void check_all(std::vector<T> const& x, std::size_t bytes, std::vector<int> const& threads) {
  displaced<T> const at(x, bytes);
  std::vector<bool> const all(x.size(), true);
  std::vector<bool> some(x.size());
  for (std::size_t e = 0; e < x.size(); ++e) some[e] = x[e] > T(-3);
  auto const whole = tally::v0::from(at.column());
  auto const part = whole | tally::v0::filter(tally::v0::_1 > T(-3));
  for (int t : threads) {
    CAPTURE(x.size());
    CAPTURE(bytes);
    CAPTURE(t);
    auto const a = states_of(
        whole | tally::v0::reduce(tally::v0::sum, tally::v0::min, tally::v0::max, tally::v0::variance, tally::v0::sum.compensated()), t);
    CHECK(same_bits(tally::v0::get<0>(a), slowly(sums<T>{}, x, all)));
    CHECK(same_bits(tally::v0::get<1>(a), slowly(extremes<T>(true), x, all)));
    CHECK(same_bits(tally::v0::get<2>(a), slowly(extremes<T>(false), x, all)));
    CHECK(same_bits(tally::v0::get<3>(a), slowly(variances<T>{}, x, all)));
    CHECK(same_bits(tally::v0::get<4>(a), slowly(compensated_sums<T>{}, x, all)));
    auto const b = states_of(part | tally::v0::reduce(tally::v0::sum, tally::v0::min, tally::v0::max, tally::v0::variance,
                                                  tally::v0::sum.compensated(), tally::v0::count),
                             t);
    CHECK(same_bits(tally::v0::get<0>(b), slowly(sums<T>{}, x, some)));
    CHECK(same_bits(tally::v0::get<1>(b), slowly(extremes<T>(true), x, some)));
    CHECK(same_bits(tally::v0::get<2>(b), slowly(extremes<T>(false), x, some)));
    CHECK(same_bits(tally::v0::get<3>(b), slowly(variances<T>{}, x, some)));
    CHECK(same_bits(tally::v0::get<4>(b), slowly(compensated_sums<T>{}, x, some)));
    CHECK(tally::v0::get<5>(b) == u64(std::count(some.begin(), some.end(), true)));
  }
}

void check_order(std::size_t n, std::size_t bytes, std::vector<int> const& threads) {
  std::vector<u32> x(n);
  for (std::size_t e = 0; e < n; ++e) x[e] = u32(e * 2654435761u + 7);
  displaced<u32> const at(x, bytes);
  std::vector<bool> const all(n, true);
  std::vector<bool> some(n);
  for (std::size_t e = 0; e < n; ++e) some[e] = x[e] % 3 != 0;
  auto const whole = tally::v0::from(at.column());
  auto const part = whole | tally::v0::filter(tally::v0::_1 % 3u != 0u);
  for (int t : threads) {
    CAPTURE(n);
    CAPTURE(bytes);
    CAPTURE(t);
    auto const a = states_of(whole | tally::v0::reduce(rotation, lane_rotation), t);
    CHECK(tally::v0::get<0>(a) == slowly(rotations{}, x, all));
    CHECK(tally::v0::get<1>(a) == slowly(lane_rotations{}, x, all));
    auto const b = states_of(part | tally::v0::reduce(rotation, lane_rotation), t);
    CHECK(tally::v0::get<0>(b) == slowly(rotations{}, x, some));
    CHECK(tally::v0::get<1>(b) == slowly(lane_rotations{}, x, some));
  }
}

} // namespace

TEST_CASE("small inputs follow the tree, whole and masked") {
  for (std::size_t n = 0; n <= 300; ++n) {
    check_all(numbers<float>(n), n % 16, {1, without_registers});
    check_all(numbers<double>(n), n % 16, {1, without_registers});
    check_order(n, n % 16, {1, without_registers});
  }
}

TEST_CASE("inputs around a leaf and a tile follow the tree on 1, 2, 3 and 8 threads") {
  for (std::size_t n : border_sizes(1024)) {
    check_all(numbers<float>(n), 4, {without_registers, 1, 2, 3, 8});
    check_order(n, 4, {without_registers, 1, 2, 3, 8});
  }
  for (std::size_t n : border_sizes(512)) check_all(numbers<double>(n), 8, {without_registers, 1, 2, 3, 8});
}

TEST_CASE("a million elements and seven follow the tree on 1, 2, 3 and 8 threads") {
  std::size_t const n = (1u << 20) + 7;
  check_all(numbers<float>(n), 0, {1, 2, 3, 8});
  check_all(numbers<double>(n), 0, {2, 8});
  check_order(n, 0, {1, 2, 3, 8});
}

TEST_CASE("the address of the data does not matter, at any byte") {
  for (std::size_t bytes = 0; bytes < 16; ++bytes) {
    check_all(numbers<float>(3 * 1024 + 5), bytes, {without_registers, 1, 3});
    check_all(numbers<double>(3 * 512 + 5), bytes, {without_registers, 1, 3});
    check_order(3 * 1024 + 5, bytes, {without_registers, 1, 3});
  }
}

TEST_CASE("min and max find NaN, infinities and signed zeros at every position") {
  auto const check = []<class T>(T special, T other, int threads) {
    for (std::size_t n : {1u, 2u, 31u, 32u, 33u, 127u, 128u, 129u, 300u, 1024u, 1025u})
      for (std::size_t at = 0; at < n; at += n <= 300 ? 1 : 17) {
        std::vector<T> x(n, other);
        x[at] = special;
        std::vector<bool> const all(n, true);
        auto const s = states_of(tally::v0::from(x) | tally::v0::reduce(tally::v0::min, tally::v0::max), threads);
        auto const m = states_of(
            tally::v0::from(x) | tally::v0::filter(tally::v0::index != i64(at)) | tally::v0::reduce(tally::v0::min, tally::v0::max), threads);
        bool const good = same_bits(tally::v0::get<0>(s), slowly(extremes<T>(true), x, all)) &&
                          same_bits(tally::v0::get<1>(s), slowly(extremes<T>(false), x, all)) &&
                          tally::v0::get<0>(m).any == u32(n > 1) && (n == 1 || same_bits(tally::v0::get<0>(m).s, other)) &&
                          (n == 1 || same_bits(tally::v0::get<1>(m).s, other));
        CAPTURE(n);
        CAPTURE(at);
        CAPTURE(special);
        CAPTURE(other);
        REQUIRE(good);
      }
  };
  auto const of_type = [&]<class T>(T) {
    T const nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
    for (T special : {nan, -nan, infinity, -infinity, T(0), -T(0), std::numeric_limits<T>::denorm_min()})
      for (T other : {T(0), -T(0), T(1), T(-1), infinity, -infinity})
        check(special, other, 1), check(special, other, without_registers);
  };
  of_type(float{});
  of_type(double{});
}

TEST_CASE("every size of element has its own leaf") {
  std::size_t const n = 5 * 2048 + 77;
  auto const of_type = [&]<class V, class A>(V, A) {
    std::vector<V> x(n);
    for (std::size_t e = 0; e < n; ++e) x[e] = V(int(e % 199) - (std::is_signed_v<V> ? 100 : 0));
    std::vector<bool> const all(n, true);
    for (std::size_t bytes : {0u, 1u, 7u}) {
      displaced<V> const at(x, bytes);
      auto const r =
          tally::v0::from(at.column()) | tally::v0::reduce(tally::v0::sum, tally::v0::sum.in<float>(), rotation, tally::v0::variance);
      for (int t : {without_registers, 2}) {
        auto const s = states_of(r, t);
        CHECK(tally::v0::get<0>(s) == slowly(sums<A>{}, x, all));
        CHECK(same_bits(tally::v0::get<1>(s), slowly(sums<float>{}, x, all)));
        CHECK(tally::v0::get<2>(s) == slowly(rotations{}, x, all));
        CHECK(same_bits(tally::v0::get<3>(s), slowly(variances<double>{}, x, all)));
      }
    }
  };
  of_type(tally::v0::i8{}, i64{});
  of_type(tally::v0::u8{}, u64{});
  of_type(tally::v0::i16{}, i64{});
  of_type(tally::v0::i32{}, i64{});
  of_type(tally::v0::u32{}, u64{});
  of_type(tally::v0::i64{}, i64{});
  of_type(tally::v0::u64{}, u64{});
}

TEST_CASE("small floats are folded as floats") {
  auto const of_type = [&]<class V>(V) {
    auto const wide = numbers<float>(5 * 2048 + 77);
    std::vector<V> x(wide.size());
    for (std::size_t e = 0; e < x.size(); ++e) x[e] = static_cast<V>(wide[e] / 1024);
    std::vector<bool> const all(x.size(), true);
    for (int t : {without_registers, 2}) {
      auto const s = states_of(tally::v0::from(x) | tally::v0::reduce(tally::v0::sum, tally::v0::variance, tally::v0::max), t);
      CHECK(same_bits(tally::v0::get<0>(s), slowly(sums<float>{}, x, all)));
      CHECK(same_bits(tally::v0::get<1>(s), slowly(variances<float>{}, x, all)));
      CHECK(tally::v0::get<2>(s) == static_cast<float>(*std::max_element(x.begin(), x.end(), [](V a, V b) {
              return static_cast<float>(a) < static_cast<float>(b);
            })));
    }
  };
  of_type(tally::v0::f16{});
  of_type(tally::v0::bf16{});
}

TEST_CASE("folds that share an expression share its values, and only those") {
  std::size_t const n = 4 * 1024 + 3;
  auto const x = numbers<float>(n);
  std::vector<bool> const all(n, true);
  auto const times = [&](float f) {
    auto y = x;
    for (auto& v : y) v *= f;
    return y;
  };
  float const two = 2, three = 3;
  auto const s =
      states_of(tally::v0::from(x) | tally::v0::reduce(tally::v0::sum(tally::v0::_1 * two), tally::v0::sum(tally::v0::_1 * three),
                                               tally::v0::max(tally::v0::_1 * three), tally::v0::sum(tally::v0::_1 * two),
                                               tally::v0::sum.where(tally::v0::_1 > two), tally::v0::sum.where(tally::v0::_1 > three)),
                1);
  CHECK(same_bits(tally::v0::get<0>(s), slowly(sums<float>{}, times(2), all)));
  CHECK(same_bits(tally::v0::get<1>(s), slowly(sums<float>{}, times(3), all)));
  CHECK(same_bits(tally::v0::get<2>(s), slowly(extremes<float>(false), times(3), all)));
  CHECK(same_bits(tally::v0::get<3>(s), slowly(sums<float>{}, times(2), all)));
  std::vector<bool> above_two(n), above_three(n);
  for (std::size_t e = 0; e < n; ++e) above_two[e] = x[e] > 2, above_three[e] = x[e] > 3;
  CHECK(same_bits(tally::v0::get<4>(s), slowly(sums<float>{}, x, above_two)));
  CHECK(same_bits(tally::v0::get<5>(s), slowly(sums<float>{}, x, above_three)));
}

TEST_CASE("columns that are no plain memory follow the same tree") {
  std::size_t const n = 3 * 1024 + 11;
  auto const x = numbers<float>(n);
  std::vector<bool> const all(n, true);
  std::vector<float> spread(3 * n);
  for (std::size_t e = 0; e < n; ++e) spread[3 * e] = x[e];
  auto const strided =
      states_of(tally::v0::from(tally::v0::every(spread.data(), i64(n), 3)) | tally::v0::reduce(tally::v0::sum, tally::v0::min), 2);
  CHECK(same_bits(tally::v0::get<0>(strided), slowly(sums<float>{}, x, all)));
  CHECK(same_bits(tally::v0::get<1>(strided), slowly(extremes<float>(true), x, all)));
  std::deque<float> const pieces(x.begin(), x.end()); // its leaf is that of a source without memory: a group of 4
  auto const host = states_of(tally::v0::from(pieces) | tally::v0::reduce(tally::v0::sum, tally::v0::variance), 2);
  CHECK(same_bits(tally::v0::get<0>(host), slowly(sums<float>{}, x, all)));
  CHECK(same_bits(tally::v0::get<1>(host), slowly(variances<float>{}, x, all)));
  auto const where =
      states_of(tally::v0::from(x, tally::v0::iota(i64(n))) |
                    tally::v0::reduce(tally::v0::argmin(tally::v0::_1), tally::v0::max(tally::v0::_2), tally::v0::max(tally::v0::index)),
                2);
  CHECK(tally::v0::get<0>(where).position == std::min_element(x.begin(), x.end()) - x.begin());
  CHECK(tally::v0::get<1>(where) == i64(n) - 1);
  CHECK(tally::v0::get<2>(where) == i64(n) - 1);
}

TEST_CASE("a host function behind a mask is called for the elements that pass, and for no other") {
  std::size_t const n = 2 * 1024 + 100;
  std::vector<float> x(n);
  for (std::size_t e = 0; e < n; ++e) x[e] = float(e);
  std::size_t calls = 0;
  bool strayed = false;
  auto const root = [&](float v) {
    ++calls;
    strayed = strayed || v < 100;
    return v / 2;
  };
  auto const s = states_of(tally::v0::from(x) | tally::v0::filter(tally::v0::_1 >= 100.f) | tally::v0::map(root) | tally::v0::sum, 1);
  std::vector<float> halves(n);
  std::vector<bool> on(n);
  for (std::size_t e = 0; e < n; ++e) halves[e] = x[e] / 2, on[e] = e >= 100;
  CHECK(same_bits(tally::v0::get<0>(s), slowly(sums<float>{}, halves, on)));
  CHECK_FALSE(strayed);
  CHECK(calls == n - 100);
}
