// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of explanations with several domains: what they say, and what they say no to. Test layer.
#pragma once

#include <tally/tally.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

inline bool says(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }
inline nlohmann::json read(tally::grouped_explanation const& e) { return nlohmann::json::parse(e.json()); }
inline bool refuses(std::vector<tally::v0::refused_choice> const& refusals, std::string const& choice, std::string const& part) {
  return std::any_of(refusals.begin(), refusals.end(), [&](auto const& r) { return says(r.choice, choice) && says(r.reason, part); });
}
