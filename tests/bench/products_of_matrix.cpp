// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of one matrix X with vectors, v of a number a row and w of a number a column, as one read and as a read each: products_of_matrix bf16|f32 ROWSxCOLUMNS...
// Microseconds of calls of enqueue. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

using namespace tally;
using namespace bench;

namespace {

template <class T>
void measure(char const* word) {
  long long rows = 0, columns = 0;
  if (std::sscanf(word, "%lldx%lld", &rows, &columns) < 2 || rows < 1 || columns < 1) std::printf("%s is no shape\n", word), std::exit(2);
  auto const numbers = [](i64 n) { return column_there<T>(std::vector<T>(std::size_t(n), T(0.5f))); };
  auto const there = [](auto const& c) { return static_cast<T const*>(c.memory.data()); };
  auto const x = numbers(rows * columns), v = numbers(rows), w = numbers(columns);
  auto const to_columns = room(columns), to_rows = room(rows), to_all = room(1);
  auto const floats = [](auto const& r) { return static_cast<float*>(r.memory.data()); };
  auto const m = from(shaped(there(x), rows, columns), along<0>(device(there(v), rows)), along<1>(device(there(w), columns)));
  auto const time = [&](auto const& r, auto const&... answers) { return least(rows * columns, r, std::tuple{floats(answers)...}); };
  auto const of_columns = over<0>(sum(_1 * _2));
  auto const of_rows = over<1>(sum(_1 * _3));
  auto const of_all = sum(_1 * _2 * _3);
  auto const three = m | reduce(of_columns, of_rows, of_all);
  std::printf("%s: X'v %.0f us, Xw %.0f, v'Xw %.0f; X'v and Xw %.0f, all %.0f in %lld read(s)\n", word, time(m | of_columns, to_columns), time(m | of_rows, to_rows), time(m | of_all, to_all),
              time(m | reduce(of_columns, of_rows), to_columns, to_rows), time(three, to_columns, to_rows, to_all), static_cast<long long>(explain(three, on::gpu).details().passes()));
  std::fflush(stdout);
}

} // namespace

int main(int count, char** words) {
  if (count < 3) return std::printf("products_of_matrix bf16|f32 ROWSxCOLUMNS...\n"), 2;
  for (int i = 2; i < count; ++i) std::strcmp(words[1], "bf16") == 0 ? measure<bf16>(words[i]) : measure<float>(words[i]);
}
