// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 15: pieces of uneven length, an answer each.
#include "gallery.hpp"

#include <algorithm>
#include <limits>

int main() {
  using namespace tally;
  gallery::lesson lesson{"Months of days",
                         "by_segment folds between neighbouring offsets: days of a month, words of a sentence, atoms of "
                         "a molecule. Segments may be of any length, also empty, and each has the bits that it would "
                         "have alone."};
  auto const weather = gallery::read_csv("seattle_weather.csv");
  auto const rain = weather.numbers("precipitation"), warm = weather.numbers("temp_max"), cold = weather.numbers("temp_min");
  auto const dates = weather.words("date");
  std::vector<int> offsets; // where a month begins, and the end
  for (std::size_t day = 0; day < dates.size(); ++day)
    if (day == 0 || dates[day].substr(0, 7) != dates[day - 1].substr(0, 7)) offsets.push_back(int(day));
  offsets.push_back(int(dates.size()));

  // the pipeline
  auto const pipeline = from(rain, warm, cold)
    | reduce(by_segment(offsets, sum(_1), count_if(_1 > 0.f), max(_2), min(_3)),
             sum(_1));
  auto const usual = from(warm) | by_segment(offsets, mean);
  auto const unusual = from(warm) | map(_1 - let(usual)) | argmax;

  auto const months = offsets.size() - 1;
  constexpr auto far = std::numeric_limits<float>::infinity();
  std::vector<double> fallen(months);
  std::vector<std::int64_t> wet(months);
  std::vector<float> hottest(months, -far), coldest(months, far);
  for (std::size_t month = 0; month < months; ++month)
    for (auto day = std::size_t(offsets[month]); day < std::size_t(offsets[month + 1]); ++day) {
      fallen[month] += double(rain[day]), wet[month] += rain[day] > 0;
      hottest[month] = std::max(hottest[month], warm[day]), coldest[month] = std::min(coldest[month], cold[day]);
    }

  auto const [of_months, all_rain] = lesson.run(pipeline);
  auto const& [millimetres, wet_days, highs, lows] = of_months;
  lesson.all_near("rain of every month, mm", millimetres, fallen, 1e-6);
  lesson.all_same("days with rain", wet_days, wet);
  lesson.all_same("hottest day", highs, hottest);
  lesson.all_same("coldest day", lows, coldest);
  auto const wettest = std::size_t(std::ranges::max_element(millimetres.begin(), millimetres.end()) - millimetres.begin());
  auto const day = lesson.run(unusual);
  std::vector<float> means(months);
  for (std::size_t month = 0; month < months; ++month) {
    double total = 0;
    for (auto d = std::size_t(offsets[month]); d < std::size_t(offsets[month + 1]); ++d) total += double(warm[d]);
    means[month] = float(total / (offsets[month + 1] - offsets[month]));
  }
  std::size_t found = 0, of_month = 0;
  float most = -far;
  for (std::size_t month = 0; month < months; ++month)
    for (auto d = std::size_t(offsets[month]); d < std::size_t(offsets[month + 1]); ++d)
      if (warm[d] - means[month] > most) most = warm[d] - means[month], found = d, of_month = month;
  lesson.same("the day warmest for its month", day, std::int64_t(found));
  lesson.say("warmest for its month: " + dates[found] + ", " + gallery::text_of(warm[found]) + " degrees where the mean is " + gallery::text_of(means[of_month]));
  lesson.say("wettest month: " + dates[std::size_t(offsets[wettest])].substr(0, 7) + " with " +
             gallery::text_of(millimetres[wettest]) + " of " + gallery::text_of(all_rain) + " mm");
  lesson.draw(rain, "rain of every day, mm: 1461 days of Seattle");
  lesson.draw(std::vector<float>(millimetres.begin(), millimetres.end()), "rain of every month, mm: 48 months");
  return lesson.close();
}
