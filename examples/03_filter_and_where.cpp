// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 3: filter drops elements for every fold, where for one of them.
#include "gallery.hpp"

int main() {
  using namespace tally;
  gallery::lesson lesson{"Filter and where",
                         "A flight that never landed has no delay. filter leaves such elements out of everything; "
                         "where narrows a single fold further. Nothing is copied: what does not pass counts as the "
                         "identity of the fold."};
  auto const departed = gallery::read_npy<float>("flights_dep_delay.npy");
  auto const arrived = gallery::read_npy<float>("flights_arr_delay.npy");

  // the pipeline
  auto const late = _1 > 15.f;
  auto const pipeline = from(departed, arrived)
    | filter(!is_nan(_2))
    | reduce(count, sum(_2), count.where(late),
             count.where(late && _2 <= 0.f),
             max(_1 - _2).where(late));

  std::int64_t landed = 0, left_late = 0, caught_up = 0;
  float minutes = 0, best = 0;  // whole minutes, so a float sum below 2^24 is exact in any order
  for (std::size_t i = 0; i < departed.size(); ++i) {
    if (arrived[i] != arrived[i]) continue;
    landed += 1;
    minutes += arrived[i];
    if (departed[i] <= 15.f) continue;
    left_late += 1;
    caught_up += arrived[i] <= 0.f;
    best = departed[i] - arrived[i] > best ? departed[i] - arrived[i] : best;
  }

  auto const [n, total, late_ones, on_time_again, made_up] = lesson.run(pipeline);
  lesson.same("flights that landed", n, landed);
  lesson.same("minutes late, all together", total, minutes);
  lesson.same("left more than 15 minutes late", late_ones, left_late);
  lesson.same("of these, arrived on time", on_time_again, caught_up);
  lesson.same("most minutes made up in the air", made_up, best);
  return lesson.close();
}
