// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the search. Nothing here fails: what is not found is left empty, and whoever needs it says so. Compiled
// side, jit.
#include "jit/search_path.hpp"

#include "jit/hash.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <glob.h>
#include <sstream>
#include <system_error>

#ifndef TALLY_CCCL_INCLUDE_DIR
#define TALLY_CCCL_INCLUDE_DIR ""
#endif
#ifndef TALLY_CUDA_INCLUDE_DIR
#define TALLY_CUDA_INCLUDE_DIR ""
#endif

namespace tally::v0::jit {
namespace {

namespace fs = std::filesystem;

std::string environment(char const* name) {
  char const* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool holds(std::string const& folder, char const* file) {
  std::error_code ignored;
  return !folder.empty() && fs::exists(fs::path(folder) / file, ignored);
}

void add_matches(std::vector<std::string>& to, std::string const& pattern) {
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) to.emplace_back(found.gl_pathv[i]);
  globfree(&found);
}

std::vector<std::string> toolkit_folders() {
  std::vector<std::string> folders;
  for (auto const* name : {"CUDA_HOME", "CUDA_PATH"})
    if (auto folder = environment(name); !folder.empty()) folders.push_back(folder);
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

/// A folder of headers and the CCCL copy that may sit inside it.
void add_headers(std::vector<std::string>& to, std::string const& folder) {
  if (folder.empty()) return;
  to.push_back(folder + "/cccl");
  to.push_back(folder);
}

/// Headers that were shipped together with the library at `nvrtc_path`: a toolkit, or a set of wheels side by side.
std::vector<std::string> beside(std::string const& nvrtc_path) {
  std::vector<std::string> folders;
  std::error_code failed;
  auto const library = fs::canonical(nvrtc_path, failed);
  if (failed) return folders;
  auto const root = library.parent_path().parent_path(); // .../lib64/libnvrtc.so.13 -> ...
  add_headers(folders, (root / "include").string());
  add_headers(folders, (root.parent_path() / "cuda_cccl" / "include").string());
  add_headers(folders, (root.parent_path() / "cuda_runtime" / "include").string());
  add_headers(folders, (root.parent_path().parent_path() / "include").string()); // .../targets/x86_64-linux/lib
  return folders;
}

std::string first_that_holds(char const* file, std::vector<std::string> const& folders) {
  for (auto const& folder : folders)
    if (holds(folder, file)) return folder;
  return {};
}

std::string identity_of(std::string const& folder, char const* file) {
  if (folder.empty()) return "none";
  std::ifstream in(fs::path(folder) / file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return hexadecimal(fnv64(text.str()));
}

void append(std::vector<std::string>& to, std::vector<std::string> const& more) {
  to.insert(to.end(), more.begin(), more.end());
}

} // namespace

std::vector<std::string> nvrtc_candidates(int major) {
  if (auto const named = environment("TALLY_NVRTC_LIBRARY"); !named.empty()) return {named};
  std::vector<std::string> names;
  if (major == 12)
    names = {"libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"};
  else
    names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  auto candidates = names;
  for (auto const& folder : toolkit_folders())
    for (auto const* inside : {"/lib64/", "/lib/"})
      for (auto const& name : names)
        if (holds(folder + inside, name.c_str())) candidates.push_back(folder + inside + name);
  return candidates;
}

std::vector<std::string> nvrtc_wheel_candidates() {
  std::vector<std::string> found;
  if (!environment("TALLY_NVRTC_LIBRARY").empty()) return found;
  std::vector<std::string> roots;
  for (auto const* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (auto root = environment(name); !root.empty()) roots.push_back(root + "/lib/python3*/site-packages");
  if (auto const home = environment("HOME"); !home.empty())
    roots.push_back(home + "/.local/lib/python3*/site-packages");
  for (auto const* root : {"/usr/local/lib/python3*/dist-packages", "/usr/local/lib/python3*/site-packages",
                           "/usr/lib/python3/dist-packages", "/opt/conda/lib/python3*/site-packages"})
    roots.emplace_back(root);
  for (auto const& root : roots)
    for (auto const* inside : {"/nvidia/cu13/lib/libnvrtc.so.13", "/nvidia/cuda_nvrtc/lib/libnvrtc.so.1[23]"})
      add_matches(found, root + inside);
  return found;
}

include_paths find_include_paths(std::string const& nvrtc_path) {
  std::vector<std::string> named, built, usual;
  std::istringstream list(environment("TALLY_INCLUDE_PATH"));
  for (std::string folder; std::getline(list, folder, ':');) add_headers(named, folder);
  add_headers(built, TALLY_CCCL_INCLUDE_DIR);
  add_headers(built, TALLY_CUDA_INCLUDE_DIR);
  for (auto const& folder : toolkit_folders()) add_headers(usual, folder + "/include");
  add_headers(usual, "/usr/include");
  auto shipped = beside(nvrtc_path);

  auto cccl_order = named, cuda_order = named;
  for (auto const* part : {&built, &shipped, &usual}) append(cccl_order, *part);
  for (auto const* part : {&shipped, &usual, &built}) append(cuda_order, *part);
  include_paths paths;
  paths.cccl = first_that_holds("cuda/std/concepts", cccl_order);
  paths.cuda = first_that_holds("cuda_fp16.h", cuda_order);
  paths.cccl_identity = identity_of(paths.cccl, "cuda/std/__cccl/version.h");
  paths.cuda_identity = identity_of(paths.cuda, "cuda_fp16.h");
  return paths;
}

} // namespace tally::v0::jit
