// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short text that is compiled: includes, the user's functions, the agreements. Nothing else is ever written as
// device text, and what could break out of an include line is refused. Compiled side, jit.
#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

namespace tally::inline v0::gpu {
namespace {

void add_include(std::string& text, std::string const& header) {
  if (header.empty()) return;
  if (header.find_first_of("<>\"\\\n\r") != std::string::npos)
    throw compile_failed("\"" + header + "\" is no header name.");
  text += "#include <" + header + ">\n";
}

void add_lines(std::string& text, std::string const& lines) {
  text += lines;
  if (!lines.empty() && lines.back() != '\n') text += '\n';
}

} // namespace

std::string text_of(unit const& u) {
  std::string text;
  for (auto const& header : u.extra_headers) add_include(text, header);
  add_include(text, u.header);
  add_lines(text, u.definitions);
  add_lines(text, u.assertions);
  return text;
}

} // namespace tally::inline v0::gpu
