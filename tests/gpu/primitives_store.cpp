// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles come from shared memory to global memory as they were written, whatever their length and alignment and however many
// stages the ring has, and nothing beside them is touched; and whoever sees a published count sees what was accumulated
// before it.
#include "gpu/accumulated.hpp"

using namespace tally;
using namespace tally::primitive;

namespace {

char const text[] = R"device(
template <int Stages, class T>
__global__ void tiles(T* out, i64 stride, int n, int number, int bytes_per_stage) {
  extern __shared__ __align__(128) unsigned char room[];
  store_ring<Stages> ring(room, bulk_bytes::exactly(bytes_per_stage));
  for (int k = int(blockIdx.x); k < number; k += int(gridDim.x)) {
    auto const write = [&](T* tile) {
      for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        tile[i] = T(k * 31 + i % 101);
    };
    if (k % 2 == 0)
      ring.turn(in_global(out + k * stride), n, write);
    else
      ring.turn(in_global(out + k * stride), n, write, cache_policy::evict_first());
  }
  ring.finish();
}
/// The last block waits for the others' count, and takes what they summed.
__global__ void published(u32* sums, u32* count, u32* seen, u32 const* values, int n, int key_rows, int const* keys) {
  if (blockIdx.x + 1 < gridDim.x) {
    crew const others{i64(blockIdx.x) * blockDim.x + threadIdx.x, i64(gridDim.x - 1) * blockDim.x};
    accumulate<operation::add>(rows_by_key<u32, int>{sums, 8, keys}, tile_of_rows<u32>{values, n, 8, 8}, others);
    publish_of_block(in_global(count), 1u);
    return;
  }
  if (threadIdx.x == 0) {
    u32 there = 0;
    for (int tries = 0; tries < 10000000 && there + 1 < gridDim.x; ++tries)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(count) : "memory");
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < key_rows * 8; i += int(blockDim.x))
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen[i]) : "l"(sums + i) : "memory");
}
)device";

char const header[] = "tally/primitive/verbs.cuh";

template <class T>
void ring_gives_the_tiles(int stages) {
  CAPTURE(device_name<T>());
  CAPTURE(stages);
  primitive_kernel const kernel(header, text, "tiles<" + std::to_string(stages) + ", " + device_name<T>() + ">");
  int const per_16 = 16 / int(sizeof(T));
  for (int n : {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 100, 1000, 1027, 4097})
    for (int offset = 0; offset < per_16; ++offset)
      for (int number : {0, 1, 13}) {
        i64 const stride = n + (offset % 3);
        std::vector<T> expected(std::size_t(offset + number * stride + per_16), T(7));
        for (int k = 0; k < number; ++k)
          for (int i = 0; i < n; ++i) expected[std::size_t(offset + k * stride + i)] = T(k * 31 + i % 101);
        int const per_stage = (n * int(sizeof(T)) + 31) / 16 * 16;
        on_device const out(std::vector<T>(expected.size(), T(7)));
        kernel({.grid_blocks = 3, .block_threads = 96, .dynamic_shared_bytes = unsigned(stages * per_stage)},
               out.data() + offset, stride, n, number, per_stage);
        CHECK_MESSAGE(same_numbers(out.back(), expected), number << " tiles of " << n << ", offset " << offset);
      }
}

} // namespace

// values of: cp.async.bulk.global.shared::cta.bulk_group
TEST_CASE("tiles leave a store ring as they were written") {
  if (no_kernels()) return;
  for (int stages : {1, 2, 3}) {
    ring_gives_the_tiles<u32>(stages);
    ring_gives_the_tiles<double>(stages);
  }
  ring_gives_the_tiles<f16>(2);
  ring_gives_the_tiles<float>(4);
}

// values of: red.release.gpu.global.add.u32
TEST_CASE("who sees a published count sees the sums before it") {
  if (no_kernels()) return;
  primitive_kernel const kernel(header, text, "published");
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    int const n = 3000, key_rows = 1 + repeat * 3;
    std::vector<u32> values(std::size_t(n) * 8), sums(std::size_t(key_rows) * 8);
    for (auto& v : values) v = u32(random());
    std::vector<int> keys(values.size() / 8);
    for (auto& k : keys) k = int(random() % unsigned(key_rows));
    on_device const there(values), zeros(sums), seen(sums), count(std::vector<u32>(1, 0u));
    on_device const keys_there(keys);
    for (std::size_t i = 0; i < values.size(); ++i) sums[std::size_t(keys[i / 8]) * 8 + i % 8] += values[i];
    kernel({.grid_blocks = 24, .block_threads = 128}, zeros.data(), count.data(), seen.data(), there.data(), n, key_rows,
           keys_there.data());
    CHECK(count.back()[0] == 23);
    CHECK(same_numbers(seen.back(), sums));
  }
}
