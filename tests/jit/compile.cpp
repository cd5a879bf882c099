// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the run-time compiler promises, through the real NVRTC of this machine; no GPU is needed.
#include "jit/compile.hpp"

#include "jit/embedded.hpp"
#include "jit/nvrtc.hpp"
#include "jit/temporary_folder.hpp"

#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace {

using namespace tally::v0;

/// a * b + c with a header of tally's own in front, and one of CCCL's that tally's headers rely on.
gpu::unit small_unit() {
  gpu::unit u;
  u.header = "tally/base/config.hpp";
  u.extra_headers = {"cuda/std/cstdint"};
  u.definitions = "template <int Times> __global__ void multiply_add(float* p, cuda::std::int32_t n) {\n"
                  "  if (threadIdx.x < n) p[threadIdx.x] = p[threadIdx.x] * p[threadIdx.x + n] + Times;\n"
                  "}\n";
  u.assertions = "static_assert(sizeof(cuda::std::int32_t) == 4);";
  u.name_expression = "multiply_add<3>";
  return u;
}

bool no_compiler() {
  if (gpu::can_compile()) return false;
  MESSAGE("skipped: this machine has no NVRTC");
  return true;
}

jit::disk_cache in(temporary_folder const& folder) { return {folder.path, 1u << 30}; }

} // namespace

TEST_CASE("a unit is its includes, the user's functions and the agreements, and nothing else") {
  CHECK(gpu::text_of(small_unit()) ==
        "#include <cuda/std/cstdint>\n#include <tally/base/config.hpp>\n"
        "template <int Times> __global__ void multiply_add(float* p, cuda::std::int32_t n) {\n"
        "  if (threadIdx.x < n) p[threadIdx.x] = p[threadIdx.x] * p[threadIdx.x + n] + Times;\n"
        "}\n"
        "static_assert(sizeof(cuda::std::int32_t) == 4);\n");
}

TEST_CASE("a header's name cannot smuggle text into a unit") {
  auto u = small_unit();
  u.header = "tally/base/config.hpp>\n#error <";
  CHECK_THROWS_AS(gpu::text_of(u), compile_failed);
}

TEST_CASE("the library carries its headers, and they include one another by their public names") {
  REQUIRE(jit::embedded_header_count > 0);
  bool found = false;
  for (unsigned i = 0; i < jit::embedded_header_count; ++i)
    found = found || std::string(jit::embedded_headers[i].name) == "tally/base/config.hpp";
  CHECK(found);
}

TEST_CASE("a unit becomes PTX and a cubin, and a second time it comes from memory") {
  if (no_compiler()) return;
  temporary_folder const folder;
  jit::compiler compile(in(folder));
  auto const first = compile(small_unit(), 9, 0);
  CHECK_FALSE(first.from_memory);
  CHECK_FALSE(first.from_disk);
  CHECK(first.compile_seconds > 0);
  CHECK(first.lowered_name == "_Z12multiply_addILi3EEvPfi");
  CHECK(first.ptx.find(".target sm_90a") != std::string::npos);
  CHECK(first.ptx.find(".entry " + first.lowered_name) != std::string::npos);
  CHECK(std::string(first.cubin.data(), 4) == "\177ELF");
  auto const second = compile(small_unit(), 9, 0);
  CHECK(second.from_memory);
  CHECK(second.cubin == first.cubin);
  CHECK(second.ptx == first.ptx);
  MESSAGE("NVRTC: " << first.compile_seconds * 1000 << " ms for a small unit");
}

TEST_CASE("multiplication and addition stay two roundings") {
  if (no_compiler()) return;
  jit::compiler compile({"", 0});
  auto const ptx = compile(small_unit(), 9, 0).ptx;
  CHECK(ptx.find("mul.rn.f32") != std::string::npos);
  CHECK(ptx.find("fma") == std::string::npos);
  CHECK(ptx.find(".ftz") == std::string::npos);
}

TEST_CASE("another process finds the kernel on disk, and quickly") {
  if (no_compiler()) return;
  temporary_folder const folder;
  auto const compiled_here = jit::compiler(in(folder))(small_unit(), 9, 0);
  REQUIRE(folder.files().size() == 1);
  jit::compiler later(in(folder));
  auto const began = std::chrono::steady_clock::now();
  auto const found = later(small_unit(), 9, 0);
  std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - began;
  CHECK(found.from_disk);
  CHECK_FALSE(found.from_memory);
  CHECK(found.cubin == compiled_here.cubin);
  CHECK(found.ptx == compiled_here.ptx);
  CHECK(found.lowered_name == compiled_here.lowered_name);
  CHECK(found.compile_seconds == compiled_here.compile_seconds);
  CHECK(seconds.count() < 0.030);
  CHECK(later(small_unit(), 9, 0).from_memory);
}

TEST_CASE("whatever changes the code changes the key") {
  if (no_compiler()) return;
  auto const chip = jit::target_for(9, 0, {90});
  auto const key = jit::key_of(small_unit(), chip);
  CHECK(jit::key_of(small_unit(), chip) == key);
  CHECK(jit::key_of(small_unit(), jit::target_for(8, 0, {80, 90})) != key);
  auto other = small_unit();
  other.options = {"-lineinfo"};
  CHECK(jit::key_of(other, chip) != key);
  other = small_unit();
  other.assertions += " ";
  CHECK(jit::key_of(other, chip) != key);
  other = small_unit();
  other.name_expression = "multiply_add<4>";
  CHECK(jit::key_of(other, chip) != key);
  CHECK(key.find(jit::embedded_headers_hash) != std::string::npos);
  CHECK(key.find(jit::nvrtc().build) != std::string::npos);
}

TEST_CASE("every chip of the planner can be compiled for here") {
  if (no_compiler()) return;
  jit::compiler compile({"", 0});
  struct chip {
    int major, minor;
    char const* target;
  };
  for (auto const& c : {chip{8, 0, "sm_80"}, chip{9, 0, "sm_90a"}, chip{10, 0, "sm_100a"}, chip{12, 0, "sm_120a"}}) {
    CAPTURE(c.target);
    auto const known = jit::nvrtc().architectures;
    if (std::find(known.begin(), known.end(), c.major * 10 + c.minor) == known.end()) continue;
    auto const result = compile(small_unit(), c.major, c.minor);
    CHECK(result.ptx.find(std::string(".target ") + c.target + "\n") != std::string::npos);
    CHECK_FALSE(result.cubin.empty());
  }
}

TEST_CASE("a chip newer than NVRTC gets PTX for the driver to finish, an older one an error") {
  CHECK(jit::target_for(13, 7, {75, 90, 121}).architecture == "compute_121");
  CHECK_FALSE(jit::target_for(13, 7, {75, 90, 121}).makes_cubin);
  CHECK(jit::target_for(8, 9, {75, 80, 89}).architecture == "sm_89");
  CHECK_THROWS_AS(jit::target_for(7, 0, {75, 90}), compile_failed);
  if (no_compiler()) return;
  jit::compiler compile({"", 0});
  auto const result = compile(small_unit(), 99, 0);
  CHECK(result.cubin.empty());
  CHECK(result.ptx.find(".entry") != std::string::npos);
}

TEST_CASE("a unit that cannot be compiled is an error with NVRTC's words, each time") {
  if (no_compiler()) return;
  temporary_folder const folder;
  jit::compiler compile(in(folder));
  auto u = small_unit();
  u.assertions = "static_assert(sizeof(float) == 5, \"host and device disagree\");";
  for (int time = 0; time < 2; ++time) {
    try {
      compile(u, 9, 0);
      FAIL("it compiled");
    } catch (compile_failed const& failure) {
      CHECK(failure.code() == error_code::compile_failed);
      std::string const what = failure.what();
      CHECK(what.starts_with("[tally-E10] "));
      CHECK(what.find("host and device disagree") != std::string::npos);
      CHECK(what.ends_with("docs/errors.md#E10"));
    }
  }
  CHECK(folder.files().empty());
  u = small_unit();
  u.name_expression = "there_is_no<such_kernel>";
  CHECK_THROWS_AS(compile(u, 9, 0), compile_failed);
}

TEST_CASE("many threads that ask for one unit wait for one compilation") {
  if (no_compiler()) return;
  jit::compiler compile({"", 0});
  std::vector<gpu::compiled> results(8);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) threads.emplace_back([&] { result = compile(small_unit(), 9, 0); });
  }
  int compiled_here = 0;
  for (auto const& result : results) {
    compiled_here += result.from_memory ? 0 : 1;
    CHECK(result.cubin == results.front().cubin);
  }
  CHECK(compiled_here == 1);
}

TEST_CASE("the public door compiles too") {
  if (no_compiler()) return;
  CHECK(gpu::compile(small_unit(), 9, 0).ptx.find("multiply_add") != std::string::npos);
}
