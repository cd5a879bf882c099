// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs partial, merge and finish: a reduction in parts has the bits of one run, whatever the cuts and the order of
// merging, and refuses what would change them.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace partial_spec {
TALLY_STRUCT(affine, { unsigned long long times, plus; });
TALLY_FUNCTION(affine_after, (affine a, affine b), { return affine{a.times * b.times, b.times * a.plus + b.plus}; });
TALLY_FUNCTION(affine_of, (unsigned x), { return affine{2ull * x + 1, x}; });
TALLY_FUNCTION(affine_bits, (affine a), { return a.plus ^ (a.times << 7); });

TALLY_FUNCTION(rotated, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b; });
TALLY_FUNCTION(as_u64, (unsigned x), { return static_cast<unsigned long long>(x) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(same_u64, (unsigned long long a), { return a; });
} // namespace partial_spec

namespace {

using namespace tally;
using namespace partial_spec;

constexpr i64 n = 100003;

template <class T>
std::vector<T> numbers() {
  std::mt19937 random(1);
  std::vector<T> v(n);
  for (auto& x : v)
    if constexpr (std::is_floating_point_v<T>)
      x = static_cast<T>(std::ldexp(double(random() % 2001) - 1000.0, int(random() % 30) - 15));
    else
      x = static_cast<T>(random());
  return v;
}

/// Cuts at multiples of `unit`, folds the parts, merges neighbours in a random order, some of them through bytes.
template <class PartOf>
auto in_parts(PartOf const& part_of, i64 unit, std::mt19937& random) {
  auto const whole = part_of(0, n);
  std::vector<i64> cuts{0, n};
  for (int k = int(random() % 20); k > 0; --k)
    cuts.push_back(i64(random() % unsigned(n / unit + 1)) * unit);
  std::sort(cuts.begin(), cuts.end());
  std::vector<decltype(partial(whole))> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    parts.push_back(partial(part_of(cuts[i], cuts[i + 1] - cuts[i]), starting_at(cuts[i]), on::cpu.threads(1 + int(i % 3))));
  while (parts.size() > 1) {
    auto const i = random() % (parts.size() - 1);
    auto left = parts[i], right = parts[i + 1];
    if (random() % 2)
      left = from_bytes(whole, to_bytes(left));
    parts[i] = random() % 2 ? merge(left, right) : merge(right, left);
    parts.erase(parts.begin() + std::ptrdiff_t(i) + 1);
  }
  return finish(from_bytes(whole, to_bytes(parts[0])));
}

template <class A, class B>
bool same_bits(A const& a, B const& b) {
  static_assert(std::is_same_v<A, B>);
  if constexpr (requires { std::tuple_size<A>::value; })
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (true && ... && same_bits(std::get<I>(a), std::get<I>(b)));
    }(std::make_index_sequence<std::tuple_size_v<A>>{});
  else
    return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class T, class Make>
void check_parts(std::vector<T> const& x, Make const& make) {
  auto const part_of = [&](i64 e, i64 extent) { return make(std::span(x.data() + e, std::size_t(extent))); };
  auto const whole = part_of(0, n);
  auto const expected = run(whole, on::cpu);
  std::mt19937 random(7);
  for (int round = 0; round < 12; ++round)
    CHECK(same_bits(in_parts(part_of, part_granularity(whole), random), expected));
}

} // namespace

TEST_CASE("a sum of floats in parts has the bits of one run") {
  check_parts(numbers<float>(), [](auto x) { return from(x) | sum; });
}

TEST_CASE("several folds of one read are merged together") {
  check_parts(numbers<float>(), [](auto x) { return from(x) | reduce(sum, min, max, mean, variance); });
}

TEST_CASE("a fold whose order matters keeps its order") {
  check_parts(numbers<unsigned>(), [](auto x) {
    return from(x) | fold_of(affine{1, 0}, affine_after, affine_of, affine_bits, associative);
  });
}

TEST_CASE("the tree itself is kept: an operation that is not even associative gives the same bits") {
  check_parts(numbers<unsigned>(), [](auto x) { return from(x) | fold_of(0ull, rotated, as_u64, same_u64, associative); });
}

TEST_CASE("positions are those of the whole") {
  auto x = numbers<float>();
  x[77777] = x[90001] = 1e30f;
  check_parts(x, [](auto s) { return from(s) | reduce(argmax, first, last, sum(_1 * tally::index), argmin); });
}

TEST_CASE("masks are kept, also where a part lets nothing through") {
  check_parts(numbers<float>(),
              [](auto x) { return from(x) | filter(_1 > 0.f && tally::index > 60000) | reduce(sum, max, count, first); });
}

TEST_CASE("the tree follows the element type") {
  check_parts(numbers<signed char>(), [](auto x) { return from(x) | reduce(sum, mean, sum(cast<float>(_1) / 3.f)); });
  check_parts(numbers<double>(), [](auto x) { return from(x) | reduce(sum, variance.where(_1 > 0.0)); });
}

TEST_CASE("a computed column is cut without a changed element") {
  auto const whole = from(iota(0.1f, n, 0.3f)) | sum;
  CHECK(same_bits(finish(partial(whole, on::cpu)), run(whole, on::cpu)));
}

TEST_CASE("folds that are free of order may be cut anywhere") {
  auto const x = numbers<unsigned>();
  auto const part_of = [&](i64 e, i64 extent) {
    return from(std::span(x.data() + e, std::size_t(extent))) | reduce(sum, max, argmin);
  };
  CHECK(part_granularity(part_of(0, n)) == 1);
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round)
    CHECK(same_bits(in_parts(part_of, 1, random), run(part_of(0, n), on::cpu)));
}

TEST_CASE("a partial that does not begin at zero answers for its own elements") {
  std::vector<float> x(5000, 1.f);
  auto const p = partial(from(x) | reduce(sum, count, argmax), starting_at(4096));
  CHECK(p.begin_element() == 4096);
  CHECK(p.end_element() == 9096);
  CHECK((finish(p) == std::tuple(5000.f, i64(5000), i64(4096))));
}

TEST_CASE("an empty part is a neighbour like any other") {
  std::vector<float> nothing, x(3000, 2.f);
  auto const of_nothing = partial(from(nothing) | sum);
  CHECK(finish(of_nothing) == 0.f);
  CHECK(finish(merge(of_nothing, partial(from(x) | sum))) == 6000.f);
  CHECK(finish(merge(partial(from(x) | sum), partial(from(nothing) | sum, starting_at(3000)))) == 6000.f);
  CHECK(finish(from_bytes(from(x) | sum, to_bytes(of_nothing))) == 0.f);
  CHECK_THROWS_AS(finish(partial(from(nothing) | max)), empty_input);
}

TEST_CASE("a count alone reads nothing, in parts either") {
  std::vector<float> x(3000);
  CHECK(finish(merge(partial(from(x) | count), partial(from(x) | count, starting_at(3000)))) == 6000);
}

TEST_CASE("the granularity is the leaf's, and 2048 serves every type") {
  std::vector<float> f;
  std::vector<double> d;
  std::vector<signed char> c;
  CHECK(part_granularity(from(f) | sum) == 1024);
  CHECK(part_granularity(from(d) | sum) == 512);
  CHECK(part_granularity(from(c) | sum(cast<float>(_1))) == 2048);
  CHECK(part_granularity(from(c) | sum) == 1);
}

TEST_CASE("what would change the tree is refused") {
  std::vector<float> x(4096, 1.f);
  auto const r = from(x) | sum;
  SUBCASE("a part that begins inside a leaf") { CHECK_THROWS_AS(partial(r, starting_at(1000)), misaligned_partial); }
  SUBCASE("parts that are no neighbours") {
    CHECK_THROWS_WITH_AS(merge(partial(r), partial(r, starting_at(8192))),
                         "[tally-E18] the partials cover [0, 4096) and [8192, 12288): they are no neighbours. "
                         "docs/errors.md#E18",
                         misaligned_partial);
  }
  SUBCASE("parts that overlap") { CHECK_THROWS_AS(merge(partial(r), partial(r, starting_at(1024))), misaligned_partial); }
  SUBCASE("something after a ragged end") {
    auto const of_first = [&](std::size_t extent) { return from(std::span(x.data(), extent)) | sum; };
    auto const ragged = partial(of_first(4000));
    CHECK(finish(merge(ragged, partial(of_first(0), starting_at(4000)))) == 4000.f);
    CHECK_THROWS_AS(partial(of_first(96), starting_at(4000)), misaligned_partial);
    // the same with bytes of order-free siblings is fine
    auto const whole_numbers = [&](std::size_t extent) { return from(std::span(x.data(), extent)) | sum(cast<int>(_1)); };
    CHECK(finish(merge(partial(whole_numbers(4000)), partial(whole_numbers(96), starting_at(4000)))) == 4096);
  }
  SUBCASE("parts that captured different values") {
    CHECK_THROWS_WITH_AS(merge(partial(from(x) | sum(_1 * 2.f)), partial(from(x) | sum(_1 * 3.f), starting_at(4096))),
                         "[tally-E18] the partials captured different values. docs/errors.md#E18", misaligned_partial);
  }
  SUBCASE("a position that is none") {
    CHECK_THROWS_AS(partial(r, starting_at(-1024)), too_large);
    CHECK_THROWS_AS(partial(r, starting_at(std::numeric_limits<i64>::max() - 1023)), too_large);
  }
  SUBCASE("columns that do not fit, as in run") {
    std::vector<float> y(7);
    CHECK_THROWS_AS(partial(from(x, y) | sum(_1 * _2)), extent_mismatch);
  }
}

TEST_CASE("partials whose answers other numbers make are not merged") {
  std::vector<float> const x(4096, 1.f);
  CHECK_THROWS_AS(merge(partial(from(x) | sum * 2.f), partial(from(x) | sum * 3.f, starting_at(4096))), misaligned_partial);
  CHECK_THROWS_AS(merge(partial(from(x) | max.or_else(7.f)), partial(from(x) | max.or_else(8.f), starting_at(4096))), misaligned_partial);
  CHECK(finish(merge(partial(from(x) | sum * 2.f), partial(from(x) | sum * 2.f, starting_at(4096)))) == 16384.f);
  CHECK(finish(from_bytes(from(x) | sum * 3.f, to_bytes(partial(from(x) | sum)))) == 12288.f);
}

#if __has_builtin(__builtin_clear_padding)
namespace {
[[gnu::noinline]] void fill_stack(unsigned char with) {
  unsigned char volatile there[20000];
  for (auto& byte : there) byte = with;
}
} // namespace

TEST_CASE("bytes hold nothing but values") {
  std::vector<float> const x(4096, 1.f);
  auto const written = [&](unsigned char stack, auto const& fold) {
    fill_stack(stack);
    auto const in_front = partial(from(std::span(x).first(2048)) | fold), behind = partial(from(std::span(x).subspan(2048)) | fold, starting_at(2048));
    return to_bytes(merge(in_front, behind));
  };
  CHECK(written(0x11, argmax) == written(0xee, argmax));
  CHECK(written(0x11, covariance(_1, _1 * 2.f)) == written(0xee, covariance(_1, _1 * 2.f)));
}
#endif

TEST_CASE("bytes that are not what they should be are refused") {
  std::vector<float> x(5000, 1.f);
  auto const r = from(x) | reduce(sum, max);
  auto const good = to_bytes(partial(r));
  CHECK((finish(from_bytes(r, good)) == run(r)));
  SUBCASE("every flipped bit") {
    for (std::size_t i = 0; i < good.size(); ++i) {
      auto bad = good;
      bad[i] ^= std::byte(1u << (i % 8));
      CHECK_THROWS_AS(from_bytes(r, bad), bad_bytes);
    }
  }
  SUBCASE("every shorter length, and a longer one") {
    for (std::size_t size = 0; size < good.size(); ++size)
      CHECK_THROWS_AS(from_bytes(r, std::span(good.data(), size)), bad_bytes);
    auto longer = good;
    longer.push_back(std::byte{0});
    CHECK_THROWS_AS(from_bytes(r, longer), bad_bytes);
  }
  SUBCASE("another reduction, another element type, another captured value") {
    std::vector<int> ints(5000);
    CHECK_THROWS_AS(from_bytes(from(x) | reduce(sum, min), good), bad_bytes);
    CHECK_THROWS_AS(from_bytes(from(x) | sum, good), bad_bytes);
    CHECK_THROWS_AS(from_bytes(from(ints) | reduce(sum, max), good), bad_bytes);
    CHECK_THROWS_AS(from_bytes(from(x) | sum(_1 * 2.f), to_bytes(partial(from(x) | sum(_1 * 3.f)))), bad_bytes);
    CHECK_THROWS_AS(from_bytes(from(x) | count_modulo(7), to_bytes(partial(from(x) | count_modulo(8)))), bad_bytes);
  }
}

TEST_CASE("bytes are the same whatever compiler wrote them") {
  // Written once. Another value means that bytes kept by users can no longer be read: then raise format_version.
  std::vector<float> x(3000);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = float(i) * 0.37f;
  std::vector<unsigned char> u(3000, 3);
  auto const r = from(x, u) | filter(_1 > 0.5f && _2 != 4) |
                 reduce(sum(_1 * _2), mean, sum(cast<short>(_2)), bit_xor(_2), sum(_2 * 3ll));
  std::uint64_t h = 0xcbf29ce484222325u;
  for (auto const b : to_bytes(partial(r, on::cpu)))
    h = (h ^ std::uint64_t(b)) * 0x100000001b3u;
  CHECK(h == 17677061278517577602u);
}
