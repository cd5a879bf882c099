// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks ptxas about many instructions at once. Test layer.
//
// ptxas goes on after an error and names the line of each, so one process judges thousands of lines: what it blames is
// rejected, and the rest counts as accepted only once a file of nothing else has assembled to the end. A file that fails
// without naming a line is halved.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace legality {

class assembler {
public:
  /// The ptxas of a toolkit, or an empty path.
  static std::string path() {
    char const* const homes[] = {std::getenv("CUDA_HOME"), std::getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (char const* home : homes)
      if (home != nullptr && std::filesystem::exists(std::string(home) + "/bin/ptxas"))
        return std::string(home) + "/bin/ptxas";
    return {};
  }

  /// The CUDA release it belongs to, 13 of "release 13.0"; 0 when it does not say.
  static int release() {
    std::FILE* said = ::popen((path() + " --version").c_str(), "r");
    if (said == nullptr) return 0;
    int number = 0;
    char text[512];
    while (std::fgets(text, sizeof text, said) != nullptr)
      if (auto const at = std::string_view(text).find("release "); at != std::string_view::npos)
        number = std::atoi(text + at + 8);
    ::pclose(said);
    return number;
  }

  /// `target` is a name such as "sm_90a"; `number` keeps apart what runs at the same time.
  assembler(std::string target, int number)
      : target_(std::move(target)),
        file_((std::filesystem::temp_directory_path() /
               ("tally_legality_" + std::to_string(::getpid()) + "_" + std::to_string(number) + ".ptx"))
                  .string()) {}
  ~assembler() { std::remove(file_.c_str()); }
  assembler(assembler const&) = delete;

  /// For each line whether it assembles.
  std::vector<bool> judge(std::vector<std::string> const& lines) {
    std::vector<bool> accepted(lines.size(), true);
    for (std::size_t first = 0; first < lines.size(); first += most_lines) {
      std::vector<std::size_t> part;
      for (std::size_t i = first; i < std::min(lines.size(), first + most_lines); ++i) part.push_back(i);
      settle(lines, part, accepted);
    }
    return accepted;
  }

  int processes() const { return processes_; }

private:
  static constexpr std::size_t most_lines = 20000;
  static constexpr std::size_t lines_before = 6; // of the head below

  /// Marks what does not assemble, until a file of the rest does.
  void settle(std::vector<std::string> const& lines, std::vector<std::size_t> part, std::vector<bool>& accepted) {
    while (!part.empty()) {
      std::vector<std::size_t> blamed;
      if (assemble(lines, part, blamed)) return;
      if (blamed.empty() && part.size() == 1) blamed = {0};
      if (blamed.empty()) {
        auto const middle = part.begin() + long(part.size() / 2);
        settle(lines, {part.begin(), middle}, accepted);
        settle(lines, {middle, part.end()}, accepted);
        return;
      }
      for (std::size_t b : blamed) accepted[part[b]] = false;
      std::vector<std::size_t> rest;
      for (std::size_t i : part)
        if (accepted[i]) rest.push_back(i);
      part = std::move(rest);
    }
  }

  /// Whether a file of these lines assembles; if not, the positions in `part` of the lines that ptxas names.
  bool assemble(std::vector<std::string> const& lines, std::vector<std::size_t> const& part,
                std::vector<std::size_t>& blamed) {
    {
      std::ofstream file(file_);
      file << ".version 9.0\n.target " << target_ << "\n.address_size 64\n.visible .entry k() {\n"
           << ".reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<6>;\n.reg .f32 %f<2>; .reg .f64 %fd<2>;\n";
      for (std::size_t i : part) file << lines[i] << '\n';
      file << "ret;\n}\n";
    }
    ++processes_;
    std::string const command = path() + " -arch=" + target_ + " -o /dev/null " + file_ + " 2>&1";
    std::FILE* said = ::popen(command.c_str(), "r");
    if (said == nullptr) return false;
    char text[4096];
    while (std::fgets(text, sizeof text, said) != nullptr) {
      std::string_view const sentence = text;
      auto const number = sentence.find(", line ");
      if (number == sentence.npos || sentence.find("; warning") != sentence.npos) continue;
      auto const line = std::strtoul(text + number + 7, nullptr, 10);
      if (line > lines_before && line <= lines_before + part.size()) blamed.push_back(line - lines_before - 1);
    }
    return ::pclose(said) == 0;
  }

  std::string target_, file_;
  int processes_ = 0;
};

} // namespace legality
