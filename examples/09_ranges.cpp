// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 9: range-v3 views are sources.
#include <tally/ranges.hpp>

#include "gallery.hpp"

#include <range/v3/view/drop.hpp>
#include <range/v3/view/stride.hpp>
#include <range/v3/view/transform.hpp>

int main() {
  using namespace tally;
  namespace views = ranges::views;
  gallery::lesson lesson{"Views are sources",
                         "drop and stride walk down one column of the image, and the view is folded as it stands. The "
                         "planner looks through it: pointer, stride and count reach the loop, and a transform by a "
                         "tally expression becomes part of the expression."};
  auto const pixels = gallery::read_npy<std::uint8_t>("hubble_deep_field.npy");

  // the pipeline
  auto const column = pixels
    | views::drop(500) | views::stride(1000)
    | views::transform(cast<float>(_1) / 255.f);
  auto const pipeline = from(column) | reduce(count, max, mean);

  std::int64_t rows = 0;
  float most = 0;
  double light = 0;
  for (std::size_t i = 500; i < pixels.size(); i += 1000) {
    auto const brightness = float(pixels[i]) / 255.f;
    rows += 1;
    most = brightness > most ? brightness : most;
    light += double(brightness);
  }

  auto const [n, brightest, average] = lesson.run(pipeline);
  lesson.same("rows of the image", n, rows);
  lesson.same("brightest pixel of column 500", brightest, most);
  lesson.near("mean of column 500", double(average), light / double(rows), 1e-6);
  return lesson.close();
}
