// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device text of the user's own functions and structs, put back into the namespaces they come from.
#include <tally/run/device_text.hpp>

#include <tally/base/error.hpp>

namespace tally::v0 {

void definitions::add(std::string& to, std::string const& qualified, std::string const& body) {
  if (qualified.find('(') != std::string::npos || qualified.find('{') != std::string::npos)
    throw compile_failed("'" + qualified + "' is in an unnamed namespace or a function, where a kernel cannot name it; "
                         "declare it in a named namespace.");
  std::string open, close, rest = qualified;
  for (auto at = rest.find("::"); at != std::string::npos; at = rest.find("::")) {
    open += "namespace " + rest.substr(0, at) + " { ";
    close += " }";
    rest = rest.substr(at + 2);
  }
  std::string const text = open + "struct " + rest + " " + body + close + "\n";
  if (to.find(text) == std::string::npos) to += text;
}

} // namespace tally::v0
