// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 10: the answer does not depend on how the work was cut.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>
#include <span>

int main() {
  using namespace tally;
  gallery::lesson lesson{"The same bits",
                         "Adding floats in another order gives other bits. tally adds along one tree that depends on "
                         "nothing but the number of elements: not on threads, not on alignment, not on the machine. "
                         "So a fold may also be interrupted: fold the parts apart, and merge them later."};
  auto const delay = gallery::read_npy<float>("flights_dep_delay.npy");

  // the pipeline
  auto const of = [](std::span<float const> column) {
    return from(column) | filter(!is_nan(_1))
                        | reduce(sum(log(_1 + 60.f)));
  };
  auto const answer = lesson.run(of(delay));
  auto const cut = 100 * part_granularity(of(delay));
  auto const head = std::span{delay}.first(std::size_t(cut));
  auto const tail = std::span{delay}.subspan(std::size_t(cut));
  auto const merged = finish(merge(
      partial(of(head)), partial(of(tail), starting_at(cut))));

  double loop = 0;
  for (auto const minutes : delay)
    if (!std::isnan(minutes)) loop += std::log(double(minutes) + 60);
  lesson.near("sum of logarithms", double(answer), loop, 1e-6);

  std::vector<float> shifted(delay.size() + 1);
  std::ranges::copy(delay, shifted.begin() + 1);
  lesson.same("merged from two parts", merged, answer, "above");
  lesson.same("one float further in memory", run(of(std::span{shifted}.subspan(1))), answer, "above");
  for (int const n : {1, 2, 3, 8})
    lesson.same("threads: " + std::to_string(n), run(of(delay), on::cpu.threads(n)), answer, "above");
  return lesson.close();
}
