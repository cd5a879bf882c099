// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// start on a GPU: queued, not waited for, with the answers of the CPU.
#include "gpu/on_device.hpp"

#include <tally/tally.hpp>

#include <utility>

namespace {

using namespace tally::v0;

/// Keeps a stream of GPU 0 busy for a while.
void occupy(unsigned long long nanoseconds, gpu::stream_ref stream = {}) {
  gpu::unit u;
  u.header = "tally/base/config.hpp";
  u.definitions = "__global__ void occupy(unsigned long long nanoseconds) {\n"
                  "  unsigned long long begin, now;\n"
                  "  asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(begin));\n"
                  "  do asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now)); while (now - begin < nanoseconds);\n"
                  "}\n";
  u.name_expression = "occupy";
  void* places[] = {&nanoseconds};
  gpu::launch(gpu::load(u, 0), gpu::launch_shape{}, places, stream);
}

} // namespace

TEST_CASE("start on a GPU does not wait, and gives what the CPU gives") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(1000003);
  on_device const d(x);
  auto const folds = reduce(sum, mean, max, argmax, variance);
  auto const r = from(device(d.data(), d.size())) | folds;
  auto const expected = run(from(x) | folds, on::cpu);
  CHECK(same_bits(start(r, on::gpu).get(), expected)); // and the kernel is loaded
  occupy(20'000'000);
  auto a = start(r, on::gpu);
  auto const b = start(r); // on::any finds the GPU that holds the column
  CHECK_FALSE(a.ready());
  CHECK_FALSE(b.ready());
  auto const moved = std::move(a);
  CHECK(same_bits(moved.get(), expected));
  CHECK(moved.ready());
  CHECK(same_bits(b.get(), expected));
  CHECK(same_bits(b.get(), expected)); // once more
}

TEST_CASE("start stages host columns: pageable ones may change as soon as it returns") {
  if (no_kernels()) return;
  auto x = uneven_numbers<float>(3000001);
  auto const r = from(x) | reduce(sum, min);
  auto const expected = run(r, on::cpu);
  auto const p = start(r, on::gpu);
  std::fill(x.begin(), x.end(), 0.f);
  CHECK(same_bits(p.get(), expected));
}

TEST_CASE("many at once, some never asked for") {
  if (no_kernels()) return;
  auto const x = uneven_numbers<float>(100001);
  on_device const d(x);
  std::vector<float> expected, got;
  std::vector<pending<float>> all_pending;
  for (int k = 0; k < 64; ++k) {
    auto const r = from(device(d.data(), d.size() - 1000 * k)) | sum(_1 * float(k));
    expected.push_back(run(from(std::span(x.data(), std::size_t(d.size() - 1000 * k))) | sum(_1 * float(k)), on::cpu));
    all_pending.push_back(start(r, on::gpu));
    (void)start(r, on::gpu);
  }
  for (auto const& p : all_pending)
    got.push_back(p.get());
  CHECK(std::memcmp(got.data(), expected.data(), got.size() * sizeof(float)) == 0);
}

TEST_CASE("errors of start on a GPU") {
  if (no_kernels()) return;
  std::vector<float> const x{1.f, 2.f}, nothing;
  CHECK_THROWS_AS((void)start(from(x) | sum, on::gpu(63)), error);
  CHECK_THROWS_AS((void)start(from(nothing) | max, on::gpu).get(), empty_input);
  CHECK(start(from(nothing) | sum, on::gpu).get() == 0.f);
  CHECK(start(from(x) | count, on::gpu).get() == 2);
  on_device const d(x);
  auto const on_cpu = [&] { (void)start(from(device(d.data(), d.size())) | sum, on::cpu); };
  CHECK_THROWS_AS(on_cpu(), wrong_residence);
}
