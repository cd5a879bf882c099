// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device matrix beside operands that are the same for all its rows or columns, for operands.py; answers stay on the device. Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

template <class T>
int queue(int what, T const* matrix, T const* of_columns, T const* of_rows, long long rows, long long columns, float* first, float* second, void* stream) {
  try {
    i64 const extents[2]{rows, columns};
    auto const a = shaped(matrix, rows, columns);
    auto const x = shaped(of_columns, extents, {0, 1}), w = shaped(of_rows, extents, {1, 0});
    auto const there = on::gpu(0).stream(stream);
    switch (what) {
    case 0: enqueue(from(a, x) | over<1>(sum(_1 * _2)), first, there); break;
    case 1: enqueue(from(a, w) | over<0>(sum(_1 * _2)), first, there); break;
    case 2: enqueue(from(a, x, w) | reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1 * _3))), first, second, there); break;
    case 3: enqueue(from(a, x, w) | reduce(sum(_1 * _2 * _3)), first, there); break;
    case 4: enqueue(from(a, x) | over<0>(sum((_1 - _2) * (_1 - _2))), first, there); break;
    case 5: enqueue(from(a, w) | over<1>(sum((_1 - _2) * (_1 - _2))), first, there); break;
    default: return 2;
    }
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

} // namespace

/// What: 0 rows times x, 1 columns times w, 2 both, 3 the sum of all w a x, 4 squares of columns about x, 5 squares of rows about w. Type: 0 f32, 1 bf16,
/// also of the operands, which have an element a column and an element a row; answers are floats.
extern "C" __attribute__((visibility("default"))) int operands_fold(int type, int what, void const* matrix, void const* of_columns, void const* of_rows,
                                                                    long long rows, long long columns, float* first, float* second, void* stream) {
  return type == 0 ? queue(what, static_cast<float const*>(matrix), static_cast<float const*>(of_columns), static_cast<float const*>(of_rows), rows, columns,
                           first, second, stream)
                   : queue(what, static_cast<bf16 const*>(matrix), static_cast<bf16 const*>(of_columns), static_cast<bf16 const*>(of_rows), rows, columns,
                           first, second, stream);
}
