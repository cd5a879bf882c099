// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles every kernel that tally's contestant will ask for on an H200, where there is no GPU, and fills a cache folder that
// can be carried to one: device time is then spent on measuring. Prints each distinct plan. Needs NVRTC. Test layer.
//
//   TALLY_CACHE_DIR=folder rehearse [full|quick] [threads]
#include "peers/tally_workloads.hpp"

#include <tally/plan/targets.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace tally::v0;

struct job {
  std::string first_row;
  gpu::unit unit;
  i64 blocks = 0;
  int threads = 0;
  double seconds = 0;
  std::size_t bytes = 0;
  std::string error;
};

/// The unit of one workload at one size, as the contestant will ask for it.
template <class Work, contract Contract> gpu::unit unit_for(i64 n, int element, i64& blocks, int& threads) {
  std::uintptr_t const base = 0x100000000u + static_cast<std::uintptr_t>(element);
  const void* at[3];
  for (auto& a : at) a = reinterpret_cast<const void*>(base); // never read: only its alignment is looked at
  auto const r = Work::pipeline(at, n);
  auto bound = bench::bind_as<Contract>(r);
  auto request = detail::request_for(bound.program, on::gpu, Contract);
  request.f.target = targets::h200;
  request.f.queued = true;
  for (int i = 0; i < request.f.source_count; ++i) request.f.sources[i].address_alignment = element == 0 || element > 16 ? 16 : element;
  auto const chosen = make_plan(request.f);
  blocks = chosen.blocks, threads = chosen.plan.threads_per_block;
  return gpu::unit_of(*request.type, chosen.plan, request.f);
}

int bytes_of(std::string const& type) { return type == "i8" ? 1 : type == "bf16" ? 2 : type == "f64" || type == "c64" ? 8 : 4; }

/// The rows of run.py --quick.
bool quick_row(std::string const& workload, std::string const& type, int log2, int layout) {
  bool const first = workload == "sum" && type == "f32";
  if (layout != 0) return first && (log2 == 20 || log2 == 28);
  return log2 == 28 || (first && log2 <= 30);
}

std::vector<job> all_jobs(bool quick) {
  std::map<std::string, job> distinct;
  bench::for_each_workload([&]<class Work>(const char* workload, const char* type, int, int) {
    for (int log2 = 10; log2 <= 32; ++log2)
      for (int layout = 0; layout < 3; ++layout) { // even, odd, off by one element
        if (quick && !quick_row(workload, type, log2, layout)) continue;
        i64 const n = (i64{1} << log2) - (layout == 1 ? 1 : 0);
        int const off = layout == 2 ? bytes_of(type) : 0;
        auto add = [&](char const* contract_name, auto make) {
          job j;
          j.unit = make(n, off, j.blocks, j.threads);
          j.first_row = std::string(workload) + " " + type + " 2^" + std::to_string(log2) + (layout == 1 ? " odd" : layout == 2 ? " off by one" : "") + " " + contract_name;
          distinct.try_emplace(gpu::text_of(j.unit) + j.unit.name_expression, j);
        };
        add("reproducible", unit_for<Work, contract::reproducible>);
        add("fast", unit_for<Work, contract::fast>);
        if constexpr (bench::has_exact_form<Work>)
          add("exact", unit_for<Work, contract::exact>);
      }
  });
  std::vector<job> out;
  for (auto& [text, j] : distinct) out.push_back(std::move(j));
  return out;
}

void compile(job& j) {
  auto const begin = std::chrono::steady_clock::now();
  try {
    j.bytes = gpu::compile(j.unit, 9, 0).cubin.size();
  } catch (std::exception const& e) {
    j.error = e.what();
  }
  j.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int count, char** words) {
  if (std::getenv("TALLY_CACHE_DIR") == nullptr) return std::printf("rehearse: set TALLY_CACHE_DIR to the folder to fill\n"), 3;
  bool const quick = count > 1 && std::string(words[1]) == "quick";
  auto jobs = all_jobs(quick);
  auto const begin = std::chrono::steady_clock::now();
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> crew;
  int const threads = count > 2 ? std::atoi(words[2]) : static_cast<int>(std::thread::hardware_concurrency());
  for (int t = 0; t < threads; ++t)
    crew.emplace_back([&] { for (std::size_t i; (i = next++) < jobs.size();) compile(jobs[i]); });
  for (auto& t : crew) t.join();
  int failures = 0;
  std::size_t bytes = 0;
  double seconds = 0;
  for (auto const& j : jobs) {
    std::printf("%-40s %8lld blocks of %4d  %.2f s %7zu bytes\n", j.first_row.c_str(), static_cast<long long>(j.blocks), j.threads, j.seconds, j.bytes);
    if (!j.error.empty()) ++failures, std::printf("  FAILED: %.2000s\n", j.error.c_str());
    bytes += j.bytes, seconds += j.seconds;
  }
  double const wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%zu kernels, %d failed, %.1f s of compiling in %.1f s on %d threads, %.1f MB\n", jobs.size(), failures, seconds, wall,
              threads, static_cast<double>(bytes) / 1e6);
  return failures == 0 ? 0 : 1;
}
