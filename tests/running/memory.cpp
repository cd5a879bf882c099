// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What owns memory while a pipeline runs.
#include <tally/run/arena.hpp>
#include <tally/run/heap_array.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

struct counted {
  explicit counted(std::vector<int>& to, int n) : gone(&to), number(n) {}
  counted(counted&& from) noexcept : gone(std::exchange(from.gone, nullptr)), number(from.number) {}
  ~counted() {
    if (gone != nullptr) gone->push_back(number);
  }
  std::vector<int>* gone;
  int number;
};

} // namespace

TEST_CASE("an arena keeps objects of any types where they are, and lets go of the last one first") {
  std::vector<int> gone;
  {
    tally::v0::arena a;
    counted const& one = a.keep(counted(gone, 1));
    std::string& text = a.keep(std::string(100, 'x'));
    a.keep(counted(gone, 2));
    text += 'y';
    CHECK(text.size() == 101);
    CHECK(one.number == 1);
    CHECK(gone.empty());
  }
  CHECK(gone == std::vector{2, 1});
}

TEST_CASE("a heap array has one owner") {
  static_assert(!std::is_copy_constructible_v<tally::v0::heap_array<int>>);
  std::vector<int> gone;
  struct noted {
    std::vector<int>* to = nullptr;
    ~noted() {
      if (to != nullptr) to->push_back(1);
    }
  };
  {
    tally::v0::heap_array<noted> a(3), b;
    for (std::size_t i = 0; i < 3; ++i) a[i].to = &gone;
    b = std::move(a);
    CHECK(gone.empty());
    tally::v0::heap_array<noted> const c(std::move(b));
    CHECK(b.data() == nullptr);
    CHECK(c.data() != nullptr);
  }
  CHECK(gone.size() == 3);
}
