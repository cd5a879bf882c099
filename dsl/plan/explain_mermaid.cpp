// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An explanation as a Mermaid flowchart: columns, folds, the two storeys of the tree, answers. Compiled side, plan.
#include "base/formatted.hpp"
#include "plan/words.hpp"

#include <algorithm>

namespace tally::v0::words {

std::string label(std::string const& text) {
  std::string safe;
  for (char const c : text) {
    switch (c) {
    case '"': safe += "#quot;"; break;
    case '<': safe += "#lt;"; break;
    case '>': safe += "#gt;"; break;
    case '#': safe += "#35;"; break;
    case '`': safe += "#96;"; break;
    default: safe += c;
    }
  }
  return safe;
}

} // namespace tally::v0::words

namespace tally::v0 {
namespace {

using words::label;

/// The node of a choice: folds that share it share the node.
std::size_t node_of(std::vector<std::string>& known, std::string const& choice) {
  auto const at = std::find(known.begin(), known.end(), choice);
  if (at != known.end()) return static_cast<std::size_t>(at - known.begin());
  known.push_back(choice);
  return known.size() - 1;
}

} // namespace

std::string explanation::mermaid() const {
  auto const& d = about_;
  std::string out = "flowchart TD\n";
  for (std::size_t i = 0; i < d.sources.size(); ++i) {
    auto const& s = d.sources[i];
    out += formatted("  source{}[(\"{}<br/>{}\")] --> read\n", i, label(s.name + ": " + s.type), label(s.load));
  }
  out += formatted("  read[\"one read of {}<br/>{}\"]\n", words::bytes(double(d.bytes_read())), words::tree(d.facts));
  std::vector<std::string> blocks, grids;
  for (std::size_t i = 0; i < d.folds.size(); ++i) {
    auto const& f = d.folds[i];
    auto const block = node_of(blocks, f.block), grid = node_of(grids, f.grid);
    out += formatted("  read --> fold{}([\"{}\"]) --> block{} --> grid{}\n", i, label(f.name), block, grid);
  }
  auto const* unit = d.on_gpu ? "block" : "tile";
  for (std::size_t i = 0; i < blocks.size(); ++i)
    out += formatted("  block{}[\"inside a {}<br/>{}\"]\n", i, unit, label(blocks[i]));
  for (std::size_t i = 0; i < grids.size(); ++i)
    out += formatted("  grid{}[\"across {}s<br/>{}\"] --> answers\n", i, unit, label(grids[i]));
  if (d.folds.empty()) out += "  read --> answers\n";
  std::string answers;
  for (auto const& a : d.answers) answers += (answers.empty() ? "" : "<br/>") + label(a);
  return out + formatted("  answers{{{{\"{}\"}}}}\n", answers);
}

} // namespace tally::v0
