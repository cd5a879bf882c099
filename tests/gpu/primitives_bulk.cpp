// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every bulk form gives the values of a loop: copies in all directions and through both rings, reductions into global
// memory and between the blocks of a cluster, red.async, prefetch; with and without a cache policy, several turns, so
// that every barrier is used again.
#include "gpu/primitive_kernel.hpp"

#include <tally/primitive/reducible.hpp>

using namespace tally::v0;
using namespace tally::v0::primitive;

namespace {

char const reductions[] = R"device(
template <operation Op, class T>
__global__ void in_bulk(T* out, T const* values, int n) {
  extern __shared__ __align__(128) unsigned char room[];
  T* const tile = reinterpret_cast<T*>(room);
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
    tile[i] = values[i];
  show_stores_to_bulk_engine();
  __syncthreads();
  if (threadIdx.x == 0) {
    reduce<Op>(in_global(out), in_shared(tile), bulk_bytes::exactly(n * i64(sizeof(T))));
    reduce<Op>(in_global(out + n), in_shared(tile), bulk_bytes::exactly(n * i64(sizeof(T))), cache_policy::evict_last());
    commit_bulk_group();
    wait_bulk_groups();
  }
}
)device";

char const clusters[] = R"device(
constexpr int n = 192, turns = 4;
template <operation Op, class T>
__device__ T folded_with(T a, T b) { return verbs::folded<Op>(a, b); }

template <operation Op, class T>
__global__ void words(T* out, T const* values, T identity) {
  __shared__ push_room<T, n> room;
  cluster_words<Op, T, n> push(room, identity);
  for (int k = 0; k < turns; ++k) {
    T const* const mine = values + (k * int(cluster_blocks()) + int(own_rank())) * n;
    push.turn([&](int i) { return mine[i]; },
              [&](T const* sum) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  out[k * n + i] = folded_with<Op>(sum[i], mine[i]);
              });
  }
  push.finish();
}
template <operation Op, class T>
__global__ void sums(T* out, T const* values, T identity) {
  __shared__ push_room<T, n> room;
  cluster_sum<Op, T, n> push(room, identity);
  for (int k = 0; k < turns; ++k) {
    T const* const mine = values + (k * int(cluster_blocks()) + int(own_rank())) * n;
    push.turn([&](T* tile) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  tile[i] = mine[i];
              },
              [&](T const* sum) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  out[k * n + i] = folded_with<Op>(sum[i], mine[i]);
              });
  }
  push.finish();
}
/// Not commutative: the order of the blocks must be kept.
__global__ void copies(float* out, float const* values) {
  __shared__ copy_room<float, n, 8> room;
  cluster_copy<float, n, 8> push(room);
  for (int k = 0; k < turns; ++k) {
    float const* const mine = values + (k * int(cluster_blocks()) + int(own_rank())) * n;
    push.turn([&](float* tile) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
                  tile[i] = mine[i];
              },
              [&](auto const& slots) {
                for (int i = int(threadIdx.x); i < n; i += int(blockDim.x)) {
                  float state = mine[i];
                  for (u32 r = 1; r < cluster_blocks(); ++r)
                    state = state * 0.5f + slots[r].elements[i];
                  out[k * n + i] = state;
                }
              });
  }
  push.finish();
}
)device";

char const rings[] = R"device(
/// Through a load ring and out by bulk stores; every other tile has a cache policy.
template <int Stages>
__global__ void through(u32* out, u32 const* in, i64 tiles, int words_per_tile) {
  extern __shared__ __align__(128) unsigned char room[];
  __shared__ ring_barriers<Stages> barriers;
  bulk_bytes const per_tile = bulk_bytes::exactly(words_per_tile * 4);
  bulk_bytes const per_stage = bulk_bytes::exactly((words_per_tile * 4 + 127) / 128 * 128);
  load_ring<Stages> ring(barriers, room, per_stage);
  unsigned char* const outgoing = room + Stages * per_stage.count();
  i64 const mine = tiles / gridDim.x + (blockIdx.x < tiles % gridDim.x ? 1 : 0);
  ring.run(
      mine, [&](i64) { return per_tile; },
      [&](i64 k, unsigned char* stage, expected& told) {
        in_global const from(in + (blockIdx.x + k * gridDim.x) * words_per_tile);
        in_shared const to(reinterpret_cast<u32*>(stage));
        bulk_bytes const half = bulk_bytes::within(per_tile.count() / 2);
        bulk_bytes const rest = bulk_bytes::exactly(per_tile.count() - half.count());
        if (half.count() > 0) copy(to, from, half, told, cache_policy::evict_first());
        copy(to + half.count() / 4, from + half.count() / 4, rest, told);
      },
      [&](i64 k, unsigned char const* stage) {
        int const rank = int(threadIdx.x) - 32;
        u32* const tile = reinterpret_cast<u32*>(outgoing);
        if (rank == 0) wait_bulk_reads();
        asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x - 32) : "memory");
        for (int i = rank; i < words_per_tile; i += int(blockDim.x) - 32)
          tile[i] = reinterpret_cast<u32 const*>(stage)[i] * 3u;
        show_stores_to_bulk_engine();
        asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x - 32) : "memory");
        if (rank == 0) {
          in_global const to(out + (blockIdx.x + k * gridDim.x) * words_per_tile);
          if (k % 2 == 0)
            copy(to, in_shared(tile), per_tile);
          else
            copy(to, in_shared(tile), per_tile, cache_policy::evict_unchanged());
          commit_bulk_group();
        }
      });
  if (threadIdx.x == 32) wait_bulk_groups();
}
/// The same tiles to all blocks of a cluster; each writes its own copy.
template <int Stages>
__global__ void to_all(u32* out, u32 const* in, i64 tiles, int words_per_tile) {
  extern __shared__ __align__(128) unsigned char room[];
  __shared__ ring_barriers<Stages> barriers;
  bulk_bytes const per_tile = bulk_bytes::exactly(words_per_tile * 4);
  multicast_ring<Stages> ring(barriers, room, bulk_bytes::exactly((words_per_tile * 4 + 127) / 128 * 128));
  ring.run(
      tiles, [&](i64) { return per_tile; },
      [&](i64 k, unsigned char* stage, u16 blocks, barrier& announced) {
        in_shared const to(reinterpret_cast<u32*>(stage));
        in_global const from(in + k * words_per_tile);
        if (k % 2 == 0)
          copy_to_blocks(blocks, to, from, per_tile, announced);
        else
          copy_to_blocks(blocks, to, from, per_tile, announced, cache_policy::evict_last());
      },
      [&](i64 k, unsigned char const* stage) {
        for (int i = int(threadIdx.x) - 32; i < words_per_tile; i += int(blockDim.x) - 32)
          out[(i64(blockIdx.x) * tiles + k) * words_per_tile + i] = reinterpret_cast<u32 const*>(stage)[i] + blockIdx.x;
      });
}
/// Global memory into the shared memory of the next block of the cluster, with and without a policy; a prefetch before.
__global__ void to_the_next(u32* out, u32 const* in) {
  __shared__ stage<u32, 256> room;
  __shared__ barrier full;
  if (threadIdx.x == 0) {
    full.init(1);
    publish_barriers();
  }
  u32 const blocks = cluster_blocks(), next = (own_rank() + 1) % blocks;
  meet_cluster();
  if (threadIdx.x == 0) {
    prefetch(in_global(in), room.bytes());
    prefetch(in_global(in), room.bytes(), cache_policy::evict_normal());
    full.expect_from_others(room.bytes().count());
    constexpr bulk_bytes half = bulk_bytes::of<512>();
    in_global const from(in + own_rank() * 256);
    copy(in_cluster(room.elements, next), from, half, in_cluster(&full, next));
    copy(in_cluster(room.elements + 128, next), from + 128, half, in_cluster(&full, next), cache_policy::evict_first());
  }
  full.wait_for_others(0);
  for (int i = int(threadIdx.x); i < 256; i += int(blockDim.x))
    out[own_rank() * 256 + i] = room.elements[i];
  meet_cluster();
}
)device";

template <class T>
T folded(operation op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case operation::add: return T(U(U(a) + U(b)));
    case operation::inc: return a >= b ? T(0) : T(a + 1);
    case operation::dec: return a == 0 || a > b ? b : T(a - 1);
    case operation::bit_and: return T(a & b);
    case operation::bit_or: return T(a | b);
    case operation::bit_xor: return T(a ^ b);
    default: break;
    }
  } else if (op == operation::add) {
    return T(a + b);
  }
  return op == operation::min ? (b < a ? b : a) : (a < b ? b : a);
}

template <class T>
T number(operation op, std::mt19937& random) {
  if constexpr (std::is_integral_v<T>)
    return op == operation::inc || op == operation::dec ? T(random() % 9)
                                                        : T(T(random()) * T(0x9e3779b1u) ^ T(random()));
  else
    return T(float(int(random() % 9) - 4));
}

template <class T>
void in_bulk(operation op) {
  CAPTURE(device_name<T>());
  CAPTURE(device_name(op));
  primitive_kernel const kernel("tally/primitive/verbs.cuh", reductions,
                                "in_bulk<" + device_name(op) + ", " + device_name<T>() + ">");
  std::mt19937 random(5);
  for (int bytes : {16, 32, 48, 112, 128, 4096, 16400}) {
    auto const n = std::size_t(bytes) / sizeof(T);
    std::vector<T> values(n), start(2 * n + 1);
    for (auto& x : values) x = number<T>(op, random);
    for (auto& x : start) x = number<T>(op, random);
    auto expected = start;
    for (int block = 0; block < 5; ++block)
      for (std::size_t i = 0; i < 2 * n; ++i) expected[i] = folded(op, expected[i], values[i % n]);
    on_device const values_there(values), out(start);
    kernel({.grid_blocks = 5, .block_threads = 64, .dynamic_shared_bytes = 16512}, out.data(), values_there.data(),
           int(n));
    auto const answers = out.back();
    CHECK_MESSAGE(std::memcmp(answers.data(), expected.data(), expected.size() * sizeof(T)) == 0, bytes << " bytes");
  }
}

template <class T>
void in_clusters(operation op, T identity, std::string const& how) {
  CAPTURE(how);
  CAPTURE(device_name<T>());
  CAPTURE(device_name(op));
  primitive_kernel const kernel("tally/primitive/verbs.cuh", clusters,
                                how + "<" + device_name(op) + ", " + device_name<T>() + ">");
  constexpr std::size_t n = 192, turns = 4;
  std::mt19937 random(9);
  for (unsigned blocks : {1u, 2u, 3u, 4u, 8u}) {
    std::vector<T> values(n * turns * blocks), expected(n * turns, identity);
    for (auto& x : values) x = number<T>(op, random);
    for (std::size_t k = 0; k < turns; ++k)
      for (std::size_t r = 0; r < blocks; ++r)
        for (std::size_t i = 0; i < n; ++i)
          expected[k * n + i] = folded(op, expected[k * n + i], values[(k * blocks + r) * n + i]);
    on_device const values_there(values), out(std::vector<T>(n * turns, T(77)));
    kernel({.grid_blocks = blocks, .block_threads = 64, .cluster_blocks = blocks}, out.data(), values_there.data(),
           identity);
    CHECK_MESSAGE(out.back() == expected, blocks << " blocks");
  }
}

} // namespace

// values of: cp.reduce.async.bulk.global.*.u32, cp.reduce.async.bulk.global.*.s32, cp.reduce.async.bulk.global.*.u64
// values of: cp.reduce.async.bulk.global.*.s64, cp.reduce.async.bulk.global.*.b32, cp.reduce.async.bulk.global.*.b64
TEST_CASE("the bulk engine reduces integers into global memory") {
  if (no_kernels()) return;
  for (auto op :
       {operation::add, operation::min, operation::max, operation::bit_and, operation::bit_or, operation::bit_xor}) {
    in_bulk<u32>(op);
    in_bulk<i32>(op);
    in_bulk<u64>(op);
    in_bulk<i64>(op);
  }
  in_bulk<u32>(operation::inc);
  in_bulk<u32>(operation::dec);
}

// values of: cp.reduce.async.bulk.global.*.f32, cp.reduce.async.bulk.global.*.f64, cp.reduce.async.bulk.global.*.f16
// values of: cp.reduce.async.bulk.global.*.bf16
TEST_CASE("the bulk engine reduces floats into global memory") {
  if (no_kernels()) return;
  in_bulk<float>(operation::add);
  in_bulk<double>(operation::add);
  for (auto op : {operation::add, operation::min, operation::max}) {
    in_bulk<f16>(op);
    in_bulk<bf16>(op);
  }
}

// values of: red.async.relaxed.*.add.*, red.async.relaxed.*.min.*, red.async.relaxed.*.max.*, red.async.relaxed.*.b32
// values of: cp.reduce.async.bulk.shared::cluster.*.add.*, cp.reduce.async.bulk.shared::cluster.*.min.*
// values of: cp.reduce.async.bulk.shared::cluster.*.max.*, cp.reduce.async.bulk.shared::cluster.*.b32
TEST_CASE("words and tiles of integers meet in the leader of a cluster") {
  if (no_kernels()) return;
  for (std::string const how : {"words", "sums"}) {
    in_clusters<u32>(operation::add, 0, how);
    in_clusters<i32>(operation::add, 0, how);
    in_clusters<u64>(operation::add, 0, how);
    in_clusters<i64>(operation::add, 0, how);
    in_clusters<u32>(operation::min, ~0u, how);
    in_clusters<u32>(operation::max, 0, how);
    in_clusters<i32>(operation::min, 0x7fffffff, how);
    in_clusters<i32>(operation::max, -0x7fffffff - 1, how);
    in_clusters<u32>(operation::bit_and, ~0u, how);
    in_clusters<i32>(operation::bit_or, 0, how);
    in_clusters<u32>(operation::bit_xor, 0, how);
  }
}

// values of: cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes
TEST_CASE("tiles of floats come to the leader of a cluster in the order of the blocks") {
  if (no_kernels()) return;
  primitive_kernel const kernel("tally/primitive/verbs.cuh", clusters, "copies");
  constexpr std::size_t n = 192, turns = 4;
  for (unsigned blocks : {1u, 2u, 5u, 8u}) {
    auto const values = uneven_numbers<float>(n * turns * blocks);
    std::vector<float> expected(n * turns);
    for (std::size_t k = 0; k < turns; ++k)
      for (std::size_t i = 0; i < n; ++i) {
        float state = values[k * blocks * n + i];
        for (std::size_t r = 1; r < blocks; ++r) state = state * 0.5f + values[(k * blocks + r) * n + i];
        expected[k * n + i] = state;
      }
    on_device const values_there(values), out(std::vector<float>(n * turns));
    kernel({.grid_blocks = blocks, .block_threads = 64, .cluster_blocks = blocks}, out.data(), values_there.data());
    CHECK_MESSAGE(out.back() == expected, blocks << " blocks");
  }
}

// values of: cp.async.bulk.shared::cta.global.*, cp.async.bulk.global.shared::cta.bulk_group
// values of: cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint
TEST_CASE("tiles go through a load ring and out again") {
  if (no_kernels()) return;
  for (int stages : {1, 2, 3, 4}) {
    primitive_kernel const kernel("tally/primitive/verbs.cuh", rings, "through<" + std::to_string(stages) + ">");
    for (int words : {4, 8, 12, 100, 1024})
      for (long tiles : {0l, 1l, 2l, 7l, 100l}) {
        auto const in = uneven_numbers<unsigned>(std::size_t(words * tiles) + 1);
        auto expected = in;
        for (std::size_t i = 0; i + 1 < in.size(); ++i) expected[i] *= 3u;
        expected.back() = 0;
        on_device const in_there(in), out(std::vector<unsigned>(in.size()));
        kernel({.grid_blocks = 3, .block_threads = 128, .dynamic_shared_bytes = std::size_t(stages + 1) * 4224},
               out.data(), in_there.data(), i64(tiles), words);
        CHECK_MESSAGE(out.back() == expected, stages << " stages, " << tiles << " tiles of " << words << " words");
      }
  }
}

// values of: cp.async.bulk.*.multicast::cluster*
TEST_CASE("one tile comes to every block of a cluster") {
  if (no_kernels()) return;
  for (int stages : {1, 2, 4}) {
    primitive_kernel const kernel("tally/primitive/verbs.cuh", rings, "to_all<" + std::to_string(stages) + ">");
    for (unsigned blocks : {1u, 2u, 4u, 8u})
      for (long tiles : {1l, 2l, 9l, 50l}) {
        int const words = 260;
        auto const in = uneven_numbers<unsigned>(std::size_t(words * tiles));
        std::vector<unsigned> expected;
        for (unsigned b = 0; b < blocks; ++b)
          for (unsigned const x : in) expected.push_back(x + b);
        on_device const in_there(in), out(std::vector<unsigned>(expected.size()));
        kernel({.grid_blocks = blocks,
                .block_threads = 96,
                .cluster_blocks = blocks,
                .dynamic_shared_bytes = std::size_t(stages) * 1152},
               out.data(), in_there.data(), i64(tiles), words);
        CHECK_MESSAGE(out.back() == expected, stages << " stages, " << blocks << " blocks, " << tiles << " tiles");
      }
  }
}

// values of: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes, cp.async.bulk.prefetch.L2.global*
// values of: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
TEST_CASE("a block fills another block's shared memory") {
  if (no_kernels()) return;
  primitive_kernel const kernel("tally/primitive/verbs.cuh", rings, "to_the_next");
  for (unsigned blocks : {1u, 2u, 8u}) {
    auto const in = uneven_numbers<unsigned>(256 * blocks);
    std::vector<unsigned> expected(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) expected[(i + 256) % in.size()] = in[i];
    on_device const in_there(in), out(std::vector<unsigned>(in.size()));
    kernel({.grid_blocks = blocks, .block_threads = 64, .cluster_blocks = blocks}, out.data(), in_there.data());
    CHECK_MESSAGE(out.back() == expected, blocks << " blocks");
  }
}
