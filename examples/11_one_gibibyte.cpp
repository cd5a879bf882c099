// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 11: enough data to see what the memory gives.
#include "gallery.hpp"

#include <algorithm>

int main() {
  using namespace tally;
  gallery::lesson lesson{"One gibibyte",
                         "2^28 floats made on the spot, far more than any cache holds. Now time is bandwidth, and "
                         "three more answers ride on the read that the sum needs anyway."};
  std::vector<float> numbers(std::size_t{1} << 28);
  std::uint32_t state = 1;
  for (auto& number : numbers) {
    state = state * 1664525u + 1013904223u;
    number = float(int(state >> 24) % 17 - 8); // small whole numbers: a float sum of them is exact in any order
  }

  // the pipeline
  auto const pipeline = from(numbers)
    | reduce(sum, min, max, count_if(_1 > 0.f));

  float total = 0;
  std::int64_t positive = 0;
  for (auto const number : numbers) total += number, positive += number > 0;
  auto const [least, most] = std::ranges::minmax(numbers);

  auto const [added, smallest, greatest, above] = lesson.run(pipeline);
  lesson.same("sum", added, total);
  lesson.same("least", smallest, least);
  lesson.same("greatest", greatest, most);
  lesson.same("positive numbers", above, positive);
  return lesson.close();
}
