// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A page of an explanation for people: headings in a margin, lines that break, and the parts that explanations share. Compiled side,
// plan.
#pragma once

#include "base/formatted.hpp"
#include "plan/words.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace tally::v0::words {

inline constexpr std::size_t margin = 9;  // the headings
inline constexpr std::size_t width = 118; // where a long line breaks

/// Lines under construction: a heading in the margin, words broken at spaces beside it.
class page {
public:
  void put(std::string_view heading, std::string_view words) {
    std::string line = formatted("{:<{}}", heading, margin);
    std::size_t const start = line.size();
    while (!words.empty()) {
      auto const word = words.substr(0, words.find(' '));
      if (line.size() > start && line.size() + word.size() > width) {
        close(line);
        line = std::string(margin + 2, ' ');
      }
      line += word;
      words.remove_prefix(word.size());
      auto const spaces = std::min(words.find_first_not_of(' '), words.size());
      line.append(spaces, ' ');
      words.remove_prefix(spaces);
    }
    close(line);
  }
  std::string text;

private:
  void close(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
};

/// What the contract is and means; `tree` ends the line.
std::string promise_of(contract promise, bool on_every_back_end, std::string const& tree);
/// How work is launched, or cut in tiles.
std::string launch_of(description const& d);
void put_sources(page& to, description const& d);
void put_folds(page& to, description const& d);
/// How states meet; folds that meet alike share a line.
void put_meetings(page& to, description const& d);
void put_refusals(page& to, description const& d);

} // namespace tally::v0::words
