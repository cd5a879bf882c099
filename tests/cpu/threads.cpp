// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the cores: every tile once, on as many threads as asked, and exceptions come home. Layer 5.
#include <tally/run/cpu_door.hpp>
#include <tally/run/shared_word.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct visits {
  std::vector<std::atomic<int>> of_tile;
  std::mutex guard;
  std::set<std::thread::id> threads;
  explicit visits(std::size_t tiles) : of_tile(tiles) {}
  static void note(void* context, tally::v0::i64 tile) {
    auto& v = *static_cast<visits*>(context);
    ++v.of_tile[std::size_t(tile)];
    std::scoped_lock const lock(v.guard);
    v.threads.insert(std::this_thread::get_id());
  }
};

/// Waits at a tile until `parties` tiles have been entered, so that each needs a thread of its own.
struct meeting {
  int parties;
  std::atomic<int> arrived{0};
  static void wait(void* context, tally::v0::i64) {
    auto& m = *static_cast<meeting*>(context);
    ++m.arrived;
    while (m.arrived < m.parties) std::this_thread::yield();
  }
};

} // namespace

TEST_CASE("every tile is visited once, whatever the number of threads") {
  for (int threads : {0, 1, 2, 3, 8})
    for (std::size_t tiles : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 1000u}) {
      CAPTURE(threads);
      CAPTURE(tiles);
      visits v(tiles);
      tally::v0::cpu::for_each_tile(tally::v0::i64(tiles), visits::note, &v, threads);
      for (auto const& n : v.of_tile) CHECK(n == 1);
      CHECK(v.threads.size() <= std::size_t(threads == 0 ? tally::v0::cpu::core_count() : threads));
    }
}

TEST_CASE("the number of threads is what was asked, also beyond the number of cores") {
  for (int threads : {1, 2, 3, 8}) {
    CAPTURE(threads);
    meeting m{threads};
    tally::v0::cpu::for_each_tile(threads, meeting::wait, &m, threads); // returns only if all of them run at once
    CHECK(m.arrived == threads);
  }
}

TEST_CASE("an exception of a tile reaches the caller and later calls are unharmed") {
  for (int threads : {1, 2, 8}) {
    CAPTURE(threads);
    auto const fail = [](void*, tally::v0::i64 tile) {
      if (tile == 5) throw std::domain_error("tile 5");
    };
    CHECK_THROWS_AS(tally::v0::cpu::for_each_tile(100, fail, nullptr, threads), std::domain_error);
    visits v(100);
    tally::v0::cpu::for_each_tile(100, visits::note, &v, threads);
    for (auto const& n : v.of_tile) CHECK(n == 1);
  }
}

TEST_CASE("a lock lets one thread in at a time, and a shared word changes for one of those who want it to") {
  constexpr int threads = 8, rounds = 2000;
  int word = 0;
  long entered = 0; // no atomic: the lock alone guards it
  tally::v0::shared_word<long> exchanged;
  struct counters {
    int& word;
    long& entered;
    tally::v0::shared_word<long>& exchanged;
  } all{word, entered, exchanged};
  tally::v0::cpu::for_each_tile(
      threads,
      [](void* context, tally::v0::i64) {
        auto& c = *static_cast<counters*>(context);
        for (int i = 0; i < rounds; ++i) {
          tally::v0::cpu::lock(c.word);
          ++c.entered;
          tally::v0::cpu::unlock(c.word);
          long seen = c.exchanged.load();
          while (!c.exchanged.replace(seen, seen + 1)) {}
        }
      },
      &all, threads);
  CHECK(entered == long(threads) * rounds);
  CHECK(exchanged.load() == long(threads) * rounds);
  CHECK(word == 0);
  exchanged.store(-1);
  long expected = 5;
  CHECK_FALSE(exchanged.replace(expected, 6));
  CHECK(expected == -1);
}
