// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of f32 by segment beside CUB, and many small reductions beside empty launches: docs/measured/segments_h200.md. Test layer.
//
//   segments [log2 of elements, 28] [peer.so ...] [tune]
// Peers are peers/segments_cub.cu built with the CUB of the toolkit and of the newest CCCL. Contestants take turns, outputs stay on the
// device, and every sum is compared bit by bit with the CPU's. `tune` shows other plans too.
#include <tally/tally.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace tally::v0;

namespace {

struct peer {
  std::string name;
  int (*untold)(float const*, float*, i64, std::int32_t const*, void*);
  int (*told)(float const*, float*, i64, std::int32_t const*, i64, void*);
};
struct clock_of_peer {
  void* (*mark)();
  void (*record)(void*, void*);
  float (*microseconds)(void*, void*);
  void (*empty)(void*);
};
template <class F>
void find(void* library, char const* name, F*& f) {
  f = reinterpret_cast<F*>(dlsym(library, name));
  if (f == nullptr) std::printf("%s lacks %s\n", "a peer", name), std::exit(1);
}

struct workload {
  std::string name;
  std::vector<std::int32_t> offsets;
  i64 largest = 0;
};

/// Segments of sizes size(k) until n elements are in them.
template <class Size>
workload until(char const* name, i64 n, Size const& size) {
  workload w{name, {0}, 0};
  for (i64 k = 0; w.offsets.back() < n; ++k) {
    i64 const s = std::min(i64(size(k)), n - w.offsets.back());
    w.offsets.push_back(std::int32_t(w.offsets.back() + s));
    w.largest = std::max(w.largest, s);
  }
  return w;
}

std::vector<workload> workloads(i64 n) {
  std::mt19937_64 g(1);
  auto const uniform = [&](double) { return double(g() >> 11) / double(1ull << 53); };
  std::vector<workload> all;
  all.push_back(until("uniform 1-64", n, [&](i64) { return 1 + i64(g() % 64); }));
  all.push_back(until("uniform 1-8", n, [&](i64) { return 1 + i64(g() % 8); }));
  all.push_back(until("all 4", n, [&](i64) { return i64(4); }));
  all.push_back(until("uniform 1-15", n, [&](i64) { return 1 + i64(g() % 15); }));
  all.push_back(until("geometric, mean 4", n, [&](i64) { return 1 + i64(std::log1p(-uniform(0)) / std::log1p(-1.0 / 4)); }));
  all.push_back(until("geometric, mean 8", n, [&](i64) { return 1 + i64(std::log1p(-uniform(0)) / std::log1p(-1.0 / 8)); }));
  all.push_back(until("uniform 0-64, half of them empty", n, [&](i64) { return g() % 2 ? 0 : i64(g() % 65); }));
  all.push_back(until("geometric, mean 32", n, [&](i64) { return 1 + i64(std::log1p(-uniform(0)) / std::log1p(-1.0 / 32)); }));
  all.push_back(until("geometric, mean 1000", n, [&](i64) { return 1 + i64(std::log1p(-uniform(0)) / std::log1p(-1.0 / 1000)); }));
  all.push_back(until("uniform 128-2048", n, [&](i64) { return 128 + i64(g() % 1921); }));
  { // sizes c / k, shuffled
    i64 const count = n / 256;
    double const c = double(n) / (std::log(double(count)) + 0.5772);
    std::vector<i64> sizes(static_cast<std::size_t>(count));
    for (i64 k = 0; k < count; ++k)
      sizes[std::size_t(k)] = std::max(i64(1), i64(c / double(k + 1)));
    std::shuffle(sizes.begin(), sizes.end(), g);
    all.push_back(until("Zipf", n, [&](i64 k) { return k < count ? sizes[std::size_t(k)] : i64(64); }));
  }
  i64 const tiny = n >= (i64(1) << 24) ? 1000000 : n / 64;
  i64 const giant = n - tiny * 9 / 2;
  all.push_back(until("one giant + 10^6 tiny", n, [&](i64 k) { return k == tiny / 2 ? giant : 1 + i64(g() % 8); }));
  all.push_back(until("all 16384", n, [&](i64) { return 16384; }));
  all.push_back(until("all one", n, [&](i64) { return n; }));
  return all;
}

struct contestant {
  std::string name;
  std::function<int()> run;
  std::vector<float> trials{};
  float at(double share) {
    std::sort(trials.begin(), trials.end());
    return trials[std::min(trials.size() - 1, std::size_t(share * double(trials.size())))];
  }
};

/// A grouping by segment, ready to be queued again and again.
template <class Reduction>
class prepared {
  using domain_type = decltype(get<0>(std::declval<Reduction const&>().folds).bind(std::declval<Reduction const&>().pipe));
  using program = std::remove_cvref_t<decltype(std::declval<domain_type&>().program)>;
  using nodes = std::remove_cvref_t<decltype(std::declval<domain_type&>().nodes)>;

public:
  prepared(Reduction const& r, gpu::stream_ref stream)
      : d_(get<0>(r.folds).bind(r.pipe)), answers_(d_.where.segments(), 0, stream), read_(detail::read_of(d_, 0, d_.program.extent)),
        request_(detail::segments_request_for(read_, 0, on::gpu_place{0, stream}, contract::reproducible)) {
    request_.f.target = gpu::target_of(0);
    read_.memory.to = answers_.places();
  }
  int queue(segments_plan const* plan) {
    request_.given = plan;
    gpu::enqueue(request_, staged_);
    return 0;
  }
  segments_plan plan() const { return make_segments_plan(request_.f, request_.segments); }
  auto fetch() {
    i64 const extents[1] = {d_.where.segments()};
    return answers_.template fetch<1>(extents);
  }

private:
  domain_type d_;
  template <class... Ns>
  static detail::answers_on_device<program, Ns...> answers_type(pack<Ns...>*);
  decltype(answers_type(static_cast<nodes*>(nullptr))) answers_;
  decltype(detail::read_of(std::declval<domain_type const&>(), 0, 0)) read_;
  gpu::segments_request request_;
  gpu::staged_columns staged_;
};

void measure(std::vector<contestant>& all, clock_of_peer const& clock, void* stream, int trials, int launches) {
  void* const from = clock.mark();
  void* const to = clock.mark();
  for (auto& c : all)
    if (c.run() != 0) c.name += " (failed)";
  for (int t = 0; t < trials; ++t)
    for (auto& c : all) {
      clock.record(from, stream);
      for (int k = 0; k < launches; ++k) c.run();
      clock.record(to, stream);
      c.trials.push_back(clock.microseconds(from, to) / float(launches));
    }
}

void small_reductions(clock_of_peer const& clock, void* stream) {
  i64 const count = 1000, each = 4096;
  auto const memory = gpu::allocate(std::size_t(count * each) * 4, 0);
  std::vector<float> const x(std::size_t(count * each), 1.5f);
  gpu::copy(memory.data(), x.data(), x.size() * 4, 0);
  gpu::wait(0);
  std::vector<decltype(from(device(static_cast<float const*>(nullptr), i64(1))) | sum)> all;
  for (i64 k = 0; k < count; ++k)
    all.push_back(from(device(static_cast<float const*>(memory.data()) + k * each, each - k)) | sum);
  std::vector<float> batch, empty;
  auto const now = [] { return std::chrono::steady_clock::now(); };
  auto const us = [](auto a, auto b) { return float(std::chrono::duration<double>(b - a).count() * 1e6); };
  for (int t = 0; t < 30; ++t) {
    auto const a = now();
    auto const answers = run(all, on::gpu);
    auto const b = now();
    if (answers[10] != 1.5f * float(each - 10)) std::printf("wrong batch\n");
    for (i64 k = 0; k < count; ++k) clock.empty(stream);
    void* const m = clock.mark();
    clock.record(m, stream);
    clock.microseconds(m, m);
    auto const c = now();
    batch.push_back(us(a, b)), empty.push_back(us(b, c));
  }
  std::sort(batch.begin(), batch.end());
  std::sort(empty.begin(), empty.end());
  std::printf("\n1000 reductions of up to 4096 f32, from the call to the answers on the host: %.1f us; 1000 empty launches: %.1f us\n", batch[15], empty[15]);
}

} // namespace

int main(int count, char** words) {
  i64 n = i64(1) << 28;
  bool tune = false;
  std::vector<peer> peers;
  clock_of_peer clock{};
  void* stream = nullptr;
  for (int i = 1; i < count; ++i) {
    std::string const word = words[i];
    if (word == "tune") {
      tune = true;
    } else if (word.find(".so") == word.npos) {
      n = i64(1) << std::atoi(word.c_str());
    } else {
      void* const library = dlopen(word.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
      peer p{};
      int (*version)() = nullptr;
      find(library, "peer_version", version);
      find(library, "peer_untold", p.untold);
      find(library, "peer_told", p.told);
      p.name = "CUB " + std::to_string(version() / 100000) + "." + std::to_string(version() / 100 % 1000);
      peers.push_back(p);
      if (stream == nullptr) {
        void* (*make)() = nullptr;
        find(library, "peer_stream", make);
        find(library, "peer_mark", clock.mark);
        find(library, "peer_record", clock.record);
        find(library, "peer_microseconds", clock.microseconds);
        find(library, "peer_empty", clock.empty);
        stream = make();
      }
    }
  }
  if (peers.empty()) return std::printf("segments [log2 of elements] peer.so ... [tune]\n"), 1;
  std::vector<float> x(static_cast<std::size_t>(n));
  u64 seed = 1;
  for (auto& v : x) v = float(i64(seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 40) * 1e-3f;
  auto const there = gpu::stage(x.data(), x.size() * 4, 0);
  gpu::wait(0);
  auto const* const in = static_cast<float const*>(there.data());
  std::printf("%s, %lld f32, offsets i32; microseconds, median (95 %%) of 15, GB/s of elements, offsets and answers\n\n", gpu::facts_of(0).name.c_str(),
              static_cast<long long>(n));
  for (auto const& w : workloads(n)) {
    i64 const segments = i64(w.offsets.size()) - 1;
    auto const cuts = gpu::stage(w.offsets.data(), w.offsets.size() * 4, 0);
    auto const* const offsets = static_cast<std::int32_t const*>(cuts.data());
    auto const out = gpu::allocate(std::size_t(segments) * 4, 0);
    gpu::wait(0);
    prepared ours(from(device(in, n)) | by_segment(device(offsets, segments + 1), sum), {stream});
    std::vector<contestant> all;
    all.push_back({"tally", [&] { return ours.queue(nullptr); }});
    std::vector<segments_plan> others;
    if (tune)
      for (auto const& [blocks, rows, leaves, each, of_lane] : {std::array{3, 4, 8, 8, 0}, {4, 4, 8, 8, 0}, {4, 4, 8, 8, 1}, {4, 4, 8, 8, 2}, {4, 4, 16, 8, 2},
                                                                {3, 4, 8, 8, 2}, {3, 8, 8, 8, 0}, {4, 4, 16, 8, 0}, {5, 4, 8, 4, 0}, {4, 8, 8, 8, 0}}) {
        auto p = ours.plan();
        p.blocks_per_multiprocessor = blocks, p.rows_in_flight = rows, p.leaves_per_part = leaves, p.elements_per_lane = each, p.segments_per_lane = of_lane;
        others.push_back(p);
      }
    for (auto const& p : others)
      all.push_back({"tally " + std::to_string(p.blocks_per_multiprocessor) + " blocks " + std::to_string(p.rows_in_flight) + " rows " +
                         std::to_string(p.leaves_per_part) + " leaves " + std::to_string(p.elements_per_lane) + " each " +
                         std::to_string(p.segments_per_lane) + " a lane", [&] { return ours.queue(&p); }});
    auto* const to = static_cast<float*>(out.data());
    for (auto const& p : peers) {
      if (p.told(in, to, segments, offsets, w.largest, stream) == 0)
        all.push_back({p.name + " told", [&] { return p.told(in, to, segments, offsets, w.largest, stream); }});
      all.push_back({p.name, [&] { return p.untold(in, to, segments, offsets, stream); }});
    }
    measure(all, clock, stream, 15, 1);
    ours.queue(nullptr);
    auto const device_sums = ours.fetch();
    auto const host_sums = run(from(x) | by_segment(w.offsets, sum), on::cpu);
    bool const same = std::memcmp(device_sums.data(), host_sums.data(), device_sums.size() * 4) == 0;
    double const bytes = 4.0 * double(n) + 8.0 * double(segments);
    std::printf("| %s | %lld segments, largest %lld | %s |\n", w.name.c_str(), static_cast<long long>(segments), static_cast<long long>(w.largest),
                same ? "bits of the CPU" : "WRONG BITS");
    for (auto& c : all)
      std::printf("|   %-34s | %9.1f (%9.1f) | %7.0f | %5.2f |\n", c.name.c_str(), double(c.at(0.5)), double(c.at(0.95)), bytes / double(c.at(0.5)) / 1e3,
                  double(c.at(0.5) / all[0].at(0.5)));
    std::fflush(stdout);
  }
  small_reductions(clock, stream);
}
