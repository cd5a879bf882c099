// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder gives the values of a loop in shared memory too: tables of a block and tables spread over the blocks of a
// cluster, every operation and type, rows of 1 to 257 columns misaligned in every way, all rows to one key, no rows; tiles
// into the own block's and another's memory, by red and by the bulk engine with an announcement. Nothing beside is touched.
#include "gpu/accumulated.hpp"

using namespace tally::v0;
using namespace tally::primitive;

namespace {

char const header[] = "tally/primitive/verbs.cuh";

/// Every block brings its part of the table to shared memory and back; block b has the rows from b * rows_per_block.
char const text[] = R"device(
template <operation Op, class T>
__global__ void in_tables(T* table, i64 elements, int offset, int stride, T const* tile, i64 tile_stride, i64 rows,
                          int columns, i32 const* keys, int rows_per_block) {
  extern __shared__ __align__(128) unsigned char room[];
  T* const own = reinterpret_cast<T*>(room);
  T* const there = table + blockIdx.x * elements;
  for (int i = int(threadIdx.x); i < elements; i += int(blockDim.x))
    own[i] = there[i];
  tile_of_rows<T> const from{tile, rows, tile_stride, columns};
  if (rows_per_block == 0) { // a table of each block
    __syncthreads();
    accumulate<Op>(rows_of_block<T, i32>{own + offset, stride, keys}, from);
    __syncthreads();
    accumulate_by_words<Op>(rows_of_block<T, i32>{own + offset, stride, keys}, from);
    __syncthreads();
  } else if constexpr (accumulable<Op, T, space::shared_cluster>) {
    meet_cluster();
    accumulate<Op>(rows_of_cluster<T, i32>{own + offset, stride, keys, rows_per_block}, from);
    meet_cluster();
    accumulate_by_words<Op>(rows_of_cluster<T, i32>{own + offset, stride, keys, rows_per_block}, from);
    meet_cluster();
  }
  for (int i = int(threadIdx.x); i < elements; i += int(blockDim.x))
    there[i] = own[i];
}
/// Block r folds its tile into the tile of the block after it, two times: by red, which includes its own memory in a cluster
/// of one, and announced.
template <operation Op, class T>
__global__ void to_neighbours(T* out, T const* tiles, int n, int offset, int shift, int announced) {
  extern __shared__ __align__(128) unsigned char room[];
  __shared__ barrier arrived;
  int const room_for = n + 32;
  T* const sum = reinterpret_cast<T*>(room);
  T* const tile = sum + (room_for + 31) / 32 * 32;
  for (int i = int(threadIdx.x); i < room_for; i += int(blockDim.x))
    sum[i] = out[blockIdx.x * room_for + i];
  for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
    tile[shift + i] = tiles[blockIdx.x * n + i];
  if (threadIdx.x == 0) {
    arrived.init(1);
    publish_barriers();
  }
  show_stores_to_bulk_engine();
  meet_cluster();
  u32 const next = (own_rank() + 1) % cluster_blocks();
  if (announced == 0) {
    accumulate<Op>(in_shared(sum + offset), in_shared<T const>(tile + shift), n);
    accumulate<Op>(in_cluster(sum + offset, next), in_shared<T const>(tile + shift), n);
  } else if constexpr (red_async_reducible<Op, T>) {
    for (u32 turn = 0; turn < 2; ++turn) {
      if (threadIdx.x == 0) arrived.expect_from_others(u32(n * sizeof(T)));
      accumulate<Op>(in_cluster(sum + offset, next), in_shared<T const>(tile + shift), n, in_cluster(&arrived, next));
      arrived.wait_for_others(turn);
      meet_cluster();
    }
  }
  meet_cluster();
  for (int i = int(threadIdx.x); i < room_for; i += int(blockDim.x))
    out[blockIdx.x * room_for + i] = sum[i];
}
)device";

template <class T>
void tables_give_the_loop(operation op) {
  CAPTURE(device_name<T>());
  CAPTURE(device_name(op));
  primitive_kernel const kernel(header, text, "in_tables<" + device_name(op) + ", " + device_name<T>() + ">");
  std::mt19937 random(5u + unsigned(sizeof(T)));
  auto const any = [&](int n) { return int(random() % unsigned(n)); };
  int const per_16 = 16 / int(sizeof(T));
  for (int columns : {1, 2, 3, 4, 7, 8, 16, 17, 33, 64, 257})
    for (unsigned blocks : {0u, 1u, 3u, 8u}) { // 0: two blocks, a table each
      bool const refused = sizeof(T) == 8 && (op == operation::min || op == operation::max);
      if (refused && blocks > 0) continue;
      int const tables = blocks == 0 ? 2 : int(blocks), rows_per_block = 1 + any(5);
      int const key_rows = any(3) == 0 ? 1 : blocks == 0 ? rows_per_block : rows_per_block * tables;
      bool const aligned = any(3) == 0;
      int const offset = aligned ? 0 : any(per_16), stride = aligned ? (columns + per_16 - 1) / per_16 * per_16 : columns + any(4);
      int const tile_offset = aligned ? 0 : any(per_16), tile_stride = aligned ? stride : columns + any(4);
      int const rows_of[]{0, 1, 31, 33, 200};
      int const rows = rows_of[any(5)];
      std::size_t const elements = std::size_t(offset + rows_per_block * stride + 3);
      std::vector<T> tile(std::size_t(tile_offset + rows * tile_stride) + 1), table(elements * std::size_t(tables));
      for (auto& x : tile) x = number<T>(op, random);
      for (auto& x : table) x = number<T>(op, random);
      std::vector<i32> keys(std::size_t(rows) + 1);
      for (auto& k : keys) k = any(key_rows);
      auto expected = table;
      for (int twice = 0; twice < 2; ++twice)
        for (int into = 0; into < (blocks == 0 ? tables : 1); ++into)
          for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) {
              int const key = keys[std::size_t(r)], block = blocks == 0 ? into : key / rows_per_block;
              int const row = blocks == 0 ? key : key % rows_per_block;
              auto& at = expected[std::size_t(block) * elements + std::size_t(offset + row * stride + c)];
              at = folded(op, at, tile[std::size_t(tile_offset + r * tile_stride + c)]);
            }
      on_device const tile_there(tile), table_there(table);
      on_device const keys_there(keys);
      kernel({.grid_blocks = unsigned(tables),
              .block_threads = 96,
              .cluster_blocks = blocks == 0 ? 1 : blocks,
              .dynamic_shared_bytes = 32768},
             table_there.data(), i64(elements), offset, stride, tile_there.data() + tile_offset, i64(tile_stride), i64(rows),
             columns, keys_there.data(), blocks == 0 ? 0 : rows_per_block);
      CHECK_MESSAGE(same_numbers(table_there.back(), expected),
                    blocks << " blocks, " << rows << " rows of " << columns << ", offsets " << offset << " and " << tile_offset
                           << ", strides " << stride << " and " << tile_stride << ", " << rows_per_block << " rows a block");
    }
}

template <class T>
void neighbours_give_the_loop(operation op, bool announced) {
  CAPTURE(device_name<T>());
  CAPTURE(device_name(op));
  primitive_kernel const kernel(header, text, "to_neighbours<" + device_name(op) + ", " + device_name<T>() + ">");
  std::mt19937 random(13);
  int const per_16 = 16 / int(sizeof(T));
  for (unsigned blocks : {1u, 2u, 5u})
    for (int n : {0, 1, 3, 4, 8, 17, 100, 1027})
      for (int offset = 0; offset < per_16; ++offset)
        for (int shift : {offset, (offset + 1) % per_16}) {
          if (announced && (blocks == 1 || n == 0)) continue; // to another block, and something
          std::size_t const room_for = std::size_t(n) + 32;
          std::vector<T> tiles(blocks * std::size_t(n) + 1), sums(blocks * room_for);
          for (auto& x : tiles) x = number<T>(op, random);
          for (auto& x : sums) x = number<T>(op, random);
          auto expected = sums;
          for (unsigned b = 0; b < blocks; ++b)
            for (int twice = 0; twice < 2; ++twice) {
              unsigned const from = announced || twice == 1 ? (b + blocks - 1) % blocks : b;
              for (std::size_t i = 0; i < std::size_t(n); ++i) {
                auto& at = expected[b * room_for + std::size_t(offset) + i];
                at = folded(op, at, tiles[from * std::size_t(n) + i]);
              }
            }
          on_device const tiles_there(tiles), sums_there(sums);
          kernel({.grid_blocks = blocks, .block_threads = 96, .cluster_blocks = blocks, .dynamic_shared_bytes = 32768},
                 sums_there.data(), tiles_there.data(), n, offset, shift, int(announced));
          CHECK_MESSAGE(same_numbers(sums_there.back(), expected),
                        blocks << " blocks, " << n << " elements, offset " << offset << ", shift " << shift);
        }
}

template <class T>
void every_integer_operation(bool counts) {
  for (auto op :
       {operation::add, operation::min, operation::max, operation::bit_and, operation::bit_or, operation::bit_xor})
    tables_give_the_loop<T>(op);
  if (counts)
    for (auto op : {operation::inc, operation::dec}) tables_give_the_loop<T>(op);
}

} // namespace

// values of: red.relaxed.cta.shared::cta.*.u32, red.relaxed.cluster.shared::cluster.*.u32
// values of: red.relaxed.cta.shared::cta.*.s32, red.relaxed.cluster.shared::cluster.*.s32
// values of: red.relaxed.cta.shared::cta.*.b32, red.relaxed.cluster.shared::cluster.*.b32
TEST_CASE("rows of words go to tables in shared memory, of a block and of a cluster") {
  if (no_kernels()) return;
  every_integer_operation<u32>(true);
  every_integer_operation<i32>(false);
}

// values of: red.relaxed.cta.shared::cta.*.u64, red.relaxed.cta.shared::cta.*.s64, red.relaxed.cta.shared::cta.*.b64
// values of: red.relaxed.cluster.shared::cluster.add.u64
TEST_CASE("rows of long words go to tables in shared memory") {
  if (no_kernels()) return;
  every_integer_operation<u64>(false);
  every_integer_operation<i64>(false);
}

// values of: red.relaxed.cta.shared::cta.add.f32, red.relaxed.cluster.shared::cluster.add.f32
// values of: red.relaxed.cta.shared::cta.add.f64, red.relaxed.cluster.shared::cluster.add.f64
// values of: red.relaxed.cta.shared::cta.add.noftz.*, red.relaxed.cluster.shared::cluster.add.noftz.f16
// values of: red.relaxed.cluster.shared::cluster.add.noftz.bf16
TEST_CASE("rows of floats go to tables in shared memory, their least and greatest too") {
  if (no_kernels()) return;
  for (auto op : {operation::add, operation::min, operation::max}) {
    tables_give_the_loop<float>(op);
    tables_give_the_loop<double>(op);
    tables_give_the_loop<f16>(op);
    tables_give_the_loop<bf16>(op);
  }
}

TEST_CASE("a tile goes to another block and to its own, by red") {
  if (no_kernels()) return;
  neighbours_give_the_loop<float>(operation::add, false);
  neighbours_give_the_loop<bf16>(operation::add, false);
  neighbours_give_the_loop<f16>(operation::max, false);
  neighbours_give_the_loop<u64>(operation::bit_xor, false);
  neighbours_give_the_loop<i32>(operation::min, false);
}

// values of: cp.reduce.async.bulk.shared::cluster.*.add.u32, cp.reduce.async.bulk.shared::cluster.*.add.u64
// values of: cp.reduce.async.bulk.shared::cluster.*.max.s32, cp.reduce.async.bulk.shared::cluster.*.xor.b32
// values of: red.async.relaxed.*.add.u32, red.async.relaxed.*.add.u64, red.async.relaxed.*.max.s32, red.async.relaxed.*.xor.b32
TEST_CASE("a tile of integers goes to another block, whose barrier hears of every byte") {
  if (no_kernels()) return;
  neighbours_give_the_loop<u32>(operation::add, true);
  neighbours_give_the_loop<u64>(operation::add, true);
  neighbours_give_the_loop<i32>(operation::max, true);
  neighbours_give_the_loop<u32>(operation::bit_xor, true);
}
