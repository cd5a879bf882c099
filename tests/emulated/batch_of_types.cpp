// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of a few reductions of any types as host code: every program has the answers of the CPU to the last bit, whatever the sizes of the others, and
// launches may follow each other in one workspace.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/batch_of_types.cuh>
#include <tally/plan/batch.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace tally::v0;

namespace {

std::vector<float> uneven(i64 n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::ldexp(float(i * 2654435761u % 1000) - 400.f, int(i % 20) - 10);
  return x;
}
template <class... Programs>
batch_of_types_planned planned_for(Programs const&... programs) {
  batch_program const all[] = {{facts_of(programs, targets::h200, contract::reproducible), kernel::meeting_room<Programs>::words_per_place, i64(sizeof(typename Programs::states))}...};
  return plan_batch_of_types(all, int(sizeof...(Programs)));
}
constexpr segments_plan of_floats = make_batch_plan([] {
  facts f{};
  f.lanes_per_group = 4;
  f.rows_per_leaf = 8;
  f.source_count = f.fold_count = 1;
  f.sources[0].bytes_per_element = 4;
  f.folds[0].state_bytes = 4;
  return f;
}());

template <class>
inline constexpr segments_plan plan_of = of_floats;

/// Launches the programs of reductions; true where all answers are those of the CPU.
template <class... Rs>
bool folds(std::vector<u32>& arrivals, Rs const&... rs) {
  auto const all = make_pack(bind(rs).program...);
  auto p = planned_for(bind(rs).program...);
  std::vector<u32> room(static_cast<std::size_t>(p.words));
  arrivals.resize(std::size_t(1 << 16));
  std::vector<unsigned char> answers(static_cast<std::size_t>(p.answer_bytes) + 16, 0x55);
  auto* const aligned = answers.data() + (16 - reinterpret_cast<u64>(answers.data()) % 16);
  emulated::launch(static_cast<int>(p.blocks), unsigned(threads_of_batch), [&] {
    kernel::batch_of_types<std::remove_const_t<decltype(all)>, plan_of<Rs>...>(all, p.cut, room.data(), arrivals.data(), aligned);
  });
  int i = 0;
  return (true && ... && [&](auto const& r) {
    auto const bound = bind(r);
    auto const& own = p.cut.of[i++];
    if (own.blocks == 0) return true;
    auto const right = run(r, on::cpu), made = detail::answers_of(r, bound, *reinterpret_cast<typename decltype(bound.program)::states const*>(aligned + own.answer));
    return right == made;
  }(rs));
}

} // namespace

TEST_CASE("programs of any sizes beside each other") {
  auto const x = uneven(300'000), y = uneven(70'000);
  std::vector<u32> arrivals;
  for (i64 const n : {0, 1, 1000, 1024, 16'385, 300'000})
    for (i64 const m : {1, 4097, 70'000}) {
      CAPTURE(n);
      CAPTURE(m);
      CHECK(folds(arrivals, from(device(x.data(), n)) | reduce(sum), from(device(y.data(), m)) | reduce(max, argmin), from(device(x.data(), m)) | filter(_1 > -1e9f) | reduce(mean)));
    }
}
