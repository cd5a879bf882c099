// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Column, row and total sums of a device matrix in one read, for mixed.py; answers stay on the device. Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

template <class R>
int queue(R const& r, void* columns, void* rows, void* total, void* stream) {
  try {
    auto const whole = tally::detail::bind_to(r.pipe, detail::whole_folds(r.folds));
    auto read = detail::mixed_read_of<detail::mixed_items_of<R>>(r.folds, r.pipe, whole.program.leaves, on::gpu(0).stream(stream),
                                                                contract::reproducible);
    if (!read.joins() || !read.planned().total_joins) return 2;
    read.queue_to({{columns}}, {{rows}}, total);
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

} // namespace

/// Sums of the columns, the rows and the whole of `rows` x `columns` elements: type 0 f32, 1 bf16. Answers are floats.
extern "C" __attribute__((visibility("default"))) int mixed_sums(int type, void const* data, long long rows, long long columns, void* of_columns,
                                                                 void* of_rows, void* total, void* stream) {
  auto const sums = [&](auto const* x) {
    return queue(from(shaped(x, rows, columns)) | reduce(over<0>(sum), over<1>(sum), sum), of_columns, of_rows, total, stream);
  };
  return type == 0 ? sums(static_cast<float const*>(data)) : sums(static_cast<bf16 const*>(data));
}
