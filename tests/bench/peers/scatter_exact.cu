// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows added exactly to the rows of a table that their keys name, by primitive/rows_exact.cuh and rows_gathered.cuh: what
// tests/bench/scatter.py --exact measures beside torch. A C interface. Test layer.
#include <tally/plan/accumulate_exact.hpp>
#include <tally/plan/targets.hpp>
#include <tally/primitive/rows_gathered.cuh>

#include <cuda_runtime.h>

using namespace tally::v0;
using namespace tally::v0::primitive;
using planning::exact_rung;

namespace {

template <class T>
using to_lanes = exact_rows_by_key<T, i64>;

template <class T>
__global__ void __launch_bounds__(256, 4) by_red(to_lanes<T> to, tile_of_rows<T> from) {
  accumulate_exactly(to, from);
}
template <class T>
__global__ void __launch_bounds__(256, 3) in_bulk(to_lanes<T> to, tile_of_rows<T> from, int bytes_per_warp) {
  extern __shared__ __align__(128) unsigned char room[];
  accumulate_exactly_in_bulk(to, from, room, bytes_per_warp);
}
template <class T>
__global__ void finish(T* table, i64 table_rows, int columns, to_lanes<T> from) {
  finish_exactly(table, columns, table_rows, columns, from.lanes, from.unit, from.marks);
}
template <class T>
__global__ void file(filed_rows into, to_lanes<T> rest, tile_of_rows<T> from) {
  file_rows(into, rest, from);
}
template <class T>
__global__ void __launch_bounds__(256, 4)
    gather(T* table, i64 table_rows, filed_rows filed, to_lanes<T> rest, tile_of_rows<T> from) {
  gather_exactly(table, from.columns, table_rows, filed, rest, from);
}
template <class T>
__global__ void refuse(T* table, i64 table_rows, int columns, u32 const* marks) {
  refuse_rows(table, columns, table_rows, columns, marks);
}

struct request {
  int how;
  void *table, *lanes, *counts, *filed, *marks;
  i64 table_rows;
  void const *tile, *keys;
  i64 rows;
  int columns;
  double bound;
  int steps;
  cudaStream_t stream;
};

template <class T>
planning::tile_facts facts_of(element_type type, i64 rows, int columns, i64 table_rows) {
  return {.op = operation::add,
          .type = type,
          .bytes_per_element = int(sizeof(T)),
          .rows = rows,
          .columns = columns,
          .table_rows = table_rows,
          .in_shared_memory = false,
          .promise = contract::exact,
          .target = targets::h200};
}

template <class T>
int run(element_type type, request const& r) {
  auto const f = facts_of<T>(type, r.rows, r.columns, r.table_rows);
  auto const a = r.how < 0 ? planning::choose_exact_rung(f) : planning::launch_of(f, exact_rung(r.how));
  using number = accumulator_t<T>;
  auto* const marks = static_cast<u32*>(r.marks);
  to_lanes<T> const to{static_cast<i64*>(r.lanes), static_cast<i64 const*>(r.keys),
                       exact_unit<number>::of(number(r.bound), r.rows), marks, a.larger_than_l2};
  tile_of_rows<T> const from{static_cast<T const*>(r.tile), r.rows, r.columns, r.columns};
  auto* const table = static_cast<T*>(r.table);
  filed_rows const filed{static_cast<u32*>(r.counts), static_cast<u32*>(r.filed), u32(a.per_key)};
  unsigned const threads = unsigned(a.threads_per_block), blocks = unsigned(a.blocks), last = unsigned(a.finish_blocks);
  if ((r.steps & 1) != 0 && a.how == exact_rung::lanes_by_red)
    by_red<T><<<blocks, threads, 0, r.stream>>>(to, from);
  if ((r.steps & 1) != 0 && a.how == exact_rung::gathered) file<T><<<blocks, threads, 0, r.stream>>>(filed, to, from);
  if ((r.steps & 1) != 0 && a.how == exact_rung::lanes_in_bulk) {
    int const shared = a.threads_per_block / 32 * a.bytes_per_warp;
    if (auto const e = cudaFuncSetAttribute(in_bulk<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, shared))
      return int(e);
    in_bulk<T><<<blocks, threads, unsigned(shared), r.stream>>>(to, from, a.bytes_per_warp);
  }
  if ((r.steps & 2) != 0) {
    if (a.how == exact_rung::gathered)
      gather<T><<<last, threads, 0, r.stream>>>(table, r.table_rows, filed, to, from);
    else
      finish<T><<<last, threads, 0, r.stream>>>(table, r.table_rows, r.columns, to);
    refuse<T><<<132 * 4, 256, 0, r.stream>>>(table, r.table_rows, r.columns, marks);
  }
  return int(cudaGetLastError());
}

} // namespace

/// Adds `rows` rows of `columns` elements (type 0 f32, 1 bf16, 2 f64, 3 f16), each a multiple of the unit of `bound`, to the rows
/// of `table` named by i64 keys. `how` is a rung, or -1 for the planner's choice; `lanes` are table_rows times the columns and
/// one, `counts` table_rows words, zeros and left so; `filed` has room for the rows that are filed; steps: 1 adds or files, 2
/// finishes. Returns a cudaError_t.
extern "C" __attribute__((visibility("default"))) int scatter_exact(int type, int how, void* table, void* lanes,
                                                                    void* counts, void* filed, void* marks,
                                                                    long long table_rows, void const* tile,
                                                                    void const* keys, long long rows, int columns,
                                                                    double bound, int steps, void* stream) {
  request const r{how,  table,   lanes, counts, filed, marks, table_rows, tile, keys,
                  rows, columns, bound, steps,  static_cast<cudaStream_t>(stream)};
  switch (type) {
  case 0: return run<float>(element_type::f32, r);
  case 1: return run<bf16>(element_type::bf16, r);
  case 2: return run<double>(element_type::f64, r);
  case 3: return run<f16>(element_type::f16, r);
  default: return int(cudaErrorInvalidValue);
  }
}

/// The rung that the planner chooses on an H200, and words of `filed` that gathering needs.
extern "C" __attribute__((visibility("default"))) int scatter_exact_choice(int bytes_per_element, long long rows, int columns,
                                                                           long long table_rows, long long* room) {
  auto f = bytes_per_element == 2   ? facts_of<bf16>(element_type::bf16, rows, columns, table_rows)
           : bytes_per_element == 4 ? facts_of<float>(element_type::f32, rows, columns, table_rows)
                                    : facts_of<double>(element_type::f64, rows, columns, table_rows);
  *room = planning::room_per_key(rows, table_rows) * table_rows;
  return int(planning::choose_exact_rung(f).how);
}
