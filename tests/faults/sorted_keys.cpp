// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted elements on a GPU, from the host's side: which launches sort, in which memory, and what becomes of a driver's
// bad answers. The driver is made of host memory, and both kernels are host functions, so on every machine with NVRTC.
#include "faults/fake_driver.hpp"
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace {

using namespace tally;

using where_of_source = groups_by_key<1, 1, 1, placeholder<1>, always, false>;

/// The kernels of by_key(_2, bins, own_recurrence(_1)) over f32 and i32.
struct kernels_on_host {
  fake_driver& fake;
  std::vector<sort_phase> phases = {};
  void operator()(void** arguments) {
    if (fake.launched_name.find("sort_by_key") != std::string::npos)
      sort(*static_cast<where_of_source const*>(arguments[0]), static_cast<i32 const* const*>(arguments[1])[1],
           *static_cast<slot_sort const*>(arguments[3]), *static_cast<sort_phase const*>(arguments[4]));
    else
      fold(*static_cast<float const* const*>(arguments[0]), *static_cast<u32 const* const*>(arguments[2]), *static_cast<u32 const* const*>(arguments[3]),
           *static_cast<i64 const*>(arguments[4]), *static_cast<answer_arrays const*>(arguments[7]));
  }

private:
  void sort(where_of_source const& where, i32 const* keys, slot_sort const& s, sort_phase phase) {
    phases.push_back(phase);
    auto const n = static_cast<std::size_t>(s.elements);
    switch (phase) {
    case sort_phase::open: s.stray[0] = ~u64(0), s.stray[2] = 0; break;
    case sort_phase::note:
      for (std::size_t i = 0; i < n; ++i) {
        bool const inside = is_in_bins(keys[i], where.bins);
        s.slots[0][i] = static_cast<u32>(inside ? i64(keys[i]) : s.slot_count);
        if (!inside) s.stray[0] = std::min(s.stray[0], u64(i));
      }
      break;
    case sort_phase::count_digits:
    case sort_phase::add_up: break;
    case sort_phase::move: {
      std::vector<u32> order(n);
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return digit_of_slot(s.slots_now()[a], s.pass) < digit_of_slot(s.slots_now()[b], s.pass); });
      for (std::size_t i = 0; i < n; ++i) {
        s.slots_next()[i] = s.slots_now()[order[i]];
        static_cast<u32*>(s.numbers_next())[i] = s.pass == 0 ? order[i] : static_cast<u32*>(s.numbers_now())[order[i]];
      }
      break;
    }
    case sort_phase::begin:
      for (i64 g = 0; g <= s.slot_count; ++g) static_cast<u32*>(s.begins)[g] = static_cast<u32>(first_not_below(s.slots_now(), s.elements, g));
      if (s.stray[0] != ~u64(0)) s.stray[1] = static_cast<u64>(static_cast<i64>(keys[s.stray[0]]));
    }
  }
  static void fold(float const* x, u32 const* begins, u32 const* numbers, i64 slots, answer_arrays const& to) {
    for (i64 g = 0; g < slots; ++g) {
      std::vector<float> own;
      for (u32 i = begins[g]; i < begins[g + 1]; ++i) own.push_back(x[numbers[i]]);
      static_cast<float*>(to.at[0])[g] = run(from(own) | own_recurrence, on::cpu);
    }
  }
};

bool answers_are_right(std::vector<float> const& x, std::vector<i32> const& keys, i64 bins) {
  auto const r = from(x, keys) | by_key(_2, bins, own_recurrence(_1));
  return run(r, on::gpu) == run(r, on::cpu);
}
struct numbers_and_keys {
  std::vector<float> x;
  std::vector<i32> keys;
  numbers_and_keys(std::size_t n, i64 bins) : x(n), keys(n) {
    for (std::size_t i = 0; i < n; ++i) x[i] = float(i % 1013) - 500, keys[i] = static_cast<i32>(u64(i) * 2654435769u % u64(bins));
  }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("sorted keys: a pass for every digit, counted unless it is the first, and every memory is given back") {
    using enum sort_phase;
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    auto const before = fake.allocated.size();
    for (int const bins : {1, 255, 256, 65'535, 65'536, 100'000})
      for (std::size_t const n : {1u, 5000u}) {
        CAPTURE(bins);
        CAPTURE(n);
        kernels_on_host kernels{fake};
        fake.kernel = std::ref(kernels);
        numbers_and_keys const of(n, bins);
        CHECK(answers_are_right(of.x, of.keys, bins));
        std::vector<sort_phase> expected{open, note};
        for (int k = 0; k < (bins < 256 ? 1 : bins < 65'536 ? 2 : 3); ++k) {
          if (k > 0) expected.push_back(count_digits);
          expected.insert(expected.end(), {add_up, move});
        }
        expected.push_back(begin);
        CHECK(kernels.phases == expected);
      }
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }

  TEST_CASE("sorted keys: a stray, no memory, a launch that fails and a device that breaks are errors, and the next call works") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) return;
    kernels_on_host kernels{fake};
    fake.kernel = std::ref(kernels);
    numbers_and_keys of(3000, 300);
    auto const before = fake.allocated.size();
    CHECK(answers_are_right(of.x, of.keys, 300));
    for (std::size_t at = 0; at < 4; ++at) { // the answers, both columns, the sort
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.insert(answers.end(), {2, 2});
      fake.answers["pool_allocate"] = answers;
      CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 300), out_of_memory);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    for (std::size_t at = 0; at < 9; ++at) { // open, note, two passes, begin, fold
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.push_back(701);
      fake.answers["launch"] = answers;
      CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 300), launch_failed);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    fake.answers["stream_query"] = {700};
    CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 300), device_lost);
    CHECK(fake.allocated.size() == before);
    of.keys[77] = of.keys[99] = -3;
    CHECK_THROWS_WITH_AS(answers_are_right(of.x, of.keys, 300), "[tally-E16] the key at position 77 is -3, the bins are [0, 300). docs/errors.md#E16",
                         key_out_of_range);
    of.keys[77] = of.keys[99] = 3;
    CHECK(answers_are_right(of.x, of.keys, 300));
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }
}
