// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a printer puts its string together.
#include <tally/pipeline/printer.hpp>

#include <cstdio>
#include <cstring>
#include <utility>

namespace tally::v0 {

printer::printer() = default;
printer::~printer() = default;

printer& printer::text(char const* s) {
  out += s;
  return *this;
}
printer& printer::text(std::string const& s) {
  out += s;
  return *this;
}
printer& printer::number(long long i) {
  out += std::to_string(i);
  return *this;
}
printer& printer::column(int i) {
  out += columns == nullptr ? "let" : columns->at(std::size_t(i));
  return *this;
}

printer::brackets printer::open(char const* name) {
  out.append(name) += '(';
  return {", ", ")", false};
}
printer::brackets printer::open_call(char const* spelling, int operands) {
  if (std::strchr("+-*/%<>=!&|^~", spelling[0]) == nullptr) return open(spelling);
  out += operands == 2 ? "(" : spelling;
  return operands == 2 ? brackets{spelling, ")", true} : brackets{"", "", true};
}
std::size_t printer::next(brackets& b) {
  if (!std::exchange(b.first, false)) {
    bool const spaced = b.infix && b.between[0] != '\0';
    if (spaced) out += ' ';
    out += b.between;
    if (spaced) out += ' ';
  }
  return out.size();
}
void printer::end(brackets const& b, std::size_t start) {
  if (!b.infix) unwrap(start);
}
void printer::close(brackets const& b) { out += b.close; }

void printer::unwrap(std::size_t start) {
  if (out.size() > start + 1 && out[start] == '(' && out.back() == ')') {
    out.pop_back();
    out.erase(start, 1);
  }
}
std::string printer::take() { return std::move(out); }

void printer::real(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  out += buffer;
}
void printer::natural(unsigned long long value) { out += std::to_string(value); }
void printer::interval(double low, double high) {
  out += "[";
  real(low);
  out += ", ";
  real(high);
  out += "]";
}

} // namespace tally::v0
