// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many reductions of one type, and a few of any types, in one launch each: bit for bit the answers of the CPU.
#include "fold/own_folds.hpp"
#include "gpu/on_device.hpp"
#include "gpu/same_on_both.hpp"

#include <tally/tally.hpp>

#include <tuple>

using namespace tally::v0;

TALLY_STRUCT(batch_point, { float x, y, z; });
TALLY_FUNCTION(batch_height, (batch_point p), { return p.z; });

namespace {

/// How many reductions of a batch share a launch on a GPU.
template <class... Rs, class... Contract>
int in_one_launch(batched<Rs...> const& b, Contract... c) {
  auto items = unpack([](auto const&... r) { return std::tuple(detail::underway<std::remove_cvref_t<decltype(r)>, Contract...>(r)...); }, b.reductions);
  auto together = detail::batch_of_types_in(items, on::gpu(0), detail::contract_in(c...));
  int const programs = together.programs();
  together.finish();
  return programs;
}
template <class Batch, class... Contract>
void same_in_one_launch(Batch const& b, int programs, Contract... c) {
  CHECK(in_one_launch(b, c...) == programs);
  auto const host = run(b, on::cpu, c...);
  for (int again = 0; again < 3; ++again) {
    CHECK(same_arrays(host, run(b, on::gpu, c...)));
    tally_test_progress();
  }
}

} // namespace

TEST_CASE("many reductions in one launch have the answers they have alone") {
  if (no_kernels()) return;
  std::vector<std::vector<float>> columns;
  for (std::size_t k = 0; k < 1000; ++k)
    columns.push_back(uneven_numbers<float>(k % 13 == 0 ? 0 : k * 37 % 20000, unsigned(k)));
  for (std::size_t const n : {1u, 4096u, 4097u, 262144u, 262145u, 3000000u, 17000001u})
    columns.push_back(uneven_numbers<float>(n, unsigned(n)));
  std::vector<on_device<float>> there;
  for (auto const& c : columns)
    there.emplace_back(c);
  auto const of = [](auto const& column, float above) {
    return from(column) | filter(_1 > above) | reduce(sum, count, variance.or_else(0.f), argmax.or_else(-1), own_rows_in_order, own_lanes_side_by_side);
  };
  std::vector<decltype(of(columns[0], 0.f))> at_home;
  std::vector<decltype(of(lying_in(there[0]), 0.f))> on_gpu;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    at_home.push_back(of(columns[k], float(k)));
    on_gpu.push_back(of(lying_in(there[k]), float(k)));
  }
  auto const host = run(at_home, on::cpu);
  for (int again = 0; again < 3; ++again) {
    auto const device = run(on_gpu);
    for (std::size_t k = 0; k < host.size(); ++k) {
      CAPTURE(columns[k].size());
      CHECK(same_arrays(host[k], device[k]));
    }
  }
  std::vector<decltype(from(columns[0]) | reduce(sum, mean.or_else(0.f)))> staged;
  for (std::size_t k = 1; k < 40; ++k)
    staged.push_back(from(columns[k]) | reduce(sum, mean.or_else(0.f)));
  auto const device = run(staged, on::gpu, exact);
  auto const exactly = run(staged, on::cpu, exact);
  for (std::size_t k = 0; k < staged.size(); ++k)
    CHECK(same_arrays(exactly[k], device[k]));
}

TEST_CASE("a batch of different reductions goes to the device together") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(300001);
  auto const y = uneven_numbers<float>(7);
  std::vector<int> const offsets{0, 5, 70000, 300001};
  on_device const d(x);
  auto const all_of_it = batch(from(x) | sum, from(y) | reduce(min, max), from(x) | by_segment(offsets, sum), from(y) | count);
  auto const host = run(all_of_it, on::cpu);
  CHECK(same_arrays(host, run(all_of_it, on::gpu)));
  auto const mixed = run(batch(from(lying_in(d)) | sum, from(y) | reduce(min, max)));
  CHECK(same_arrays(std::get<0>(mixed), std::get<0>(host)));
  CHECK(same_arrays(std::get<1>(mixed), std::get<1>(host)));
}

TEST_CASE("a few reductions of any types are one launch") {
  if (no_kernels()) return;
  for (std::size_t const n : {1u, 31u, 1024u, 4097u, 70001u, 1000000u}) {
    CAPTURE(n);
    auto const x = uneven_numbers<float>(n), y = uneven_numbers<float>(n, 2);
    auto const d = uneven_numbers<double>(n / 2 + 1);
    auto const h = uneven_numbers<float>(n / 3 + 1);
    std::vector<bf16> small(h.begin(), h.end());
    std::vector<int> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = int(i * 7 % 1001);
    same_in_one_launch(batch(from(x) | sum, from(d) | reduce(variance, argmin), from(x, y) | filter(_1 > 1.f) | reduce(sum(_1 * _2), max(_2).or_else(0.f), count),
                             from(small) | mean, from(keys) | reduce(min, max, tally::count)),
                       5);
    same_in_one_launch(batch(from(x) | sum, from(d) | sum, from(keys) | sum), 3, exact);
    same_in_one_launch(batch(from(x) | sum, from(d) | max), 2, fast);
    on_device const there(x), also(y);
    CHECK(same_arrays(run(batch(from(x) | sum, from(y) | max, from(d) | sum), on::cpu), run(batch(from(lying_in(there)) | sum, from(lying_in(also)) | max, from(d) | sum), on::gpu)));
    CHECK(same_arrays(run(batch(from(x) | sum, from(y) | max, from(d) | sum), on::cpu), run(batch(from(lying_in(there)) | sum, from(lying_in(also)) | max, from(d) | sum))));
  }
}

TEST_CASE("what is large, empty, only counted or grouped goes its own way beside them") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(50000), large = uneven_numbers<float>(1 << 20);
  std::vector<float> const nothing;
  std::vector<int> const offsets{0, 5, 70, 50000};
  std::vector<batch_point> points(777);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = {1.f, 2.f, float(i % 100)};
  auto const matrix = from(shaped(x.data(), 50, 1000));
  same_in_one_launch(batch(from(x) | sum, from(large) | sum, from(nothing) | sum, from(x) | count, from(x) | by_segment(offsets, sum), matrix | over<0>(sum), from(points) | max(batch_height(_1)),
                           matrix | reduce(sum)),
                     3);
  same_in_one_launch(batch(from(x) | sum, from(large) | sum), 0); // one alone has a launch as good
  auto const s = from(x) | sum;
  same_in_one_launch(batch(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s), 16);
  same_in_one_launch(batch(s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s), 0); // more than a launch has room for
}

TEST_CASE("checked sums of a batch tell of their overflow, and the others are not lost without it") {
  if (no_kernels()) return;
  std::vector<i64> const huge(3, std::numeric_limits<i64>::max());
  auto const x = uneven_numbers<float>(5000);
  CHECK_THROWS_AS((void)run(batch(from(huge) | sum.checked(), from(x) | sum), on::gpu), overflow);
  CHECK(same_arrays(run(batch(from(huge) | max, from(x) | sum), on::cpu), run(batch(from(huge) | max, from(x) | sum), on::gpu)));
}
