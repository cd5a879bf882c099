// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Readers for the files of examples/data: which formats the gallery knows, and what it says when a file is not as
// promised. Gallery, no part of the library.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gallery {

/// Thrown when a file is missing, damaged or of another type; `what()` names the file and both sides of the mismatch.
struct unreadable : std::runtime_error {
  unreadable(std::string const& file, std::string const& reason) : std::runtime_error(file + ": " + reason) {}
};

/// The elements of `examples/data/<name>`, a .npy file in C order, flattened; Element is float, double, int16_t,
/// int32_t or uint8_t and must be the type in the file. Run the lessons from the root of the repository.
template <class Element>
std::vector<Element> read_npy(std::string const& name);

extern template std::vector<float> read_npy<float>(std::string const&);
extern template std::vector<double> read_npy<double>(std::string const&);
extern template std::vector<std::int16_t> read_npy<std::int16_t>(std::string const&);
extern template std::vector<std::int32_t> read_npy<std::int32_t>(std::string const&);
extern template std::vector<std::uint8_t> read_npy<std::uint8_t>(std::string const&);

/// A comma-separated file in memory: the first line names the columns, fields hold neither commas nor quotes.
class table {
public:
  table(std::string file, std::string_view text);

  /// One column as numbers, row by row; an empty field is NaN, any other text throws `unreadable` with its line.
  std::vector<float> numbers(std::string_view column) const;

  /// One column as text, row by row.
  std::vector<std::string> words(std::string_view column) const;

private:
  std::size_t position_of(std::string_view column) const;

  std::string file_;
  std::vector<std::string> names_;
  std::vector<std::string> cells_; // row after row, names_.size() cells each
};

/// The table in `examples/data/<name>`.
table read_csv(std::string const& name);

} // namespace gallery
