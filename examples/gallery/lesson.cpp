// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a lesson prints, and the record it leaves for the page. Gallery, no part of the library.
#include "lesson.hpp"

#include "drawing.hpp"
#include "kernel.hpp"
#include "record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace gallery {
namespace {

using nlohmann::json;

constexpr auto record_folder = "build/gallery";

json parsed(std::string const& text) {
  auto value = json::parse(text, nullptr, false);
  return value.is_object() ? value : json::object();
}

std::string indented(std::string const& text) {
  std::istringstream lines{text};
  std::string result;
  for (std::string line; std::getline(lines, line);) result += "    " + line + "\n";
  return result;
}

/// The lines after `// the pipeline`, up to the next empty one, without their common indentation.
std::string pipeline_lines(std::string const& path) {
  auto const here = "examples" / std::filesystem::path{path}.filename();
  std::ifstream source{std::filesystem::exists(here) ? here : std::filesystem::path{path}};
  std::vector<std::string> shown;
  bool inside = false;
  for (std::string line; std::getline(source, line);) {
    if (line.empty()) inside = false;
    if (inside) shown.push_back(line);
    if (line.ends_with("// the pipeline")) inside = true;
  }
  auto margin = std::string::npos;
  for (auto const& line : shown) margin = std::min(margin, line.find_first_not_of(' '));
  std::string text;
  for (auto const& line : shown) text += line.substr(margin) + "\n";
  return text;
}

struct speed {
  double bytes, seconds;
  std::string back_end;
  double gigabytes_per_second() const { return seconds > 0 ? bytes / seconds / 1e9 : 0; }
};

speed speed_of(measured_run const& run) {
  auto const plan = parsed(run.plan.json);
  return {number_at(plan, "bytes_read"), run.seconds, text_at(plan, "back_end")};
}

json record_of(shown_plan const& plan) {
  return {{"plan", parsed(plan.json)}, {"text", plan.text}, {"mermaid", plan.mermaid}, {"kernel", plan.kernel}};
}

json record_of(measured_run const& run) {
  auto const at = speed_of(run);
  auto record = record_of(run.plan);
  record["seconds"] = at.seconds;
  record["bytes"] = at.bytes;
  record["gigabytes_per_second"] = at.gigabytes_per_second();
  record["back_end"] = at.back_end;
  return record;
}

json record_of(checked_answer const& answer) {
  return {{"what", answer.what}, {"answer", answer.answer},       {"beside", answer.beside},
          {"loop", answer.loop}, {"agreement", answer.agreement}, {"agrees", answer.agrees}};
}

template <class Plan>
shown_plan shown_as(Plan const& plan, bool on_gpu) {
  shown_plan shown{plan.text(), plan.json(), plan.mermaid(), {}};
  if (!on_gpu) return shown;
  try {
    auto const ptx = plan.ptx();
    shown.kernel =
        fmt::format("compiled, {} lines of PTX; what moves data:\n{}", std::ranges::count(ptx, '\n'), traffic_of(ptx));
  } catch (std::exception const& reason) { shown.kernel = fmt::format("not compiled: {}\n", reason.what()); }
  return shown;
}

/// An exception that leaves a lesson is a sentence on the error stream and a failed exit, not an abort.
[[noreturn]] void say_what_went_wrong() {
  try {
    if (auto const error = std::current_exception()) std::rethrow_exception(error);
  } catch (std::exception const& error) {
    std::cerr << "the lesson stopped: " << error.what() << std::endl;
  } catch (...) { std::cerr << "the lesson stopped for a reason it does not say" << std::endl; }
  std::_Exit(EXIT_FAILURE);
}

} // namespace

std::string text_of(float value) { return fmt::format("{}", value); }
std::string text_of(double value) { return fmt::format("{}", value); }

lesson::lesson(std::string title, std::string idea, char const* file)
    : title_{std::move(title)}, idea_{std::move(idea)}, file_{file} {
  std::set_terminate(say_what_went_wrong);
  auto const stem = std::filesystem::path{file_}.stem().string();
  number_ = stem.substr(0, stem.find('_'));
  std::cout << fmt::format("\n{:─<80}\n", fmt::format("── {}  {} ", number_, title_)) << idea_ << "\n";
}

double lesson::median_of(std::vector<double> seconds) {
  auto const middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return *middle;
}

shown_plan lesson::shown(tally::explanation const& plan) { return shown_as(plan, plan.details().on_gpu); }
shown_plan lesson::shown(tally::grouped_explanation const& plan) { return shown_as(plan, plan.details().head.on_gpu); }

void lesson::explained(measured_run run) {
  std::cout << "\n" << indented(run.plan.text) << std::flush;
  runs_.push_back(std::move(run));
}

void lesson::planned_for_another(shown_plan plan) {
  std::cout << "\n  The plan for a GPU that is not here:\n\n"
            << indented(plan.text + "kernel   " + plan.kernel) << "\n";
  plans_for_others_.push_back(std::move(plan));
}

void lesson::timed(double seconds) {
  runs_.back().seconds = seconds;
  auto const at = speed_of(runs_.back());
  std::cout << fmt::format("  time      {:.4g} ms for {:.4g} MB: {:.3g} GB/s ({}, median)\n", seconds * 1e3,
                           at.bytes / 1e6, at.gigabytes_per_second(), at.back_end);
}

void lesson::near(std::string_view what, double answer, double loop, double relative) {
  auto const agrees = std::abs(answer - loop) <= relative * std::abs(loop);
  checked(
      {std::string{what}, text_of(answer), "plain loop", text_of(loop), fmt::format("within {:g}", relative), agrees});
}

void lesson::checked(checked_answer answer) {
  std::cout << fmt::format("  {:<9} {}: {} | {}: {} | {}\n", answer.agrees ? "OK" : "WRONG", answer.what, answer.answer,
                           answer.beside, answer.loop, answer.agreement);
  answers_.push_back(std::move(answer));
}

void lesson::draw(std::span<float const> column, std::string_view caption) {
  drawings_.push_back(curve_record(column, caption).dump());
}

void lesson::draw(std::span<std::uint8_t const> pixels, std::size_t width, std::string_view caption) {
  drawings_.push_back(image_record(pixels, width, caption).dump());
}

void lesson::say(std::string remark) {
  std::cout << "  note      " << remark << "\n";
  remarks_.push_back(std::move(remark));
}

int lesson::close() {
  json record = {{"number", number_},
                 {"title", title_},
                 {"idea", idea_},
                 {"file", std::filesystem::path{file_}.filename().string()},
                 {"code", pipeline_lines(file_)},
                 {"remarks", remarks_},
                 {"runs", json::array()},
                 {"answers", json::array()}};
  for (auto const& run : runs_) record["runs"].push_back(record_of(run));
  for (auto const& plan : plans_for_others_) record["elsewhere"].push_back(record_of(plan));
  for (auto const& drawing : drawings_) record["drawings"].push_back(parsed(drawing));
  for (auto const& answer : answers_) record["answers"].push_back(record_of(answer));
  std::filesystem::create_directories(record_folder);
  auto const path = fmt::format("{}/{}.json", record_folder, number_);
  std::ofstream file{path};
  file << record.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
  if (!file.flush()) {
    std::cerr << path << " cannot be written\n";
    return EXIT_FAILURE;
  }
  auto const all_agree = std::ranges::all_of(answers_, &checked_answer::agrees);
  return all_agree && !answers_.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

} // namespace gallery
