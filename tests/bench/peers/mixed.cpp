// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column, row and total sums of a device matrix in one read, for mixed.py; answers stay on the device. Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

template <class T>
int queue(T const* x, long long rows, long long columns, float* of_columns, float* of_rows, float* total, void* stream) {
  try {
    enqueue(from(shaped(x, rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum), of_columns, of_rows, total,
            on::gpu(0).stream(stream));
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

} // namespace

/// Sums of the columns, the rows and the whole of `rows` x `columns` elements: type 0 f32, 1 bf16. Answers are floats.
extern "C" __attribute__((visibility("default"))) int mixed_sums(int type, void const* data, long long rows, long long columns, float* of_columns,
                                                                 float* of_rows, float* total, void* stream) {
  return type == 0 ? queue(static_cast<float const*>(data), rows, columns, of_columns, of_rows, total, stream)
                   : queue(static_cast<bf16 const*>(data), rows, columns, of_columns, of_rows, total, stream);
}
