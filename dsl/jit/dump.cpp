// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading TALLY_DUMP and writing the files. Compiled side, jit.
#include "jit/dump.hpp"

#include <tally/run/log.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tally::v0::jit {

std::string dump_folder(char const* setting, std::string_view kind) {
  std::string_view rest = setting == nullptr ? std::string_view() : setting;
  bool wanted = false;
  while (!rest.empty()) {
    auto const item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), item.size() + 1));
    auto const colon = item.find(':');
    wanted = wanted || item.substr(0, colon) == kind;
    if (colon == std::string_view::npos) continue; // "plan,cuda,ptx:DIR": one folder for all of them
    if (wanted) return std::string(item.substr(colon + 1));
  }
  return {};
}

void dump(std::string_view kind, std::string const& name, std::string_view text) {
  auto const folder = dump_folder(std::getenv("TALLY_DUMP"), kind);
  if (folder.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  std::ofstream out(folder + "/" + name, std::ios::binary);
  out << text;
  if (!out.flush()) log_line("jit", "cannot write " + folder + "/" + name);
}

} // namespace tally::v0::jit
