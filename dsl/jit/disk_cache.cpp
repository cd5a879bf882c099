// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folder of entries. Every step may fail (no folder, not ours, full, read-only, damaged) and then the answer is a
// miss and one line in the log; nothing throws and nothing is left half written under an entry's name. Compiled side,
// jit.
#include "jit/disk_cache.hpp"

#include "jit/entry.hpp"
#include "jit/hash.hpp"

#include <tally/run/log.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace tally::v0::jit {
namespace {

constexpr std::string_view entry_suffix = ".kernel", unfinished_suffix = ".unfinished";

struct descriptor {
  int number;
  explicit descriptor(int n) noexcept : number(n) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (number >= 0) close(number);
  }
  explicit operator bool() const noexcept { return number >= 0; }
};

/// A file size limit (RLIMIT_FSIZE) kills by a signal; here it shall be an error of write() like any other.
class without_size_signal {
public:
  without_size_signal() noexcept {
    sigemptyset(&only_);
    sigaddset(&only_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  without_size_signal(without_size_signal const&) = delete;
  without_size_signal& operator=(without_size_signal const&) = delete;
  ~without_size_signal() {
    if (sigismember(&before_, SIGXFSZ) == 0) {
      timespec const now{};
      while (sigtimedwait(&only_, nullptr, &now) == SIGXFSZ) {}
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t only_, before_;
};

void report(std::string const& what, std::string const& where) {
  if (logs("cache")) log_line("cache", what + " " + where + ": " + std::strerror(errno));
}

/// Makes the folder and its parents, each readable by us alone.
void make_folders(std::string const& folder) {
  for (auto at = folder.find('/', 1); at != std::string::npos; at = folder.find('/', at + 1))
    mkdir(folder.substr(0, at).c_str(), 0700);
  mkdir(folder.c_str(), 0700);
}

bool ours_alone(int number) noexcept {
  struct stat facts {};
  return fstat(number, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The folder, opened; negative when there is none that can be trusted.
int open_folder(std::string const& folder, bool make) {
  if (folder.empty()) return -1;
  int number = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number < 0 && make) {
    make_folders(folder);
    number = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  if (number < 0) {
    if (make) report("cannot open", folder);
    return -1;
  }
  if (ours_alone(number)) return number;
  log_line("cache", folder + " is not used: it belongs to somebody else, or others may write to it");
  close(number);
  return -1;
}

std::string name_of_key(std::string const& key) {
  return hexadecimal(fnv64(key)) + hexadecimal(fnv64(key, 0x9e3779b97f4a7c15u)) + std::string(entry_suffix);
}

std::optional<std::string> read_whole(int number) {
  struct stat facts {};
  if (fstat(number, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < 0) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const got = ::read(number, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

bool write_whole(int number, std::string const& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    auto const put = ::write(number, bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

bool write_and_rename(int folder, std::string const& name, std::string const& bytes) {
  static std::atomic<unsigned> count{0};
  auto const unfinished =
      name + "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1)) + std::string(unfinished_suffix);
  bool complete = false;
  {
    descriptor const file(
        openat(folder, unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return false;
    without_size_signal const quiet;
    complete = write_whole(file.number, bytes);
  }
  complete = complete && renameat(folder, unfinished.c_str(), folder, name.c_str()) == 0;
  if (!complete) {
    auto const cause = errno;
    unlinkat(folder, unfinished.c_str(), 0);
    errno = cause;
  }
  return complete;
}

struct held_file {
  std::string name;
  std::uint64_t bytes;
  std::int64_t used_at; // nanoseconds
};

/// Entries of the folder; files that a stopped process left unfinished an hour ago are removed on the way.
std::vector<held_file> entries_of(int folder) {
  std::vector<held_file> entries;
  int const again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listing = again < 0 ? nullptr : fdopendir(again);
  if (listing == nullptr) {
    if (again >= 0) close(again);
    return entries;
  }
  auto const now = time(nullptr);
  while (auto const* row = readdir(listing)) {
    std::string_view const name = row->d_name;
    struct stat facts {};
    if (fstatat(folder, row->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    if (name.ends_with(unfinished_suffix) && now - facts.st_mtime > 3600) unlinkat(folder, row->d_name, 0);
    if (!name.ends_with(entry_suffix)) continue;
    entries.push_back({std::string(name), static_cast<std::uint64_t>(facts.st_size),
                       std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec});
  }
  closedir(listing);
  return entries;
}

void evict(int folder, std::uint64_t max_bytes) {
  auto entries = entries_of(folder);
  std::uint64_t total = 0;
  for (auto const& entry : entries) total += entry.bytes;
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(), [](auto const& a, auto const& b) { return a.used_at < b.used_at; });
  for (auto const& entry : entries) {
    if (total <= max_bytes) break;
    if (unlinkat(folder, entry.name.c_str(), 0) == 0) total -= entry.bytes;
    if (logs("cache")) log_line("cache", "evicted " + entry.name + ", " + std::to_string(entry.bytes) + " bytes");
  }
}

char const* environment_variable(char const* name) { return std::getenv(name); }

} // namespace

std::string cache_folder(char const* (*variable)(char const*)) {
  auto const absolute = [variable](char const* name) {
    char const* const value = variable(name);
    return value != nullptr && *value == '/' ? std::string(value) : std::string();
  };
  if (variable("TALLY_CACHE_DIR") != nullptr) return absolute("TALLY_CACHE_DIR"); // set to "": memory only
  if (auto const folder = absolute("XDG_CACHE_HOME"); !folder.empty()) return folder + "/tally";
  if (auto const folder = absolute("HOME"); !folder.empty()) return folder + "/.cache/tally";
  return {};
}

std::uint64_t parse_size(char const* text, std::uint64_t otherwise) noexcept {
  if (text == nullptr || *text < '0' || *text > '9') return otherwise;
  errno = 0;
  char* rest = nullptr;
  std::uint64_t const number = std::strtoull(text, &rest, 10);
  int shift = 0;
  if (*rest == 'K' || *rest == 'k')
    shift = 10;
  else if (*rest == 'M' || *rest == 'm')
    shift = 20;
  else if (*rest == 'G' || *rest == 'g')
    shift = 30;
  else if (*rest != '\0')
    return otherwise;
  if (shift != 0 && rest[1] != '\0') return otherwise;
  if (errno != 0 || number > (~std::uint64_t{0} >> shift)) return otherwise;
  return number << shift;
}

disk_cache disk_cache::of_environment() {
  return {cache_folder(environment_variable),
          parse_size(std::getenv("TALLY_CACHE_MAX_SIZE"), std::uint64_t{256} << 20)};
}

std::string disk_cache::path_of(std::string const& key) const { return folder_ + "/" + name_of_key(key); }

std::optional<gpu::compiled> disk_cache::read(std::string const& key) const noexcept try {
  if (max_bytes_ == 0) return std::nullopt;
  descriptor const folder(open_folder(folder_, false));
  if (!folder) return std::nullopt;
  auto const name = name_of_key(key);
  descriptor const file(openat(folder.number, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file || !ours_alone(file.number)) return std::nullopt;
  auto const bytes = read_whole(file.number);
  auto result = bytes ? decode_entry(*bytes, key) : std::nullopt;
  if (!result) return log_line("cache", "damaged or foreign entry " + name + ", compiling again"), std::nullopt;
  timespec const now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  futimens(file.number, now); // eviction goes by the last use
  return result;
} catch (...) { return std::nullopt; }

bool disk_cache::write(std::string const& key, gpu::compiled const& result) const noexcept try {
  if (max_bytes_ == 0) return false;
  descriptor const folder(open_folder(folder_, true));
  if (!folder) return false;
  auto const name = name_of_key(key);
  if (!write_and_rename(folder.number, name, encode_entry(key, result)))
    return report("cannot write", path_of(key)), false;
  evict(folder.number, max_bytes_);
  return faccessat(folder.number, name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
} catch (...) { return false; }

} // namespace tally::v0::jit
