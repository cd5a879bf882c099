// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted elements on a GPU, from the host's side: which launches sort, in which memory, and what becomes of a driver's
// bad answers. The driver is made of host memory, and both kernels are host functions, so on every machine with NVRTC.
#include "faults/fake_driver.hpp"
#include "faults/slot_sort_on_host.hpp"
#include "fold/own_folds.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <functional>

namespace {

using namespace tally::v0;

using where_of_source = groups_by_key<1, 1, 1, placeholder<1>, always, false>;

/// The kernels of by_key(_2, bins, own_recurrence(_1)) over f32 and i32.
struct kernels_on_host {
  fake_driver& fake;
  std::vector<sort_phase> phases = {};
  void operator()(void** arguments) {
    if (fake.launched_name.find("sort_by_key") != std::string::npos)
      sort(static_cast<where_of_source const*>(arguments[0])->bins, static_cast<i32 const* const*>(arguments[1])[1],
           *static_cast<slot_sort const*>(arguments[3]), *static_cast<sort_phase const*>(arguments[4]));
    else
      fold(*static_cast<float const* const*>(arguments[0]), *static_cast<u32 const* const*>(arguments[2]), *static_cast<numbered const* const*>(arguments[3]),
           *static_cast<i64 const*>(arguments[4]), *static_cast<answer_arrays const*>(arguments[7]));
  }

private:
  void sort(i64 bins, i32 const* keys, slot_sort const& s, sort_phase phase) {
    phases.push_back(phase);
    sort_on_host(bins, keys, s, phase);
  }
  static void fold(float const* x, u32 const* begins, numbered const* sorted, i64 slots, answer_arrays const& to) {
    for (i64 g = 0; g < slots; ++g) {
      std::vector<float> own;
      for (u32 i = begins[g]; i < begins[g + 1]; ++i) own.push_back(x[sorted[i].number]);
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
    for (int const bins : {1, 255, 1023, 1024, 100'000, 1 << 20})
      for (std::size_t const n : {1u, 5000u}) {
        CAPTURE(bins);
        CAPTURE(n);
        kernels_on_host kernels{fake};
        fake.kernel = std::ref(kernels);
        numbers_and_keys const of(n, bins);
        CHECK(answers_are_right(of.x, of.keys, bins));
        std::vector<sort_phase> expected{open, note};
        for (int k = 0; k < (bins < 1024 ? 1 : bins < 1 << 20 ? 2 : 3); ++k) {
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
    numbers_and_keys of(3000, 3000);
    auto const before = fake.allocated.size();
    CHECK(answers_are_right(of.x, of.keys, 3000));
    for (std::size_t at = 0; at < 3; ++at) { // both columns, the sort; the answers are few
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.insert(answers.end(), {2, 2});
      fake.answers["pool_allocate"] = answers;
      CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 3000), out_of_memory);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    for (std::size_t at = 0; at < 9; ++at) { // open, note, two passes, begin, fold
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.push_back(701);
      fake.answers["launch"] = answers;
      CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 3000), launch_failed);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    fake.answers["stream_query"] = {700};
    CHECK_THROWS_AS(answers_are_right(of.x, of.keys, 3000), device_lost);
    CHECK(fake.allocated.size() == before);
    of.keys[77] = of.keys[99] = -3;
    CHECK_THROWS_WITH_AS(answers_are_right(of.x, of.keys, 3000), "[tally-E16] the key at position 77 is -3, the bins are [0, 3000). docs/errors.md#E16",
                         key_out_of_range);
    of.keys[77] = of.keys[99] = 3;
    CHECK(answers_are_right(of.x, of.keys, 3000));
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }
}
