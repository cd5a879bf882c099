// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of one test case's own, removed with everything in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

struct temporary_folder {
  std::string path = (std::filesystem::temp_directory_path() / "tally-test-XXXXXX").string();
  temporary_folder() {
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& row : std::filesystem::directory_iterator(path)) names.push_back(row.path().filename().string());
    return names;
  }
};

inline std::string text_of_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_file(std::string const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
