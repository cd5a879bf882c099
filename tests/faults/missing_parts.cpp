// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Machines that lack a part: no driver, a driver that does not start, no NVRTC, no home. Every door then answers with a
// typed error or with what is true there, and nothing crashes.
#include "faults/child.hpp"
#include "jit/temporary_folder.hpp"

#include <tally/base/error.hpp>
#include <tally/run/device.hpp>
#include <tally/run/log.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace tally::v0;

gpu::unit tiny_unit() {
  gpu::unit u;
  u.header = "tally/base/config.hpp";
  u.definitions = "__global__ void nothing() {}";
  u.name_expression = "nothing";
  return u;
}

void passes(std::string const& suite, std::string const& variables) {
  auto const result = run_suite(suite, variables);
  CAPTURE(variables);
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(result.output.find("0 failed") != std::string::npos);
  CHECK(result.output.find("| 0 passed") == std::string::npos);
}

std::string where_the_stub_is() {
  for (auto const* path : {"/usr/local/cuda/lib64/stubs/libcuda.so", "/usr/lib/x86_64-linux-gnu/stubs/libcuda.so"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

} // namespace

TEST_CASE("without a driver every door says so") { passes("no driver", "TALLY_DRIVER_LIBRARY=none"); }

TEST_CASE("a driver that is something else is no driver") {
  passes("no driver", "TALLY_DRIVER_LIBRARY=libm.so.6");
  temporary_folder const folder;
  write_file(folder.path + "/libcuda.so.1", "this is no library");
  passes("no driver", "TALLY_DRIVER_LIBRARY='" + folder.path + "/libcuda.so.1'");
}

TEST_CASE("the toolkit's stub has every function that is asked for, and does not start") {
  auto const stub = where_the_stub_is();
  if (stub.empty()) {
    MESSAGE("skipped: no toolkit with a stub of the driver");
    return;
  }
  passes("no driver", "TALLY_DRIVER_LIBRARY=" + stub);
  passes("stub driver", "TALLY_DRIVER_LIBRARY=" + stub);
}

TEST_CASE("without NVRTC nothing is compiled, and the error names every place that was tried") {
  passes("no NVRTC", "TALLY_NVRTC_LIBRARY=/nowhere/libnvrtc.so.13 TALLY_CACHE_DIR=");
  temporary_folder const folder;
  write_file(folder.path + "/libnvrtc.so.13", "this is no library");
  passes("no NVRTC", "TALLY_NVRTC_LIBRARY='" + folder.path + "/libnvrtc.so.13' TALLY_CACHE_DIR=");
  passes("no NVRTC", "TALLY_NVRTC_LIBRARY=libm.so.6 TALLY_CACHE_DIR=");
}

TEST_CASE("a missing, empty or unusable home costs the disk cache and nothing else") {
  passes("memory only", "-u HOME -u XDG_CACHE_HOME -u TALLY_CACHE_DIR");
  passes("memory only", "-u XDG_CACHE_HOME -u TALLY_CACHE_DIR HOME=");
  passes("memory only", "-u XDG_CACHE_HOME -u TALLY_CACHE_DIR HOME=/proc/nobody");
  passes("memory only", "TALLY_CACHE_DIR=/dev/full");
  passes("memory only", "TALLY_CACHE_DIR=/proc/nobody TALLY_CACHE_MAX_SIZE=nonsense");
}

TEST_CASE("a damaged cache file is a miss, whichever process finds it") {
  if (!gpu::can_compile()) {
    MESSAGE("skipped: this machine has no NVRTC");
    return;
  }
  temporary_folder const folder;
  auto const variables = "TALLY_CACHE_DIR='" + folder.path + "' TALLY_LOG=cache,jit";
  auto const first = run_suite("memory only", variables);
  CHECK(first.output.find("compiled in") != std::string::npos);
  REQUIRE(folder.files().size() == 1);
  auto const second = run_suite("memory only", variables);
  CHECK(second.output.find("from disk") != std::string::npos);
  auto const path = folder.path + "/" + folder.files().front();
  auto bytes = text_of_file(path);
  bytes[bytes.size() / 2] ^= 1;
  write_file(path, bytes);
  auto const third = run_suite("memory only", variables);
  CHECK(third.status == 0);
  CHECK(third.output.find("damaged or foreign entry") != std::string::npos);
  CHECK(third.output.find("compiled in") != std::string::npos);
  CHECK(third.output.find("from disk") == std::string::npos);
  CHECK(run_suite("memory only", variables).output.find("from disk") != std::string::npos);
}

TEST_CASE("TALLY_DUMP writes what was compiled") {
  if (!gpu::can_compile()) {
    MESSAGE("skipped: this machine has no NVRTC");
    return;
  }
  temporary_folder const folder;
  passes("memory only", "TALLY_CACHE_DIR= TALLY_DUMP='cuda,ptx:" + folder.path + "/deep/er'");
  std::string seen;
  for (auto const& row : std::filesystem::directory_iterator(folder.path + "/deep/er"))
    seen += row.path().extension().string() + text_of_file(row.path().string());
  CHECK(seen.find(".cu// nothing") != std::string::npos);
  CHECK(seen.find(".entry _Z7nothingv") != std::string::npos);
}

TEST_CASE("TALLY_LOG chooses whose lines are heard") {
  passes("log", "TALLY_LOG=cache");
  passes("log", "TALLY_LOG=jit,cache");
}

TEST_SUITE("no driver" * doctest::skip()) {
  TEST_CASE("there are no devices, and why is one sentence") {
    CHECK(gpu::device_count() == 0);
    CHECK_FALSE(gpu::why_no_device().empty());
  }
  TEST_CASE("every pointer is a host pointer") {
    int here = 0, owner = 7;
    CHECK(gpu::residence_of(&here, &owner) == gpu::residence::host);
    CHECK(owner == -1);
    CHECK(gpu::residence_of(nullptr) == gpu::residence::host);
  }
  TEST_CASE("what needs a device throws no_gpu") {
    int here = 0;
    CHECK_THROWS_AS(gpu::facts_of(0), no_gpu);
    CHECK_THROWS_AS(gpu::facts_of(-1), no_gpu);
    CHECK_THROWS_AS(gpu::load(tiny_unit(), 0), no_gpu);
    CHECK_THROWS_AS(gpu::workspace(0, {}, 10), no_gpu);
    CHECK_THROWS_AS(gpu::take_result_slot(0, 10), no_gpu);
    CHECK_THROWS_AS(gpu::wait(0), no_gpu);
    CHECK_THROWS_AS(gpu::ready(0), no_gpu);
    CHECK_THROWS_AS(gpu::record(0), no_gpu);
    CHECK_THROWS_AS(gpu::allocate(10, 0), no_gpu);
    CHECK_THROWS_AS(gpu::stage(&here, sizeof here, 0), no_gpu);
    try {
      gpu::wait(0);
    } catch (error const& e) {
      CHECK(e.code() == error_code::no_gpu);
      CHECK(std::string(e.what()).starts_with("[tally-E7] "));
      CHECK(std::string(e.what()).ends_with(". docs/errors.md#E7"));
    }
  }
  TEST_CASE("empty handles need no device") {
    gpu::mark nothing;
    CHECK(nothing.ready());
    nothing.wait();
    gpu::result_slot const slot;
    CHECK(slot.host() == nullptr);
    CHECK(slot.bytes() == 0);
    gpu::device_memory const memory;
    CHECK(memory.data() == nullptr);
  }
  TEST_CASE("kernels are compiled all the same") {
    if (gpu::can_compile()) CHECK(gpu::compile(tiny_unit(), 9, 0).ptx.find("nothing") != std::string::npos);
  }
}

TEST_SUITE("stub driver" * doctest::skip()) {
  TEST_CASE("it was asked to start") { CHECK(gpu::why_no_device().find("did not start") != std::string::npos); }
}

TEST_SUITE("no NVRTC" * doctest::skip()) {
  TEST_CASE("compiling throws no_nvrtc, again and again") {
    CHECK_FALSE(gpu::can_compile());
    for (int time = 0; time < 2; ++time) {
      try {
        gpu::compile(tiny_unit(), 9, 0);
        FAIL("it compiled");
      } catch (no_nvrtc const& e) {
        CHECK(e.code() == error_code::no_nvrtc);
        std::string const what = e.what();
        CHECK(what.starts_with("[tally-E8] "));
        CHECK(what.find(std::getenv("TALLY_NVRTC_LIBRARY")) != std::string::npos);
      }
    }
  }
}

TEST_SUITE("memory only" * doctest::skip()) {
  TEST_CASE("a kernel compiles and is kept in memory") {
    if (!gpu::can_compile()) return;
    CHECK_FALSE(gpu::compile(tiny_unit(), 9, 0).from_memory);
    CHECK(gpu::compile(tiny_unit(), 9, 0).from_memory);
  }
}

TEST_SUITE("log" * doctest::skip()) {
  TEST_CASE("the named topic is heard, others are not") {
    static std::string heard;
    set_log_sink([](std::string_view topic, std::string_view line) { heard.append(topic).append("|").append(line); });
    CHECK(logs("cache"));
    CHECK_FALSE(logs("cach"));
    CHECK_FALSE(logs("gpu"));
    log_line("cache", "yes");
    log_line("gpu", "no");
    CHECK(heard == "cache|yes");
  }
}
