// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that never ends would hold the whole test run: when nothing was finished for TALLY_WATCHDOG_SECONDS (300),
// this program says which test hung and aborts. A test case that begins, and every tally_test_progress(), counts as
// something finished; so a suite that compiles its kernels for minutes is left alone, and a kernel that hangs is caught,
// because there is only so much left to finish around it.
#include "gpu/watchdog.hpp"

#include "faults/child.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

using clock = std::chrono::steady_clock;

std::mutex guard;
std::string running = "no test yet";
std::atomic<clock::rep> finished{0}; ///< when something was finished last

void watch(int seconds) {
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto const idle = clock::now() - clock::time_point(clock::duration(finished.load()));
    if (idle < std::chrono::seconds(seconds)) continue;
    std::scoped_lock const lock(guard);
    std::fprintf(stderr, "watchdog: nothing was finished for %d s, in the test case \"%s\"\n", seconds, running.c_str());
    std::abort();
  }
}

/// Knows which test runs, and starts the watch with the first.
struct listener : doctest::IReporter {
  explicit listener(doctest::ContextOptions const&) {}
  void report_query(doctest::QueryData const&) override {}
  void test_run_start() override {
    char const* const given = std::getenv("TALLY_WATCHDOG_SECONDS");
    tally_test_progress();
    std::thread(watch, given != nullptr ? std::atoi(given) : 300).detach();
  }
  void test_run_end(doctest::TestRunStats const&) override {}
  void test_case_start(doctest::TestCaseData const& test) override {
    tally_test_progress();
    std::scoped_lock const lock(guard);
    running = test.m_name;
  }
  void test_case_reenter(doctest::TestCaseData const&) override {}
  void test_case_end(doctest::CurrentTestCaseStats const&) override {}
  void test_case_exception(doctest::TestCaseException const&) override {}
  void subcase_start(doctest::SubcaseSignature const&) override {}
  void subcase_end() override {}
  void log_assert(doctest::AssertData const&) override {}
  void log_message(doctest::MessageData const&) override {}
  void test_case_skipped(doctest::TestCaseData const&) override {}
};

} // namespace

void tally_test_progress() { finished = clock::now().time_since_epoch().count(); }

REGISTER_LISTENER("watchdog", 1, listener);

TEST_CASE("a test that hangs is named and ended, one that is only long is not") {
  auto const hung = run_suite("child: a test that hangs", "TALLY_WATCHDOG_SECONDS=1");
  CHECK(hung.status != 0);
  CHECK(hung.output.find("watchdog: nothing was finished for 1 s, in the test case \"progress, then nothing\"") !=
        std::string::npos);
  auto const progress = hung.output.find("1500 ms of progress");
  CHECK(progress < hung.output.find("watchdog:"));
}

TEST_SUITE("child: a test that hangs" * doctest::skip()) {
  TEST_CASE("progress, then nothing") {
    for (int k = 0; k < 15; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      tally_test_progress();
    }
    std::fprintf(stderr, "1500 ms of progress\n");
    std::this_thread::sleep_for(std::chrono::minutes(1));
  }
}
