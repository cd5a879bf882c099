// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ladder gives the values of a loop on the host: every rung, type and operation, rows misaligned on either side in
// every way, of 1 to 4097 columns, all rows to one key, no rows, signs mixed; and nothing beside a row is touched.
#include "gpu/accumulated.hpp"

using namespace tally::v0;
using primitive::operation;

namespace {

char const text[] = R"device(
template <operation Op, class T>
__global__ void scatter(T* table, i64 table_stride, T const* tile, i64 tile_stride, i64 rows, int columns,
                        i32 const* keys, int how, int bytes_per_warp) {
  extern __shared__ __align__(128) unsigned char room[];
  rows_by_key<T, i32> const to{table, table_stride, keys, blockIdx.x % 2 == 1};
  tile_of_rows<T> const from{tile, rows, tile_stride, columns};
  if (how == 0) {
    if constexpr (bulk_reducible<Op, T>) accumulate_in_bulk<Op>(to, from, room, bytes_per_warp);
  } else if (how == 1) {
    accumulate<Op>(to, from);
  } else if (how == 2) {
    accumulate_by_words<Op>(to, from);
  } else if (how == 3) {
    accumulate<Op, red_width{8}>(to, from);
  } else if (how == 4) {
    accumulate<Op, red_width{4}>(to, from);
  } else {
    accumulate<Op, red_width{16, halves::alone}>(to, from);
  }
}
template <operation Op, class T>
__global__ void spread(rows_by_key<T, i32> to, tile_of_rows<T> from, T* copies, int number, i64 elements) {
  accumulate<Op>(to.spread(copies, number, elements), from);
}
template <operation Op, class T>
__global__ void together(T* table, T* copies, int number, i64 elements, T identity) {
  fold_copies<Op>(table, copies, number, elements, identity);
}
template <operation Op, class T>
__global__ void one_tile(T* to, T const* from, int n, int shift) {
  extern __shared__ __align__(128) unsigned char room[];
  T* const tile = reinterpret_cast<T*>(room) + shift;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
      tile[i] = from[i];
    accumulate<Op>(in_global(to), in_shared(tile), n);
  }
}
)device";

char const header[] = "tally/primitive/accumulate.cuh";

template <class T>
struct shape {
  int columns, rows, table_rows, table_offset, tile_offset;
  long table_stride, tile_stride;
};

template <class T>
shape<T> a_shape(int columns, std::mt19937& random) {
  int const per_16 = 16 / int(sizeof(T));
  auto const any = [&](int n) { return int(random() % unsigned(n)); };
  int const rows_of[]{0, 1, 3, 31, 32, 33, 257};
  shape<T> s{
      columns,         columns > 1000 ? 33 : rows_of[any(7)], 1 + any(40), any(per_16), any(per_16), columns + any(5),
      columns + any(5)};
  if (any(3) == 0) s.table_rows = 1; // all rows to one key
  if (any(3) == 0) {                 // everything aligned
    s.table_offset = s.tile_offset = 0;
    s.table_stride = s.tile_stride = (columns + per_16 - 1) / per_16 * per_16;
  } else if (any(2) == 0 && per_16 > 2) { // to 8 bytes, or to 4
    int const to = per_16 / 2 >> (per_16 == 8 ? any(2) : 0);
    s.table_offset = any(per_16 / to) * to;
    s.tile_offset = any(per_16 / to) * to;
    s.table_stride = s.tile_stride = (columns + to - 1) / to * to;
  }
  return s;
}

template <class T>
void scatter_gives_the_loop(operation op, bool bulk) {
  CAPTURE(device_name<T>());
  CAPTURE(device_name(op));
  constexpr int hows = small_float<T> ? 6 : 4; // narrower ones, and halves alone, are the same where there are none
  primitive_kernel const kernel(header, text, "scatter<" + device_name(op) + ", " + device_name<T>() + ">");
  std::mt19937 random(7u + unsigned(sizeof(T)));
  for (int columns : {1,  2,  3,  4,   5,   7,   8,   9,   15,  16,  17,   31,   32,  33,
                      63, 64, 65, 100, 127, 128, 129, 255, 257, 512, 1000, 1023, 4097})
    for (int repeat = 0; repeat < 6; ++repeat) {
      auto const s = a_shape<T>(columns, random);
      std::vector<T> tile(std::size_t(s.tile_offset + s.rows * s.tile_stride) + 1);
      for (auto& x : tile) x = number<T>(op, random);
      std::vector<T> table(std::size_t(s.table_offset + s.table_rows * s.table_stride) + 1);
      for (auto& x : table) x = number<T>(op, random);
      std::vector<i32> keys(std::size_t(s.rows) + 1);
      for (auto& k : keys) k = i32(random() % unsigned(s.table_rows));
      auto expected = table;
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < columns; ++c) {
          auto& at = expected[std::size_t(s.table_offset + keys[std::size_t(r)] * s.table_stride + c)];
          at = folded(op, at, tile[std::size_t(s.tile_offset + r * s.tile_stride + c)]);
        }
      on_device const tile_there(tile);
      on_device const keys_there(keys);
      for (int how = bulk ? 0 : 1; how < hows; ++how) {
        on_device const table_there(table);
        int const bytes_per_warp = repeat % 2 == 0 ? 4096 : 128;
        kernel({.grid_blocks = 1 + unsigned(repeat) * 3, .block_threads = 128, .dynamic_shared_bytes = 4 * 4096},
               table_there.data() + s.table_offset, i64(s.table_stride), tile_there.data() + s.tile_offset,
               i64(s.tile_stride), i64(s.rows), columns, keys_there.data(), how, bytes_per_warp);
        bool const same = same_numbers(table_there.back(), expected);
        CHECK_MESSAGE(same, "rung " << how << ", " << s.rows << " rows of " << columns << " to " << s.table_rows
                                    << ", offsets " << s.table_offset << " and " << s.tile_offset << ", strides "
                                    << s.table_stride << " and " << s.tile_stride);
      }
    }
}

template <class T>
void tile_gives_the_loop(operation op) {
  CAPTURE(device_name<T>());
  primitive_kernel const kernel(header, text, "one_tile<" + device_name(op) + ", " + device_name<T>() + ">");
  std::mt19937 random(11);
  int const per_16 = 16 / int(sizeof(T));
  for (int n : {0, 1, 2, 3, 5, 8, 16, 17, 31, 64, 100, 1000, 1027})
    for (int offset = 0; offset < per_16; ++offset)
      for (int shift : {offset, (offset + 1) % per_16}) {
        std::vector<T> from(std::size_t(n) + 1), to(std::size_t(n + offset) + 3);
        for (auto& x : from) x = number<T>(op, random);
        for (auto& x : to) x = number<T>(op, random);
        auto expected = to;
        for (int block = 0; block < 2 * 3; ++block)
          for (int i = 0; i < n; ++i) {
            auto& at = expected[std::size_t(offset + i)];
            at = folded(op, at, from[std::size_t(i)]);
          }
        on_device const from_there(from), to_there(to);
        kernel({.grid_blocks = 2, .block_threads = 96, .dynamic_shared_bytes = 16384}, to_there.data() + offset,
               from_there.data(), n, shift);
        CHECK_MESSAGE(same_numbers(to_there.back(), expected),
                      n << " elements, offset " << offset << ", shift " << shift);
      }
}

} // namespace

// values of: red.relaxed.gpu.global.add.f32, red.relaxed.gpu.global.add.v4.f32, red.relaxed.gpu.global.add.f64
// values of: red.relaxed.gpu.global.add.v2.f32, red.relaxed.gpu.global.add.noftz.*
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32, cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.*
TEST_CASE("rows of floats are added by every rung") {
  if (no_kernels()) return;
  scatter_gives_the_loop<float>(operation::add, true);
  scatter_gives_the_loop<double>(operation::add, true);
  scatter_gives_the_loop<f16>(operation::add, true);
  scatter_gives_the_loop<bf16>(operation::add, true);
}

// values of: red.relaxed.gpu.global.add.s32, red.relaxed.gpu.global.add.u32, red.relaxed.gpu.global.add.u64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32, cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64
TEST_CASE("rows of integers are added by every rung") {
  if (no_kernels()) return;
  scatter_gives_the_loop<i32>(operation::add, true);
  scatter_gives_the_loop<u32>(operation::add, true);
  scatter_gives_the_loop<i64>(operation::add, true);
  scatter_gives_the_loop<u64>(operation::add, true);
}

// values of: red.relaxed.gpu.global.max.noftz.*f16, red.relaxed.gpu.global.max.noftz.*f16x2
// values of: red.relaxed.gpu.global.min.noftz.*bf16, red.relaxed.gpu.global.min.noftz.*bf16x2, red.relaxed.gpu.global.min.s32
// values of: red.relaxed.gpu.global.max.u64, red.relaxed.gpu.global.min.s64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.max.f16, cp.reduce.async.bulk.global.shared::cta.bulk_group.min.bf16
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32, cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64
TEST_CASE("the least and the greatest of rows, of floats too, which no red knows") {
  if (no_kernels()) return;
  scatter_gives_the_loop<float>(operation::min, false);
  scatter_gives_the_loop<double>(operation::max, false);
  scatter_gives_the_loop<f16>(operation::max, true);
  scatter_gives_the_loop<bf16>(operation::min, true);
  scatter_gives_the_loop<i32>(operation::min, true);
  scatter_gives_the_loop<u64>(operation::max, true);
  scatter_gives_the_loop<i64>(operation::min, true);
}

// values of: red.relaxed.gpu.global.xor.b32, red.relaxed.gpu.global.and.b64, red.relaxed.gpu.global.or.b64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b32, cp.reduce.async.bulk.global.shared::cta.bulk_group.and.b64
// values of: cp.reduce.async.bulk.global.shared::cta.bulk_group.or.b64
TEST_CASE("bits of rows") {
  if (no_kernels()) return;
  scatter_gives_the_loop<u32>(operation::bit_xor, true);
  scatter_gives_the_loop<u64>(operation::bit_and, true);
  scatter_gives_the_loop<i64>(operation::bit_or, true);
}

TEST_CASE("a tile of shared memory goes to one place, the aligned middle by the bulk engine") {
  if (no_kernels()) return;
  tile_gives_the_loop<float>(operation::add);
  tile_gives_the_loop<bf16>(operation::add);
  tile_gives_the_loop<u64>(operation::add);
  tile_gives_the_loop<i32>(operation::max);
  tile_gives_the_loop<double>(operation::min);
}

namespace {
/// As the device has them.
template <class T>
struct keyed {
  T* table;
  i64 stride;
  i32 const* keys;
  bool larger_than_l2 = false;
};
template <class T>
struct tiled {
  T const* first;
  i64 rows, stride;
  int columns;
};

template <class T>
void copies_give_the_loop(operation op, T identity) {
  auto const of = "<" + device_name(op) + ", " + device_name<T>() + ">";
  primitive_kernel const spread(header, text, "spread" + of), together(header, text, "together" + of);
  std::mt19937 random(3);
  for (int columns : {1, 16, 33}) {
    int const rows = 2000, table_rows = 3, spread_over = 7;
    std::size_t const elements = std::size_t(table_rows * columns);
    std::vector<T> tile(std::size_t(rows * columns)), table(elements);
    for (auto& x : tile) x = number<T>(op, random);
    for (auto& x : table) x = number<T>(op, random);
    std::vector<i32> keys(rows);
    for (auto& k : keys) k = i32(random() % 3);
    std::vector<T> const clean(elements * spread_over, identity);
    on_device const tile_there(tile), table_there(table), copies(clean);
    on_device const keys_there(keys);
    for (int repeat = 0; repeat < 2; ++repeat) { // the second time into copies as the first left them
      for (std::size_t i = 0; i < tile.size(); ++i) {
        auto& at = table[std::size_t(keys[i / std::size_t(columns)] * columns) + i % std::size_t(columns)];
        at = folded(op, at, tile[i]);
      }
      spread({.grid_blocks = 20, .block_threads = 64}, keyed<T>{table_there.data(), columns, keys_there.data()},
             tiled<T>{tile_there.data(), rows, columns, columns}, copies.data(), spread_over, i64(elements));
      together({.grid_blocks = 2, .block_threads = 64}, table_there.data(), copies.data(), spread_over, i64(elements),
               identity);
    }
    CHECK_MESSAGE(same_numbers(table_there.back(), table), columns << " columns");
    CHECK(same_numbers(copies.back(), clean));
  }
}
} // namespace

TEST_CASE("copies of a table come together and are clean again") {
  if (no_kernels()) return;
  copies_give_the_loop<float>(operation::add, 0.f);
  copies_give_the_loop<bf16>(operation::max, bf16::from_bits(0xff80));
  copies_give_the_loop<u64>(operation::bit_and, ~u64(0));
}

TEST_CASE("a NaN that is folded into a least or a greatest stays there") {
  if (no_kernels()) return;
  float const nan = __builtin_nanf("");
  for (auto op : {operation::min, operation::max}) {
    primitive_kernel const kernel(header, text, "scatter<" + device_name(op) + ", float>");
    for (float sign : {1.f, -1.f}) {
      std::vector<float> const tile{3.f, -3.f, sign * nan, 5.f, -7.f, 0.f};
      on_device const tile_there(tile), table_there(std::vector<float>{sign});
      on_device const keys(std::vector<i32>(6, 0));
      for (int repeat = 0; repeat < 2; ++repeat) // a second time into what is NaN by now
        kernel({.grid_blocks = 1, .block_threads = 32}, table_there.data(), i64(1), tile_there.data(), i64(1), i64(6),
               1, keys.data(), 1, 0);
      float const answer = table_there.back()[0];
      CHECK(answer != answer);
    }
  }
}
