// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a fresh process waits for its first answer, after the CUDA context is there: with nothing cached, and with the
// kernel on disk. Every figure is a process of its own: this program starts itself again. Needs a GPU and NVRTC. Test layer.
#include "driver.hpp"

#include <tally/tally.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The figures of one fresh process, in milliseconds.
struct figures { double context = 0, first_sum = 0, second_sum = 0, first_five = 0; };

/// What a fresh process does: opens the context, then asks for a sum, the same sum again, and five folds.
int measure() {
  using namespace tally::v0;
  double const start = now_ms();
  bench::driver driver;
  driver.open();
  constexpr std::int64_t n = 1 << 20;
  bench::address memory = 0;
  driver.check(driver.allocate(&memory, n * sizeof(float)), "cuMemAlloc");
  std::vector<float> host(n);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  driver.check(driver.copy_in(memory, host.data(), n * sizeof(float)), "cuMemcpyHtoD");
  double expected = 0;
  for (float v : host) expected += double{v};
  auto const x = device(reinterpret_cast<float const*>(static_cast<std::uintptr_t>(memory)), n);
  double const opened = now_ms();
  float const once = run(from(x) | reduce(sum), on::gpu);
  double const first = now_ms();
  float const twice = run(from(x) | reduce(sum), on::gpu);
  double const second = now_ms();
  auto const five = run(from(x) | reduce(sum, min, max, mean, variance), on::gpu);
  double const folded = now_ms();
  if (std::abs(double{once} - expected) > 1.0 || once != twice || std::get<0>(five) != once || std::get<1>(five) != -50.f)
    return std::printf("WRONG %g %g %g\n", double{once}, double{twice}, expected), 2;
  std::printf("FIGURES %.3f %.3f %.3f %.3f\n", opened - start, first - opened, second - first, folded - second);
  return 0;
}

/// Starts this program again with a cache folder and reads its figures.
bool fresh(std::string const& self, std::string const& cache, figures& out) {
  std::string const command = "TALLY_CACHE_DIR='" + cache + "' '" + self + "' --measure 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return false;
  char line[512];
  bool seen = false;
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    if (std::sscanf(line, "FIGURES %lf %lf %lf %lf", &out.context, &out.first_sum, &out.second_sum, &out.first_five) == 4) seen = true;
    else std::printf("  > %s", line);
  }
  return pclose(pipe) == 0 && seen;
}

double median(std::vector<figures> const& all, double figures::*which) {
  std::vector<double> v;
  for (auto const& f : all) v.push_back(f.*which);
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void print(const char* what, std::vector<figures> const& all) {
  std::printf("%s (%zu processes, medians): context %.1f ms, then first sum %.1f ms, again %.3f ms, five folds %.1f ms\n", what,
              all.size(), median(all, &figures::context), median(all, &figures::first_sum), median(all, &figures::second_sum),
              median(all, &figures::first_five));
}

bool bar(const char* what, double ms, double most, double plan) {
  std::printf("%s  first result, %s: %.1f ms (bar %.0f ms; plan %.0f ms)\n", ms <= most ? "PASS" : "FAIL", what, ms, most, plan);
  return ms <= most;
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "--measure") == 0) return measure();
  int const processes = count > 1 ? std::atoi(words[1]) : 5;
  namespace fs = std::filesystem;
  std::string const self = fs::read_symlink("/proc/self/exe").string();
  std::string pattern = (fs::temp_directory_path() / "tally-first-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return std::printf("bench: no folder for a cache\n"), 3;
  std::vector<figures> cold, warm;
  bool good = true;
  for (int i = 0; i < processes && good; ++i) {
    figures f;
    std::string const cache = pattern + "/" + std::to_string(i);
    fs::create_directory(cache);
    fs::permissions(cache, fs::perms::owner_all);
    if ((good = fresh(self, cache, f))) cold.push_back(f);
    if (good && (good = fresh(self, cache, f))) warm.push_back(f);
  }
  fs::remove_all(pattern);
  if (!good) return std::printf("FAIL  a process gave no figures\n"), 2;
  print("nothing cached", cold);
  print("kernel on disk", warm);
  bool const held = bar("nothing cached", median(cold, &figures::first_sum), 1500, 300) &
                    bar("kernel on disk", median(warm, &figures::first_sum), 30, 10);
  return held ? 0 : 1;
}
