// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums and other folds along axes of device arrays, for axes.py: each call queues one read and leaves its answers on the device.
// Test layer.
#include <tally/tally.hpp>

#include <cstdio>

namespace {

using namespace tally;

template <class T, class Fold, class... Options>
int fold_axes(int axes, void const* data, long long const* e, float* out, void* stream, Fold fold, Options... options) {
  auto const x = from(shaped(static_cast<T const*>(data), e[0], e[1], e[2]));
  auto const queue = [&](auto const& r) {
    enqueue(r, out, on::gpu(0).stream(stream), options...);
    return 0;
  };
  try {
    switch (axes) {
    case 1: return queue(x | over<0>(fold));
    case 2: return queue(x | over<1>(fold));
    case 4: return queue(x | over<2>(fold));
    case 5: return queue(x | over<0, 2>(fold));
    default: return 2;
    }
  } catch (std::exception const& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    return 1;
  }
}

} // namespace

/// Folds axes (a bit each) of an array of extents e[0] x e[1] x e[2]: type 0 f32, 1 bf16; fold 0 sum, 1 variance, 2 logsumexp, 3 sum under
/// exact.
extern "C" __attribute__((visibility("default"))) int axes_fold(int type, int fold, int axes, void const* data, long long const* e,
                                                                float* out, void* stream) {
  if (type == 0 && fold == 0) return fold_axes<float>(axes, data, e, out, stream, sum);
  if (type == 0 && fold == 1) return fold_axes<float>(axes, data, e, out, stream, variance);
  if (type == 0 && fold == 2) return fold_axes<float>(axes, data, e, out, stream, logsumexp);
  if (type == 1 && fold == 0) return fold_axes<bf16>(axes, data, e, out, stream, sum);
  if (type == 0 && fold == 3) return fold_axes<float>(axes, data, e, out, stream, sum, exact);
  if (type == 1 && fold == 3) return fold_axes<bf16>(axes, data, e, out, stream, sum, exact);
  return 2;
}
