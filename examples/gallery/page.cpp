// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last program of the gallery: it gathers the records the lessons left in build/gallery and writes one page,
// build/gallery/index.html, that needs no other file. Gallery, no part of the library.
#include "chart.hpp"
#include "drawing.hpp"
#include "ink.hpp"
#include "picture.hpp"
#include "record.hpp"
#include "style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>
#include <vector>

namespace gallery {
namespace {

std::vector<json> records_in(std::filesystem::path const& folder) {
  std::vector<json> records;
  for (auto const& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file{entry.path()};
    auto record = json::parse(file, nullptr, false);
    if (record.is_object())
      records.push_back(std::move(record));
    else
      std::cerr << entry.path().string() << " is no record and is left out\n";
  }
  std::ranges::sort(records, {}, [](json const& record) { return text_at(record, "number"); });
  return records;
}

std::string answers_of(json const& record) {
  std::string rows;
  for (auto const& answer : part_at(record, "answers")) {
    auto const agrees = text_at(answer, "agrees") == "true";
    rows += fmt::format("<tr><td>{}<span class=\"big\">{}</span><span class=\"small\">{}: {}</span></td>"
                        "<td><span class=\"{}\">{}</span><br><span class=\"small\">{}</span></td></tr>\n",
                        escaped(text_at(answer, "what")), escaped(text_at(answer, "answer")),
                        escaped(text_at(answer, "beside")), escaped(text_at(answer, "loop")), agrees ? "ok" : "wrong",
                        agrees ? "✓ agrees" : "✗ differs", escaped(text_at(answer, "agreement")));
  }
  return rows.empty() ? rows : "<table class=\"answers\">\n" + rows + "</table>\n";
}

std::string facts_of(json const& run) {
  auto const& plan = part_at(run, "plan");
  auto const fact = [](std::string const& name, std::string const& value) {
    return value.empty() ? value : fmt::format("<span>{}<b>{}</b></span>\n", name, escaped(value));
  };
  auto facts = fact("time", seconds_text(number_at(run, "seconds"))) +
               fact("read", bytes_text(number_at(run, "bytes"))) +
               fact("bandwidth", fmt::format("{:.3g} GB/s", number_at(run, "gigabytes_per_second"))) +
               fact("back end", text_at(run, "back_end"));
  if (auto const share = number_at(plan, "expected_share_of_peak"); share > 0)
    facts += fact("of peak, expected", fmt::format("{:.0f} %", 100 * share));
  return "<div class=\"facts\">" + facts + "</div>\n";
}

/// Refusals with the same words, and what they are about.
std::string why_not_of(json const& plan) {
  std::vector<std::pair<std::string, std::string>> groups;
  for (auto const& refused : part_at(plan, "why_not")) {
    auto const words =
        fmt::format("<b>{}</b>: {}", escaped(text_at(refused, "choice")), escaped(text_at(refused, "reason")));
    auto const subject = escaped(text_at(refused, "subject"));
    auto const known = std::ranges::find(groups, words, &std::pair<std::string, std::string>::first);
    if (known == groups.end())
      groups.emplace_back(words, subject);
    else
      known->second += ", " + subject;
  }
  std::string items;
  for (auto const& [words, subjects] : groups)
    items += "<li>" + words + (subjects.empty() ? "" : " <code>" + subjects + "</code>") + "</li>\n";
  return items.empty() ? items : "<ul class=\"whynot\">\n" + items + "</ul>\n";
}

std::string folded(std::string_view title, std::string const& html, char const* state = "") {
  if (html.empty()) return {};
  return fmt::format("<details {}><summary>{}</summary>{}</details>\n", state, title, html);
}

std::string pre(std::string const& text) { return text.empty() ? text : "<pre>" + escaped(text) + "</pre>\n"; }

std::string figure(json const& plan, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", picture_of(plan), caption);
}

/// One picture, or one of every domain where a plan has several.
std::string figures_of(json const& plan, std::string_view caption) {
  auto const& domains = part_at(plan, "domains");
  if (domains.empty()) return figure(plan, caption);
  std::string figures;
  for (auto domain : domains) {
    auto const cut = text_at(domain, "cut");
    auto const words = fmt::format("<b>{}</b>: {}, {}{}", escaped(text_at(domain, "name")), escaped(text_at(domain, "route")),
                                   escaped(text_at(domain, "shape")), cut.empty() ? "" : "; " + escaped(cut));
    domain["back_end"] = text_at(plan, "back_end");
    domain["contract"] = text_at(plan, "contract");
    domain["tree"] = {{"id", text_at(domain, "tree")}};
    figures += "<div>" + figure(domain, words) + folded("Why not something else?", why_not_of(domain)) + "</div>\n";
  }
  return "<div class=\"domains\">" + figures + "</div><p class=\"small\">" + std::string(caption) + "</p>\n";
}

/// A plan as a picture, with its other spellings folded away.
std::string plan_of(json const& shown, std::string_view caption) {
  auto const& plan = part_at(shown, "plan");
  return figures_of(plan, caption) +
         folded("Why not something else?", why_not_of(plan), "open") +
         folded("The plan as text", pre(text_at(shown, "text"))) +
         folded("The plan as Mermaid", pre(text_at(shown, "mermaid"))) +
         folded("The kernel that NVRTC made of it", pre(text_at(shown, "kernel")));
}

std::string lesson_of(json const& record) {
  auto const number = escaped(text_at(record, "number"));
  auto left = answers_of(record);
  for (auto const& remark : part_at(record, "remarks"))
    if (remark.is_string()) left += "<p class=\"remark\">" + escaped(remark.get<std::string>()) + "</p>\n";
  std::string plans, drawings;
  bool many = false; // plans: below the answers then, not beside them
  for (auto const& drawing : part_at(record, "drawings")) drawings += drawing_of(drawing);
  for (auto const& run : part_at(record, "runs")) {
    left += facts_of(run);
    many = many || part_at(part_at(run, "plan"), "domains").size() > 1;
    plans += plan_of(run, "The plan of this run, drawn from what explain says.");
  }
  for (auto const& other : part_at(record, "elsewhere"))
    plans += folded("The plan for " + escaped(text_at(part_at(part_at(other, "plan"), "target"), "name")),
                    plan_of(other, "Planned and compiled on a machine without this GPU."));
  return fmt::format(
      "<article class=\"lesson\" id=\"lesson-{0}\"><h2><span class=\"number\">{0}</span>{1}</h2>\n"
      "<p class=\"idea\">{2}</p>\n<div class=\"drawings\">{6}</div><pre>{7}</pre>\n<div class=\"{8}\"><div>{3}"
      "<p class=\"small\">The whole lesson: examples/{4}</p></div>\n<div class=\"plans\">{5}</div></div></article>\n",
      number, escaped(text_at(record, "title")), escaped(text_at(record, "idea")), left,
      escaped(text_at(record, "file")), plans, drawings, coloured(text_at(record, "code")),
      many ? "below" : "sides");
}

std::vector<bar> bars_of(std::vector<json> const& records) {
  std::vector<bar> bars;
  for (auto const& record : records) {
    auto const& runs = part_at(record, "runs");
    auto const name = text_at(record, "number") + "  " + text_at(record, "title");
    for (auto const& run : runs)
      bars.push_back({name + (text_at(run, "back_end") == "gpu" ? ", on the GPU" : ""), number_at(run, "bytes"),
                      number_at(run, "gigabytes_per_second")});
  }
  return bars;
}

std::string page_of(std::vector<json> const& records, double reference) {
  std::string links, lessons;
  for (auto const& record : records) {
    links += fmt::format("<a href=\"#lesson-{0}\"><b>{0}</b>{1}</a>\n", escaped(text_at(record, "number")),
                         escaped(text_at(record, "title")));
    lessons += lesson_of(record);
  }
  auto html = std::string{"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                          "<title>tally: the gallery</title>\n<style>"};
  html += style;
  html += "</style></head><body>\n<header><h1>The tally gallery</h1>\n"
          "<p class=\"lead\">Each lesson is one pipeline over real data. It says what to fold; the plan beside it says "
          "how that "
          "was done here, and every answer was checked against a plain loop.</p>\n<nav>\n";
  html += links + "<a href=\"#bandwidth\"><b>→</b>Bandwidth</a>\n</nav></header>\n<main>\n" + lessons;
  html += "<article class=\"lesson\" id=\"bandwidth\"><h2>How fast the columns were read</h2>\n"
          "<p class=\"idea\">Bytes of the columns over the median time of a call, planning included. The broken line "
          "is what a "
          "plain loop on every core of the host reads from its memory.</p>\n<figure>";
  html += chart_of(bars_of(records), reference);
  html += "<figcaption>Small columns stay in the caches, so a bar may pass the line; very small ones mostly show what "
          "a call "
          "costs.</figcaption></figure></article>\n</main>\n<footer class=\"small\">Written by "
          "examples/gallery/page.cpp from "
          "build/gallery/*.json.</footer>\n</body></html>\n";
  return html;
}

int write_page() {
  std::filesystem::path const folder{"build/gallery"};
  if (!std::filesystem::is_directory(folder)) {
    std::cerr << "build/gallery does not exist: run the lessons first, from the root of the repository\n";
    return EXIT_FAILURE;
  }
  auto const records = records_in(folder);
  auto const path = folder / "index.html";
  std::ofstream page{path};
  page << page_of(records, plain_read_gigabytes_per_second());
  if (!page.flush()) {
    std::cerr << path.string() << " cannot be written\n";
    return EXIT_FAILURE;
  }
  std::cout << records.size() << " lessons on " << path.string() << "\n";
  return records.empty() ? EXIT_FAILURE : EXIT_SUCCESS;
}

} // namespace
} // namespace gallery

int main() { return gallery::write_page(); }
