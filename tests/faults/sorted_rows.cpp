// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of sorted rows on a GPU, from the host's side: which launches sort and fold, in which memory, and what becomes of a driver's
// bad answers. The driver is made of host memory, and both kernels are host functions, so on every machine with NVRTC.
#include "faults/fake_driver.hpp"
#include "faults/slot_sort_on_host.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <vector>

namespace {

using namespace tally::v0;

constexpr i64 width = 64, rows = 40'000;
using where_of_source = groups_by_key<2, 1, 1, placeholder<1>, always, false>;

/// The kernels of by_key<0>(_2, bins, sum(_1)) over f32 and i32, whose sums are whole numbers.
struct kernels_on_host {
  fake_driver& fake;
  int passes = 0;
  std::vector<keyed_phase> phases = {};
  sorted_rows_cut cut{};
  void operator()(void** arguments) {
    if (fake.launched_name.find("sort_by_key") != std::string::npos) {
      auto const phase = *static_cast<sort_phase const*>(arguments[4]);
      passes += phase == sort_phase::move ? 1 : 0;
      sort_on_host(static_cast<where_of_source const*>(arguments[0])->bins, static_cast<i32 const* const*>(arguments[1])[1],
                   *static_cast<slot_sort const*>(arguments[3]), phase);
      return;
    }
    auto const& s = *static_cast<slot_sort const*>(arguments[2]);
    auto const phase = *static_cast<keyed_phase const*>(arguments[7]);
    phases.push_back(phase);
    cut = *static_cast<sorted_rows_cut const*>(arguments[3]);
    if (phase == keyed_phase::fold)
      fold(*static_cast<float const* const*>(arguments[0]), s, static_cast<float*>(static_cast<answer_arrays const*>(arguments[6])->at[0]));
  }

private:
  static void fold(float const* x, slot_sort const& s, float* to) {
    auto const* const begins = static_cast<u32 const*>(s.begins);
    for (i64 g = 0; g < s.slot_count; ++g)
      for (i64 k = 0; k < width; ++k) {
        double sum = 0;
        for (u32 t = begins[g]; t < begins[g + 1]; ++t) sum += double(x[static_cast<numbered const*>(s.now())[t].number * width + k]);
        to[g * width + k] = float(sum);
      }
  }
};

struct rows_and_keys {
  std::vector<float> x;
  std::vector<i32> keys;
  explicit rows_and_keys(i64 bins) : x(std::size_t(rows * width)), keys(std::size_t(rows)) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i % 1013) - 500;
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<i32>(u64(i) * 2654435769u % u64(bins));
  }
  template <class... Contract>
  bool answers_are_right(i64 bins, Contract... c) const {
    auto const r = from(shaped(x, rows, width), along<0>(keys)) | by_key<0>(_2, bins, sum(_1));
    return run(r, on::gpu, c...) == run(r, on::cpu);
  }
};

} // namespace

TEST_SUITE("fake driver" * doctest::skip()) {
  TEST_CASE("sorted rows: one sort, cells opened and rows folded, and closed unless the answers are the cells") {
    using enum keyed_phase;
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) {
      MESSAGE("skipped: this machine has no NVRTC");
      return;
    }
    auto const before = fake.allocated.size();
    for (i64 const bins : {1000, 6000}) {
      kernels_on_host kernels{fake};
      fake.kernel = std::ref(kernels);
      rows_and_keys const of(bins);
      CHECK(of.answers_are_right(bins));
      CHECK(kernels.passes == (bins < 1024 ? 1 : 2));
      CHECK(kernels.phases == std::vector{open, fold, close});
      CHECK(kernels.cut.chunks * kernels.cut.chunk_rows >= rows);
      kernels.phases.clear();
      CHECK(of.answers_are_right(bins, fast));
      CHECK(kernels.phases == (bins == 1000 ? std::vector{open, fold, close} : std::vector{open, fold})); // a few answers are written to the host
    }
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }

  TEST_CASE("sorted rows: a stray, no memory, a launch that fails and a device that breaks are errors, and the next call works") {
    auto& fake = fake_driver::in_place();
    if (!gpu::can_compile()) return;
    kernels_on_host kernels{fake};
    fake.kernel = std::ref(kernels);
    rows_and_keys of(6000);
    auto const before = fake.allocated.size();
    CHECK(of.answers_are_right(6000));
    for (std::size_t at = 0; at < 4; ++at) { // the answers, both columns, the sort and the cells
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.insert(answers.end(), {2, 2});
      fake.answers["pool_allocate"] = answers;
      CHECK_THROWS_AS(of.answers_are_right(6000), out_of_memory);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    for (std::size_t at = 0; at < 11; ++at) { // open, note, two passes, begin, and three phases of the folds
      CAPTURE(at);
      std::vector<int> answers(at, 0);
      answers.push_back(701);
      fake.answers["launch"] = answers;
      CHECK_THROWS_AS(of.answers_are_right(6000), launch_failed);
      CHECK(fake.allocated.size() == before);
      fake.answers.clear();
    }
    fake.answers["stream_query"] = {700};
    CHECK_THROWS_AS(of.answers_are_right(6000), device_lost);
    CHECK(fake.allocated.size() == before);
    of.keys[77] = of.keys[99] = -3;
    CHECK_THROWS_AS(of.answers_are_right(6000), key_out_of_range);
    of.keys[77] = of.keys[99] = 3;
    CHECK(of.answers_are_right(6000));
    CHECK(fake.allocated.size() == before);
    fake.kernel = [](void**) {};
  }
}
