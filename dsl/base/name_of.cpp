// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The spelling of a type from what the compilers print of it.
#include <tally/base/name_of.hpp>

#include <string_view>

namespace tally::v0::detail {

namespace {

/// "T" from "... pretty_name() [with T = T]" of g++ and "... [T = T]" of clang.
std::string_view spelled_in(std::string_view pretty) {
  auto const first = pretty.find("T = ") + 4;
  return pretty.substr(first, pretty.rfind(']') - first);
}

void append(std::string& out, type_spelling const& s) {
  auto const whole = spelled_in(s.pretty);
  if (s.count < 0) {
    out += whole;
    return;
  }
  out += whole.substr(0, whole.find('<'));
  out += '<';
  for (int i = 0; i < s.count; ++i) {
    if (i > 0) out += ", ";
    append(out, *s.arguments[i]);
  }
  out += '>';
}

} // namespace

std::string spelled(type_spelling const& s) {
  std::string out;
  append(out, s);
  return out;
}

} // namespace tally::v0::detail
