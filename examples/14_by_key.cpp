// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 14: an answer for every key, and a histogram beside it.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>
#include <map>

int main() {
  using namespace tally;
  gallery::lesson lesson{"Flights by airport",
                         "by_key folds the elements that have one key, here the number of the airport that was flown "
                         "to; a histogram is by_key of the number of a bin, and with an axis of keys there is one for every airport. group_by "
                         "finds the keys by itself, several beside each other too. Sums of floats by key are correctly "
                         "rounded, so that threads may meet them in any order and the bits stay."};
  auto const delay = gallery::read_npy<float>("flights_arr_delay.npy");
  auto const destination = gallery::read_npy<std::uint8_t>("flights_destination.npy");
  auto const airports = gallery::read_csv("flights_airports.csv").words("code");

  // the pipeline
  auto const pipeline = from(delay, destination)
    | filter(!is_nan(_1))
    | reduce(by_key(_2, 105, count, mean(_1)),
             histogram(_1, -60, 180, 48),
             histogram(key_bins(_2, 105), even_bins(_1, -60, 180, 48)));

  std::vector<std::int64_t> flights(airports.size()), bins(48), of_each(airports.size() * 48);
  std::vector<double> minutes(airports.size());
  for (std::size_t i = 0; i < delay.size(); ++i) {
    if (std::isnan(delay[i])) continue;
    ++flights[destination[i]], minutes[destination[i]] += double(delay[i]);
    if (!(delay[i] >= -60 && delay[i] <= 180)) continue;
    std::size_t const bin = std::min<std::size_t>(47, std::size_t((delay[i] + 60) / 5));
    ++bins[bin], ++of_each[destination[i] * 48 + bin];
  }
  for (std::size_t k = 0; k < airports.size(); ++k)
    minutes[k] /= double(flights[k]); // LGA was flown to once and never reached: NaN

  auto const [by_airport, histogram_of, histograms] = lesson.run(pipeline);
  auto const& [landed, late] = by_airport;
  lesson.all_same("flights that landed, by airport", landed, flights);
  lesson.all_near("mean minutes late, by airport", late, minutes, 1e-6);
  lesson.all_same("flights by minutes late, five a bin", histogram_of, bins);
  lesson.all_same("the same of every airport", histograms, of_each);

  // the answer of one fold looked at by another: who lands later than the usual flight
  auto const landings = from(delay, destination) | filter(!is_nan(_1));
  auto const usual = landings | mean(_1);
  auto const later = run(landings | by_key(_2, 105, count_if(_1 > let(usual))));
  std::vector<std::int64_t> later_by_hand(airports.size());
  double const usual_minutes = run(usual);
  for (std::size_t i = 0; i < delay.size(); ++i)
    if (double(delay[i]) > usual_minutes) ++later_by_hand[destination[i]];
  lesson.all_same("flights later than the mean of all, by airport", later, later_by_hand);

  // keys that nobody knows beforehand: a route is where to and how far, for New York has three airports
  auto const miles = gallery::read_npy<std::int16_t>("flights_distance.npy");
  auto const [to, far, landed_of_route, late_of_route] = run(from(destination, miles, delay) | filter(!is_nan(_3)) | group_by(_1, _2, count, mean(_3)));
  std::map<std::pair<std::uint8_t, std::int16_t>, std::int64_t> routes;
  for (std::size_t i = 0; i < delay.size(); ++i)
    if (!std::isnan(delay[i])) ++routes[{destination[i], miles[i]}];
  std::vector<std::uint8_t> to_by_hand;
  std::vector<std::int16_t> far_by_hand;
  std::vector<std::int64_t> landed_by_hand;
  for (auto const& [route, n] : routes) to_by_hand.push_back(route.first), far_by_hand.push_back(route.second), landed_by_hand.push_back(n);
  lesson.all_same("where the routes lead", to, to_by_hand);
  lesson.all_same("and how far", far, far_by_hand);
  lesson.all_same("flights that landed, by route", landed_of_route, landed_by_hand);
  std::size_t latest = 0;
  for (std::size_t k = 0; k < late_of_route.size(); ++k)
    if (landed_of_route[k] >= 365 && late_of_route[k] > late_of_route[latest]) latest = k;
  lesson.say("latest of those with a flight a day, of " + std::to_string(to.size()) + " routes: " + std::to_string(far[latest]) + " miles to " + airports[to[latest]] + ", " +
             gallery::text_of(late_of_route[latest]) + " minutes");

  std::size_t worst = 0;
  for (std::size_t k = 0; k < airports.size(); ++k)
    if (landed[k] >= 365 && late[k] > late[worst]) worst = k;
  lesson.say("latest of those with a flight a day: " + airports[worst] + ", " + gallery::text_of(late[worst]) + " minutes");
  lesson.draw(std::vector<float>(histogram_of.begin(), histogram_of.end()), "flights by minutes late, from -60 to 180, five a bin");
  lesson.draw(std::vector<float>(late.begin(), late.end()), "mean minutes late, airports in alphabetical order");
  std::vector<std::uint8_t> shades; // four rows of 480 pixels an airport
  for (auto const* of_airport = histograms.data(); of_airport != histograms.data() + 105 * 48; of_airport += 48) {
    auto const most = std::max<std::int64_t>(1, *std::max_element(of_airport, of_airport + 48));
    for (int row = 0; row < 4; ++row)
      for (int bin = 0; bin < 48; ++bin)
        shades.insert(shades.end(), 10, static_cast<std::uint8_t>(255 * of_airport[bin] / most));
  }
  lesson.draw(shades, 480, "the same histogram of every airport, one a line, as a share of its highest bin");
  return lesson.close();
}
