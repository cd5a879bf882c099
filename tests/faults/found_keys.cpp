// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// group_by on a GPU, from the host's side: how tables grow, in which steps keys are sorted, and what becomes of a driver's bad answers.
// The driver is made of host memory, and both kernels are host functions, so on every machine with NVRTC.
#include "faults/fake_driver.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace {

using namespace tally::v0;

using keys_of_source = program<pack<contiguous<i32>>>;
using found_where = groups_by_any_key<1, placeholder<0>, always>;
using numbered_where = detail::groups_by_number<found_where, u32>::type;

/// One thread that does what all would.
struct only_thread {
  key_search const& to;
  key_table<u32> table;
  u32 look(u64 at) const { return table.entries[at].key; }
  u32 claim(u64 at, u32, u32 key) const { return std::exchange(table.entries[at].key, key); }
  void count() const { ++to.counts[0]; }
  bool too_many() const { return to.counts[0] > table.most_keys(); }
};

/// The kernels of group_by(_1, count) over i32.
struct kernels_on_host {
  fake_driver& fake;
  std::vector<u64> tables = {}; ///< slots of every table that was filled
  void operator()(void** arguments) {
    if (fake.launched_name.find("find_keys") != std::string::npos)
      search(*static_cast<keys_of_source const*>(arguments[1]), *static_cast<key_search const*>(arguments[3]),
             *static_cast<search_phase const*>(arguments[4]));
    else
      fold(*static_cast<numbered_where const*>(arguments[0]), *static_cast<i32 const* const*>(arguments[1]),
           static_cast<axes_layout const*>(arguments[2])->extent, *static_cast<keyed_memory const*>(arguments[4]),
           *static_cast<answer_arrays const*>(arguments[5]), *static_cast<keyed_phase const*>(arguments[6]));
  }

private:
  void search(keys_of_source const& p, key_search const& to, search_phase phase) {
    key_table<u32> const table{static_cast<key_entry<u32>*>(to.entries), to.mask};
    auto* const words = static_cast<u32*>(to.list);
    switch (phase) {
    case search_phase::clear:
      for (u64 i = 0; i < table.entry_count(); ++i) table.entries[i] = {table.empty(i), table.no_number};
      to.counts[0] = to.counts[1] = 0;
      break;
    case search_phase::put:
      tables.push_back(to.mask + 1);
      for (i64 i = 0; i < p.extent && to.counts[0] <= table.most_keys(); ++i)
        table.put(static_cast<u32>(p.columns.first.data[i]), only_thread{to, table});
      break;
    case search_phase::list:
      for (u64 i = 0; i < table.entry_count(); ++i)
        if (table.entries[i].key != table.empty(i)) words[to.counts[1]++] = table.entries[i].key;
      std::fill(words + to.counts[1], words + to.places, u32(0x7fffffff));
      break;
    case search_phase::sort_chunks:
      for (u64 run = 2; run <= to.chunk; run *= 2) merge(words, to.places, run, run / 2);
      break;
    case search_phase::merge_far: exchange(words, to.places, to.run, to.stride); break;
    case search_phase::merge_near: merge(words, to.places, to.run, to.chunk / 2); break;
    case search_phase::number:
      for (u64 i = 0; i < to.keys; ++i) table.find(words[i]).entry->number = static_cast<u32>(i);
    }
  }
  /// One step of the network, and all from a stride on.
  static void exchange(u32* words, u64 places, u64 run, u64 stride) {
    for (u64 i = 0; i < places; ++i)
      if ((i & stride) == 0 && (static_cast<i32>(words[i + stride]) < static_cast<i32>(words[i])) == ((i & run) == 0)) std::swap(words[i], words[i + stride]);
  }
  static void merge(u32* words, u64 places, u64 run, u64 first_stride) {
    for (u64 stride = first_stride; stride > 0; stride /= 2) exchange(words, places, run, stride);
  }
  static void fold(numbered_where const& where, i32 const* keys, i64 n, keyed_memory const& to, answer_arrays const& out, keyed_phase phase) {
    bool const in_one_launch = to.cells[0] == nullptr; // few elements: there is no memory for all slots
    if (phase == keyed_phase::open || in_one_launch) to.stray[0] = ~u64(0), to.stray[2] = 0;
    if (phase != keyed_phase::close && !in_one_launch) return;
    auto* const counts = static_cast<i64*>(out.at[0]);
    std::fill(counts, counts + where.bins, i64(0));
    for (i64 i = 0; i < n; ++i) ++counts[where.key.eval(row<i32>{make_pack(keys[i]), i})];
  }
};

bool counts_are_right(std::vector<i32> const& keys) {
  auto const r = from(keys) | group_by(_1, count);
  return run(r, on::gpu) == run(r, on::cpu);
}
/// n different keys, negative ones among them, in no order.
std::vector<i32> different_keys(i32 n) {
  std::vector<i32> keys(static_cast<std::size_t>(n));
  for (i32 i = 0; i < n; ++i) keys[static_cast<std::size_t>(i)] = static_cast<i32>(static_cast<u32>(i) * 2654435769u);
  return keys;
}

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("group_by: a table grows until half of it is enough, and keys of any number are sorted and counted") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    auto const before = fake.allocated.size();
    for (i32 const n : {1, 2, 3, 1000, 4096, 4097, 40'000, 65'536, 65'537, 700'000}) {
      CAPTURE(n);
      kernels_on_host kernels{fake};
      fake.kernel = std::ref(kernels);
      auto keys = different_keys(n);
      CHECK(counts_are_right(keys));
      u64 const enough = std::bit_ceil(2 * static_cast<u64>(n));
      if (n <= 65'536)
        CHECK(kernels.tables == std::vector<u64>{enough});
      else
        CHECK(kernels.tables == (n == 65'537 ? std::vector<u64>{1 << 17, 1 << 18} : std::vector<u64>{1 << 17, 1 << 20, 1 << 21}));
      keys.insert(keys.end(), keys.begin(), keys.end());
      keys.push_back(static_cast<i32>(key_table<u32>::nobody));
      keys.push_back(2147483647);
      CHECK(counts_are_right(keys));
    }
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }

  TEST_CASE("group_by: no memory, a launch that fails and a device that breaks are errors, give all memory back, and the next call works") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) return;
    kernels_on_host kernels{fake};
    fake.kernel = std::ref(kernels);
    auto const keys = different_keys(70'000);
    auto const before = fake.allocated.size();
    CHECK(counts_are_right(keys));
    for (std::size_t at = 0; at < 5; ++at) { // the source, counts, two tables, the list
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.insert(answers.end(), {2, 2});
      fake.answers["pool_allocate"] = answers;
      CHECK_THROWS_AS(counts_are_right(keys), out_of_memory);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    for (std::size_t at = 0; at < 10; ++at) {
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.push_back(701);
      fake.answers["launch"] = answers;
      CHECK_THROWS_AS(counts_are_right(keys), launch_failed);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    fake.answers["stream_query"] = {700};
    CHECK_THROWS_AS(counts_are_right(keys), device_lost);
    CHECK(fake.allocated.size() == before);
    CHECK(counts_are_right(keys));
    fake.kernel = [](void**) {};
  }
}
