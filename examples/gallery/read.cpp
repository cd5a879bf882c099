// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a .npy header and a line of CSV are taken apart. Gallery, no part of the library.
#include "read.hpp"

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

namespace gallery {
namespace {

static_assert(std::endian::native == std::endian::little, "the data files are little-endian");

std::string bytes_of(std::string const& name) {
  auto const path = std::filesystem::path{"examples/data"} / name;
  std::ifstream file{path, std::ios::binary};
  if (!file) throw unreadable{path.string(), "cannot be opened (start the lessons from the root of the repository)"};
  return {std::istreambuf_iterator<char>{file}, {}};
}

template <class Element>
constexpr std::string_view npy_type() {
  if constexpr (std::is_same_v<Element, float>) return "<f4";
  if constexpr (std::is_same_v<Element, double>) return "<f8";
  if constexpr (std::is_same_v<Element, std::int16_t>) return "<i2";
  if constexpr (std::is_same_v<Element, std::int32_t>) return "<i4";
  if constexpr (std::is_same_v<Element, std::uint8_t>) return "|u1";
}

/// What follows `key` in the Python dictionary of a .npy header, up to one of `ends`.
std::string_view entry(std::string const& file, std::string_view header, std::string_view key, std::string_view ends) {
  auto const at = header.find(key);
  if (at == header.npos) throw unreadable{file, "its header has no " + std::string{key}};
  auto const rest = header.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(ends));
}

std::size_t product_of_shape(std::string const& file, std::string_view shape) {
  std::size_t product = 1;
  std::size_t digits = 0;
  std::size_t extent = 0;
  for (char const c : std::string{shape} + ",") {
    if (c >= '0' && c <= '9') {
      extent = extent * 10 + static_cast<std::size_t>(c - '0');
      if (++digits > 12) throw unreadable{file, "its shape is (" + std::string{shape} + ")"};
    } else if (c == ',' && digits > 0) {
      product *= extent;
      extent = digits = 0;
    }
  }
  return product;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(separator); at != text.npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

} // namespace

template <class Element>
std::vector<Element> read_npy(std::string const& name) {
  auto const bytes = bytes_of(name);
  std::string_view const file{bytes};
  if (file.size() < 10 || file.substr(0, 8) != std::string_view{"\x93NUMPY\x01\x00", 8})
    throw unreadable{name, "is not a .npy file of version 1.0"};
  auto const low = static_cast<unsigned char>(file[8]);
  auto const high = static_cast<unsigned char>(file[9]);
  auto const start = std::size_t{10} + low + 256u * high;
  if (start > file.size()) throw unreadable{name, "ends inside its header"};
  auto const header = file.substr(10, start - 10);

  auto const type = entry(name, header, "'descr': '", "'");
  if (type != npy_type<Element>())
    throw unreadable{name, "holds " + std::string{type} + ", asked for " + std::string{npy_type<Element>()}};
  if (entry(name, header, "'fortran_order': ", ",") != "False") throw unreadable{name, "is in Fortran order"};
  auto const count = product_of_shape(name, entry(name, header, "'shape': (", ")"));
  if (file.size() - start != count * sizeof(Element))
    throw unreadable{name, "promises " + std::to_string(count * sizeof(Element)) + " bytes of data and holds " +
                               std::to_string(file.size() - start)};

  std::vector<Element> elements(count);
  if (count > 0) std::memcpy(elements.data(), file.data() + start, count * sizeof(Element));
  return elements;
}

template std::vector<float> read_npy<float>(std::string const&);
template std::vector<double> read_npy<double>(std::string const&);
template std::vector<std::int16_t> read_npy<std::int16_t>(std::string const&);
template std::vector<std::int32_t> read_npy<std::int32_t>(std::string const&);
template std::vector<std::uint8_t> read_npy<std::uint8_t>(std::string const&);

table::table(std::string file, std::string_view text) : file_{std::move(file)} {
  std::size_t line_number = 0;
  for (auto line : split(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto const fields = split(line, ',');
    auto& into = names_.empty() ? names_ : cells_;
    if (!names_.empty() && fields.size() != names_.size())
      throw unreadable{file_, "line " + std::to_string(line_number) + " has " + std::to_string(fields.size()) +
                                  " fields, the first line has " + std::to_string(names_.size())};
    into.insert(into.end(), fields.begin(), fields.end());
  }
  if (names_.empty()) throw unreadable{file_, "is empty"};
}

std::size_t table::position_of(std::string_view column) const {
  std::string known;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == column) return i;
    known += " " + names_[i];
  }
  throw unreadable{file_, "has no column " + std::string{column} + ", only" + known};
}

std::vector<std::string> table::words(std::string_view column) const {
  std::vector<std::string> words;
  for (auto i = position_of(column); i < cells_.size(); i += names_.size()) words.push_back(cells_[i]);
  return words;
}

std::vector<float> table::numbers(std::string_view column) const {
  std::vector<float> numbers;
  for (auto const& word : words(column)) {
    std::size_t used = 0;
    auto number = std::numeric_limits<float>::quiet_NaN();
    try {
      if (!word.empty()) number = std::stof(word, &used);
    } catch (std::logic_error const&) { used = std::string::npos; }
    if (used != word.size())
      throw unreadable{file_, "line " + std::to_string(numbers.size() + 2) + ", column " + std::string{column} + ": '" +
                                  word + "' is no number"};
    numbers.push_back(number);
  }
  return numbers;
}

table read_csv(std::string const& name) { return {name, bytes_of(name)}; }

} // namespace gallery
