// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and all of one matrix, or of a batch, as one read and as a read each: domains_of_matrix bf16|f32 ROWSxCOLUMNS|MATRICESxROWSxCOLUMNS...
// Microseconds of calls of enqueue. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace tally::v0;
using namespace bench;

namespace {

struct shape {
  i64 matrices, rows, columns;
  i64 elements() const { return matrices * rows * columns; }
};
shape shape_of(char const* word) {
  long long a = 0, b = 0, c = 0;
  int const axes = std::sscanf(word, "%lldx%lldx%lld", &a, &b, &c);
  if (axes < 2 || a < 1 || b < 1 || (axes > 2 && c < 1)) std::printf("%s is no shape\n", word), std::exit(2);
  return axes == 2 ? shape{1, a, b} : shape{a, b, c};
}

template <class T>
void measure(int count, char** words) {
  std::vector<shape> shapes;
  i64 most = 0, answers = 0;
  for (int i = 0; i < count; ++i) {
    shape const s = shapes.emplace_back(shape_of(words[i]));
    most = std::max(most, s.elements());
    answers = std::max({answers, s.matrices * s.rows, s.matrices * s.columns});
  }
  column_there<T> const x(std::vector<T>(std::size_t(most), T(0.5f)));
  auto const to = room(answers), also = room(answers), last = room(answers);
  auto *const a = static_cast<float*>(to.memory.data()), *const b = static_cast<float*>(also.memory.data()), *const c = static_cast<float*>(last.memory.data());
  T const* const from_there = static_cast<T const*>(x.memory.data());
  for (int i = 0; i < count; ++i) {
    shape const s = shapes[std::size_t(i)];
    auto const time = [&](auto const& r, auto*... answers_of) { return least(s.elements(), r, std::tuple{answers_of...}); };
    auto const domains = [&](auto const& m, auto const& columns, auto const& rows) {
      auto const three = m | reduce(columns, rows, sum);
      std::printf("%s: columns %.0f us, rows %.0f, all %.0f; columns and rows %.0f, columns and all %.0f, columns, rows and all %.0f in %lld read(s)", words[i], time(m | columns, a), time(m | rows, b), time(m | sum, c),
                  time(m | reduce(columns, rows), a, b), time(m | reduce(columns, sum), a, c), time(three, a, b, c), static_cast<long long>(explain(three, on::gpu).details().passes()));
    };
    if (s.matrices == 1) {
      domains(from(shaped(from_there, s.rows, s.columns)), over<0>(sum), over<1>(sum));
    } else {
      auto const m = from(shaped(from_there, s.matrices, s.rows, s.columns));
      domains(m, over<1>(sum), over<2>(sum));
      auto const each = over<1, 2>(sum);
      std::printf("; of every matrix %.0f, columns and that %.0f, rows and that %.0f, columns, rows and that %.0f", time(m | each, c), time(m | reduce(over<1>(sum), each), a, c), time(m | reduce(over<2>(sum), each), b, c),
                  time(m | reduce(over<1>(sum), over<2>(sum), each), a, b, c));
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}

} // namespace

int main(int count, char** words) {
  if (count < 3) return std::printf("domains_of_matrix bf16|f32 ROWSxCOLUMNS|MATRICESxROWSxCOLUMNS...\n"), 2;
  std::strcmp(words[1], "bf16") == 0 ? measure<bf16>(count - 2, words + 2) : measure<float>(count - 2, words + 2);
}
