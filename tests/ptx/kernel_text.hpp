// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled kernel as a list of instructions: what of the PTX the tests of this folder look at. Test layer.
#pragma once

#include "plans/made_up.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ptx {

/// True with an NVRTC; says once that the rest is skipped.
inline bool can_compile() {
  static bool const able = [] {
    bool const found = tally::v0::gpu::can_compile();
    if (!found) std::printf("skipped: no NVRTC on this machine\n");
    return found;
  }();
  return able;
}

using made_up::numbers;

constexpr tally::i64 many = tally::i64(1) << 24;

/// The instructions of the kernel in the order of the text, without labels, predicates and directives.
class kernel_text {
public:
  template <class Reduction, class... Options>
  explicit kernel_text(Reduction const& r, Options... options) : kernel_text(tally::explain(r, options...)) {}
  /// Of a full reduction whose launches follow each other, for an H200.
  template <class Reduction>
  static kernel_text of_queued(Reduction const& r) {
    auto const e = tally::explain(r, tally::targets::h200);
    auto f = e.details().facts;
    f.queued = true;
    auto const& type = tally::v0::detail::type_of<decltype(tally::v0::bind(r).program)>();
    return {e, tally::v0::gpu::ptx_of(tally::v0::gpu::unit_of(type, tally::v0::make_plan(f).plan, f), f.target)};
  }

  /// How many instructions start with a word: count("ld.global.cs.v4").
  long count(std::string_view word) const {
    return std::count_if(instructions.begin(), instructions.end(),
                         [&](auto const& i) { return i.starts_with(word); });
  }
  bool has(std::string_view word) const { return count(word) > 0; }
  /// The most instructions that start with `word` without one between them that starts with `until`.
  long most_in_a_row(std::string_view word, std::string_view until) const {
    long most = 0, run = 0;
    for (auto const& i : instructions) {
      run = i.starts_with(until) ? 0 : run + i.starts_with(word);
      most = std::max(most, run);
    }
    return most;
  }
  /// Floating-point operations that were contracted, approximated, or may flush.
  long count_loose() const {
    return std::count_if(instructions.begin(), instructions.end(), [](auto const& i) {
      auto const has = [&](char const* part) { return i.find(part) != std::string::npos; };
      return i.starts_with("fma.") || i.starts_with("mad.rn.f") || has(".ftz") || has(".approx") || has(".full.f");
    });
  }
  /// Bytes of static shared memory whose name contains a word.
  long shared_bytes(std::string_view word) const {
    long bytes = 0;
    for (auto const& d : shared)
      if (d.find(word) != std::string::npos) bytes += std::stol(d.substr(d.rfind('[') + 1));
    return bytes;
  }

  tally::explanation explained;
  std::string whole;
  std::vector<std::string> instructions, shared;

private:
  explicit kernel_text(tally::explanation e) : kernel_text(e, e.ptx()) {}
  kernel_text(tally::explanation e, std::string text) : explained(std::move(e)), whole(std::move(text)) {
    auto const start = whole.find(".entry");
    REQUIRE(start != std::string::npos);
    std::istringstream lines(whole.substr(start));
    int depth = 0; // inline assembly has braces of its own
    for (std::string line; std::getline(lines, line) && (depth > 1 || line != "}");) {
      auto const start_of_text = line.find_first_not_of(" \t");
      if (start_of_text != line.npos) depth += line[start_of_text] == '{' ? 1 : line[start_of_text] == '}' ? -1 : 0;
      add(line);
    }
    REQUIRE(instructions.size() > 20);
  }
  void add(std::string line) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.starts_with(".shared")) shared.push_back(line);
    if (line.starts_with("@")) line.erase(0, std::min(line.size(), line.find_first_of(" \t") + 1));
    if (line.empty() || line[0] < 'a' || line[0] > 'z') return;
    instructions.push_back(line);
  }
};

} // namespace ptx
