// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The colours follow the words of the language, not a C++ parser: it is enough for a dozen lines of pipeline. Gallery,
// no part of the library.
#include "ink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace gallery {
namespace {

constexpr std::array keywords{"auto",  "const",     "constexpr", "return", "struct", "float", "double", "int",  "bool",
                              "using", "namespace", "template",  "for",    "if",     "else",  "true",   "false"};
constexpr std::array verbs{"from",         "map",   "filter",  "reduce",  "run",          "run_into",       "start",
                           "partial",      "merge", "finish",  "explain", "fold_of",      "select",         "cast",
                           "in",           "where", "or_else", "maybe",   "ignoring_nan", "TALLY_FUNCTION", "on",
                           "reproducible", "fast"};
constexpr std::array folds{"sum",        "product", "count",     "min",     "max",    "minmax",  "argmin",   "argmax",
                           "first",      "last",    "all",       "any",     "none",   "mean",    "variance", "stddev",
                           "covariance", "norm",    "logsumexp", "bit_and", "bit_or", "bit_xor", "count_if", "moments"};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

template <class Words>
bool has(Words const& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

char const* class_of(std::string_view word) {
  if (word.size() > 1 && word[0] == '_' && is_digit(word[1])) return "ph";
  if (word == "index") return "ph";
  if (is_digit(word[0])) return "nu";
  if (has(keywords, word)) return "kw";
  if (has(verbs, word)) return "vb";
  return has(folds, word) ? "fo" : nullptr;
}

std::size_t length_of_token(std::string_view rest) {
  if (rest.starts_with("//")) return std::min(rest.find('\n'), rest.size());
  if (rest[0] == '"') {
    auto const end = rest.find('"', 1);
    return end == rest.npos ? rest.size() : end + 1;
  }
  if (!is_word(rest[0])) return 1;
  std::size_t length = 1;
  while (length < rest.size() && (is_word(rest[length]) || (is_digit(rest[0]) && rest[length] == '.'))) ++length;
  return length;
}

} // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '\'')
      safe += "&#39;";
    else
      safe += c;
  }
  return safe;
}

std::string coloured(std::string_view code) {
  std::string html;
  while (!code.empty()) {
    auto const token = code.substr(0, length_of_token(code));
    char const* style = nullptr;
    if (token.starts_with("//"))
      style = "co";
    else if (token[0] == '"')
      style = "st";
    else if (is_word(token[0]))
      style = class_of(token);
    else if (token == "|")
      style = "vb";
    html += style ? fmt::format("<span class=\"{}\">{}</span>", style, escaped(token)) : escaped(token);
    code.remove_prefix(token.size());
  }
  return html;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    auto const space = text.find(' ');
    auto word = text.substr(0, std::min(space, width));
    text.remove_prefix(word.size());
    if (text.starts_with(' ')) text.remove_prefix(1);
    auto const needed = lines.back().empty() ? word.size() : lines.back().size() + 1 + word.size();
    if (needed > width)
      lines.emplace_back(word);
    else
      lines.back() += (lines.back().empty() ? "" : " ") + std::string{word};
  }
  return lines;
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, bytes < 10 && unit > 0 ? 1 : 0, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

} // namespace gallery
