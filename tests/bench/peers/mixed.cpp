// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column, row and total sums of a matrix or of a batch of them on a device, in one read or in one for each, for mixed.py; answers stay on the device. Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

template <class Source, class Columns, class Rows>
void queue_sums(bool apart, Source const& x, Columns columns, Rows rows, float* of_columns, float* of_rows, float* total, on::gpu_place where) {
  if (!apart)
    return enqueue(x | reduce(columns, rows, sum), of_columns, of_rows, total, where);
  enqueue(x | reduce(columns), of_columns, where);
  enqueue(x | reduce(rows), of_rows, where);
  enqueue(x | reduce(sum), total, where);
}
template <class T>
int queue(T const* x, bool apart, long long matrices, long long rows, long long columns, bool in_turn, float* of_columns, float* of_rows, float* total, void* stream) {
  try {
    auto const where = on::gpu(0).stream(stream);
    if (matrices == 1)
      queue_sums(apart, from(shaped(x, rows, columns)), over<0>(sum), over<1>(sum), of_columns, of_rows, total, where);
    else if (in_turn)
      queue_sums(apart, from(shaped(x, rows, matrices, columns)), over<0>(sum), over<2>(sum), of_columns, of_rows, total, where);
    else
      queue_sums(apart, from(shaped(x, matrices, rows, columns)), over<1>(sum), over<2>(sum), of_columns, of_rows, total, where);
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

} // namespace

/// Sums of the columns, the rows and the whole of `matrices` of `rows` x `columns` elements, one behind the other or row by row in turn; apart: a read for
/// each. Type 0 f32, 1 bf16. Answers are floats.
extern "C" __attribute__((visibility("default"))) int mixed_sums(int type, int apart, void const* data, long long matrices, long long rows, long long columns, int in_turn,
                                                                 float* of_columns, float* of_rows, float* total, void* stream) {
  return type == 0 ? queue(static_cast<float const*>(data), apart != 0, matrices, rows, columns, in_turn != 0, of_columns, of_rows, total, stream)
                   : queue(static_cast<bf16 const*>(data), apart != 0, matrices, rows, columns, in_turn != 0, of_columns, of_rows, total, stream);
}
