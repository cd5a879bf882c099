// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel for each protocol that a verb of primitive/ carries out: device text, compiled by the tests. Test layer.
#pragma once

#include <tally/primitive/protocols.hpp>

namespace protocols {

/// A protocol, and the device text of one kernel that follows it.
struct bound_kernel {
  tally::v0::protocol::description follows;
  char const* text;
};

inline bound_kernel const kernels[] = {
    {tally::v0::protocol::load_ring_of_block(), R"(
#include <tally/primitive/load_ring.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float const* from, float* to, long long tiles) {
  __shared__ __align__(128) unsigned char room[3 * 1024];
  __shared__ ring_barriers<3> barriers;
  load_ring<3> ring(barriers, room, bulk_bytes::of<1024>());
  float sum = 0;
  ring.run(
      tiles, [](tally::v0::i64) { return bulk_bytes::of<1024>(); },
      [&](tally::v0::i64 k, unsigned char* stage, expected& told) {
        copy(in_shared(reinterpret_cast<float*>(stage)), in_global(from + k * 256), bulk_bytes::of<1024>(), told);
      },
      [&](tally::v0::i64, unsigned char const* stage) { sum += reinterpret_cast<float const*>(stage)[threadIdx.x % 256]; });
  to[threadIdx.x] = sum;
})"},
    {tally::v0::protocol::store_ring(), R"(
#include <tally/primitive/store_ring.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float const* from, float* to, int tiles, int n) {
  extern __shared__ __align__(128) unsigned char room[];
  store_ring<3> ring(room, bulk_bytes::of<1040>());
  for (int k = 0; k < tiles; ++k)
    ring.turn(in_global(to + k * n), n, [&](float* tile) { tile[threadIdx.x % n] = from[k * n + threadIdx.x % n]; });
  ring.finish();
})"},
    {tally::v0::protocol::store_rows(), R"(
#include <tally/primitive/store_rows.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float const* from, float* to, int tiles) {
  extern __shared__ __align__(128) unsigned char room[];
  store_rows<3> ring(room, bulk_bytes::of<1024>());
#pragma unroll 1
  for (int k = 0; k < tiles; ++k)
    ring.turn([&](unsigned char* at) { reinterpret_cast<float*>(at)[threadIdx.x] = from[k * 256 + threadIdx.x]; },
              [&](unsigned char* at) {
                copy(in_global(to + threadIdx.x * tiles * 4 + k * 4), in_shared(reinterpret_cast<float const*>(at) + threadIdx.x * 4),
                     bulk_bytes::of<16>());
              });
  ring.finish();
})"},
    {tally::v0::protocol::store_sum_ring(), R"(
#include <tally/primitive/store_sum_ring.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float const* from, float* to, int tiles) {
  extern __shared__ __align__(128) unsigned char room[];
  store_sum_ring<3, circle::block> ring(room, bulk_bytes::of<1024>());
  for (int k = 0; k < tiles; ++k)
    ring.turn([&](unsigned char* at) { reinterpret_cast<float*>(at)[threadIdx.x] = from[k * 256 + threadIdx.x]; },
              [&](unsigned char* at) {
                if (threadIdx.x < 64)
                  reduce<operation::add>(in_global(to + threadIdx.x * 4),
                                         in_shared(reinterpret_cast<float const*>(at) + threadIdx.x * 4), bulk_bytes::of<16>());
              });
  ring.finish();
})"},
    {tally::v0::protocol::store_sum_ring(tally::v0::protocol::action::meet_warp), R"(
#include <tally/primitive/accumulate.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float* table, int const* keys, float const* rows, long long count, int columns) {
  extern __shared__ __align__(128) unsigned char room[];
  accumulate_in_bulk<operation::add>(rows_by_key<float, int>{table, columns, keys},
                                     tile_of_rows<float>{rows, count, columns, columns}, room, 4096);
})"},
    {tally::v0::protocol::store_sum_at_once(), R"(
#include <tally/primitive/accumulate.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void kernel(float* to, float const* from) {
  __shared__ __align__(128) float tile[256];
  tile[threadIdx.x] = from[threadIdx.x];
  accumulate<operation::add>(in_global(to), in_shared<float const>(tile), 256);
})"},
    {tally::v0::protocol::cluster_words(), R"(
#include <tally/primitive/cluster_push.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void __cluster_dims__(4) kernel(unsigned const* from, unsigned* to, int turns) {
  __shared__ push_room<unsigned, 64> room;
  cluster_words<operation::add, unsigned, 64> push(room, 0u);
  for (int k = 0; k < turns; ++k)
    push.turn([&](int i) { return from[(k * gridDim.x + blockIdx.x) * 64 + i]; },
              [&](unsigned const* sum) { to[k * 64 + threadIdx.x % 64] = sum[threadIdx.x % 64]; });
  push.finish();
})"},
    {tally::v0::protocol::cluster_sum(), R"(
#include <tally/primitive/cluster_push.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void __cluster_dims__(4) kernel(unsigned const* from, unsigned* to, int turns) {
  __shared__ push_room<unsigned, 64> room;
  cluster_sum<operation::add, unsigned, 64> push(room, 0u);
  for (int k = 0; k < turns; ++k)
    push.turn([&](unsigned* tile) { tile[threadIdx.x % 64] = from[(k * gridDim.x + blockIdx.x) * 64 + threadIdx.x % 64]; },
              [&](unsigned const* sum) { to[k * 64 + threadIdx.x % 64] = sum[threadIdx.x % 64]; });
  push.finish();
})"},
    {tally::v0::protocol::cluster_copy(), R"(
#include <tally/primitive/cluster_push.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void __cluster_dims__(4) kernel(float const* from, float* to, int turns) {
  __shared__ copy_room<float, 64, 4> room;
  cluster_copy<float, 64, 4> push(room);
  for (int k = 0; k < turns; ++k)
    push.turn([&](float* tile) { tile[threadIdx.x % 64] = from[(k * gridDim.x + blockIdx.x) * 64 + threadIdx.x % 64]; },
              [&](stage<float, 64> const* slots) {
                int const i = threadIdx.x % 64;
                to[k * 64 + i] = (slots[1].elements[i] + slots[2].elements[i]) + slots[3].elements[i];
              });
  push.finish();
})"},
    {tally::v0::protocol::multicast_ring(), R"(
#include <tally/primitive/multicast_ring.cuh>
using namespace tally::v0::primitive;
extern "C" __global__ void __cluster_dims__(4) kernel(float const* from, float* to, long long tiles) {
  __shared__ __align__(128) unsigned char room[2 * 1024];
  __shared__ ring_barriers<2> barriers;
  multicast_ring<2> ring(barriers, room, bulk_bytes::of<1024>());
  float sum = 0;
  ring.run(
      tiles, [](tally::v0::i64) { return bulk_bytes::of<1024>(); },
      [&](tally::v0::i64 k, unsigned char* stage, tally::v0::u16 blocks, barrier& announced) {
        copy_to_blocks(blocks, in_shared(reinterpret_cast<float*>(stage)), in_global(from + k * 256), bulk_bytes::of<1024>(),
                       announced);
      },
      [&](tally::v0::i64, unsigned char const* stage) { sum += reinterpret_cast<float const*>(stage)[threadIdx.x % 256]; });
  to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
})"},
};

} // namespace protocols
