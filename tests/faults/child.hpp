// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This test program run again with other environment variables: what is looked up once per process (driver, NVRTC, log)
// can then be missing. The cases of a child's suite are skipped in the parent.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

struct child_result {
  int status = -1; ///< 0: every case of the suite passed
  std::string output;
};

/// `variables` as for env(1): "TALLY_DRIVER_LIBRARY=none -u HOME".
inline child_result run_suite(std::string const& suite, std::string const& variables) {
  std::array<char, 4096> self{};
  child_result result;
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0) return result;
  auto const command =
      "env " + variables + " '" + self.data() + "' --no-skip --no-path-filenames --test-suite='" + suite + "' 2>&1";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  for (std::array<char, 4096> part; std::fgets(part.data(), part.size(), pipe) != nullptr;)
    result.output += part.data();
  int const status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
  return result;
}
