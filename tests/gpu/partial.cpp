// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Partials of a GPU and of the CPU are one another's neighbours, bit for bit.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <algorithm>

namespace gpu_partial_spec {
TALLY_FUNCTION(rotated, (unsigned long long a, unsigned long long b), { return ((a << 5) | (a >> 59)) + b; });
TALLY_FUNCTION(scrambled, (float x), { return static_cast<unsigned long long>(static_cast<long long>(x * 8)) * 0x9e3779b97f4a7c15ull; });
TALLY_FUNCTION(same, (unsigned long long a), { return a; });
} // namespace gpu_partial_spec

namespace {

using namespace tally;

/// Cuts into `parts`, folds some on the GPU from device memory, some there from host memory, some on the CPU, and merges in
/// a random order.
template <class Folds>
void check_parts(std::vector<float> const& x, int parts, Folds const& folds) {
  on_device const d(x);
  auto const n = i64(x.size());
  auto const expected = run(from(x) | folds, on::cpu);
  auto const unit = part_granularity(from(x) | folds);
  std::mt19937 random(unsigned(parts) + 11);
  std::vector<i64> cuts{0, n};
  for (int k = 1; k < parts; ++k)
    cuts.push_back(i64(random() % unsigned(n / unit + 1)) * unit);
  std::sort(cuts.begin(), cuts.end());
  std::vector<decltype(partial(from(x) | folds))> all_parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    i64 const at = cuts[i], extent = cuts[i + 1] - at;
    auto const host = from(std::span(x.data() + at, std::size_t(extent))) | folds;
    if (i % 3 == 0)
      all_parts.push_back(partial(from(device(d.data() + at, extent)) | folds, starting_at(at), on::gpu));
    else
      all_parts.push_back(i % 3 == 1 ? partial(host, starting_at(at), on::gpu) : partial(host, starting_at(at), on::cpu));
  }
  while (all_parts.size() > 1) {
    auto const i = random() % (all_parts.size() - 1);
    all_parts[i] = merge(all_parts[i], from_bytes(from(x) | folds, to_bytes(all_parts[i + 1])));
    all_parts.erase(all_parts.begin() + std::ptrdiff_t(i) + 1);
  }
  CHECK(same_bits(finish(all_parts[0]), expected));
}

} // namespace

TEST_CASE("partials of both back ends merge to the bits of one run") {
  if (no_kernels()) return;
  using namespace gpu_partial_spec;
  auto const x = uneven_numbers<float>(1000003);
  for (int parts : {1, 2, 3, 7, 20}) {
    check_parts(x, parts, reduce(sum, min, max, mean, variance));
    check_parts(x, parts, reduce(fold_of(0ull, rotated, scrambled, same, associative)));
    check_parts(x, parts, reduce(sum.where(_1 > 0.f), argmax, first.where(_1 > 100.f), sum(_1 * tally::index)));
    check_parts(x, parts, reduce(argmin, last, count_if(_1 > 0.f)));
  }
}

TEST_CASE("a counted column has the same floats in parts on a GPU") {
  if (no_kernels()) return;
  auto const r = from(iota(0.1f, 1000003, 0.3f)) | sum;
  auto const expected = run(r, on::cpu);
  CHECK(same_bits(run(r, on::gpu), expected));
  CHECK(same_bits(finish(partial(r, on::gpu)), expected));
}
