// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From PTX back to forms: spell() the other way round, words in any order. Test layer.
#pragma once

#include <tally/primitive/form.hpp>
#include <tally/primitive/spell.hpp>

#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace form_of {

using namespace tally::v0::primitive;

/// Reads ".word" into a field when it is one of an enumeration's first `count` enumerators.
template <class Enumeration>
bool reads(std::string_view word, int count, Enumeration& into) {
  for (int i = 1; i < count; ++i)
    if (word == spell(Enumeration(i))) {
      into = Enumeration(i);
      return true;
    }
  return false;
}

/// The form of a mnemonic, or nothing when it is of none of the five families or has a word that no form knows.
inline std::optional<form> read(std::string_view mnemonic) {
  form f;
  std::string_view rest;
  for (family one : {family::prefetch_bulk, family::copy_bulk, family::reduce_bulk, family::red_async, family::red}) {
    std::string_view const name = spell(one);
    if (!mnemonic.starts_with(name) || (mnemonic.size() > name.size() && mnemonic[name.size()] != '.')) continue;
    f.instruction = one;
    rest = mnemonic.substr(name.size());
    break;
  }
  if (rest.empty()) return std::nullopt;
  bool has_destination = f.instruction == family::prefetch_bulk;
  while (!rest.empty()) {
    auto const end = rest.find('.', 1);
    std::string_view const word = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end);
    space where{};
    if (reads(word, 5, where)) {
      (has_destination ? f.source : f.destination) = where;
      has_destination = true;
    } else if (word == ".multicast::cluster") {
      f.multicast = true;
    } else if (word == ".L2::cache_hint") {
      f.cache_hint = true;
    } else if (word == ".cp_mask") {
      f.byte_mask = true;
    } else if (word == ".noftz") {
      f.noftz = true;
    } else if (word == ".mmio") {
      f.mmio = true;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      f.width = static_cast<unsigned char>(word[2] - '0');
    } else if (!reads(word, 9, f.op) && !reads(word, 13, f.type) && !reads(word, 3, f.order) &&
               !reads(word, 5, f.scope) && !reads(word, 3, f.completion)) {
      return std::nullopt;
    }
  }
  return f;
}

/// Every form in a text of PTX.
inline std::vector<form> read_all(std::string const& ptx) {
  std::vector<form> found;
  std::istringstream lines(ptx);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.starts_with("@")) line.erase(0, std::min(line.size(), line.find_first_of(" \t") + 1));
    if (auto const f = read(std::string_view(line).substr(0, line.find_first_of(" \t;")))) found.push_back(*f);
  }
  return found;
}

} // namespace form_of
