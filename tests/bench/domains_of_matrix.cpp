// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and all of one matrix as one read and as a read each: domains_of_matrix bf16|f32 ROWSxCOLUMNS... Microseconds of calls of
// enqueue. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

using namespace tally;
using namespace bench;

namespace {

template <class T>
void measure(int count, char** shapes) {
  std::vector<std::pair<i64, i64>> each;
  i64 most = 0, answers = 0;
  for (int i = 0; i < count; ++i) {
    long long rows = 0, columns = 0;
    if (std::sscanf(shapes[i], "%lldx%lld", &rows, &columns) != 2 || rows < 1 || columns < 1) std::printf("%s is no ROWSxCOLUMNS\n", shapes[i]), std::exit(2);
    each.emplace_back(rows, columns);
    most = std::max<i64>(most, rows * columns);
    answers = std::max<i64>({answers, rows, columns});
  }
  column_there<T> const x(std::vector<T>(std::size_t(most), T(0.5f)));
  auto const to = room(answers), also = room(answers), last = room(1);
  auto *const a = static_cast<float*>(to.memory.data()), *const b = static_cast<float*>(also.memory.data()), *const c = static_cast<float*>(last.memory.data());
  for (auto const& shape : each) {
    i64 const rows = shape.first, columns = shape.second;
    auto const m = from(shaped(static_cast<T const*>(x.memory.data()), rows, columns));
    auto const three = m | reduce(over<0>(sum), over<1>(sum), sum);
    auto const time = [&](auto const& r, auto*... answers_of) { return least(rows * columns, r, std::tuple{answers_of...}); };
    std::printf("%lld x %lld: columns %.0f us, rows %.0f, all %.0f; columns and rows %.0f, columns and all %.0f, columns, rows and all %.0f in %lld read(s)\n", static_cast<long long>(rows),
                static_cast<long long>(columns), time(m | over<0>(sum), a), time(m | over<1>(sum), b), time(m | sum, c), time(m | reduce(over<0>(sum), over<1>(sum)), a, b),
                time(m | reduce(over<0>(sum), sum), a, c), time(three, a, b, c), static_cast<long long>(explain(three, on::gpu).details().passes()));
    std::fflush(stdout);
  }
}

} // namespace

int main(int count, char** words) {
  if (count < 3) return std::printf("domains_of_matrix bf16|f32 ROWSxCOLUMNS...\n"), 2;
  std::strcmp(words[1], "bf16") == 0 ? measure<bf16>(count - 2, words + 2) : measure<float>(count - 2, words + 2);
}
