// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements beside the answers of their segment or their key, for let_groups.py: each call leaves its elements in device memory. Test layer.
#include "write_elements.hpp"

using namespace tally;

/// Of n floats in segments between offsets: what 0 the softmax of every segment, 1 what is left when its mean is taken off.
extern "C" __attribute__((visibility("default"))) int let_segments(int what, float const* data, long long n, int const* offsets, long long segments, float* out,
                                                                   void* stream) {
  auto const x = from(shaped(data, n));
  auto const at = device(offsets, segments + 1);
  if (what == 1) return write(x | map(_1 - let(x | by_segment(at, mean))) | collect, out, stream);
  auto const greatest = x | by_segment(at, max);
  auto const total = x | map(exp(_1 - let(greatest))) | by_segment(at, sum);
  return write(x | map(exp(_1 - let(greatest)) / let(total)) | collect, out, stream);
}
/// Of n floats with keys in [0, bins): what is left when the mean of those with the same key is taken off.
extern "C" __attribute__((visibility("default"))) int let_keys(float const* data, int const* keys, long long n, long long bins, float* out, void* stream) {
  auto const x = from(shaped(data, n), shaped(keys, n));
  return write(x | map(_1 - let(x | by_key(_2, bins, mean(_1)))) | collect, out, stream);
}
