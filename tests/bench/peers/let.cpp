// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and layer norm of the rows of a device matrix, the exponentials of its elements and its transpose, for let.py: each call leaves its elements in
// device memory. Test layer.
#include "write_elements.hpp"

using namespace tally;

/// Of `rows` x `columns` floats: what 0 the softmax, 1 the layer norm of every row, 2 the exponential of every element.
extern "C" __attribute__((visibility("default"))) int let_rows(int what, float const* data, long long rows, long long columns, float* out,
                                                               void* stream) {
  auto const m = from(shaped(data, rows, columns));
  if (what == 2) return write(m | map(exp(_1)) | collect, out, stream);
  auto const greatest = m | over<1>(max);
  auto const total = m | map(exp(_1 - let(greatest))) | over<1>(sum);
  auto const middle = m | over<1>(mean);
  auto const variance_of_row = m | map(squared(_1 - let(middle))) | over<1>(mean);
  if (what == 0) return write(m | map(exp(_1 - let(greatest)) / let(total)) | collect, out, stream);
  return write(m | map((_1 - let(middle)) / sqrt(let(variance_of_row) + 1e-5f)) | collect, out, stream);
}
/// The layer norm of every row times weights, plus biases, one of either for each column.
extern "C" __attribute__((visibility("default"))) int let_weighted_rows(float const* data, float const* weights, float const* biases, long long rows,
                                                                        long long columns, float* out, void* stream) {
  auto const m = from(shaped(data, rows, columns));
  auto const middle = m | over<1>(mean);
  auto const variance_of_row = m | map(squared(_1 - let(middle))) | over<1>(mean);
  return write(from(shaped(data, rows, columns), along<1>(device(weights, columns)), along<1>(device(biases, columns))) |
                   map((_1 - let(middle)) / sqrt(let(variance_of_row) + 1e-5f) * _2 + _3) | collect,
               out, stream);
}
/// The transpose.
extern "C" __attribute__((visibility("default"))) int let_turned(float const* data, long long rows, long long columns, float* out, void* stream) {
  return write(from(shaped(data, {i64(columns), i64(rows)}, {i64(1), i64(columns)})) | collect, out, stream);
}
