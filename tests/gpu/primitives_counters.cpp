// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counters that wrap, inc and dec, at the leader of a cluster: word by word with red.async and in tiles with the bulk
// engine. Each other block counts once a turn; with one bound for all, the order of the blocks does not matter.
#include "gpu/primitive_kernel.hpp"

#include <tally/primitive/reducible.hpp>

using namespace tally::v0;
using namespace tally::v0::primitive;

namespace {

char const counters[] = R"device(
constexpr int n = 64, turns = 3;

template <operation Op>
__global__ void words(u32* out, u32 start, u32 bound) {
  __shared__ push_room<u32, n> room;
  cluster_words<Op, u32, n> push(room, start);
  for (int k = 0; k < turns; ++k)
    push.turn([&](int i) { return bound + u32(i); },
              [&](u32 const* sum) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  out[k * n + i] = sum[i];
              });
  push.finish();
}
template <operation Op>
__global__ void sums(u32* out, u32 start, u32 bound) {
  __shared__ push_room<u32, n> room;
  cluster_sum<Op, u32, n> push(room, start);
  for (int k = 0; k < turns; ++k)
    push.turn([&](u32* tile) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  tile[i] = bound + u32(i);
              },
              [&](u32 const* sum) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  out[k * n + i] = sum[i];
              });
  push.finish();
}
)device";

unsigned counted(operation op, unsigned value, unsigned bound) {
  if (op == operation::inc) return value >= bound ? 0 : value + 1;
  return value == 0 || value > bound ? bound : value - 1;
}

/// Starts inside the range, at both of its ends, and beyond it, where the first count comes back.
void check(operation op, std::string const& how) {
  CAPTURE(how);
  CAPTURE(device_name(op));
  primitive_kernel const kernel("tally/primitive/verbs.cuh", counters, how + "<" + device_name(op) + ">");
  constexpr std::size_t n = 64, turns = 3;
  for (unsigned blocks : {1u, 2u, 5u, 8u})
    for (unsigned start : {0u, 1u, 2u, 40u, 0xffffffffu}) {
      std::vector<unsigned> expected(n * turns, start);
      for (std::size_t i = 0; i < expected.size(); ++i)
        for (unsigned other = 1; other < blocks; ++other) expected[i] = counted(op, expected[i], 2 + unsigned(i % n));
      on_device const out(std::vector<unsigned>(n * turns, 77));
      kernel({.grid_blocks = blocks, .block_threads = 64, .cluster_blocks = blocks}, out.data(), start, 2u);
      CHECK_MESSAGE(out.back() == expected, blocks << " blocks from " << start);
    }
}

} // namespace

// values of: red.async.relaxed.*.inc.u32, red.async.relaxed.*.dec.u32
// values of: cp.reduce.async.bulk.shared::cluster.*.inc.u32, cp.reduce.async.bulk.shared::cluster.*.dec.u32
TEST_CASE("counters that wrap meet in the leader of a cluster") {
  if (no_kernels()) return;
  for (auto op : {operation::inc, operation::dec})
    for (std::string const how : {"words", "sums"}) check(op, how);
}
