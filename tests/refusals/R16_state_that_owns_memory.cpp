// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A state travels as bytes, and a string does not.
// refused: lift(elements...) and combine(state, state) give the state
#include <tally/tally.hpp>

#include <string>
#include <vector>

using namespace tally;

auto const longer = [](std::string const& a, std::string const& b) { return a.size() < b.size() ? b : a; };
auto const shown = [](float a) { return std::to_string(a); };
auto const same = [](std::string const& a) { return a; };

auto mistake(std::vector<float> const& x) {
  return run(from(x) | reduce(fold_of(std::string(), longer, shown, same, associative)));
}
