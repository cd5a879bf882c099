// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why tally::v0::math has the same bits on a GPU: its PTX holds only operations that IEEE 754 rounds in one way, each
// marked so that no later stage may fuse two of them; what is fused is fused by name. Needs NVRTC, no GPU.
#include "jit/embedded.hpp"
#include "jit/nvrtc.hpp"
#include "jit/search_path.hpp"

#include <tally/base/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace tally::v0::jit;

/// The PTX of a unit that sees the library's headers; empty, and said once, without NVRTC.
std::string ptx_of(std::string const& unit) {
  try {
    (void)nvrtc();
  } catch (tally::v0::error const& refused) {
    static bool const said = std::printf("skipped: no NVRTC on this machine: %s\n", refused.what()) != 0;
    return (void)said, std::string();
  }
  std::vector<char const*> names, texts;
  for (std::size_t i = 0; i < embedded_header_count; ++i)
    names.push_back(embedded_headers[i].name), texts.push_back(embedded_headers[i].text);
  std::string const cccl = "-I" + find_include_paths(nvrtc().path).cccl;
  std::vector<char const*> const options{"-std=c++20", "--fmad=false", "-default-device", "-arch=compute_90",
                                         cccl.c_str()};
  auto const& call = nvrtc().call;
  nvrtc_program program = nullptr;
  REQUIRE(call.create(&program, unit.c_str(), "math.cu", int(names.size()), texts.data(), names.data()) == 0);
  REQUIRE(call.compile(program, int(options.size()), options.data()) == 0);
  std::size_t size = 0;
  REQUIRE(call.ptx_size(program, &size) == 0);
  std::string text(size, '\0');
  REQUIRE(call.ptx(program, text.data()) == 0);
  call.destroy(&program);
  return text;
}

std::string kernel_of(std::string const& type, std::string const& expression) {
  return "#include <tally/element/math.hpp>\nnamespace math = tally::v0::math;\nextern \"C\" __global__ void k(" + type +
         "* p) { auto const x = p[threadIdx.x], y = p[threadIdx.x + 1024]; (void)y; p[threadIdx.x] = " + expression +
         "; }\n";
}

/// The floating-point instructions whose result IEEE 754 does not fix, or that may still be fused.
std::vector<std::string> unfixed(std::string const& ptx) {
  std::vector<std::string> found;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//")) continue;
    std::string_view const text = line;
    bool const approximate = text.find(".approx") != text.npos || text.find(".ftz") != text.npos ||
                             text.find(".full") != text.npos || text.find("mad.rn") != text.npos;
    bool fusible = false;
    for (char const* operation : {"add.f", "sub.f", "mul.f"}) fusible = fusible || text.find(operation) != text.npos;
    if (approximate || fusible) found.push_back(line);
  }
  return found;
}

constexpr char const* every_expression[] = {
    "exp(x)",   "exp2(x)",    "expm1(x)",    "log(x)",    "log2(x)",     "log10(x)",   "log1p(x)",      "sinh(x)",
    "cosh(x)",  "tanh(x)",    "sigmoid(x)",  "sin(x)",    "cos(x)",      "tan(x)",     "asin(x)",       "acos(x)",
    "atan(x)",  "cbrt(x)",    "erf(x)",      "abs(x)",    "sqrt(x)",     "floor(x)",   "ceil(x)",       "trunc(x)",
    "round(x)", "nearest(x)", "atan2(x, y)", "pow(x, y)", "hypot(x, y)", "fmod(x, y)", "copysign(x, y)"};

} // namespace

TEST_CASE("no function of tally::v0::math uses an approximate or a flushing instruction, or one that may still be fused") {
  for (std::string const type : {"float", "double"})
    for (char const* expression : every_expression) {
      std::string const ptx = ptx_of(kernel_of(type, std::string("math::") + expression));
      if (ptx.empty()) return;
      CAPTURE(type);
      CAPTURE(std::string(expression));
      REQUIRE(ptx.find("st.global") != ptx.npos);
      for (std::string const& line : unfixed(ptx)) CHECK_MESSAGE(false, line);
    }
}

TEST_CASE("the check would see an approximate instruction, and one that may still be fused") {
  CHECK(unfixed("\tmul.f32 %f1, %f2, %f3;\n\tmul.rn.f32 %f1, %f2, %f3;\n\tfma.rn.ftz.f32 %f1, %f2, %f3, %f4;\n").size() == 2);
  if (ptx_of(kernel_of("float", "x")).empty()) return;
  CHECK(unfixed(ptx_of(kernel_of("float", "__expf(x)"))).size() >= 1);
}

/// Arithmetic instructions of a kernel: of its PTX, all but moves, loads, stores, addresses and the end.
int arithmetic_of(std::string const& ptx) {
  int found = 0;
  std::istringstream lines(ptx.substr(ptx.find('{')));
  for (std::string line; std::getline(lines, line);) {
    std::string_view const text = line;
    bool const instruction = text.starts_with('\t') && text.ends_with(';') && !text.starts_with("\t.");
    bool apart = false;
    for (char const* other : {"\tmov.", "\tld.", "\tst.", "\tcvta.", "\tmul.wide", "\tadd.s64", "\tret"})
      apart = apart || text.starts_with(other);
    found += instruction && !apart;
  }
  return found;
}

// The machine has fewer: a shift beside an addition, a sign and a magnitude are free there (ptxas 13.0, sm_90: 18 and 18).
TEST_CASE("exp of a float costs 19 instructions, a step of logsumexp 21") {
  std::string const of_exp = ptx_of(kernel_of("float", "math::exp(x)"));
  if (of_exp.empty()) return;
  INFO(of_exp);
  CHECK(arithmetic_of(of_exp) <= 19);
  std::string const step = ptx_of("#include <tally/fold/logsumexp.hpp>\n"
                                  "extern \"C\" __global__ void k(float* p, float largest, float sum) {\n"
                                  "  tally::v0::logsumexp_monoid<float> const m;\n"
                                  "  auto const s = m.combine({largest, sum}, m.lift(0, *p));\n"
                                  "  p[1] = s.largest, p[2] = s.sum;\n}\n");
  INFO(step);
  CHECK(arithmetic_of(step) <= 21);
  CHECK(step.find("bra") == step.npos);
}

TEST_CASE("exp, log and tanh of floats run without a branch and without double") {
  for (std::string const expression : {"math::exp(x)", "math::log(x)", "math::tanh(x)"}) {
    std::string const ptx = ptx_of(kernel_of("float", expression));
    if (ptx.empty()) return;
    CAPTURE(expression);
    CHECK(ptx.find("bra") == ptx.npos);
    CHECK(ptx.find(".reg .f64") == ptx.npos);
  }
}

// NVRTC 13.0 on one core of an EPYC, 2026-11-20, tests/run rtc: 0.02 s over an empty unit that includes
// <cuda/std/cstdint>.
TEST_CASE("including tally::v0::math costs NVRTC less than a tenth of a second") {
  auto const seconds = [](std::string const& include) {
    double best = 1e9;
    for (int repeat = 0; repeat < 3; ++repeat) {
      auto const start = std::clock();
      if (ptx_of(include + "extern \"C\" __global__ void k(float* p) { p[0] = 1; }\n").empty()) return 0.0;
      best = std::min(best, double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return best;
  };
  double const extra = seconds("#include <tally/element/math.hpp>\n") - seconds("#include <cuda/std/cstdint>\n");
  std::printf("element/math.hpp costs NVRTC %.3f s of processor time\n", extra);
  CHECK(extra < 0.1);
}
