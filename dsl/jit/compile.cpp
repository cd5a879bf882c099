// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calling NVRTC. The library's own headers travel inside the binary; only CCCL and the CUDA headers are looked for on
// disk. Compiled side, jit.
#include "jit/compile.hpp"

#include "jit/dump.hpp"
#include "jit/embedded.hpp"
#include "jit/hash.hpp"
#include "jit/nvrtc.hpp"
#include "jit/search_path.hpp"

#include <tally/base/config.hpp>
#include <tally/base/error.hpp>
#include <tally/run/log.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace tally::v0::jit {
namespace {

include_paths const& headers() {
  static auto const& found = *new include_paths(find_include_paths(nvrtc().path));
  return found;
}

/// A program of NVRTC that ends with its scope.
class program {
public:
  program(nvrtc_api const& call, std::string const& text) : call_(call) {
    std::vector<char const*> names, texts;
    for (unsigned i = 0; i < embedded_header_count; ++i) {
      names.push_back(embedded_headers[i].name);
      texts.push_back(embedded_headers[i].text);
    }
    check(call_.create(&handle_, text.c_str(), "tally_unit.cu", static_cast<int>(names.size()), texts.data(),
                       names.data()),
          "nvrtcCreateProgram");
  }
  program(program const&) = delete;
  program& operator=(program const&) = delete;
  ~program() { call_.destroy(&handle_); }

  void check(int answer, char const* what) const {
    if (answer != 0) throw compile_failed(std::string(what) + " answered " + call_.error_string(answer) + ".");
  }
  nvrtc_program get() const noexcept { return handle_; }
  std::string log() const {
    auto text = bytes<std::string>(call_.log_size, call_.log, "nvrtcGetProgramLog");
    return text.substr(0, text.find('\0'));
  }
  template <class Bytes>
  Bytes bytes(int (*size)(nvrtc_program, std::size_t*), int (*get_bytes)(nvrtc_program, char*),
              char const* what) const {
    std::size_t count = 0;
    check(size(handle_, &count), what);
    Bytes result(count, '\0');
    if (count != 0) check(get_bytes(handle_, result.data()), what);
    return result;
  }

private:
  nvrtc_api const& call_;
  nvrtc_program handle_ = nullptr;
};

[[noreturn]] void refuse(std::string const& log, gpu::unit const& u, std::string const& architecture) {
  if (headers().cccl.empty())
    throw no_headers(
        "the CCCL headers (cuda/std) were not found, so a kernel cannot be compiled: set TALLY_INCLUDE_PATH or "
        "CUDA_HOME. NVRTC said: " +
        log.substr(0, 500));
  throw compile_failed("NVRTC refused " + u.name_expression + " for " + architecture + ":\n" + log.substr(0, 4000) +
                       "\n");
}

gpu::compiled compile_now(gpu::unit const& u, target const& t, std::string const& text) {
  auto const& rtc = nvrtc();
  auto const began = std::chrono::steady_clock::now();
  program const p(rtc.call, text);
  p.check(rtc.call.add_name_expression(p.get(), u.name_expression.c_str()), "nvrtcAddNameExpression");
  auto options = options_for(u, t);
  for (auto const& folder : {headers().cccl, headers().cuda})
    if (!folder.empty()) options.push_back("-I" + folder);
  std::vector<char const*> words;
  for (auto const& option : options) words.push_back(option.c_str());
  int const answer = rtc.call.compile(p.get(), static_cast<int>(words.size()), words.data());
  gpu::compiled result;
  result.log = p.log();
  if (answer != 0) refuse(result.log.empty() ? rtc.call.error_string(answer) : result.log, u, t.architecture);
  char const* lowered = nullptr;
  p.check(rtc.call.lowered_name(p.get(), u.name_expression.c_str(), &lowered), "nvrtcGetLoweredName");
  result.lowered_name = lowered;
  result.ptx = p.bytes<std::string>(rtc.call.ptx_size, rtc.call.ptx, "nvrtcGetPTX");
  result.ptx.resize(std::min(result.ptx.size(), result.ptx.find('\0')));
  if (t.makes_cubin) result.cubin = p.bytes<std::vector<char>>(rtc.call.cubin_size, rtc.call.cubin, "nvrtcGetCUBIN");
  result.compile_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return result;
}

void tell(gpu::unit const& u, target const& t, gpu::compiled const& result, std::string const& text,
          std::string const& key) {
  auto const stem = hexadecimal(fnv64(key));
  dump("cuda", stem + ".cu", "// " + u.name_expression + "\n" + text);
  dump("ptx", stem + "." + t.architecture + ".ptx", result.ptx);
  if (!logs("jit")) return;
  auto const milliseconds = std::to_string(static_cast<long>(result.compile_seconds * 1000 + 0.5)) + " ms, ";
  log_line("jit", stem + " " + t.architecture + (result.from_disk ? " from disk, once " : " ") + "compiled in " +
                      milliseconds + std::to_string(result.cubin.size()) +
                      " bytes of cubin: " + u.name_expression.substr(0, 400));
}

} // namespace

std::vector<std::string> options_for(gpu::unit const& u, target const& t) {
  std::vector<std::string> options = {
      "-arch=" + t.architecture, "-std=c++20",      "-default-device", "--fmad=false", "--ftz=false",
      "--prec-div=true",         "--prec-sqrt=true"};
  options.insert(options.end(), u.options.begin(), u.options.end());
  return options;
}

std::string key_of(gpu::unit const& u, target const& t) {
  std::string key = "tally " + std::to_string(TALLY_VERSION_MAJOR) + "." + std::to_string(TALLY_VERSION_MINOR) + "." +
                    std::to_string(TALLY_VERSION_PATCH) + "\nheaders " + embedded_headers_hash + "\nNVRTC " +
                    nvrtc().build + "\nCCCL " + headers().cccl_identity + "\nCUDA " + headers().cuda_identity + "\n";
  for (auto const& option : options_for(u, t)) key += "option " + option + "\n";
  return key + "name, " + std::to_string(u.name_expression.size()) + " bytes " + u.name_expression + "\n" +
         gpu::text_of(u);
}

std::shared_ptr<compiler::entry> compiler::entry_of(std::string const& key) {
  std::lock_guard const lock(map_);
  auto& place = entries_[key];
  if (!place) place = std::make_shared<entry>();
  return place;
}

gpu::compiled compiler::operator()(gpu::unit const& u, int compute_major, int compute_minor) {
  auto const t = target_for(compute_major, compute_minor, nvrtc().architectures);
  auto const key = key_of(u, t);
  auto const place = entry_of(key);
  std::lock_guard const lock(place->busy);
  if (place->done) {
    auto result = place->result;
    result.from_memory = true;
    return result;
  }
  auto const text = gpu::text_of(u);
  auto found = disk_.read(key);
  if (!found) {
    found = compile_now(u, t, text);
    disk_.write(key, *found);
  }
  tell(u, t, *found, text, key);
  place->result = *found;
  place->done = true;
  return *std::move(found);
}

} // namespace tally::v0::jit

namespace tally::v0::gpu {

bool can_compile() noexcept try {
  (void)jit::nvrtc();
  return true;
} catch (...) { return false; }

compiled compile(unit const& u, int compute_major, int compute_minor) {
  static auto& shared = *new jit::compiler(jit::disk_cache::of_environment());
  return shared(u, compute_major, compute_minor);
}

} // namespace tally::v0::gpu
