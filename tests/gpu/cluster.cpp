// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grids that are one cluster: words by red.async, states by bulk copies, at every size from one block to the first grid that
// is no cluster any more: the bits of the CPU, run after run.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>
#include <tally/testing.hpp>

namespace cluster_spec {

TALLY_FUNCTION(rotate_and_add, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b; });
TALLY_FUNCTION(spread_bits, (unsigned v), { return (v + 1) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(same, (unsigned long long a), { return a; });

} // namespace cluster_spec

namespace {

using namespace tally;
using namespace cluster_spec;

constexpr long sizes[] = {1025, 8192, 8193, 9000, 16384, 20000, 30001, 40961, 50000, 65535, 65536, 65537, 70001};

template <class Reduction>
bool is_one_cluster(Reduction const& r) {
  return explain(r, targets::h200).details().planned.plan.one_cluster;
}

template <class T, class Make>
void same_at_every_size(Make make) {
  auto const all = uneven_numbers<T>(70001);
  int clusters = 0;
  for (long n : sizes) {
    std::vector<T> const v(all.begin(), all.begin() + n);
    on_device<T> const there(v);
    CAPTURE(n);
    auto const here = run(make(from(v)), on::cpu);
    clusters += is_one_cluster(make(from(v)));
    for (int again = 0; again < 3; ++again)
      CHECK(same_bits(run(make(from(device(there.data(), i64(n)))), on::gpu), here));
  }
  CHECK(clusters >= 5); // leaves of doubles are half as long
}

} // namespace

TEST_CASE("integers meet in a cluster by red.async") {
  if (no_kernels()) return;
  same_at_every_size<int>([](auto source) { return source | reduce(sum, min, max, mean); });
  same_at_every_size<unsigned>([](auto source) { return source | reduce(bit_and, bit_or, bit_xor, sum, max); });
}

TEST_CASE("floats, pairs and flags meet in a cluster by copies, in the order of the blocks") {
  if (no_kernels()) return;
  same_at_every_size<float>([](auto source) { return source | reduce(sum, min, max, mean, variance); });
  same_at_every_size<double>([](auto source) { return source | reduce(argmin, argmax, logsumexp); });
  same_at_every_size<float>([](auto source) { return source | filter(_1 > 0.f) | reduce(moments<4>, count); });
}

TEST_CASE("a cluster keeps the tree: its detector gives the same bits beside other folds") {
  if (no_kernels()) return;
  auto const detector = fold_of(0ull, rotate_and_add, spread_bits, same, associative);
  same_at_every_size<unsigned>([&](auto source) { return source | reduce(detector, sum, min); });
}
