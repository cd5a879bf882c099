// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding NVRTC once, and refusing one that lacks a function or is too old for C++20. Compiled side, jit.
#include "jit/nvrtc.hpp"

#include "jit/search_path.hpp"

#include <tally/base/error.hpp>
#include <tally/run/log.hpp>

#include <atomic>
#include <filesystem>
#include <system_error>

namespace tally::v0::jit {
namespace {

std::atomic<int> preferred_major{0};

/// The first function that is missing; null when all are there.
char const* bind_all(library const& from, nvrtc_api& call) noexcept {
  char const* missing = nullptr;
  auto const need = [&](char const* name, auto*& place) {
    if (!bind(from, name, place)) missing = name;
  };
  need("nvrtcGetErrorString", call.error_string);
  need("nvrtcVersion", call.version);
  need("nvrtcGetNumSupportedArchs", call.supported_count);
  need("nvrtcGetSupportedArchs", call.supported_architectures);
  need("nvrtcCreateProgram", call.create);
  need("nvrtcDestroyProgram", call.destroy);
  need("nvrtcCompileProgram", call.compile);
  need("nvrtcAddNameExpression", call.add_name_expression);
  need("nvrtcGetLoweredName", call.lowered_name);
  need("nvrtcGetPTXSize", call.ptx_size);
  need("nvrtcGetPTX", call.ptx);
  need("nvrtcGetCUBINSize", call.cubin_size);
  need("nvrtcGetCUBIN", call.cubin);
  need("nvrtcGetProgramLogSize", call.log_size);
  need("nvrtcGetProgramLog", call.log);
  return missing;
}

nvrtc_library open_nvrtc() {
  auto file = open_first(nvrtc_candidates(preferred_major.load()));
  if (file.handle == nullptr) {
    auto const tried = file.tried;
    file = open_first(nvrtc_wheel_candidates());
    file.tried = tried + (file.tried.empty() ? "" : "; " + file.tried);
  }
  if (file.handle == nullptr) throw no_nvrtc("no NVRTC library could be opened: " + file.tried + ".");
  nvrtc_library found;
  found.path = file.path;
  if (auto const* missing = bind_all(file, found.call)) throw no_nvrtc(file.path + " has no function " + missing + ".");
  int count = 0;
  if (found.call.version(&found.major, &found.minor) != 0 || found.call.supported_count(&count) != 0)
    throw no_nvrtc(file.path + " does not tell its version.");
  auto const version = std::to_string(found.major) + "." + std::to_string(found.minor);
  if (found.major < 12) throw no_nvrtc(file.path + " is version " + version + ", and C++20 kernels need 12.0.");
  found.architectures.resize(static_cast<std::size_t>(count));
  found.call.supported_architectures(found.architectures.data());
  std::error_code ignored;
  found.build = version + " " + std::to_string(std::filesystem::file_size(file.path, ignored));
  log_line("jit", "NVRTC " + found.build + " from " + found.path);
  return found;
}

} // namespace

nvrtc_library const& nvrtc() {
  struct outcome {
    nvrtc_library found;
    std::string why_not;
  };
  static auto const& once = *new outcome([] { // a failure is kept too: the search is not repeated for every run
    outcome result;
    try {
      result.found = open_nvrtc();
    } catch (no_nvrtc const& failure) {
      result.why_not = failure.sentence();
      log_line("jit", result.why_not);
    }
    return result;
  }());
  if (!once.why_not.empty()) throw no_nvrtc(once.why_not);
  return once.found;
}

void prefer_nvrtc_major(int major) noexcept { preferred_major.store(major); }

} // namespace tally::v0::jit
