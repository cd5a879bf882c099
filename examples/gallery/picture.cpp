// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the picture of a plan is laid out: one narrow column read from top to bottom, so that it is legible on a phone.
// Colours are classes of the page's style. Gallery, no part of the library.
#include "picture.hpp"

#include "ink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gallery {
namespace {

constexpr double width = 460;
constexpr double edge = 14;
constexpr double crown = 278; // where the tree's first leaf stands; text keeps to its left
constexpr std::size_t leaves = 16;

/// An SVG under construction, with the height that is used so far.
struct canvas {
  std::string marks;
  double y = 0;

  void text(double x, double at, char const* style, std::string_view words) {
    marks += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, at, style, escaped(words));
  }
  void box(double x, double at, double wide, double high, char const* style) {
    marks += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"5\" class=\"{}\"/>\n",
                         x, at, wide, high, style);
  }
  void line(double x1, double y1, double x2, double y2, char const* style) {
    marks += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2, style);
  }
  /// Lines of text from the current height down, moving it.
  void paragraph(double x, char const* style, std::string_view words, std::size_t characters, double leading) {
    for (auto const& row : wrapped(words, characters)) text(x, y += leading, style, row);
  }
};

double leaf_x(double position) { return crown + (width - edge - 6 - crown) * position / double(leaves - 1); }
double const trunk = leaf_x(double(leaves - 1) / 2);

void draw_source(canvas& to, json const& source) {
  auto const bytes = number_at(source, "bytes_per_element");
  auto const type = text_at(source, "type") + (bytes > 0 ? fmt::format(" · {:g} B each", bytes) : "");
  to.y += 20;
  to.marks +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"side end\">{}</text>\n", width - edge, to.y, escaped(type));
  to.y -= 16;
  to.paragraph(edge, "name", text_at(source, "name"), 38, 16);
  to.y += 7;
  constexpr int cells = 36;
  auto const step = (width - 2 * edge) / cells;
  for (int i = 0; i < cells; ++i) to.box(edge + i * step, to.y, step - 2, 11, "cell");
  to.y += 11;
  auto load = text_at(source, "load");
  if (auto const why = text_at(source, "why"); !why.empty()) load += load.empty() ? why : ": " + why;
  if (!load.empty()) to.paragraph(edge, "side", load, 64, 16);
  to.y += 6;
}

/// The name of a step, on a line of its own.
void draw_heading(canvas& to, std::string_view words) {
  to.y += 22;
  to.text(edge, to.y, "head", words);
}

void draw_fold(canvas& to, json const& fold) {
  auto const lines = wrapped(text_at(fold, "name"), 44);
  auto const rounding = text_at(fold, "rounding");
  auto const high = 10 + 16 * double(lines.size()) + (rounding.empty() ? 0 : 16);
  to.y += 6;
  to.box(edge, to.y, width - 2 * edge, high, "fold");
  for (std::size_t i = 0; i < lines.size(); ++i) to.text(edge + 10, to.y + 17 + 16 * double(i), "name", lines[i]);
  if (auto const bytes = number_at(fold, "state_bytes"); bytes > 0)
    to.marks += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"side end\">{:g} B state</text>\n",
                            width - edge - 10, to.y + 17, bytes);
  if (!rounding.empty()) to.text(edge + 10, to.y + high - 9, "side", "rounds: " + rounding);
  to.y += high;
}

/// Which folds share which choice, in the order of first use.
std::vector<std::pair<std::string, std::string>> grouped(json const& folds, char const* key) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (auto const& fold : folds) {
    auto const choice = text_at(fold, key);
    if (choice.empty()) continue;
    auto const known = std::find_if(groups.begin(), groups.end(), [&](auto const& g) { return g.first == choice; });
    if (known == groups.end())
      groups.emplace_back(choice, text_at(fold, "name"));
    else
      known->second += ", " + text_at(fold, "name");
  }
  return groups;
}

/// The twigs from `from` nodes to half as many, between two heights.
void draw_level(canvas& to, std::size_t from, double top, double bottom) {
  auto const group = double(leaves) / double(from);
  for (std::size_t i = 0; i < from; ++i) {
    auto const child = leaf_x((double(i) + 0.5) * group - 0.5);
    auto const parent = leaf_x((double(i / 2) + 0.5) * 2 * group - 0.5);
    to.marks +=
        fmt::format("<path d=\"M{0:.1f} {1:.1f}C{0:.1f} {2:.1f} {3:.1f} {2:.1f} {3:.1f} {4:.1f}\" class=\"twig\"/>\n",
                    child, top, (top + bottom) / 2, parent, bottom);
    if (i % 2 == 1)
      to.marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.8\" class=\"node\"/>\n", parent, bottom);
  }
}

/// One storey of the tree: its name and choices on the left, two levels of the tree on the right.
void draw_storey(canvas& to, std::string_view heading, json const& folds, char const* key, std::size_t from) {
  canvas words{{}, to.y + 2};
  for (auto const& row : wrapped(heading, 36)) words.text(edge, words.y += 17, "head", row);
  auto const groups = grouped(folds, key);
  for (auto const& [choice, names] : groups) {
    words.paragraph(edge, "side", choice, 38, 17);
    if (groups.size() > 1) words.paragraph(edge + 10, "tiny", names, 34, 15);
  }
  auto const bottom = std::max(words.y + 12, to.y + 64);
  if (from == leaves)
    to.marks += fmt::format("<rect x=\"0\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" class=\"band\"/>\n", to.y, width,
                            bottom - to.y);
  draw_level(to, from, to.y, (to.y + bottom) / 2);
  draw_level(to, from / 2, (to.y + bottom) / 2, bottom);
  to.marks += words.marks;
  to.y = bottom;
}

std::string launch_of(json const& plan) {
  auto const& launch = part_at(plan, "launch");
  auto const blocks = number_at(launch, "blocks"), tiles = number_at(launch, "tiles");
  auto const threads = number_at(launch, blocks > 0 ? "threads_per_block" : "threads");
  if (blocks > 0) return fmt::format(": {:g} block{} of {:g} threads", blocks, blocks == 1 ? "" : "s", threads);
  if (tiles > 0) return fmt::format(": {:g} on {:g} thread{}", tiles, threads, threads == 1 ? "" : "s");
  return {};
}

void draw_answer(canvas& to, json const& plan) {
  to.line(trunk, to.y, trunk, to.y + 14, "twig");
  to.y += 14;
  auto const& answers = part_at(plan, "answers");
  auto const count = answers.empty() ? part_at(plan, "folds").size() : answers.size();
  auto const contract = text_at(plan, "contract");
  auto const kind = text_at(plan, "kind");
  auto const groups = kind == "elements" || kind == "whole" ? 0 : number_at(plan, "groups");
  auto const words = fmt::format("{} {}{}{}{}", count, kind == "elements" ? "array" : "answer", count == 1 ? "" : "s",
                                 groups > 0 ? fmt::format(" for each of {:g} groups", groups) : "", contract.empty() ? "" : " · " + contract);
  to.box(edge, to.y, width - 2 * edge, 30, "answer");
  to.marks += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"name mid\">{}</text>\n", width / 2, to.y + 20,
                          escaped(words));
  to.y += 30;
}

} // namespace

std::string picture_of(json const& plan) {
  canvas to;
  auto const on_gpu = text_at(plan, "back_end") == "gpu";
  auto const& folds = part_at(plan, "folds");
  auto const bytes = number_at(plan, "bytes_read");
  auto const writes = text_at(plan, "kind") == "elements";
  if (text_at(plan, "shares_read") == "true")
    draw_heading(to, "no read of its own");
  else
    draw_heading(to, "read once" + (bytes > 0 ? ": " + bytes_text(bytes) : std::string{}));
  for (auto const& source : part_at(plan, "sources")) draw_source(to, source);
  draw_heading(to, writes              ? "every element is written" + launch_of(plan)
                   : folds.size() == 1 ? "every element enters one fold"
                                       : fmt::format("every element enters {} folds", folds.size()));
  for (auto const& fold : folds) draw_fold(to, fold);
  if (auto const tree = text_at(part_at(plan, "tree"), "id"); !tree.empty()) to.text(edge, to.y += 19, "side", tree);
  to.y += 8;
  if (!writes) {
    draw_storey(to, on_gpu ? "inside a block" : "inside a tile", folds, "block", leaves);
    draw_storey(to, (on_gpu ? "across blocks" : "across tiles") + launch_of(plan), folds, "grid", leaves / 4);
  }
  draw_answer(to, plan);
  to.y += 10;
  return fmt::format("<svg class=\"picture\" viewBox=\"0 0 {} {:.0f}\" role=\"img\" aria-label=\"the plan, from "
                     "columns to answer\">\n{}</svg>\n",
                     width, to.y, to.marks);
}

} // namespace gallery
