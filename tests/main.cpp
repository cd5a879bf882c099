// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main function of every test program. A folder that needs something of the machine (a GPU, say) defines
// tally_test_skip_reason: where it answers a sentence, the program prints it and runs nothing.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

/// Why this program cannot run on this machine, or null. Folders that run anywhere leave it undefined.
[[gnu::weak]] char const* tally_test_skip_reason();

int main(int argc, char** argv) {
  if (tally_test_skip_reason != nullptr)
    if (char const* reason = tally_test_skip_reason()) {
      std::printf("skipped: %s\n", reason);
      return 0;
    }
  doctest::Context context(argc, argv);
  return context.run();
}
