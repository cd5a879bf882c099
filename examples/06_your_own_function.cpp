// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 6: a function of your own inside a pipeline.
#include "gallery.hpp"

/// How many degrees a house must be heated on a day, as engineers count it: below a mean of 18 degrees Celsius.
TALLY_FUNCTION(heating_degrees, (float low, float high), {
  float const mean = (low + high) / 2;
  return mean < 18 ? 18 - mean : 0.f;
});

int main() {
  using namespace tally;
  gallery::lesson lesson{"A function of your own",
                         "TALLY_FUNCTION declares an ordinary function and keeps its text. Call it with numbers, with "
                         "columns in a pipeline, or let a GPU compile it: there is one source."};
  auto const weather = gallery::read_csv("seattle_weather.csv");
  auto const low = weather.numbers("temp_min"), high = weather.numbers("temp_max");

  // the pipeline
  auto const pipeline = from(low, high)
    | map(heating_degrees(_1, _2))
    | reduce(sum.in<double>(), max, count_if(_1 > 0.f));

  double degree_days = 0;
  float most = 0;
  std::int64_t heated = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    auto const degrees = heating_degrees(low[i], high[i]);
    degree_days += double(degrees);
    most = degrees > most ? degrees : most;
    heated += degrees > 0;
  }

  auto const [sum_of_degrees, coldest, days] = lesson.run(pipeline);
  lesson.near("degree days in four years", sum_of_degrees, degree_days, 1e-12);
  lesson.same("the coldest day's degrees", coldest, most);
  lesson.same("days with heating", days, heated);
  return lesson.close();
}
