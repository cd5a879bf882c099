// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 12: a sum that rounds once, whatever the order of its terms.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>
#include <random>

int main() {
  using namespace tally;
  gallery::lesson lesson{"Exact sums",
                         "A sum of floats rounds at every addition, so another order has other bits, and a large term "
                         "can swallow the rest. Under the contract exact the terms, products too, are added as integers "
                         "and the answer is rounded once: it is the true sum, in every order."};
  auto delay = gallery::read_npy<float>("flights_arr_delay.npy");

  // the pipeline
  auto const of = [](std::vector<float> const& column) {
    return from(column) | filter(!is_nan(_1)) | reduce(sum(_1), sum(_1 * _1));
  };
  auto const [total, squares] = lesson.run(of(delay), exact);

  long long minutes = 0, squared = 0; // delays are whole minutes, so integers are a loop without rounding
  for (auto const d : delay)
    if (!std::isnan(d)) minutes += std::llrint(d), squared += std::llrint(d) * std::llrint(d);
  lesson.same("minutes", total, float(minutes));
  lesson.same("minutes squared", squares, float(squared));

  std::shuffle(delay.begin(), delay.end(), std::mt19937{1});
  lesson.same("minutes squared, shuffled", std::get<1>(run(of(delay), exact)), squares, "above");
  delay.insert(delay.begin(), 1e30f);
  delay.push_back(-1e30f);
  lesson.same("minutes between 1e30 and -1e30", std::get<0>(run(of(delay), exact)), total, "above");
  lesson.say("the same, rounded at every addition: " + gallery::text_of(std::get<0>(run(of(delay)))));
  return lesson.close();
}
