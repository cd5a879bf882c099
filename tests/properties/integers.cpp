// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of random pipelines whose answers plain loops know: sums, extremes and counts of integers. Test layer.
#include "recipe.hpp"

namespace {
using namespace tally;
using namespace properties;

/// sum, min, max and count of what passes the mask.
constexpr auto four_by_loop = []<class T>(group<T> const& g) {
  auto const& x = std::get<0>(g.columns);
  using Sum = std::conditional_t<std::is_signed_v<T>, i64, u64>;
  u64 total = 0;
  T least = std::numeric_limits<T>::max(), greatest = std::numeric_limits<T>::lowest();
  for (i64 const i : g.passed) {
    T const v = x[static_cast<std::size_t>(i)];
    total += static_cast<u64>(static_cast<Sum>(v));
    least = std::min(least, v);
    greatest = std::max(greatest, v);
  }
  return std::tuple(static_cast<Sum>(total), least, greatest, static_cast<i64>(g.passed.size()));
};
constexpr auto dot_by_loop = [](group<i32, u8> const& g) {
  u64 total = 0;
  for (i64 const i : g.passed) {
    auto const k = static_cast<std::size_t>(i);
    total += static_cast<u64>(static_cast<i64>(std::get<0>(g.columns)[k])) * std::get<1>(g.columns)[k];
  }
  return std::tuple(static_cast<i64>(total), static_cast<i64>(g.passed.size()));
};
constexpr auto four = [] { return make_pack(sum, min, max, count); };
constexpr auto above = [](auto c) { return _1 > c; };

[[maybe_unused]] bool const registered[] = {
    add<fast_too>("sum, min, max, count of i32", group<i32>{}, every_shape{}, unmasked, four, four_by_loop),
    add<fast_too>("masked sum, min, max, count of i32", group<i32>{}, matrices{}, above, four, four_by_loop),
    add<fast_too>("sum, min, max, count of u8", group<u8>{}, some_shapes{}, unmasked, four, four_by_loop),
    add<fast_too>("masked sum, min, max, count of i64", group<i64>{}, some_shapes{}, above, four, four_by_loop),
    add<fast_too>("count alone", group<u8>{}, some_shapes{}, unmasked, [] { return make_pack(count); },
                  [](group<u8> const& g) { return std::tuple(static_cast<i64>(g.passed.size())); }),
    add<fast_too>("dot of i32 and u8", group<i32, u8>{}, some_shapes{}, [](i32 c) { return _1 > c || _2 > 100; },
                  [] { return make_pack(sum(cast<i64>(_1) * cast<i64>(_2)), count); }, dot_by_loop),
};
} // namespace
