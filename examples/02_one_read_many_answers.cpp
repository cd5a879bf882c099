// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 2: several folds in one reduce still read the columns once.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>

int main() {
  using namespace tally;
  gallery::lesson lesson{"One read, many answers",
                         "Reading memory is what a reduction costs. Ask everything at once: five questions about the "
                         "flights of a year are answered by one pass over two columns."};
  auto const distance = gallery::read_npy<std::int16_t>("flights_distance.npy");
  auto const air_time = gallery::read_npy<float>("flights_air_time.npy");

  // the pipeline
  auto const speed = _1 / (_2 / 60.f);
  auto const pipeline = from(distance, air_time)
    | filter(!is_nan(_2))
    | reduce(count, sum(_1), max(_1), mean(_2), max(speed));

  std::int64_t landed = 0, miles = 0;
  std::int16_t longest = 0;
  double minutes = 0;
  float fastest = 0;
  for (std::size_t i = 0; i < distance.size(); ++i) {
    if (std::isnan(air_time[i])) continue;
    landed += 1;
    miles += distance[i];
    minutes += double(air_time[i]);
    longest = std::max(longest, distance[i]);
    fastest = std::max(fastest, float(distance[i]) / (air_time[i] / 60.f));
  }

  auto const [n, far, farthest, time, quickest] = lesson.run(pipeline);
  lesson.same("flights that landed", n, landed);
  lesson.same("miles flown", far, miles);
  lesson.same("longest flight, miles", farthest, longest);
  lesson.near("mean time in the air, minutes", double(time), minutes / double(landed), 1e-6);
  lesson.same("fastest flight, miles per hour", quickest, fastest);
  return lesson.close();
}
