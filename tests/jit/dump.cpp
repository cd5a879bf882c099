// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switches that show what happens inside.
#include "jit/dump.hpp"

#include <tally/run/log.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("TALLY_DUMP gives each kind its folder, or several kinds one") {
  using tally::v0::jit::dump_folder;
  CHECK(dump_folder("ptx:/a,cuda:/b", "ptx") == "/a");
  CHECK(dump_folder("ptx:/a,cuda:/b", "cuda") == "/b");
  CHECK(dump_folder("plan,cuda,ptx:/a", "plan") == "/a");
  CHECK(dump_folder("plan,cuda,ptx:/a", "ptx") == "/a");
  CHECK(dump_folder("ptx:/a", "cuda").empty());
  CHECK(dump_folder("ptx", "ptx").empty());
  CHECK(dump_folder("", "ptx").empty());
  CHECK(dump_folder(nullptr, "ptx").empty());
}

TEST_CASE("a program can take the library's lines over") {
  static std::string heard;
  auto const before = tally::v0::set_log_sink(
      [](std::string_view topic, std::string_view line) { heard.append(topic).append("|").append(line); });
  tally::v0::log_line("cache", "a line");
  CHECK(heard == (tally::v0::logs("cache") ? "cache|a line" : ""));
  CHECK((tally::v0::set_log_sink(before) != nullptr));
}
