// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every header that a kernel may include compiles alone under NVRTC, from the text the library carries, for every
// chip family; and including all of them costs little. Needs NVRTC, no GPU.
#include "jit/embedded.hpp"
#include "jit/nvrtc.hpp"
#include "jit/search_path.hpp"

#include <tally/base/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tally::v0::jit;

std::span<embedded_header const> all_headers() { return {embedded_headers, embedded_header_count}; }

/// Whether NVRTC is there; says once why not.
bool have_nvrtc() {
  static bool const have = [] {
    try {
      return nvrtc().major > 0;
    } catch (tally::v0::error const& refused) {
      std::printf("skipped: no NVRTC on this machine: %s\n", refused.what());
      return false;
    }
  }();
  return have;
}

/// What NVRTC says about a unit, empty when it compiles.
std::string complaints(std::string const& unit, char const* architecture) {
  std::vector<char const*> names, texts;
  for (auto const& header : all_headers()) names.push_back(header.name), texts.push_back(header.text);
  auto const paths = find_include_paths(nvrtc().path);
  std::string const cccl = "-I" + paths.cccl, cuda = "-I" + paths.cuda;
  std::vector<char const*> const options{"-std=c++20",  "--fmad=false",      architecture,
                                         cccl.c_str(), cuda.c_str(), "-default-device"};
  auto const& call = nvrtc().call;
  nvrtc_program program = nullptr;
  REQUIRE(call.create(&program, unit.c_str(), "unit.cu", int(names.size()), texts.data(), names.data()) == 0);
  int const status = call.compile(program, int(options.size()), options.data());
  std::string log;
  if (status != 0) {
    std::size_t size = 0;
    REQUIRE(call.log_size(program, &size) == 0);
    log.resize(size);
    REQUIRE(call.log(program, log.data()) == 0);
    log = std::string(call.error_string(status)) + "\n" + log.substr(0, 2000);
  }
  call.destroy(&program);
  return log;
}

std::string including(std::string_view header) { return "#include <" + std::string(header) + ">\n"; }

/// Host-only headers of base/ say so by including the standard library.
bool is_host_only(embedded_header const& header) {
  std::string_view text = header.text;
  for (auto at = text.find("\n#include <"); at != text.npos; at = text.find("\n#include <", at + 1)) {
    auto const name = text.substr(at + 11);
    if (!name.starts_with("tally/") && !name.starts_with("cuda/")) return true;
  }
  return false;
}

/// The headers below a folder that kernels may include.
std::vector<embedded_header> device_headers(std::string_view folder) {
  std::vector<embedded_header> found;
  for (auto const& header : all_headers())
    if (std::string_view(header.name).starts_with(folder) && !(folder == "tally/base/" && is_host_only(header)))
      found.push_back(header);
  return found;
}

/// What a header includes in front of all else, which is read alone there.
std::string_view first_included(embedded_header const& header) {
  std::string_view const text = header.text, word = "\n#include <", once = "#pragma once";
  auto const at = text.find("\n#", text.find(once) + once.size());
  if (at == text.npos || !text.substr(at).starts_with(word)) return {};
  auto const name = text.substr(at + word.size());
  return name.substr(0, name.find('>'));
}

void check_alone(std::vector<embedded_header> const& headers) {
  if (!have_nvrtc()) return;
  REQUIRE_FALSE(headers.empty());
  for (auto const& header : headers) {
    if (std::any_of(headers.begin(), headers.end(), [&](auto const& other) { return first_included(other) == header.name; })) continue;
    CAPTURE(header.name);
    CHECK(complaints(including(header.name), "-arch=compute_90") == "");
  }
}

/// Including a header takes NVRTC less processor time than the bound.
void check_seconds(char const* header, double bound) {
  double least = 1e9;
  for (int tries = 0; tries < 20 && least >= bound; ++tries) { // what else the processor does only adds to it
    auto const start = std::clock();
    REQUIRE(complaints(including(header), "-arch=sm_90a") == "");
    least = std::min(least, double(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::printf("%s costs NVRTC %.2f s of processor time\n", header, least);
  CAPTURE(header);
  CHECK(least < bound);
}

} // namespace

TEST_CASE("the library carries its own headers, whole") {
  REQUIRE(embedded_header_count > 0);
  bool found = false;
  for (auto const& header : all_headers()) {
    CAPTURE(header.name);
    std::FILE* file = std::fopen((std::string(TALLY_REPOSITORY "/include/") + header.name).c_str(), "rb");
    REQUIRE(file != nullptr);
    std::string text(1 << 20, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    bool const same = text == header.text;
    CHECK(same); // not the texts themselves: a failure would print them
    found = found || std::string_view(header.name) == "tally/base/config.hpp";
  }
  CHECK(found);
  CHECK(std::string_view(embedded_headers_hash).size() == 64);
}

TEST_CASE("every device header of base compiles alone under NVRTC") { check_alone(device_headers("tally/base/")); }
TEST_CASE("every header of element compiles alone under NVRTC") { check_alone(device_headers("tally/element/")); }
TEST_CASE("every header of fold compiles alone under NVRTC") { check_alone(device_headers("tally/fold/")); }
TEST_CASE("the plan and the facts compile alone under NVRTC") {
  check_alone(device_headers("tally/plan/plan.hpp"));
  check_alone(device_headers("tally/plan/facts.hpp"));
}
TEST_CASE("every header of primitive compiles alone under NVRTC") { check_alone(device_headers("tally/primitive/")); }
TEST_CASE("every kernel compiles alone under NVRTC") { check_alone(device_headers("tally/kernel/")); }

TEST_CASE("the kernels compile for every chip family") {
  if (!have_nvrtc()) return;
  std::string unit;
  for (auto const& header : device_headers("tally/kernel/")) unit += including(header.name);
  for (char const* architecture : {"-arch=compute_80", "-arch=sm_90a", "-arch=sm_100a", "-arch=sm_120"}) {
    CAPTURE(architecture);
    CHECK(complaints(unit, architecture) == "");
  }
}

TEST_CASE("the verbs compile for every chip family") {
  if (!have_nvrtc()) return;
  std::string unit;
  for (auto const& header : device_headers("tally/primitive/")) unit += including(header.name);
  for (char const* architecture : {"-arch=sm_80", "-arch=sm_90a", "-arch=sm_100a", "-arch=sm_120"}) {
    CAPTURE(architecture);
    CHECK(complaints(unit, architecture) == "");
  }
}

// NVRTC 13.0 on 2 cores of a Xeon: 0.15 s when the budget was set (tests/run rtc prints it).
TEST_CASE("including the kernel of a full reduction costs NVRTC little") {
  if (!have_nvrtc()) return;
  check_seconds("tally/kernel/full.cuh", 0.4);
}

// NVRTC 13.0 on 2 cores of a Xeon: 0.10 s for the table of forms, 0.19 s for the verbs, which take libcu++'s <cuda/ptx>.
TEST_CASE("including the verbs costs NVRTC little") {
  if (!have_nvrtc()) return;
  check_seconds("tally/primitive/reducible.hpp", 0.2);
  check_seconds("tally/primitive/bulk_reduce.cuh", 0.4);
}
