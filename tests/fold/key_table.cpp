// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of keys, filled by lanes that take turns anywhere between a look and a claim, and look at what is out of date.
#include "fold/unmixed.hpp"

#include <tally/fold/key_table.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <vector>

using namespace tally::v0;

namespace {

template <class Word>
struct filled {
  std::vector<key_entry<Word>> entries;
  u64 met = 0;
  key_table<Word> table;

  explicit filled(u64 slots) : entries(slots + 1), table{entries.data(), slots - 1} {
    for (u64 i = 0; i < table.entry_count(); ++i) entries[i] = {table.empty(i), table.no_number};
  }
};
/// One lane: it may see an entry as it was before, and another lane may go first between its look and its claim.
template <class Word>
struct lane {
  filled<Word>* of;
  std::function<bool()> sees_what_was = [] { return false; };
  std::function<void()> others_go = [] {};
  Word look(u64 at) const {
    Word const seen = sees_what_was() ? of->table.empty(at) : of->entries[at].key;
    others_go();
    return seen;
  }
  Word claim(u64 at, Word empty, Word key) const {
    Word const held = of->entries[at].key;
    if (held == empty) of->entries[at].key = key;
    return held;
  }
  void count() const { ++of->met; }
  bool too_many() const { return of->met > of->table.most_keys(); }
};

/// Every key once, as the kernels leave them: listed, sorted, numbered; and found again.
template <class Word>
void check_keys(filled<Word>& f, std::vector<Word> const& keys) {
  std::set<Word> const expected(keys.begin(), keys.end());
  std::vector<Word> listed;
  for (u64 i = 0; i < f.table.entry_count(); ++i)
    if (f.entries[i].key != f.table.empty(i)) listed.push_back(f.entries[i].key);
  std::sort(listed.begin(), listed.end());
  CHECK(f.met == expected.size());
  REQUIRE(listed == std::vector<Word>(expected.begin(), expected.end()));
  for (std::size_t i = 0; i < listed.size(); ++i) {
    auto const place = f.table.find(listed[i]);
    REQUIRE(place.entry != nullptr);
    place.entry->number = static_cast<u32>(i);
  }
  bool right = true;
  for (std::size_t i = 0; i < listed.size(); ++i) right = right && f.table.find(listed[i]).number == i;
  CHECK(right);
}

} // namespace

TEST_CASE_TEMPLATE("keys are found again, whatever they are", Word, u32, u64) {
  std::mt19937_64 random(7);
  for (u64 const slots : {u64(2), u64(16), u64(1024), u64(1) << 17}) {
    filled<Word> f(slots);
    std::vector<Word> keys;
    Word const nobody = key_table<Word>::nobody;
    for (u64 i = 0; i < slots / 2; ++i) keys.push_back(static_cast<Word>(i % 3 == 0 ? random() : i % 3 == 1 ? i : i << (4 * sizeof(Word))));
    keys[0] = nobody;
    if (keys.size() > 4) keys[1] = static_cast<Word>(~nobody), keys[2] = 0, keys[3] = static_cast<Word>(-1);
    for (int again = 0; again < 2; ++again)
      for (Word const k : keys) CHECK_UNARY(f.table.put(k, lane<Word>{&f}));
    check_keys(f, keys);
    std::set<Word> const there(keys.begin(), keys.end());
    for (int i = 0; i < 100; ++i)
      if (auto const k = static_cast<Word>(random()); !there.contains(k)) CHECK(f.table.find(k).number == f.table.no_number);
  }
}

TEST_CASE_TEMPLATE("the key that looks like nobody's is only there when it was put", Word, u32, u64) {
  filled<Word> f(8);
  Word const nobody = key_table<Word>::nobody;
  CHECK(f.table.find(nobody).entry == nullptr);
  f.table.put(static_cast<Word>(~nobody), lane<Word>{&f});
  CHECK(f.table.find(nobody).entry == nullptr);
  f.table.put(nobody, lane<Word>{&f});
  f.table.put(nobody, lane<Word>{&f});
  CHECK(f.met == 2);
  CHECK(f.table.find(nobody).entry == &f.entries[8]);
}

TEST_CASE_TEMPLATE("lanes that go first, and looks that are out of date, put no key in twice and lose none", Word, u32, u64) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    filled<Word> f(64);
    std::vector<Word> some(12);
    for (auto& k : some) k = random() % 5 == 0 ? key_table<Word>::nobody : static_cast<Word>(random() % 40);
    int depth = 0;
    std::function<void()> others;
    auto const any_lane = [&] { return lane<Word>{&f, [&] { return random() % 2 == 0; }, others}; };
    others = [&] {
      if (++depth < 4 && random() % 3 == 0) f.table.put(some[random() % some.size()], any_lane());
      --depth;
    };
    for (Word const k : some) f.table.put(k, any_lane());
    check_keys(f, some);
  }
}

TEST_CASE("keys made to collide are found all the same") {
  filled<u32> f(1 << 14);
  std::vector<u32> keys;
  for (u32 i = 0; i < 4000; ++i) keys.push_back(unmixed(i << 14)); // the same first entry
  for (u32 const k : keys) REQUIRE((key_table<u32>::mixed(k) & 0x3fff) == 0);
  for (u32 const k : keys) f.table.put(k, lane<u32>{&f});
  check_keys(f, keys);
}

TEST_CASE("a full table ends the search instead of going round for ever, and the count says so") {
  filled<u32> f(64);
  u64 refused = 0;
  for (u32 k = 0; k < 1000; ++k) refused += f.table.put(k, lane<u32>{&f}) ? 0 : 1;
  CHECK(refused > 900);
  CHECK(f.met > f.table.most_keys());
  CHECK(f.met <= 64);
  filled<u32> whole(8); // too short to ask on the way
  for (u32 k = 0; k < 8; ++k) CHECK(whole.table.put(k, lane<u32>{&whole}));
  CHECK_FALSE(whole.table.put(8, lane<u32>{&whole}));
  CHECK(whole.table.find(8).entry == nullptr);
}
