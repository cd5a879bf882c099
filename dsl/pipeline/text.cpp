// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words for a column.
#include <tally/pipeline/text.hpp>

namespace tally::v0::detail {

void print_column(printer& p, std::string const& type, i64 extent, char const* kind) {
  if (kind != nullptr) p.text(kind).text("(");
  p.text(type).text("[").number(extent).text(kind != nullptr ? "])" : "]");
}

void print_column(printer& p, std::string const& type, int rank, i64 const* extents) {
  std::string own, axes;
  int count = 0;
  for (int k = 0; k < rank; ++k) {
    if (extents[k] == any_extent) continue;
    own += (count > 0 ? " x " : "") + std::to_string(extents[k]);
    axes += (count > 0 ? ", " : "") + std::to_string(k);
    ++count;
  }
  bool const whole = count == rank;
  if (!whole) p.text("along<").text(axes).text(">(");
  p.text(type).text("[").text(own).text(whole ? "]" : "])");
}

} // namespace tally::v0::detail
