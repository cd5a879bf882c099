// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines whose answers plain loops know: places, conditions, positions. Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

/// product, argmin, argmax, first and last; positions are those in the group, ties go to the first.
constexpr auto places_by_loop = []<class T>(group<T> const& g) {
  auto const& x = std::get<0>(g.columns);
  auto const at = [&](i64 i) { return x[static_cast<std::size_t>(i)]; };
  u64 product = 1;
  i64 least = g.passed.front(), greatest = least;
  for (i64 const i : g.passed) {
    product *= static_cast<u64>(static_cast<i64>(at(i)));
    least = at(i) < at(least) ? i : least;
    greatest = at(i) > at(greatest) ? i : greatest;
  }
  using Product = std::conditional_t<std::is_signed_v<T>, i64, u64>;
  return std::tuple(static_cast<Product>(product), least, greatest, at(g.passed.front()), at(g.passed.back()));
};
constexpr auto conditions_by_loop = [](group<u8> const& g) {
  auto const& x = std::get<0>(g.columns);
  bool any_of = false, all_of = true;
  i64 n = 0;
  u8 bits_and = 255, bits_xor = 0;
  for (i64 const i : g.passed) {
    u8 const v = x[static_cast<std::size_t>(i)];
    any_of = any_of || v > 200;
    all_of = all_of && v > 3;
    n += v < 100 ? 1 : 0;
    bits_and = static_cast<u8>(bits_and & v);
    bits_xor = static_cast<u8>(bits_xor ^ v);
  }
  return std::tuple(any_of, all_of, !any_of, n, bits_and, bits_xor);
};
/// Sums of products of positions in the source.
constexpr auto index_by_loop = [](group<i32> const& g) {
  auto const& x = std::get<0>(g.columns);
  u64 total = 0;
  i64 farthest = std::numeric_limits<i64>::lowest(), odd = 0;
  for (i64 const i : g.passed) {
    i64 const at = g.positions[static_cast<std::size_t>(i)];
    total += static_cast<u64>(at) * static_cast<u64>(static_cast<i64>(x[static_cast<std::size_t>(i)]));
    farthest = std::max(farthest, at);
    odd += at % 2;
  }
  return std::tuple(static_cast<i64>(total), farthest, odd);
};
constexpr auto places = [] { return make_pack(product, argmin, argmax, first, last); };
constexpr auto above = [](auto c) { return _1 > c; };

[[maybe_unused]] bool const registered[] = {
    add<fast_too>("places of i32", group<i32>{}, some_shapes{}, unmasked, places, places_by_loop),
    add<fast_too>("masked places of i64", group<i64>{}, matrices{}, above, places, places_by_loop),
    add<fast_too>("conditions and bits of u8", group<u8>{}, some_shapes{}, unmasked,
                  [] { return make_pack(any(_1 > 200), all(_1 > 3), none(_1 > 200), count_if(_1 < 100), bit_and, bit_xor); },
                  conditions_by_loop),
    add<by_loop_alone>("index of the source", group<i32>{}, every_shape{}, above,
                       [] { return make_pack(sum(cast<i64>(_1) * tally::index), max(tally::index), sum(tally::index % i64(2))); },
                       index_by_loop),
};
} // namespace
