// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile loop for processors without AVX2 and FMA: element by element, to the bits of the vector loops. What is fused there is
// the C library's work.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace tally;

TEST_CASE("tiles that are folded element by element have the bits of those in vector registers") {
#if defined(TALLY_WIDE_LOOP)
  for (std::size_t const n : {1u, 100u, 1024u, 5000u, 65536u, 70001u}) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < n; ++i)
      x[i] = float((i * 2654435761u) >> 7 & 0xffff) / 977.f - 20.f;
    auto const p = tally::bind(from(x) | filter(_1 > -10.f) | reduce(sum, max, variance, argmin, sum(_1 * _1), sum(exp(_1)), logsumexp, sum(tanh(_1)))).program;
    i64 const leaves = (i64(n) - 1) / shape_of<decltype(p)>.elements() + 1;
    auto plain = p.identity();
    cpu::detail::fold_tile_plainly(p, 0, leaves, plain);
    auto const fast_one = cpu::fold_subtree(p, 0, leaves);
    for_each_index<decltype(p)::leaf_count>([&](auto i) {
      if constexpr (requires { get<i>(plain).position; }) // bytes between its members may be anything
        CHECK((get<i>(plain).value == get<i>(fast_one).value && get<i>(plain).position == get<i>(fast_one).position));
      else
        CHECK(std::memcmp(&get<i>(plain), &get<i>(fast_one), sizeof(get<i>(plain))) == 0);
    });
  }
#endif
}
