/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C interface of a contestant: a shared object that run.py loads beside all the others into one process, so that
 * every figure of a table comes from one run on one device. Nothing here knows tally, CUB or Python. Test layer.
 *
 * A contestant lists its entries (a workload in one element type, done one way). For each size, run.py calls prepare once
 * (compile, allocate, choose), then burst many times (launches only), and reads results after it has synchronised. */
#ifndef TALLY_TESTS_BENCH_CONTESTANT_H
#define TALLY_TESTS_BENCH_CONTESTANT_H

#include <stdint.h>

#define CONTEST_ABI 2
#define CONTEST_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* One workload in one element type, done one way. */
typedef struct contest_entry {
  const char* workload;  /* the name in workloads.py: "sum", "dot", ... */
  const char* type;      /* of every column: "f32" "f64" "bf16" "i8" "i32" "c64" */
  const char* variant;   /* how: "Sum", "Sum gpu_to_gpu", "reproducible" */
  const char* kind;      /* "peer", "tally", "ceiling" (reads everything, answers nothing) */
  int32_t columns;       /* how many inputs */
  int32_t results;       /* how many doubles contest_results writes, <= 8 */
  int32_t alignment;     /* bytes that every column's address must be a multiple of */
  int32_t multiple_of;   /* elements that n must be a multiple of */
  int64_t n_max;         /* largest n */
} contest_entry;

/* Who is asked. */
typedef struct contest_card {
  int32_t abi;           /* CONTEST_ABI */
  int32_t entry_count;
  const char* name;      /* "cub 3.0.1" */
  const char* version;   /* of the library measured, with the compiler that built it */
  const contest_entry* entries;
} contest_card;

CONTEST_API const contest_card* contest_describe(void);

/* Compiles, allocates and chooses everything for n elements. Null on failure: contest_error says why.
 * columns: an example of the addresses that will follow (same alignment). stream: a cudaStream_t. */
CONTEST_API void* contest_prepare(int32_t entry, int64_t n, const void* const* columns, void* stream);

/* Enqueues count runs. Run k reads column c at columns[c] + strides[c] * ((first + k) % sets) bytes. The answer of the last
 * one stays on the device. Returns 0, or an error that contest_error explains. */
CONTEST_API int32_t contest_burst(void* handle, const void* const* columns, const int64_t* strides, int64_t sets,
                                  int64_t first, int64_t count, void* stream);

/* Copies the answer of the latest run. The caller has synchronised the stream. */
CONTEST_API int32_t contest_results(void* handle, double* results);

/* Overwrites the answer on the device with a pattern no answer has, so that an unwritten one shows. May return 1: cannot. */
CONTEST_API int32_t contest_poison(void* handle, void* stream);

CONTEST_API void contest_release(void* handle);
CONTEST_API const char* contest_error(void);

#ifdef __cplusplus
}
#endif
#endif
