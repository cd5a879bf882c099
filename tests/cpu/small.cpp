// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small reduction on the CPU is done before a search for the driver's library would have opened its first folder: the search
// happens again only after the process has loaded another library.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <dlfcn.h>
#include <vector>

namespace {
std::atomic<int> searches{0};
}

/// Stands before the system's for this program.
extern "C" void* dlopen(char const* name, int how) {
  using function = void*(char const*, int);
  static auto* const real = reinterpret_cast<function*>(dlsym(RTLD_NEXT, "dlopen"));
  ++searches;
  return real(name, how);
}

using namespace tally;

TEST_CASE("runs on the CPU look for the driver once, and again when a library has come") {
  std::vector<float> const x{1.f, 2.f, 3.f};
  CHECK(run(from(x) | sum, on::cpu) == 6.f);
  int const before = searches;
  for (int k = 0; k < 100; ++k) CHECK(run(from(x) | sum, on::cpu) == 6.f);
  CHECK(searches == before);

  void* const other = dlopen("libBrokenLocale.so.1", RTLD_LAZY); // of glibc, which no program needs
  if (other == nullptr) return;
  int const with_other = searches;
  CHECK(run(from(x) | sum, on::cpu) == 6.f);
  if (!dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) CHECK(searches == with_other + 2);
  dlclose(other);
}
