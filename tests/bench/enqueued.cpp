// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions from device memory to device memory, beside what they should cost (rows 14 and 15 of the bars): a thousand small ones as a
// captured graph beside a graph of as many empty kernels, and sums whose size the device knows beside sums whose size the host knows.
// Contestants take turns; answers are checked first. Needs a GPU. Test layer.
#include "driver.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace {

using namespace tally::v0;

constexpr i64 many = 1000, small = 1024, large = i64(1) << 28, buffers = 4; // of `large` elements each
constexpr i64 in_cache = i64(1) << 24;                                       // sums of more elements read others in every call
constexpr int calls = 20;

template <class T>
T* at(bench::address a) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(a));
}

class turns {
public:
  explicit turns(bench::driver& d) : driver_(d) {
    driver_.check(driver_.make_stream(&stream, 1), "cuStreamCreate");
    driver_.check(driver_.make_event(&begin_, 0), "cuEventCreate"), driver_.check(driver_.make_event(&end_, 0), "cuEventCreate");
  }
  void* graph_of(std::function<void()> const& work) {
    void *graph = nullptr, *made = nullptr;
    driver_.check(driver_.begin_capture(stream, 0), "cuStreamBeginCapture");
    work();
    driver_.check(driver_.end_capture(stream, &graph), "cuStreamEndCapture");
    driver_.check(driver_.instantiate(&made, graph, 0), "cuGraphInstantiate");
    return made;
  }
  /// The median microseconds of one of `each` in every contestant.
  void show(char const* what, double each, std::vector<std::pair<char const*, std::function<void()>>> const& contestants) {
    std::vector<std::vector<double>> times(contestants.size());
    for (int trial = 0; trial < 23; ++trial)
      for (std::size_t c = 0; c < contestants.size(); ++c) {
        driver_.check(driver_.record(begin_, stream), "cuEventRecord");
        contestants[c].second();
        driver_.check(driver_.record(end_, stream), "cuEventRecord"), driver_.check(driver_.wait(stream), "cuStreamSynchronize");
        float ms = 0;
        driver_.check(driver_.milliseconds_between(&ms, begin_, end_), "cuEventElapsedTime");
        if (trial > 2) times[c].push_back(double(ms) * 1e3 / each);
      }
    std::printf("%s:", what);
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      std::sort(times[c].begin(), times[c].end());
      std::printf("  %s %.2f us", contestants[c].first, times[c][times[c].size() / 2]);
    }
    std::printf("\n");
  }
  void* stream = nullptr;

private:
  bench::driver& driver_;
  void *begin_ = nullptr, *end_ = nullptr;
};

} // namespace

int main() {
  bench::driver driver;
  driver.open();
  turns t(driver);
  bench::address memory = 0, answers = 0, offsets = 0;
  driver.check(driver.allocate(&memory, buffers * large * sizeof(float)), "cuMemAlloc");
  driver.check(driver.allocate(&answers, many * sizeof(float)), "cuMemAlloc");
  driver.check(driver.allocate(&offsets, 2 * calls * sizeof(i64)), "cuMemAlloc");
  std::vector<float> host(static_cast<std::size_t>(large));
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(static_cast<int>(i % 101) - 50); // sums are exact in any order
  for (i64 c = 0; c < buffers; ++c)
    driver.check(driver.copy_in(memory + bench::address(c * large) * sizeof(float), host.data(), host.size() * sizeof(float)), "cuMemcpyHtoD");
  auto const x = at<float>(memory), out = at<float>(answers);
  auto const place = on::gpu(0).stream(t.stream);
  auto const got = [&](i64 k) {
    float v = 0;
    gpu::copy(&v, out + k, sizeof v, 0, {t.stream});
    gpu::wait(0, {t.stream});
    return v;
  };
  auto const must_be = [&](float there, i64 n) {
    float const wanted = run(from(std::span(host.data(), std::size_t(n))) | sum, on::cpu);
    if (there != wanted) std::printf("WRONG: %g, expected %g\n", double{there}, double{wanted}), std::exit(2);
  };

  void *code = nullptr, *nothing = nullptr;
  driver.check(driver.load(&code, bench::empty_kernel), "cuModuleLoadData");
  driver.check(driver.function_of(&nothing, code, "nothing"), "cuModuleGetFunction");
  alignas(8) char given[256] = {};
  void* arguments[] = {given};
  auto const little = [&](i64 k) { return from(device(static_cast<float const*>(x + k * small), small)) | sum; };
  prepare(little(0), out, place);
  void* const sums = t.graph_of([&] { for (i64 k = 0; k < many; ++k) enqueue(little(k), out + k, place); });
  auto const launch_nothing = [&] { driver.check(driver.launch(nothing, 1, 1, 1, 256, 1, 1, 0, t.stream, arguments, nullptr), "cuLaunchKernel"); };
  void* const empty = t.graph_of([&] { for (i64 k = 0; k < many; ++k) launch_nothing(); });
  auto const launch = [&](void* graph) { return [&, graph] { driver.check(driver.launch_graph(graph, t.stream), "cuGraphLaunch"); }; };
  launch(sums)();
  must_be(got(0), small);
  t.show("a graph of 1000 sums of 1024 floats, each", double(many), {{"tally", launch(sums)}, {"empty kernels", launch(empty)}});

  for (i64 const n : {i64(1) << 10, i64(1) << 16, i64(1) << 20, i64(1) << 22, in_cache, 3 * in_cache / 2, large}) {
    i64 const others = n > in_cache ? buffers * large / n : 1;
    i64 ends[calls][2];
    for (int k = 0; k < calls; ++k) ends[k][0] = k % others * n, ends[k][1] = ends[k][0] + n;
    driver.check(driver.copy_in(offsets, ends, sizeof ends), "cuMemcpyHtoD");
    auto const known = [&](int k) { return from(device(static_cast<float const*>(x + ends[k][0]), n)) | sum; };
    auto const counted = [&](int k) {
      return from(device(static_cast<float const*>(x), buffers * large)) | by_segment(device(static_cast<i64 const*>(at<i64>(offsets) + 2 * k), 2), sum);
    };
    enqueue(counted(0), out, place);
    must_be(got(0), n);
    enqueue(known(0), out, place);
    must_be(got(0), n);
    char what[64];
    std::snprintf(what, sizeof what, "a sum of %lld floats", static_cast<long long>(n));
    t.show(what, calls, {{"size of the host", [&] { for (int k = 0; k < calls; ++k) enqueue(known(k), out, place); }},
                         {"size on the device", [&] { for (int k = 0; k < calls; ++k) enqueue(counted(k), out, place); }},
                         {"each behind an empty kernel", [&] { for (int k = 0; k < calls; ++k) launch_nothing(), enqueue(known(k), out, place); }},
                         {"and", [&] { for (int k = 0; k < calls; ++k) launch_nothing(), enqueue(counted(k), out, place); }}});
  }
}
