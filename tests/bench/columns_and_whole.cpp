// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Columns, rows and all of one matrix as one read and as a read each, for matrices of few rows: columns_and_whole bf16|f32 rows... Microseconds of calls of enqueue; a matrix has
// 2^28 elements or nearly. Needs a GPU. Test layer.
#include "on_device.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tally;
using namespace bench;

namespace {

/// The least of three turns of four calls each.
template <class F>
double least_of_turns(F const& once) {
  double best = 1e30;
  for (int turn = 0; turn < 4; ++turn) { // the first compiles
    auto const begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 4; ++i) once();
    gpu::wait(0);
    if (turn > 0) best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count() / 4);
  }
  return best;
}

template <class T>
void measure(int count, char** rows_of_each) {
  constexpr i64 most = 265420800; // 1080 x 245760
  column_there<T> const x(std::vector<T>(std::size_t(most), T(0.5f)));
  auto const to = room(1 << 21), also = room(1 << 21), last = room(1);
  auto *const a = static_cast<float*>(to.memory.data()), *const b = static_cast<float*>(also.memory.data()), *const c = static_cast<float*>(last.memory.data());
  for (int i = 0; i < count; ++i) {
    i64 const rows = std::atoll(rows_of_each[i]), columns = most / rows / 2048 * 2048;
    auto const m = from(shaped(static_cast<T const*>(x.memory.data()), rows, columns));
    auto const of_columns = m | over<0>(sum), of_rows = m | over<1>(sum);
    auto const all = m | sum;
    auto const two = m | reduce(over<0>(sum), sum);
    auto const three = m | reduce(over<0>(sum), over<1>(sum), sum);
    double const two_in_one = least_of_turns([&] { enqueue(two, a, c); }), two_apart = least_of_turns([&] { enqueue(of_columns, a), enqueue(all, c); });
    double const three_in_one = least_of_turns([&] { enqueue(three, a, b, c); }), three_apart = least_of_turns([&] { enqueue(of_columns, a), enqueue(of_rows, b), enqueue(all, c); });
    std::printf("%lld x %lld: columns and all %.0f us (%lld reads), apart %.0f; rows too %.0f (%lld), apart %.0f\n", static_cast<long long>(rows), static_cast<long long>(columns), two_in_one,
                static_cast<long long>(explain(two, on::gpu).details().passes()), two_apart, three_in_one, static_cast<long long>(explain(three, on::gpu).details().passes()), three_apart);
    std::fflush(stdout);
  }
}

} // namespace

int main(int count, char** words) {
  if (count < 3) return std::printf("columns_and_whole bf16|f32 rows...\n"), 2;
  std::strcmp(words[1], "bf16") == 0 ? measure<bf16>(count - 2, words + 2) : measure<float>(count - 2, words + 2);
}
