// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which domains of a reduction an H200 folds in the read of another, in their order.
#pragma once

#include <tally/tally.hpp>

#include <vector>

using each = std::vector<bool>;
template <class R, class... Options>
each shared_of(R const& r, Options... options) {
  each shared;
  auto const e = tally::explain(r, tally::targets::h200, options...);
  for (auto const& d : e.details().domains) shared.push_back(d.shares_read);
  return shared;
}
