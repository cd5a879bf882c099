// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one place that prints the library's own words: topics from TALLY_LOG, lines to stderr or to a sink that took them
// over. Compiled side, jit.
#include <tally/run/log.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tally::v0 {
namespace {

std::atomic<log_sink> current_sink{nullptr};

void print(std::string_view topic, std::string_view line) {
  std::string text = "tally ";
  text.append(topic).append(": ").append(line).append("\n");
  std::fwrite(text.data(), 1, text.size(), stderr); // one call, so that lines of threads do not mix
}

/// ",cache,jit," so that a topic is found with its commas.
std::string const& topics() {
  static auto const& chosen = *new std::string([] {
    char const* const named = std::getenv("TALLY_LOG");
    return named == nullptr || *named == '\0' ? std::string() : "," + std::string(named) + ",";
  }());
  return chosen;
}

} // namespace

log_sink set_log_sink(log_sink sink) noexcept { return current_sink.exchange(sink); }

bool logs(std::string_view topic) noexcept {
  auto const& chosen = topics();
  if (chosen.empty()) return false;
  auto const names = [&](std::string_view word) {
    for (auto at = chosen.find(word); at != std::string::npos; at = chosen.find(word, at + 1))
      if (chosen[at - 1] == ',' && chosen[at + word.size()] == ',') return true;
    return false;
  };
  return names(topic) || names("all");
}

void log_line(std::string_view topic, std::string_view line) {
  if (!logs(topic)) return;
  auto const sink = current_sink.load();
  (sink == nullptr ? print : sink)(topic, line);
}

} // namespace tally::v0
