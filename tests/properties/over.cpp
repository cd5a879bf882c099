// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random pipelines with groupings against their groups alone. TALLY_PIPELINES says how many (200000), TALLY_SEED replays one.
#include "recipe.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace {

using namespace properties;

finding run_one(u64 seed) {
  auto const& all = checks();
  dice d(seed);
  auto const& one = all[static_cast<std::size_t>(d.below(static_cast<i64>(all.size())))];
  finding found;
  try {
    found = one.run(d);
  } catch (std::exception const& e) {
    found = std::string("threw ") + e.what();
  }
  return found.empty() ? found : std::string(one.recipe) + ", " + one.axes + ": " + found;
}

} // namespace

TEST_CASE("every group of a random pipeline has the bits of its elements alone") {
  auto& all = checks(); // registered in any order
  std::sort(all.begin(), all.end(),
            [](auto const& a, auto const& b) { return std::tuple(std::string(a.recipe), a.axes) < std::tuple(std::string(b.recipe), b.axes); });
  REQUIRE(!all.empty());
  char const* const replayed = std::getenv("TALLY_SEED");
  char const* const wanted = std::getenv("TALLY_PIPELINES");
  u64 const begin = replayed != nullptr ? std::strtoull(replayed, nullptr, 10) : 0;
  u64 const end = replayed != nullptr ? begin + 1 : wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 200000;
  std::atomic<u64> next{begin};
  std::mutex guard;
  std::vector<std::string> wrong;
  auto const work = [&] {
    for (u64 seed; (seed = next++) < end;)
      if (finding const found = run_one(seed); !found.empty()) {
        std::scoped_lock const lock(guard);
        wrong.push_back("TALLY_SEED=" + std::to_string(seed) + " replays: " + found);
        if (wrong.size() >= 20)
          next = end;
      }
  };
  {
    std::jthread const other(work);
    work();
  }
  for (auto const& w : wrong)
    FAIL_CHECK(w);
  CHECK(wrong.empty());
  std::printf("%llu random pipelines of %zu kinds, %zu wrong\n", static_cast<unsigned long long>(end - begin), all.size(),
              wrong.size());
}
