// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs are usable alone from a user's own .cu file: nvcc compiles every one of examples/kernels for each chip that has
// its instructions, without a warning. Needs nvcc, no GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace {

struct finished {
  int status;
  std::string output;
};

finished shell(std::string const& command) {
  finished result{-1, {}};
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  for (std::array<char, 4096> part; std::fgets(part.data(), part.size(), pipe) != nullptr;)
    result.output += part.data();
  int const status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  return result;
}

/// The compiler of the toolkit: NVCC, the path, CUDA_HOME, the usual place; empty where there is none.
std::string find_nvcc() {
  auto const given = [](char const* name) {
    return std::string(std::getenv(name) != nullptr ? std::getenv(name) : "");
  };
  std::vector<std::string> const places{given("NVCC"), "nvcc", given("CUDA_HOME") + "/bin/nvcc",
                                        "/usr/local/cuda/bin/nvcc"};
  for (auto const& place : places)
    if (!place.empty() && shell("'" + place + "' --version").status == 0) return place;
  return {};
}

} // namespace

TEST_CASE("nvcc compiles a kernel of one's own for every protocol") {
  auto const nvcc = find_nvcc();
  if (nvcc.empty()) {
    MESSAGE("skipped: no nvcc on this machine");
    return;
  }
  auto const out = std::filesystem::temp_directory_path() / ("tally_own_kernel_" + std::to_string(std::rand()) + ".o");
  int compiled = 0;
  for (auto const& file : std::filesystem::directory_iterator(TALLY_REPOSITORY "/examples/kernels")) {
    if (file.path().extension() != ".cu") continue;
    CAPTURE(file.path().string());
    auto const result = shell("'" + nvcc +
                              "' -std=c++20 -gencode=arch=compute_90a,code=sm_90a -gencode=arch=compute_100a,"
                              "code=sm_100a -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror -I '" TALLY_REPOSITORY
                              "/include' -c -o '" +
                              out.string() + "' '" + file.path().string() + "'");
    INFO(result.output);
    CHECK(result.status == 0);
    ++compiled;
  }
  std::filesystem::remove(out);
  CHECK(compiled >= 6);
}
