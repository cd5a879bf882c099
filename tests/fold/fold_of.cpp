// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds of the user's own: any state, any associative operation, in order when the operation does not commute.
#include "element/device_compiler.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace own_folds {

TALLY_STRUCT(matrix, { unsigned long long a, b, c, d; });
TALLY_FUNCTION(matrix_product, (matrix x, matrix y), {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
});
TALLY_FUNCTION(shear, (unsigned v), { return v % 2 ? matrix{1, v, 0, 1} : matrix{1, 0, v, 1}; });
TALLY_FUNCTION(itself, (matrix x), { return x; });

TALLY_FUNCTION(rotate_and_add, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b; });
TALLY_FUNCTION(spread_bits, (unsigned v), { return (v + 1) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(same, (unsigned long long a), { return a; });

TALLY_STRUCT(range_of_values, {
  float low, high;
  int seen;
});
TALLY_FUNCTION(hull, (range_of_values a, range_of_values b), {
  if (!a.seen) return b;
  if (!b.seen) return a;
  return range_of_values{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, 1};
});
TALLY_FUNCTION(point_range, (float x), { return range_of_values{x, x, 1}; });
TALLY_FUNCTION(width, (range_of_values a), { return a.high - a.low; });

TALLY_FUNCTION(dot_of, (float a, float b), { return a * b; });
TALLY_FUNCTION(added, (float a, float b), { return a + b; });
TALLY_FUNCTION(unchanged, (float a), { return a; });

inline bool operator==(matrix const& x, matrix const& y) {
  return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
}

} // namespace own_folds

namespace {

using namespace tally::v0;
using namespace own_folds;

std::vector<unsigned> numbers(std::size_t n) {
  std::vector<unsigned> v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = unsigned(i * 2654435761u) >> 7;
  return v;
}

constexpr auto whole_product = fold_of(matrix{1, 0, 0, 1}, matrix_product, shear, itself, associative);
constexpr auto tree_detector = fold_of(0ull, rotate_and_add, spread_bits, same, associative);

/// The canonical tree, written again: rows are trees of neighbours, leaves are trees of rows, the whole a tree of leaves.
unsigned long long expected_tree(std::vector<unsigned> const& v, std::size_t lanes, std::size_t rows) {
  auto const tree = [](auto const& self, std::vector<unsigned long long> s) -> unsigned long long {
    if (s.size() == 1) return s[0];
    std::vector<unsigned long long> up;
    for (std::size_t i = 0; i + 1 < s.size(); i += 2)
      up.push_back(rotate_and_add(s[i], s[i + 1]));
    if (s.size() % 2) up.push_back(s.back());
    return self(self, up);
  };
  std::vector<unsigned long long> leaves;
  for (std::size_t leaf = 0; leaf < v.size(); leaf += lanes * rows) {
    std::vector<unsigned long long> of_row;
    for (std::size_t r = 0; r < rows; ++r) {
      std::vector<unsigned long long> lane(lanes, 0);
      for (std::size_t l = 0; l < lanes; ++l)
        if (auto const e = leaf + r * lanes + l; e < v.size()) lane[l] = rotate_and_add(0ull, spread_bits(v[e]));
      of_row.push_back(tree(tree, lane));
    }
    leaves.push_back(tree(tree, of_row));
  }
  return tree(tree, leaves);
}

} // namespace

TEST_CASE("a product of matrices is taken in order") {
  for (std::size_t n : {1u, 2u, 31u, 1024u, 1025u, 5000u, 70001u}) {
    auto const v = numbers(n);
    matrix expected{1, 0, 0, 1};
    for (auto const x : v)
      expected = matrix_product(expected, shear(x));
    for (int threads : {1, 3})
      CHECK((run(from(v) | whole_product, on::cpu.threads(threads)) == expected));
  }
  std::vector<unsigned> const nothing;
  CHECK((run(from(nothing) | whole_product) == matrix{1, 0, 0, 1}));
}

TEST_CASE("rotate-and-add, which is not associative, shows that the tree is the canonical one") {
  for (std::size_t n : {1u, 5u, 127u, 128u, 129u, 1023u, 1024u, 1025u, 3000u, 65536u, 70001u, 200000u}) {
    auto const v = numbers(n);
    auto const expected = expected_tree(v, 128, 8);
    for (int threads : {1, 2, 8})
      CHECK(run(from(v) | tree_detector, on::cpu.threads(threads)) == expected);
  }
}

TEST_CASE("both compile for a GPU, alone and beside other folds") {
  auto const v = numbers(5000);
  CHECK(compiles_for_a_gpu(from(v) | whole_product));
  CHECK(compiles_for_a_gpu(from(v) | tree_detector));
  CHECK(compiles_for_a_gpu(from(v) | filter(_1 > 3) | reduce(sum, whole_product, tree_detector.where(_1 % 2 == 0), max)));
}

TEST_CASE("a state may be smaller than a word, and padded") {
  std::vector<float> const x{3.f, -2.f, 7.f, 1.f};
  constexpr auto spread_of = fold_of(range_of_values{0, 0, 0}, hull, point_range, width, commutative, order_free);
  CHECK(run(from(x) | reduce(spread_of, count), on::cpu) == std::tuple(9.f, i64(4)));
  CHECK(run(from(x) | spread_of.where(_1 > 2.f), on::cpu) == 4.f);
  CHECK(compiles_for_a_gpu(from(x) | reduce(spread_of, spread_of.where(_1 > 2.f))));
}

TEST_CASE("a fold of the user's own takes as many elements as its lift") {
  std::vector<float> const x{1.f, 2.f, 3.f}, y{4.f, 5.f, 6.f};
  constexpr auto dot = fold_of(0.f, added, dot_of, unchanged, associative, commutative);
  CHECK(run(from(x, y) | dot(_1, _2), on::cpu) == 32.f);
  CHECK(run(from(x, y) | dot(_1, _2 * 2.f), on::cpu) == 64.f);
  CHECK(compiles_for_a_gpu(from(x, y) | dot(_1, _2)));
}

TEST_CASE("an operation that commutes runs down the lanes like a sum") {
  std::vector<float> x(70001);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 1000) * 0.37f;
  constexpr auto own_sum = fold_of(0.f, added, unchanged, unchanged, associative, commutative);
  CHECK(run(from(x) | own_sum, on::cpu) == run(from(x) | sum, on::cpu));
}

TEST_CASE("host callables make a fold for the CPU, one is enough") {
  std::vector<float> const x{1.f, 2.f, 3.f};
  auto const by_lambdas = from(x) | fold_of(
      1.0, [](double a, double b) { return a * b; }, [](float v) { return double(v); }, [](double a) { return a; }, associative);
  CHECK(run(by_lambdas) == 6.0);
  CHECK_FALSE(decltype(tally::v0::bind(by_lambdas).program)::lowerable);
  auto const lowered_by_lambda = from(x) | fold_of(0.f, added, unchanged, [](float a) { return -a; }, associative);
  CHECK(run(lowered_by_lambda) == -6.f);
  CHECK_FALSE(decltype(tally::v0::bind(lowered_by_lambda).program)::lowerable); // a kernel cannot name the lambda's type
}

TEST_CASE("the golden answers of the order-sensitive fold never change without a new version of the tree") {
  CHECK(tree_version == 1);
  auto const golden = numbers(70001);
  CHECK(run(from(golden) | tree_detector, on::cpu) == 4082519550925691546u);
}
