// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lesson 16: every element beside the answers of its row.
#include "gallery.hpp"

#include <algorithm>
#include <cmath>

int main() {
  using namespace tally;
  gallery::lesson lesson{"Softmax and layer norm of rows",
                         "let makes the answers of one fold elements of another, seen alike along the axes that were folded away, and "
                         "collect writes every element. A row that fits on a GPU's chip is read once, folded by all its lets, and "
                         "written, by one kernel."};
  constexpr std::size_t rows = 872, columns = 1000;
  auto const pixels = gallery::read_npy<std::uint8_t>("hubble_deep_field.npy");
  std::vector<float> const brightness(pixels.begin(), pixels.end());
  lesson.draw(pixels, columns, "The Hubble eXtreme Deep Field, NASA 2012");

  // the pipeline
  auto const image = from(shaped(brightness, rows, columns));
  auto const greatest = image | over<1>(max);
  auto const total = image | map(exp((_1 - let(greatest)) / 16.f)) | over<1>(sum);
  auto const middle = image | over<1>(mean);
  auto const variance_of_row = image | map(squared(_1 - let(middle))) | over<1>(mean);
  auto const pipeline = image
    | map(exp((_1 - let(greatest)) / 16.f) / let(total),
          (_1 - let(middle)) / sqrt(let(variance_of_row) + 1e-5f) * 32.f + 96.f)
    | collect;

  std::vector<double> shares(rows * columns), evened(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    auto const* x = brightness.data() + row * columns;
    double const most = *std::max_element(x, x + columns);
    double whole = 0, light = 0, squares = 0;
    for (std::size_t k = 0; k < columns; ++k) whole += std::exp((x[k] - most) / 16), light += x[k];
    double const mean_of_row = light / double(columns);
    for (std::size_t k = 0; k < columns; ++k) squares += (x[k] - mean_of_row) * (x[k] - mean_of_row);
    for (std::size_t k = 0; k < columns; ++k) {
      shares[row * columns + k] = std::exp((x[k] - most) / 16) / whole;
      evened[row * columns + k] = (x[k] - mean_of_row) / std::sqrt(squares / double(columns) + 1e-5) * 32 + 96;
    }
  }

  auto const [softmax, norm] = lesson.run(pipeline);
  lesson.all_near("softmax of every row", softmax, shares, 1e-5);
  lesson.all_near("layer norm of every row", norm, evened, 1e-5);
  std::vector<float> sure(rows);
  run_into(image | map(exp((_1 - let(greatest)) / 16.f) / let(total)) | over<1>(max), sure);
  auto const at = std::size_t(std::ranges::max_element(sure) - sure.begin());
  lesson.say("one pixel holds " + gallery::text_of(100 * sure[at]) + " % of the softmax of row " + std::to_string(at));

  std::vector<std::uint8_t> evenly;
  for (auto const v : norm) evenly.push_back(std::uint8_t(std::clamp(v, 0.f, 255.f)));
  lesson.draw(evenly, columns, "the same after a layer norm of every row: mean 96, deviation 32");
  lesson.draw(sure, "the greatest share in the softmax of every row, from the top");
  return lesson.close();
}
