// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of one column of f32, by itself and from a table that has others beside it: unnamed_columns [log2 of the elements, 28]. Microseconds of a call of enqueue; the answers of
// both are compared first. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

using namespace tally;
using namespace bench;

namespace {

template <class R, class Table, class... Outs>
void measure(char const* what, i64 n, R const& alone, Table const& beside, Outs*... to) {
  if (run(alone, on::gpu) != run(beside, on::gpu)) std::printf("WRONG\n"), std::exit(2);
  std::printf("  %-36s alone %8.1f us, in a table %8.1f us\n", what, least(n, alone, std::tuple{to...}), least(n, beside, std::tuple{to...}));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  i64 const n = i64(1) << (argc > 1 ? std::atoi(argv[1]) : 28), width = 4096, height = n / width;
  std::vector<float> numbers(static_cast<std::size_t>(n));
  std::vector<int> keys(numbers.size());
  u64 state = 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    numbers[i] = float(state >> 40) * 0x1p-20f - 8.f;
    keys[i] = int((state >> 33) % 100000);
  }
  column_there<float> const x(numbers), y(numbers), z(numbers);
  column_there<int> const k(keys);
  auto const to = room(1 << 20), also = room(1 << 20), last = room(1);
  auto* const a = static_cast<float*>(to.memory.data());
  auto* const b = static_cast<float*>(also.memory.data());
  auto* const c = static_cast<float*>(last.memory.data());
  auto const matrix = [&](auto const& of) { return shaped(static_cast<float const*>(of.memory.data()), height, width); };
  auto const line = from(x.column());
  auto const table = from(x.column(), y.column(), z.column());
  auto const one = from(matrix(x));
  auto const three = from(matrix(x), matrix(y), matrix(z));
  std::printf("%lld f32, and two columns of as many\n", static_cast<long long>(n));
  auto const both = [&](char const* what, auto const& alone, auto const& beside, auto const& fold, auto*... out) { measure(what, n, alone | fold, beside | fold, out...); };
  both("sum", line, table, reduce(sum(_1)), a);
  both("sums of columns", one, three, reduce(over<0>(sum(_1))), a);
  both("sums of rows", one, three, reduce(over<1>(sum(_1))), a);
  both("sums of columns, rows and all", one, three, reduce(over<0>(sum(_1)), over<1>(sum(_1)), sum(_1)), a, b, c);
  auto const keyed = from(x.column(), k.column());
  auto const wide = from(x.column(), k.column(), y.column(), z.column());
  both("sums by 100000 keys, drawn", keyed, wide, reduce(by_key(_2, 100000, sum(_1)).dropping_strays()), a);
  both("the same and the sum of all", keyed, wide, reduce(by_key(_2, 100000, sum(_1)).dropping_strays(), sum(_1)), a, c);
}
