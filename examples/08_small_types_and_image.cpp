// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 8: elements of one byte, answers with all the bits they need.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>

int main() {
  using namespace tally;
  gallery::lesson lesson{"An image, a byte a pixel",
                         "The Hubble eXtreme Deep Field: mostly dark, and full of galaxies. Elements keep their small "
                         "type in memory; sums of them are kept in 64 bits and means in double, so nothing overflows "
                         "and nothing is converted beforehand."};
  auto const pixels = gallery::read_npy<std::uint8_t>("hubble_deep_field.npy");
  lesson.draw(pixels, 1000, "The Hubble eXtreme Deep Field, NASA 2012");

  // the pipeline
  auto const pipeline = from(pixels)
    | reduce(sum, min, max, mean, stddev,
             count_if(_1 < 16), argmax);

  std::uint64_t light = 0, squares = 0;
  std::int64_t dark = 0;
  for (auto const p : pixels) light += p, squares += std::uint64_t{p} * p, dark += p < 16;
  auto const n = double(pixels.size());
  auto const average = double(light) / n;
  auto const least = std::ranges::min_element(pixels), most = std::ranges::max_element(pixels);

  auto const [all_light, darkest, brightest, brightness, contrast, dark_pixels, where] = lesson.run(pipeline);
  lesson.same("all the light", all_light, light);
  lesson.same("darkest pixel", darkest, *least);
  lesson.same("brightest pixel", brightest, *most);
  lesson.same("mean brightness", brightness, average);
  lesson.near("contrast, as standard deviation", contrast, std::sqrt(double(squares) / n - average * average), 1e-9);
  lesson.same("pixels of dark sky", dark_pixels, dark);
  lesson.same("the first of the brightest, in row", where / 1000, (most - pixels.begin()) / 1000);
  return lesson.close();
}
