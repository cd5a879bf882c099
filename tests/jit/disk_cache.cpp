// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of kernels on disk: what goes in comes out, and whatever is wrong with the folder or the file is a miss.
#include "jit/disk_cache.hpp"

#include "jit/entry.hpp"
#include "jit/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace tally::v0;
namespace fs = std::filesystem;

gpu::compiled some_kernel(std::size_t cubin_bytes = 1000) {
  gpu::compiled k;
  k.lowered_name = "_Z3sumPf";
  k.ptx = ".version 9.0\n.target sm_90a\n";
  for (std::size_t i = 0; i < cubin_bytes; ++i) k.cubin.push_back(static_cast<char>(i * 37));
  k.compile_seconds = 0.25;
  return k;
}

constexpr std::uint64_t plenty = 1u << 30;

/// Runs `body` in a process of its own: it may give up rights and lower limits. True when it returned true.
bool in_another_process(std::function<bool()> const& body) {
  pid_t const child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void set_age(std::string const& path, int seconds) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

} // namespace

TEST_CASE("what was written is read, bit for bit, by another cache object") {
  temporary_folder const folder;
  jit::disk_cache const writer(folder.path, plenty), reader(folder.path, plenty);
  CHECK_FALSE(reader.read("key"));
  REQUIRE(writer.write("key", some_kernel()));
  auto const found = reader.read("key");
  REQUIRE(found);
  CHECK(found->from_disk);
  CHECK(found->cubin == some_kernel().cubin);
  CHECK(found->ptx == some_kernel().ptx);
  CHECK(found->lowered_name == some_kernel().lowered_name);
  CHECK(found->compile_seconds == 0.25);
  CHECK_FALSE(reader.read("another key"));
}

TEST_CASE("the folder is made for us alone, and so is each file") {
  temporary_folder const outer;
  auto const folder = outer.path + "/not/yet/there";
  jit::disk_cache const cache(folder, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  struct stat facts {};
  REQUIRE(stat(folder.c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0700);
  REQUIRE(stat(cache.path_of("key").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE("every single damaged byte is noticed") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel(64)));
  auto const path = cache.path_of("key");
  auto const good = text_of_file(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write_file(path, bad);
    CAPTURE(i);
    CHECK_FALSE(cache.read("key"));
  }
  write_file(path, good);
  CHECK(cache.read("key"));
}

TEST_CASE("a file cut short, an empty one and one with something behind are misses") {
  auto const good = jit::encode_entry("key", some_kernel(64));
  REQUIRE(jit::decode_entry(good, "key"));
  for (std::size_t length = 0; length < good.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(jit::decode_entry(good.substr(0, length), "key"));
  }
  CHECK_FALSE(jit::decode_entry(good + "x", "key"));
}

TEST_CASE("an entry under the name of another key is a miss: the whole key is compared") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  fs::rename(cache.path_of("key"), cache.path_of("other"));
  CHECK_FALSE(cache.read("other"));
}

TEST_CASE("after damage the entry is simply written again") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  write_file(cache.path_of("key"), "garbage");
  CHECK_FALSE(cache.read("key"));
  REQUIRE(cache.write("key", some_kernel()));
  CHECK(cache.read("key"));
}

TEST_CASE("a folder or a file that others may write to is not trusted") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  REQUIRE(chmod(cache.path_of("key").c_str(), 0666) == 0);
  CHECK_FALSE(cache.read("key"));
  REQUIRE(chmod(cache.path_of("key").c_str(), 0600) == 0);
  CHECK(cache.read("key"));
  REQUIRE(chmod(folder.path.c_str(), 0777) == 0);
  CHECK_FALSE(cache.read("key"));
  CHECK_FALSE(cache.write("key", some_kernel()));
  REQUIRE(chmod(folder.path.c_str(), 0700) == 0);
  CHECK(cache.read("key"));
}

TEST_CASE("a symbolic link in an entry's place is not followed") {
  temporary_folder const folder, elsewhere;
  jit::disk_cache const cache(folder.path, plenty), other(elsewhere.path, plenty);
  REQUIRE(other.write("key", some_kernel()));
  fs::create_symlink(other.path_of("key"), cache.path_of("key"));
  CHECK_FALSE(cache.read("key"));
}

TEST_CASE("a folder or a file of somebody else is not trusted") {
  if (geteuid() != 0) {
    MESSAGE("skipped: only root can give a file away");
    return;
  }
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  REQUIRE(chown(cache.path_of("key").c_str(), 65534, 65534) == 0);
  CHECK_FALSE(cache.read("key"));
  REQUIRE(chown(cache.path_of("key").c_str(), 0, 0) == 0);
  REQUIRE(cache.read("key"));
  REQUIRE(chown(folder.path.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(cache.read("key"));
  CHECK_FALSE(cache.write("key", some_kernel()));
}

TEST_CASE("a read-only folder is read, and not written") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  CHECK(in_another_process([&] {
    if (geteuid() == 0) { // root may write anywhere: be nobody
      if (chown(folder.path.c_str(), 65534, 65534) != 0 || setgid(65534) != 0 || setuid(65534) != 0) return false;
    }
    bool good = cache.write("key", some_kernel()) && chmod(folder.path.c_str(), 0500) == 0;
    good = good && !cache.write("another", some_kernel()) && cache.read("key").has_value();
    chmod(folder.path.c_str(), 0700);
    return good;
  }));
}

TEST_CASE("a folder that cannot be made, or is a file, is a cache that is always missed") {
  temporary_folder const folder;
  write_file(folder.path + "/file", "x");
  for (auto const& path :
       {std::string("/proc/tally"), folder.path + "/file", folder.path + "/file/below", std::string()}) {
    CAPTURE(path);
    jit::disk_cache const cache(path, plenty);
    CHECK_FALSE(cache.write("key", some_kernel()));
    CHECK_FALSE(cache.read("key"));
  }
}

TEST_CASE("a full disk, or a limit on file sizes, leaves nothing half written and kills nobody") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  CHECK(in_another_process([&] {
    rlimit const small{1000, 1000};
    if (setrlimit(RLIMIT_FSIZE, &small) != 0) return false;
    return !cache.write("key", some_kernel(100'000)) && !cache.read("key") && cache.write("small", some_kernel(10));
  }));
  CHECK(folder.files().size() == 1);
}

TEST_CASE("the least recently used entries go when the folder is too large") {
  temporary_folder const folder;
  auto const one = jit::encode_entry("a", some_kernel(1000)).size();
  jit::disk_cache const cache(folder.path, 3 * one + 10);
  for (auto const* key : {"a", "b", "c"}) REQUIRE(cache.write(key, some_kernel(1000)));
  CHECK(folder.files().size() == 3);
  set_age(cache.path_of("a"), 300);
  set_age(cache.path_of("b"), 200);
  set_age(cache.path_of("c"), 100);
  REQUIRE(cache.read("a")); // now the most recently used one
  REQUIRE(cache.write("d", some_kernel(1000)));
  CHECK(cache.read("a"));
  CHECK_FALSE(cache.read("b"));
  CHECK(cache.read("c"));
  CHECK(cache.read("d"));
  CHECK_FALSE(cache.write("huge", some_kernel(10 * one)));
}

TEST_CASE("a size of zero switches the cache off") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, 0);
  CHECK_FALSE(cache.write("key", some_kernel()));
  CHECK(folder.files().empty());
}

TEST_CASE("what a stopped process left unfinished is removed after an hour, and not before") {
  temporary_folder const folder;
  write_file(folder.path + "/x.kernel.1.0.unfinished", "half");
  write_file(folder.path + "/y.kernel.1.0.unfinished", "half");
  set_age(folder.path + "/x.kernel.1.0.unfinished", 4000);
  jit::disk_cache const cache(folder.path, plenty);
  REQUIRE(cache.write("key", some_kernel()));
  CHECK_FALSE(fs::exists(folder.path + "/x.kernel.1.0.unfinished"));
  CHECK(fs::exists(folder.path + "/y.kernel.1.0.unfinished"));
}

TEST_CASE("many threads and processes may write one entry at once") {
  temporary_folder const folder;
  jit::disk_cache const cache(folder.path, plenty);
  auto const hammer = [&] {
    bool good = true;
    for (int i = 0; i < 50; ++i) {
      good = cache.write("key", some_kernel(5000)) && good;
      auto const found = cache.read("key");
      good = found && found->cubin == some_kernel(5000).cubin && good;
    }
    return good;
  };
  bool here = false, there = false;
  pid_t const child = fork();
  if (child == 0) _exit(hammer() ? 0 : 1);
  {
    std::jthread const one([&] { here = hammer(); }), two([&] { there = hammer(); });
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(here);
  CHECK(there);
  CHECK(folder.files().size() == 1);
}

TEST_CASE("the folder is TALLY_CACHE_DIR, else the user's cache, else there is none") {
  using jit::cache_folder;
  CHECK(cache_folder([](char const* name) -> char const* {
          return std::strcmp(name, "HOME") == 0 ? "/home/x" : nullptr;
        }) == "/home/x/.cache/tally");
  CHECK(cache_folder([](char const* name) -> char const* {
          return std::strcmp(name, "TALLY_CACHE_DIR") == 0 ? nullptr : "/x";
        }) == "/x/tally");
  CHECK(cache_folder([](char const*) -> char const* { return "/x"; }) == "/x");
  CHECK(cache_folder([](char const*) -> char const* { return nullptr; }).empty());
  CHECK(cache_folder([](char const*) -> char const* { return ""; }).empty());
  CHECK(cache_folder([](char const*) -> char const* { return "relative/path"; }).empty());
}

TEST_CASE("sizes are digits with K, M or G, and anything else is the default") {
  using jit::parse_size;
  CHECK(parse_size("512", 7) == 512);
  CHECK(parse_size("64K", 7) == 64u * 1024);
  CHECK(parse_size("256M", 7) == 256u * 1024 * 1024);
  CHECK(parse_size("2g", 7) == std::uint64_t{2} << 30);
  CHECK(parse_size("0", 7) == 0);
  for (auto const* bad : {"", "-1", "x", "1T", "1KB", "99999999999999999999", "99999999999G"}) {
    CAPTURE(bad);
    CHECK(parse_size(bad, 7) == 7);
  }
  CHECK(parse_size(nullptr, 7) == 7);
}
