// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device text of the user's own functions and structs, put back into the namespaces they come from.
#include <tally/run/device_text.hpp>

#include <tally/base/error.hpp>

namespace tally::v0 {

void definitions::add(std::string& to, char const* kind, std::string const& qualified, std::string const& body) {
  if (qualified.find('(') != std::string::npos || qualified.find('{') != std::string::npos)
    throw compile_failed("'" + qualified + "' is in an unnamed namespace or a function, where a kernel cannot name it; "
                         "declare it in a named namespace.");
  std::string open, close, rest = qualified;
  for (auto at = rest.find("::"); at != std::string::npos; at = rest.find("::")) {
    open += "namespace " + rest.substr(0, at) + " { ";
    close += " }";
    rest = rest.substr(at + 2);
  }
  std::string const text = open + kind + " " + rest + " " + body + close + "\n";
  if (to.find(text) == std::string::npos) to += text;
}

void definitions::refuse(std::string const& qualified) {
  throw compile_failed("a kernel does not know the elements' type '" + qualified + "': declare it with TALLY_STRUCT" +
                       (qualified.find("std::complex<") == 0 ? ", complex numbers by including tally/complex.hpp." : "."));
}

} // namespace tally::v0
