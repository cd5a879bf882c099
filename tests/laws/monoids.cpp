// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The laws of every built-in fold, as the monoid it is: identity, grouping, order as far as it is promised, and lanes that
// mean what states mean.
#include <tally/fold/folds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

using namespace tally::v0;

/// A lowered state as numbers.
template <class T>
  requires real<T>
void append(std::vector<double>& out, T x) {
  out.push_back(static_cast<double>(x));
}
template <class A>
void append(std::vector<double>& out, deviations<A> const& d) {
  append(out, d.n), append(out, d.mean), append(out, d.squares);
}
template <class A, int K>
void append(std::vector<double>& out, central_sums<A, K> const& c) {
  append(out, c.n), append(out, c.mean);
  for (A p : c.power) append(out, p);
}
template <class M>
std::vector<double> numbers_of(M const& m, typename M::state const& s) {
  std::vector<double> out;
  append(out, m.lower(s, summary{1}));
  return out;
}

template <class T>
T element(std::mt19937& random) {
  if constexpr (floating<T>) // positive, so that an error can be relative; some equal each other
    return static_cast<T>(1.f + static_cast<float>(random() % 512) / 512.f);
  else if constexpr (std::is_same_v<T, bool>)
    return random() % 2 != 0;
  else
    return static_cast<T>(random());
}

template <class M, class T, int Values>
typename M::state lifted(M const& m, i64 position, T x) {
  if constexpr (Values == 0)
    return m.lift(position);
  else if constexpr (Values == 1)
    return m.lift(position, x);
  else
    return m.lift(position, x, static_cast<T>(x * x));
}
template <class M, class T, int Values, class Lanes>
void step(M const& m, Lanes& lanes, int j, bool on, i64 position, T x) {
  if constexpr (Values == 0)
    lanes.step(m, j, on, position);
  else if constexpr (Values == 1)
    lanes.step(m, j, on, position, x);
  else
    lanes.step(m, j, on, position, x, static_cast<T>(x * x));
}

/// Elements as states, combined in a random grouping; neighbours only, so the order stays.
template <class M>
typename M::state grouped(M const& m, std::vector<typename M::state> states, std::mt19937& random) {
  while (states.size() > 1) {
    auto const k = static_cast<std::ptrdiff_t>(random() % (states.size() - 1));
    auto const at = static_cast<std::size_t>(k);
    states[at] = m.combine(states[at], states[at + 1]);
    states.erase(states.begin() + k + 1);
  }
  return states[0];
}

void check_close(std::vector<double> const& a, std::vector<double> const& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  double size = 0;
  for (double x : a) size = std::max(size, std::fabs(x));
  for (std::size_t i = 0; i < a.size(); ++i)
    if (tolerance == 0)
      CHECK(a[i] == b[i]);
    else
      CHECK(std::fabs(a[i] - b[i]) <= tolerance * size);
}

/// All laws of one monoid over elements of T.
template <class T, int Values = 1, class M>
void check_laws(char const* name, M const& m) {
  CAPTURE(name);
  static_assert(monoid<M>);
  constexpr bool exact = M::law.order_free;
  constexpr double tolerance = exact ? 0 : std::is_same_v<T, double> ? 1e-12 : 1e-4;
  std::mt19937 random(11);
  for (int round = 0; round < 20; ++round) {
    std::size_t const n = 1 + random() % 60;
    std::vector<typename M::state> states;
    lanes_t<M, 4> lanes(m);
    std::vector<T> elements;
    for (std::size_t k = 0; k < n; ++k) {
      elements.push_back(element<T>(random));
      states.push_back(lifted<M, T, Values>(m, static_cast<i64>(k), elements[k]));
      step<M, T, Values>(m, lanes, int(k % 4), true, static_cast<i64>(k), elements[k]);
      step<M, T, Values>(m, lanes, int(k % 3), false, static_cast<i64>(k), element<T>(random)); // held back: no trace
    }
    auto const answer = numbers_of(m, grouped(m, states, random));
    // identity
    check_close(numbers_of(m, m.combine(m.identity(), grouped(m, states, random))), answer, tolerance);
    check_close(numbers_of(m, m.combine(grouped(m, states, random), m.identity())), answer, tolerance);
    // grouping
    check_close(numbers_of(m, grouped(m, states, random)), answer, tolerance);
    // order
    auto shuffled = states;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    if (M::law.commutative) check_close(numbers_of(m, grouped(m, shuffled, random)), answer, tolerance);
    // lanes
    std::vector<typename M::state> closed;
    for (int j = 0; j < 4; ++j) closed.push_back(lanes.close(m, j));
    if (M::law.commutative) check_close(numbers_of(m, grouped(m, closed, random)), answer, tolerance);
  }
}

template <class T>
void check_ordered(char const* type) {
  CAPTURE(type);
  check_laws<T>("min", extreme_operation<true>::bind<T>());
  check_laws<T>("max", extreme_operation<false>::bind<T>());
  check_laws<T>("min.ignoring_nan", extreme_operation<true, true>::bind<T>());
  check_laws<T>("argmin", arg_operation<true>::bind<T>());
  check_laws<T>("argmax", arg_operation<false>::bind<T>());
  check_laws<T>("first", end_operation<true>::bind<T>());
  check_laws<T>("last", end_operation<false>::bind<T>());
}
template <class T>
void check_integers(char const* type) {
  CAPTURE(type);
  static_assert(sum_operation<>::bind<T>().law == any_order && product_operation<>::bind<T>().law == any_order);
  check_laws<T>("sum", sum_operation<>::bind<T>());
  check_laws<T>("sum.checked", sum_operation<void, sum_form::checked>::bind<T>());
  check_laws<T>("product", product_operation<>::bind<T>());
  check_laws<T>("bit_and", bit_operation<bit_rule::and_>::bind<T>());
  check_laws<T>("bit_or", bit_operation<bit_rule::or_>::bind<T>());
  check_laws<T>("bit_xor", bit_operation<bit_rule::xor_>::bind<T>());
}
template <class T>
void check_floats(char const* type) {
  CAPTURE(type);
  static_assert(!sum_operation<>::bind<T>().law.order_free && !product_operation<>::bind<T>().law.order_free);
  check_laws<T>("sum", sum_operation<>::bind<T>());
  check_laws<T>("sum.compensated", sum_operation<void, sum_form::compensated>::bind<T>());
  check_laws<T>("product", product_operation<>::bind<T>());
  check_laws<T>("variance", variance_operation<>::bind<T>());
  check_laws<T>("moments<2>", moments_operation<2>::bind<T>());
  check_laws<T>("moments<3>", moments_operation<3>::bind<T>());
  check_laws<T>("moments<4>", moments_operation<4>::bind<T>());
  check_laws<T>("logsumexp", logsumexp_operation<>::bind<T>());
}

} // namespace

TEST_CASE("folds whose answer is an element keep every law, bit for bit") {
  check_ordered<float>("f32");
  check_ordered<f16>("f16");
  check_ordered<i8>("i8");
  check_ordered<u64>("u64");
  check_ordered<bool>("bool");
}

TEST_CASE("folds of integers keep every law, bit for bit") {
  check_integers<i8>("i8");
  check_integers<u32>("u32");
  check_integers<i64>("i64");
}

TEST_CASE("counts keep every law, bit for bit, and look at no element") {
  check_laws<int, 0>("count", count_operation::bind<>());
  check_laws<int, 0>("count_modulo", count_modulo_operation<true>{{}, 7}.bind<>());
  check_laws<int, 0>("countdown_modulo", count_modulo_operation<false>{{}, 4294967295u}.bind<>());
}

TEST_CASE("folds that round keep the laws up to rounding") {
  check_floats<float>("f32");
  check_floats<double>("f64");
  check_floats<bf16>("bf16");
  check_laws<double, 2>("covariance", covariance_operation<>::bind<double, double>());
}

TEST_CASE("a product of a user's type keeps its order, a sum does not: addition commutes") {
  struct turn {
    float x, y;
    constexpr turn(float a = 1, float b = 0) : x(a), y(b) {}
    constexpr turn operator*(turn const& o) const { return {x * o.x, x * o.y + y}; }
    constexpr turn operator+(turn const& o) const { return {x + o.x, y + o.y}; }
  };
  static_assert(product_operation<>::bind<turn>().law == in_order);
  static_assert(sum_operation<>::bind<turn>().law == any_grouping);
}
