// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 1: a source, a bar, a fold.
#include "gallery.hpp"

int main() {
  using namespace tally;
  gallery::lesson lesson{"The sum of a column", "How far did everybody fly who left New York by plane in 2013? "
                                                "A source, a bar, a fold: that is a pipeline."};
  auto const distance = gallery::read_npy<std::int16_t>("flights_distance.npy");

  // the pipeline
  auto const pipeline = from(distance) | reduce(sum);

  std::int64_t miles = 0;
  for (auto const d : distance) miles += d;

  lesson.same("miles flown", lesson.run(pipeline), miles);
  lesson.say("An element has 16 bits and the sum 64, because sums of integers are kept in 64 bits.");
  return lesson.close();
}
