// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from a pattern and values. {fmt} compiles two seconds in every file that formats by itself, so one file does it for all.
#pragma once

#include <string>

#include <fmt/core.h>

namespace tally::v0 {

/// The pattern with values of plain types in place of its braces; compiled in dsl/base/formatted.cpp.
std::string formatted_from(fmt::string_view pattern, fmt::format_args values);
template <class... Ts>
std::string formatted(fmt::format_string<Ts const&...> pattern, Ts const&... values) {
  return formatted_from(pattern, fmt::make_format_args(values...));
}

} // namespace tally::v0
