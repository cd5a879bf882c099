// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and other folds along axes of device arrays, for axes.py: each call queues one read and leaves its answers on the device.
// Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

/// Queues the first grouping of a reduction on a stream, its answers to device memory.
template <class R>
int queue(R const& r, void* out, void* stream) {
  try {
    auto d = get<0>(r.folds).bind(r.pipe);
    using Where = decltype(d.where);
    gpu::staged_columns staged;
    answer_arrays const to{{out}};
    detail::queue_groups(d.program, d.nodes, layout_of(r.pipe.source, Where::is_reduced), on::gpu(0).stream(stream), contract::reproducible,
                         to, staged);
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
/// The same of the columns of a matrix, which may take tiles.
template <class R>
int queue_columns(R const& r, void* out, void* stream) {
  try {
    auto read = detail::mixed_read_of<detail::mixed_items_of<R>>(r.folds, r.pipe, pack<>{}, on::gpu(0).stream(stream), contract::reproducible);
    if (!read.joins()) return queue(r, out, stream);
    read.queue_to({{out}}, {}, nullptr);
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
template <class T, class Fold>
int fold_axes(int axes, void const* data, long long const* e, void* out, void* stream, Fold fold) {
  auto const x = from(shaped(static_cast<T const*>(data), e[0], e[1], e[2]));
  if (axes == 2 && e[0] == 1) return queue_columns(from(shaped(static_cast<T const*>(data), e[1], e[2])) | reduce(over<0>(fold)), out, stream);
  switch (axes) {
  case 1: return queue(x | reduce(over<0>(fold)), out, stream);
  case 2: return queue(x | reduce(over<1>(fold)), out, stream);
  case 4: return queue(x | reduce(over<2>(fold)), out, stream);
  case 5: return queue(x | reduce(over<0, 2>(fold)), out, stream);
  default: return 2;
  }
}

} // namespace

/// Folds axes (a bit each) of an array of extents e[0] x e[1] x e[2]: type 0 f32, 1 bf16; fold 0 sum, 1 variance, 2 logsumexp.
extern "C" __attribute__((visibility("default"))) int axes_fold(int type, int fold, int axes, void const* data, long long const* e,
                                                                void* out, void* stream) {
  if (type == 0 && fold == 0) return fold_axes<float>(axes, data, e, out, stream, sum);
  if (type == 0 && fold == 1) return fold_axes<float>(axes, data, e, out, stream, variance);
  if (type == 0 && fold == 2) return fold_axes<float>(axes, data, e, out, stream, logsumexp);
  if (type == 1 && fold == 0) return fold_axes<bf16>(axes, data, e, out, stream, sum);
  return 2;
}
