// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The short text that is compiled: includes, the user's functions, the agreements. Nothing else is ever written as
// device text, and what could break out of an include line is refused. Compiled side, jit.
#include <tally/base/error.hpp>
#include <tally/run/device.hpp>

namespace tally::v0::gpu {
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

/// Complex numbers are a header of their own. A unit has some if it names their type, or what makes them of real ones.
bool has_complex_numbers(unit const& u) {
  for (char const* word : {"cuda::std::complex", "op::as_complex"})
    for (auto const* text : {&u.definitions, &u.assertions, &u.name_expression})
      if (text->find(word) != std::string::npos) return true;
  return false;
}

} // namespace

std::string text_of(unit const& u) {
  std::string text;
  if (has_complex_numbers(u)) add_include(text, "tally/complex.hpp");
  for (auto const& header : u.extra_headers) add_include(text, header);
  add_include(text, u.header);
  add_lines(text, u.definitions);
  add_lines(text, u.assertions);
  return text;
}

} // namespace tally::v0::gpu
