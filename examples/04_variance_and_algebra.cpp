// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 4: arithmetic on folds makes a bigger fold that still reads the data once.
#include "gallery.hpp"

#include <cmath>

int main() {
  using namespace tally;
  gallery::lesson lesson{"Folds are numbers to be",
                         "Carbon dioxide above Mauna Loa, week by week since 1958. A fold stands for its answer, so "
                         "formulas are written as formulas: the slope of the trend is a covariance over a variance, "
                         "and all of it is one read."};
  auto const co2 = gallery::read_csv("mauna_loa_co2.csv").numbers("co2");
  lesson.draw(co2, "carbon dioxide, parts per million by volume, weekly, 1958 to 2001");

  // the pipeline
  auto const week = cast<double>(tally::index);
  auto const slope = covariance(week, _1) / variance(week);
  auto const pipeline = from(co2)
    | filter(!is_nan(_1))
    | map(cast<double>(_1))
    | reduce(mean, stddev,
             sqrt(sum(_1 * _1) / count - mean * mean),
             slope * 52.1775);

  double n = 0, x = 0, t = 0;
  for (std::size_t i = 0; i < co2.size(); ++i)
    if (!std::isnan(co2[i])) n += 1, x += double(co2[i]), t += double(i);
  double xx = 0, tt = 0, xt = 0;
  for (std::size_t i = 0; i < co2.size(); ++i) {
    if (std::isnan(co2[i])) continue;
    auto const dx = double(co2[i]) - x / n, dt = double(i) - t / n;
    xx += dx * dx, tt += dt * dt, xt += dx * dt;
  }

  auto const [average, spread, spread_by_hand, per_year] = lesson.run(pipeline);
  lesson.near("mean, parts per million", average, x / n, 1e-12);
  lesson.near("standard deviation", spread, std::sqrt(xx / n), 1e-9);
  lesson.near("the same, written out", spread_by_hand, std::sqrt(xx / n), 1e-9);
  lesson.near("rise, parts per million a year", per_year, xt / tt * 52.1775, 1e-9);
  return lesson.close();
}
