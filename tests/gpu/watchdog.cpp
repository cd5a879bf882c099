// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that never ends would hold the whole test run: after TALLY_WATCHDOG_SECONDS (300) this program says which test
// hung and aborts.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

namespace {

std::mutex guard;
std::string running = "no test yet";

void watch() {
  char const* const given = std::getenv("TALLY_WATCHDOG_SECONDS");
  int const seconds = given != nullptr ? std::atoi(given) : 300;
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  std::scoped_lock const lock(guard);
  std::fprintf(stderr, "watchdog: still running after %d s, in the test case \"%s\"\n", seconds, running.c_str());
  std::abort();
}

/// Knows which test runs, and starts the watch with the first.
struct listener : doctest::IReporter {
  explicit listener(doctest::ContextOptions const&) {}
  void report_query(doctest::QueryData const&) override {}
  void test_run_start() override { std::thread(watch).detach(); }
  void test_run_end(doctest::TestRunStats const&) override {}
  void test_case_start(doctest::TestCaseData const& test) override {
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

REGISTER_LISTENER("watchdog", 1, listener);
