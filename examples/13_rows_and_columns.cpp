// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 13: rows, columns, levels of brightness and all of it, from one reduce.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

int main() {
  using namespace tally;
  gallery::lesson lesson{"An image from four sides",
                         "A source may have axes. over<1> folds along the columns of an image and has an answer for "
                         "every row, over<0> one for every column, by_key one for every level of brightness; all of "
                         "them, and folds of the whole image, stand side by side in one reduce."};
  constexpr std::size_t rows = 872, columns = 1000;
  auto const pixels = gallery::read_npy<std::uint8_t>("hubble_deep_field.npy");
  lesson.draw(pixels, columns, "The Hubble eXtreme Deep Field, NASA 2012");

  // the pipeline
  auto const pipeline = from(shaped(pixels, rows, columns))
    | reduce(over<1>(mean), over<0>(mean, max),
             by_key(_1, 256, count), sum);

  std::vector<std::uint64_t> of_row(rows), of_column(columns);
  std::vector<std::uint8_t> most_of_column(columns);
  std::vector<std::int64_t> level(256);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    of_row[i / columns] += pixels[i], of_column[i % columns] += pixels[i], ++level[pixels[i]];
    most_of_column[i % columns] = std::max(most_of_column[i % columns], pixels[i]);
  }
  auto const over_count = [](std::vector<std::uint64_t> const& light, double n) {
    std::vector<double> mean_of;
    for (auto const l : light) mean_of.push_back(double(l) / n);
    return mean_of;
  };

  auto const [row_means, of_columns, levels, light] = lesson.run(pipeline);
  auto const& [column_means, brightest] = of_columns;
  lesson.all_same("mean of every row", row_means, over_count(of_row, columns));
  lesson.all_same("mean of every column", column_means, over_count(of_column, rows));
  lesson.all_same("brightest of every column", brightest, most_of_column);
  lesson.all_same("pixels of every level", levels, level);
  lesson.same("all the light", light, std::accumulate(of_row.begin(), of_row.end(), std::uint64_t{0}));

  lesson.draw(std::vector<float>(row_means.begin(), row_means.end()), "mean brightness of every row, from the top");
  lesson.draw(std::vector<float>(column_means.begin(), column_means.end()), "mean brightness of every column");
  std::vector<float> logarithms;
  for (auto const n : levels) logarithms.push_back(std::log10(1.f + float(n)));
  lesson.draw(logarithms, "pixels of every level of brightness, as a power of ten");
  return lesson.close();
}
