// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 5: folds that answer with a position.
#include "gallery.hpp"

int main() {
  using namespace tally;
  gallery::lesson lesson{"When was it hottest?",
                         "argmax says where, not how much: the first position of the greatest element. Here positions "
                         "are days, and the date stands in a column that is never read by the fold."};
  auto const weather = gallery::read_csv("seattle_weather.csv");
  auto const day = weather.words("date");
  auto const high = weather.numbers("temp_max"), low = weather.numbers("temp_min");
  auto const rain = weather.numbers("precipitation");
  lesson.draw(high, "highest temperature of the day, degrees Celsius, 2012 to 2015");

  // the pipeline
  auto const pipeline = from(high, low, rain)
    | reduce(argmax(_1), argmin(_2), argmax(_3),
             argmax(_1 - _2).where(_3 > 0.f));

  std::size_t hottest = 0, coldest = 0, wettest = 0, widest = day.size();
  for (std::size_t i = 0; i < day.size(); ++i) {
    if (high[i] > high[hottest]) hottest = i;
    if (low[i] < low[coldest]) coldest = i;
    if (rain[i] > rain[wettest]) wettest = i;
    if (rain[i] > 0 && (widest == day.size() || high[i] - low[i] > high[widest] - low[widest])) widest = i;
  }

  auto const [hot, cold, wet, wide] = lesson.run(pipeline);
  auto const date_of = [&](tally::i64 position) { return day[std::size_t(position)]; };
  lesson.same("hottest day in Seattle", date_of(hot), day[hottest]);
  lesson.same("coldest night", date_of(cold), day[coldest]);
  lesson.same("wettest day", date_of(wet), day[wettest]);
  lesson.same("widest swing on a rainy day", date_of(wide), day[widest]);
  return lesson.close();
}
