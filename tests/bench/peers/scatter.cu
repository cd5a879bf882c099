// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows folded into the rows of a table that their keys name, by the ladder of primitive/accumulate.cuh: what
// tests/bench/scatter.py measures beside torch. A C interface, one function. Test layer.
#include <tally/plan/accumulate.hpp>
#include <tally/plan/targets.hpp>
#include <tally/primitive/accumulate.cuh>

#include <cuda_runtime.h>

using namespace tally::v0;
using namespace tally::v0::primitive;

namespace {

template <rung How, class T, class Key>
__global__ void __launch_bounds__(256, 4) scatter(rows_by_key<T, Key> to, tile_of_rows<T> from, int bytes_per_warp) {
  extern __shared__ __align__(128) unsigned char room[];
  if constexpr (How == rung::bulk_reduce)
    accumulate_in_bulk<operation::add>(to, from, room, bytes_per_warp);
  else if constexpr (How == rung::vector_red)
    accumulate<operation::add>(to, from);
  else
    accumulate_by_words<operation::add>(to, from);
}

template <class T>
__global__ void __launch_bounds__(256, 4)
    scatter_spread(rows_by_key<T, i64> to, tile_of_rows<T> from, T* copies, int number, i64 elements) {
  accumulate<operation::add>(to.spread(copies, number, elements), from);
}
template <class T>
__global__ void together(T* table, T* copies, int number, i64 elements) {
  fold_copies<operation::add>(table, copies, number, elements, T(0.0f));
}

struct request {
  int how;
  void *table, *copies;
  i64 table_rows;
  void const *tile, *keys;
  i64 rows;
  int columns, blocks, bytes_per_warp;
  cudaStream_t stream;
};

template <rung How, class T>
int launch(rows_by_key<T, i64> to, tile_of_rows<T> from, planning::accumulation const& how, request const& r) {
  auto const kernel = scatter<How, T, i64>;
  int const room = How == rung::bulk_reduce ? r.bytes_per_warp : 0, shared = how.threads_per_block / 32 * room;
  if (shared > 48 * 1024)
    if (auto const e = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared)) return int(e);
  kernel<<<unsigned(how.blocks), unsigned(how.threads_per_block), unsigned(shared), r.stream>>>(to, from, room);
  return int(cudaGetLastError());
}

template <class T>
int launch_spread(rows_by_key<T, i64> to, tile_of_rows<T> from, planning::accumulation const& how, request const& r) {
  i64 const elements = r.table_rows * r.columns;
  auto* const copies = static_cast<T*>(r.copies);
  scatter_spread<T>
      <<<unsigned(how.blocks), unsigned(how.threads_per_block), 0, r.stream>>>(to, from, copies, how.copies, elements);
  together<T><<<unsigned((elements + 255) / 256), 256, 0, r.stream>>>(to.table, copies, how.copies, elements);
  return int(cudaGetLastError());
}

template <class T>
planning::accumulation choice(element_type type, i64 rows, int columns, i64 table_rows) {
  return planning::choose_rung({.op = operation::add,
                                .type = type,
                                .bytes_per_element = int(sizeof(T)),
                                .rows = rows,
                                .columns = columns,
                                .table_rows = table_rows,
                                .in_shared_memory = false,
                                .promise = contract::fast,
                                .target = targets::h200});
}

template <class T>
int run(element_type type, request const& r) {
  auto a = choice<T>(type, r.rows, r.columns, r.table_rows);
  if (r.how >= 0) a.how = rung(r.how), a.copies = 1;
  if (r.blocks > 0) a.blocks = r.blocks;
  rows_by_key<T, i64> const to{static_cast<T*>(r.table), r.columns, static_cast<i64 const*>(r.keys), a.larger_than_l2};
  tile_of_rows<T> const from{static_cast<T const*>(r.tile), r.rows, r.columns, r.columns};
  if (a.copies > 1) return launch_spread<T>(to, from, a, r);
  switch (a.how) {
  case rung::bulk_reduce:
    a.threads_per_block = 128;
    if (r.blocks == 0) a.blocks = 132 * 12;
    return launch<rung::bulk_reduce>(to, from, a, r);
  case rung::vector_red: return launch<rung::vector_red>(to, from, a, r);
  default: return launch<rung::scalar_red>(to, from, a, r);
  }
}

} // namespace

/// Adds `rows` rows of `columns` elements (type 0 f32, 1 bf16, 2 f64, 3 f16) to the rows of `table` named by i64 keys. `how` is
/// a rung, or -1 for the planner's choice; `copies` are 2 MiB of zeros, left so; blocks: 0 for the planner's. Returns a
/// cudaError_t.
extern "C" __attribute__((visibility("default"))) int scatter_rows(int type, int how, void* table, void* copies,
                                                                   long long table_rows, void const* tile,
                                                                   void const* keys, long long rows, int columns,
                                                                   int blocks, int bytes_per_warp, void* stream) {
  request const r{how,
                  table,
                  copies,
                  table_rows,
                  tile,
                  keys,
                  rows,
                  columns,
                  blocks,
                  bytes_per_warp > 0 ? bytes_per_warp : 4096,
                  static_cast<cudaStream_t>(stream)};
  switch (type) {
  case 0: return run<float>(element_type::f32, r);
  case 1: return run<bf16>(element_type::bf16, r);
  case 2: return run<double>(element_type::f64, r);
  case 3: return run<f16>(element_type::f16, r);
  default: return int(cudaErrorInvalidValue);
  }
}

/// What the planner chooses on an H200: the rung, and how many copies of the table.
extern "C" __attribute__((visibility("default"))) int scatter_choice(int type, long long rows, int columns,
                                                                     long long table_rows, int* copies) {
  auto const a = type == 0   ? choice<float>(element_type::f32, rows, columns, table_rows)
                 : type == 1 ? choice<bf16>(element_type::bf16, rows, columns, table_rows)
                 : type == 2 ? choice<double>(element_type::f64, rows, columns, table_rows)
                             : choice<f16>(element_type::f16, rows, columns, table_rows);
  *copies = a.copies;
  return int(a.how);
}
