// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every device verb, for kernels of your own that use many of them. Layer 2. It decides nothing; kernels of the library
// include the verbs they use.
#pragma once

#include <tally/primitive/accumulate.cuh>
#include <tally/primitive/bulk_reduce.cuh>
#include <tally/primitive/cluster_push.cuh>
#include <tally/primitive/copy.cuh>
#include <tally/primitive/fold_word.cuh>
#include <tally/primitive/load_ring.cuh>
#include <tally/primitive/multicast_ring.cuh>
#include <tally/primitive/pair.cuh>
#include <tally/primitive/prefetch.cuh>
#include <tally/primitive/publish.cuh>
#include <tally/primitive/red.cuh>
#include <tally/primitive/red_async.cuh>
#include <tally/primitive/red_vector.cuh>
#include <tally/primitive/rows_gathered.cuh>
#include <tally/primitive/store_ring.cuh>
#include <tally/primitive/store_rows.cuh>
#include <tally/primitive/store_sum_ring.cuh>
