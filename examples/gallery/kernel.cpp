// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which PTX instructions are worth a line. Gallery, no part of the library.
#include "kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace gallery {
namespace {

constexpr std::array families{"ld.global", "st.global", "ld.shared", "st.shared", "ld.volatile", "cp.",   "shfl.",
                              "redux.",    "red.",      "atom.",     "bar",       "mbarrier",    "fence", "membar"};

/// The instruction of a line of PTX without its guard and operands.
std::string_view instruction_in(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t{"), line.size()));
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  return line.substr(0, line.find_first_of(" \t;"));
}

bool moves_data(std::string_view instruction) {
  return std::ranges::any_of(families, [&](std::string_view family) { return instruction.starts_with(family); });
}

} // namespace

std::string traffic_of(std::string_view ptx) {
  std::map<std::string_view, int> times;
  while (!ptx.empty()) {
    auto const end = std::min(ptx.find('\n'), ptx.size());
    if (auto const instruction = instruction_in(ptx.substr(0, end)); moves_data(instruction)) ++times[instruction];
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  std::string lines;
  for (auto const& [instruction, count] : times) lines += fmt::format("{:>5} x {}\n", count, instruction);
  return lines;
}

} // namespace gallery
