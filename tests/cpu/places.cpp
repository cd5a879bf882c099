// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds whose answer is a place, over whole leaves and ragged ones: positions and ends as a plain loop finds them, whatever lies where, of
// numbers of every kind, behind masks that let all through, some or none.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace tally;

namespace {

/// The first place of the least (greatest) of those that pass, -1 where none does; a NaN is the least and the greatest of all.
template <bool Least, class T, class Passes>
i64 place_of(std::vector<T> const& x, Passes const& passes) {
  i64 best = -1;
  auto const nan = [](T v) { return v != v; };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!passes(x[i])) continue;
    bool const better = best < 0 || (!nan(x[std::size_t(best)]) && (nan(x[i]) || (Least ? x[i] < x[std::size_t(best)] : x[std::size_t(best)] < x[i])));
    if (better) best = i64(i);
  }
  return best;
}

/// Positions and ends of all, of those below a limit, and of none, against that.
template <class T>
void finds_places(std::vector<T> const& x, T limit) {
  CAPTURE(x.size());
  auto const all = [](T) { return true; };
  auto const below = [&](T v) { return v < limit; };
  auto const column = from(x);
  CHECK(run(column | argmin, on::cpu.threads(2)) == place_of<true>(x, all));
  CHECK(run(column | argmax, on::cpu.threads(2)) == place_of<false>(x, all));
  CHECK(run(column | argmin(_1).where(_1 < limit).or_else(-1), on::cpu.threads(2)) == place_of<true>(x, below));
  CHECK(run(column | argmax(_1).where(_1 < limit).or_else(-1), on::cpu.threads(2)) == place_of<false>(x, below));
  CHECK(run(column | argmax(_1).where(_1 < limit && _1 > limit).or_else(-1), on::cpu) == -1);
  i64 first_below = -1, last_below = -1;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (below(x[i])) last_below = i64(i), first_below = first_below < 0 ? i64(i) : first_below;
  CHECK(run(column | first(tally::index).where(_1 < limit).or_else(-1), on::cpu.threads(2)) == first_below);
  CHECK(run(column | last(tally::index).where(_1 < limit).or_else(-1), on::cpu.threads(2)) == last_below);
  CHECK(run(column | first(tally::index), on::cpu) == 0);
  CHECK(run(column | last(tally::index), on::cpu) == i64(x.size()) - 1);
}

template <class T>
void finds_places_of() {
  std::mt19937 random(11);
  using limits = std::numeric_limits<T>;
  for (std::size_t const n : {1u, 63u, 64u, 1024u, 2048u, 2049u, 70'000u, 300'001u}) {
    std::vector<T> x(n);
    for (auto& v : x) v = static_cast<T>(random() % 100);
    finds_places<T>(x, T(3));
    for (auto& v : x) v = limits::max(); // what no element is better than, of argmin
    finds_places<T>(x, limits::max());
    for (auto& v : x) v = limits::lowest();
    finds_places<T>(x, T(1));
    x.back() = T(1); // the last one
    finds_places<T>(x, T(2));
    x[n / 2] = x[n / 3] = T(5);
    finds_places<T>(x, T(5));
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i * 100 / n); // of which every leaf has one that is better
    finds_places<T>(x, T(7));
  }
}

} // namespace

TEST_CASE("the first of the least and of the greatest, and the first and last that pass, are found in every leaf") {
  finds_places_of<float>();
  finds_places_of<double>();
  finds_places_of<std::uint8_t>();
  finds_places_of<std::int16_t>();
  finds_places_of<std::int32_t>();
  finds_places_of<std::uint64_t>();
}

TEST_CASE("of floats a NaN, the infinities and zeros of either sign have their order") {
  float const infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(5000, -0.f);
  x[100] = 0.f;
  CHECK(run(from(x) | argmax, on::cpu) == 100); // -0 lies below 0
  CHECK(run(from(x) | argmin, on::cpu) == 0);
  x[3000] = -infinity;
  x[3001] = infinity;
  CHECK(run(from(x) | argmin, on::cpu) == 3000);
  CHECK(run(from(x) | argmax, on::cpu) == 3001);
  x[4000] = x[4001] = std::nanf("");
  CHECK(run(from(x) | argmin, on::cpu) == 4000);
  CHECK(run(from(x) | argmax, on::cpu) == 4000);
  CHECK(run(from(x) | argmax(_1).ignoring_nan(), on::cpu) == 3001);
}
