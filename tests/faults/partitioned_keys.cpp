// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of partitioned elements on a GPU, from the host's side: which launches partition and fold, in which memory, and what becomes of a driver's
// bad answers. The driver is made of host memory, and both kernels are host functions, so on every machine with NVRTC.
#include "faults/fake_driver.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace {

using namespace tally::v0;

constexpr i64 elements = (1 << 22) + 2, bins = 80'000;
using where_of_source = groups_by_key<1, 1, 1, placeholder<1>, always, false>;

/// The kernels of by_key(_2, bins, sum(_1)) over f32 and i32, whose sums are whole numbers.
struct kernels_on_host {
  fake_driver& fake;
  std::vector<keyed_phase> phases = {};
  i64 partitioned = 0; ///< elements that launches were given
  void operator()(void** arguments) {
    auto const* const columns = static_cast<void const* const*>(arguments[1]);
    auto const* const x = static_cast<float const*>(columns[0]);
    auto const* const keys = static_cast<i32 const*>(columns[1]);
    if (fake.launched_name.find("fold_partitions") == std::string::npos) {
      auto const& of = *static_cast<slot_partitions const*>(arguments[2]);
      u64* const stray = *static_cast<u64* const*>(arguments[3]);
      partitioned += of.end - of.first;
      for (i64 e = of.first; e < of.end; ++e)
        if (!is_in_bins(keys[e], bins)) stray[0] = std::min(stray[0], u64(e));
      return;
    }
    auto const phase = *static_cast<keyed_phase const*>(arguments[7]);
    u64* const stray = static_cast<keyed_memory const*>(arguments[5])->stray;
    phases.push_back(phase);
    if (phase == keyed_phase::open) stray[0] = ~u64(0), stray[2] = 0;
    if (phase == keyed_phase::close) {
      std::vector<double> sums(static_cast<std::size_t>(bins));
      for (i64 e = 0; e < elements; ++e)
        if (is_in_bins(keys[e], bins)) sums[static_cast<std::size_t>(keys[e])] += double(x[e]);
      auto* const to = static_cast<float*>(static_cast<answer_arrays const*>(arguments[6])->at[0]);
      for (std::size_t g = 0; g < sums.size(); ++g) to[g] = float(sums[g]);
      if (stray[0] != ~u64(0)) stray[1] = static_cast<u64>(static_cast<i64>(keys[stray[0]]));
    }
  }
};

struct numbers_and_keys {
  std::vector<float> x;
  std::vector<i32> keys;
  numbers_and_keys() : x(std::size_t(elements)), keys(std::size_t(elements)) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 1013) - 500;
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<i32>(u64(i) * 2654435769u % u64(bins));
  }
  bool answers_are_right() const {
    static auto const right = run(from(x, keys) | by_key(_2, bins, sum(_1)), on::cpu); // keys are put back after every change
    return run(from(x, keys) | by_key(_2, bins, sum(_1)), on::gpu) == right;
  }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("partitioned keys: windows aimed, cells opened, elements partitioned and folded, the rest added, and cells closed") {
    using enum keyed_phase;
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    auto const before = fake.allocated.size();
    kernels_on_host kernels{fake};
    fake.kernel = std::ref(kernels);
    numbers_and_keys const of;
    CHECK(of.answers_are_right());
    CHECK(kernels.phases == std::vector{aim, open, fold, meet, close});
    CHECK(kernels.partitioned == elements - 2);
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }

  TEST_CASE("partitioned keys: a stray, no memory or half of it, a launch that fails and a device that breaks are errors, and the next call works") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) return;
    kernels_on_host kernels{fake};
    fake.kernel = std::ref(kernels);
    numbers_and_keys of;
    auto const before = fake.allocated.size();
    CHECK(of.answers_are_right());
    kernels.phases.clear();
    fake.answers["pool_allocate"] = {0, 0, 2, 2}; // behind both columns; half the room is there
    CHECK(of.answers_are_right());
    CHECK(kernels.phases == std::vector{keyed_phase::aim, keyed_phase::open, keyed_phase::fold, keyed_phase::fold, keyed_phase::meet, keyed_phase::close});
    CHECK(fake.allocated.size() == before);
    fake.answers.clear();
    for (std::size_t at = 0; at < 3; ++at) { // both columns, tiles and cells; a few answers are written to the host
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.insert(answers.end(), {2, 2});
      if (at == 2) answers.insert(answers.end(), {2, 2});
      fake.answers["pool_allocate"] = answers;
      CHECK_THROWS_AS(of.answers_are_right(), out_of_memory);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    for (std::size_t at = 0; at < 5; ++at) { // open, partition, fold, meet, close
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.push_back(701);
      fake.answers["launch"] = answers;
      CHECK_THROWS_AS(of.answers_are_right(), launch_failed);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    i32 const first = of.keys[77], second = of.keys[99];
    of.keys[77] = of.keys[99] = -3;
    CHECK_THROWS_AS(of.answers_are_right(), key_out_of_range);
    of.keys[77] = first, of.keys[99] = second;
    CHECK(of.answers_are_right());
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }
}
