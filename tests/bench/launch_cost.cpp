// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a warm run costs the host over a bare launch: a reduction of a few elements that are on the device, again and again,
// beside cuLaunchKernel of an empty kernel. Waiting is measured apart and taken off, so what remains is the library's own
// work. Needs a GPU. Test layer.
#include "driver.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace {

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

double p95(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() * 95 / 100];
}

void print(const char* what, std::vector<double> const& us) {
  std::printf("  %-58s median %7.2f us  p95 %7.2f us\n", what, median(us), p95(us));
}

}  // namespace

int main(int count, char** words) {
  using namespace tally::v0;
  int const rounds = count > 1 ? std::atoi(words[1]) : 5000;
  constexpr std::int64_t n = 1024;
  bench::driver driver;
  driver.open();
  bench::address memory = 0;
  driver.check(driver.allocate(&memory, n * sizeof(float)), "cuMemAlloc");
  std::vector<float> host(n);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  driver.check(driver.copy_in(memory, host.data(), n * sizeof(float)), "cuMemcpyHtoD");
  float expected = 0.f;
  for (float v : host) expected += v; // small integers: exact in any order

  void *code = nullptr, *nothing = nullptr, *stream = nullptr;
  driver.check(driver.load(&code, bench::empty_kernel), "cuModuleLoadData");
  driver.check(driver.function_of(&nothing, code, "nothing"), "cuModuleGetFunction");
  driver.check(driver.make_stream(&stream, 1), "cuStreamCreate");
  alignas(8) char given[256] = {};
  void* arguments[] = {given};
  auto bare = [&] { driver.check(driver.launch(nothing, 1, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel"); };
  auto wait = [&] { driver.check(driver.wait(stream), "cuStreamSynchronize"); };

  auto const x = device(reinterpret_cast<float const*>(static_cast<std::uintptr_t>(memory)), n);
  auto const pipeline = from(x) | reduce(sum);
  auto const here = on::gpu.stream(stream);
  float got = 0.f;
  for (int i = 0; i < 200; ++i) bare(), wait(), got = run(pipeline, here);
  if (got != expected) return std::printf("WRONG: run gave %g, expected %g\n", double{got}, double{expected}), 2;

  auto const several = batch(from(x) | sum, from(x) | max, from(x) | mean, from(x) | variance, from(x) | argmin, from(x) | norm<2>, from(x) | filter(_1 > 0.f) | sum(_1 * _1), from(x) | reduce(min, argmax));
  std::vector<double> bare_launch, bare_wait, queued, waited, whole, by_default, apart, together;
  for (int i = 0; i < rounds + 200; ++i) {
    double const t0 = now_us();
    unpack([&](auto const&... r) { ((void)run(r, here), ...); }, several.reductions);
    double const t1 = now_us();
    got = std::get<0>(run(several, here));
    double const t2 = now_us();
    if (i >= 200) apart.push_back(t1 - t0), together.push_back(t2 - t1);
  }
  for (int i = 0; i < rounds; ++i) {
    double const t0 = now_us();
    bare();
    double const t1 = now_us();
    wait();
    double const t2 = now_us();
    auto bound = bind(pipeline);
    auto request = detail::request_for(bound.program, here, reproducible);
    auto run_of_it = gpu::enqueue(request);
    double const t3 = now_us();
    (void)run_of_it.states.wait();
    double const t4 = now_us();
    got = run(pipeline, here);
    double const t5 = now_us();
    got += run(pipeline);
    double const t6 = now_us();
    bare_launch.push_back(t1 - t0), bare_wait.push_back(t2 - t1), queued.push_back(t3 - t2), waited.push_back(t4 - t3);
    whole.push_back(t5 - t4), by_default.push_back(t6 - t5);
  }
  std::printf("sum of %lld floats on the device, %d rounds\n", static_cast<long long>(n), rounds);
  print("cuLaunchKernel of an empty kernel", bare_launch);
  print("waiting for it", bare_wait);
  print("tally: bind, plan, queue", queued);
  print("tally: waiting", waited);
  print("tally: run, the whole call", whole);
  print("tally: run without a place, whole call", by_default);
  print("eight reductions of eight types: run one after the other", apart);
  print("the same in a batch", together);
  double const over = median(queued) - median(bare_launch) + std::max(0.0, median(whole) - median(queued) - median(waited));
  std::printf("%s  host time of a warm run over the launch: %.2f us (bar 5 us; plan 3 us)\n", over <= 5.0 ? "PASS" : "FAIL", over);
  return over <= 5.0 ? 0 : 1;
}
