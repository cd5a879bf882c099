// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each way to combine one state per thread to one per block is best: state width x cost of the operation x threads, for
// one block alone (latency) and for a full chip of blocks that do nothing else (throughput). The evidence of plan/block.hpp.
// Layer: tests. Needs no file; prints a page of Markdown (docs/measured/block_algorithms_h200.md).
#include <cub/block/block_reduce.cuh>

#include <tally/kernel/warp_tree.cuh>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "require_cuda.hpp"

using namespace tally::v0;

template <int Words>
struct state {
  u32 w[Words];
};

/// Cheap: an integer addition per word.
struct add_words {
  static constexpr char const* name = "add";
  template <int Words>
  __device__ __forceinline__ state<Words> operator()(state<Words> a, state<Words> const& b) const {
#pragma unroll
    for (int i = 0; i < Words; ++i)
      a.w[i] += b.w[i];
    return a;
  }
};
/// Costly: an IEEE division of floats per word.
struct divide_words {
  static constexpr char const* name = "divide";
  template <int Words>
  __device__ __forceinline__ state<Words> operator()(state<Words> a, state<Words> const& b) const {
#pragma unroll
    for (int i = 0; i < Words; ++i) {
      float const x = __uint_as_float(a.w[i]), y = __uint_as_float(b.w[i]);
      a.w[i] = __float_as_uint(__fadd_rn(x, y) / (__fmul_rn(x, y) + 1.0f));
    }
    return a;
  }
};

/// The canonical tree of kernel/block.cuh.
template <int Threads, int Words, class Op>
struct neighbour_tree {
  struct room {
    state<Words> of_warp[Threads / 32];
  };
  __device__ static state<Words> reduce(room& r, state<Words> s, Op op) {
    int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    s = kernel::combine_lanes<32>(op, s, 32, lane);
    if (lane == 0)
      r.of_warp[warp] = s;
    __syncthreads();
    if (warp == 0)
      s = kernel::combine_lanes<Threads / 32>(op, r.of_warp[lane < Threads / 32 ? lane : 0], Threads / 32, lane);
    return s;
  }
};
/// The same with redux.sync in place of five shuffles.
template <int Threads, int Words, class Op>
struct redux {
  struct room {
    u32 of_warp[Threads / 32];
  };
  __device__ static state<Words> reduce(room& r, state<Words> s, Op) {
    int const lane = int(threadIdx.x % 32), warp = int(threadIdx.x / 32);
    s.w[0] = __reduce_add_sync(0xffffffffu, s.w[0]);
    if (lane == 0)
      r.of_warp[warp] = s.w[0];
    __syncthreads();
    if (warp == 0)
      s.w[0] = __reduce_add_sync(0xffffffffu, lane < Threads / 32 ? r.of_warp[lane] : 0u);
    return s;
  }
};
template <cub::BlockReduceAlgorithm Algorithm, int Threads, int Words, class Op>
struct with_cub {
  using block = cub::BlockReduce<state<Words>, Threads, Algorithm>;
  using room = typename block::TempStorage;
  __device__ static state<Words> reduce(room& r, state<Words> s, Op op) { return block(r).Reduce(s, op); }
};
template <int T, int W, class Op>
using warp_reductions = with_cub<cub::BLOCK_REDUCE_WARP_REDUCTIONS, T, W, Op>;
template <int T, int W, class Op>
using raking = with_cub<cub::BLOCK_REDUCE_RAKING, T, W, Op>;
template <int T, int W, class Op>
using raking_commutative = with_cub<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, T, W, Op>;

/// `rounds` block reductions, each fed by the answer of the one before it.
template <class Way, int Threads, int Words, class Op>
__global__ void __launch_bounds__(Threads) many(int rounds, u32* out) {
  __shared__ typename Way::room room;
  state<Words> s;
  u32 last = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
#pragma unroll
    for (int i = 0; i < Words; ++i)
      s.w[i] = 0x3f800000u + ((threadIdx.x * 37u + u32(i) * 11u + u32(k)) & 0xffffu) + (last & 1u);
    s = Way::reduce(room, s, Op{});
    last = s.w[0];
#pragma unroll
    for (int i = 1; i < Words; ++i)
      last ^= s.w[i];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    out[blockIdx.x] = last;
}

/// Eight trees over a warp, side by side or one after the other.
template <bool SideBySide, int Words, class Op>
__global__ void __launch_bounds__(256) trees(int rounds, u32* out) {
  int const lane = int(threadIdx.x % 32);
  u32 last = 0;
#pragma unroll 1
  for (int k = 0; k < rounds; ++k) {
    state<Words> s[8];
#pragma unroll
    for (int t = 0; t < 8; ++t)
#pragma unroll
      for (int i = 0; i < Words; ++i)
        s[t].w[i] = 0x3f800000u + ((threadIdx.x * 37u + u32(8 * t + i) * 11u + u32(k)) & 0xffffu) + (last & 1u);
    if constexpr (SideBySide) {
      s[0] = kernel::combine_warp<8>(Op{}, s, lane);
    } else {
#pragma unroll
      for (int t = 0; t < 8; ++t)
        s[t] = kernel::combine_lanes<32>(Op{}, s[t], 32, lane);
#pragma unroll
      for (int h = 1; h < 8; h *= 2)
#pragma unroll
        for (int t = 0; t < 8; t += 2 * h)
          s[t] = Op{}(s[t], s[t + h]);
    }
    last = s[0].w[0];
#pragma unroll
    for (int i = 1; i < Words; ++i)
      last ^= s[0].w[i];
  }
  if (lane == 0)
    out[blockIdx.x * 8 + threadIdx.x / 32] = last;
}

static u32* scratch;
static int multiprocessors;

/// The least of five times, in microseconds.
template <class Kernel>
static double microseconds(Kernel kernel, int blocks, int threads, int rounds) {
  static cudaEvent_t begin = [] { cudaEvent_t e; REQUIRE_CUDA(cudaEventCreate(&e)); return e; }();
  static cudaEvent_t end = [] { cudaEvent_t e; REQUIRE_CUDA(cudaEventCreate(&e)); return e; }();
  double best = 1e30;
  for (int k = 0; k < 6; ++k) {
    REQUIRE_CUDA(cudaEventRecord(begin));
    kernel<<<unsigned(blocks), unsigned(threads)>>>(rounds, scratch);
    REQUIRE_CUDA(cudaGetLastError());
    REQUIRE_CUDA(cudaEventRecord(end));
    REQUIRE_CUDA(cudaEventSynchronize(end));
    float ms;
    REQUIRE_CUDA(cudaEventElapsedTime(&ms, begin, end));
    if (k > 0 && ms * 1e3 < best)
      best = ms * 1e3;
  }
  return best;
}

/// Nanoseconds a round: the difference of two lengths, so that the launch is not in it.
template <class Kernel>
static double per_round(Kernel kernel, int blocks, int threads, int rounds) {
  return (microseconds(kernel, blocks, threads, 2 * rounds) - microseconds(kernel, blocks, threads, rounds)) * 1e3 / rounds;
}

struct cost {
  double alone;  ///< ns a reduction, one block on the chip
  double full;   ///< ns a reduction and multiprocessor, as many blocks as fit
  u32 answer;
};
template <template <int, int, class> class Way, int Threads, int Words, class Op>
static cost measure() {
  auto* const kernel = many<Way<Threads, Words, Op>, Threads, Words, Op>;
  int fit = 0;
  REQUIRE_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, Threads, 0));
  cost c;
  c.alone = per_round(kernel, 1, Threads, 1000);
  c.full = fit == 0 ? 0 : per_round(kernel, fit * multiprocessors, Threads, 500) / fit;
  kernel<<<1, Threads>>>(1, scratch);
  REQUIRE_CUDA(cudaMemcpy(&c.answer, scratch, 4, cudaMemcpyDeviceToHost));
  return c;
}

static bool wrong = false;
template <int Threads, int Words, class Op>
static void row() {
  cost c[5] = {measure<neighbour_tree, Threads, Words, Op>(), measure<warp_reductions, Threads, Words, Op>(),
               measure<raking, Threads, Words, Op>(), measure<raking_commutative, Threads, Words, Op>(), {}};
  int ways = 4;
  if constexpr (Words == 1 && std::is_same_v<Op, add_words>)
    c[4] = measure<redux, Threads, Words, Op>(), ways = 5;
  if (std::is_same_v<Op, add_words>) // no rounding: all must agree
    for (int k = 1; k < ways; ++k)
      wrong = wrong || c[k].answer != c[0].answer;
  std::printf("| %d | %s | %d ", Words * 4, Op::name, Threads);
  for (double cost::*of : {&cost::alone, &cost::full}) {
    int best = 0;
    for (int k = 1; k < ways; ++k)
      best = c[k].*of < c[best].*of ? k : best;
    for (int k = 0; k < 5; ++k)
      if (k >= ways)
        std::printf("| ");
      else
        std::printf(k == best ? "| **%.0f** " : "| %.0f ", c[k].*of);
  }
  std::printf("|\n");
  std::fflush(stdout);
}

template <int Words, class Op>
static void rows_of() {
  row<64, Words, Op>(), row<128, Words, Op>(), row<256, Words, Op>(), row<512, Words, Op>();
  if constexpr (Words * 4 * 1056 <= 48 * 1024) // raking keeps a state per thread in static shared memory
    row<1024, Words, Op>();
}
template <int Words>
static void both() {
  if constexpr (Words * 4 * 528 <= 48 * 1024)
    rows_of<Words, add_words>(), rows_of<Words, divide_words>();
  else
    row<64, Words, add_words>(), row<128, Words, add_words>(), row<256, Words, add_words>(), row<64, Words, divide_words>(),
        row<128, Words, divide_words>(), row<256, Words, divide_words>();
}

template <int Words, class Op>
static void row_of_trees() {
  double const apart = per_round(trees<false, Words, Op>, multiprocessors * 4, 256, 500) / 32;
  double const together = per_round(trees<true, Words, Op>, multiprocessors * 4, 256, 500) / 32;
  std::printf("| %d | %s | %.1f | %.1f | %.2f |\n", Words * 4, Op::name, apart, together, apart / together);
}

int main() {
  cudaDeviceProp of{};
  REQUIRE_CUDA(cudaGetDeviceProperties(&of, 0));
  multiprocessors = of.multiProcessorCount;
  REQUIRE_CUDA(cudaMalloc(&scratch, 1 << 20));
  std::printf("device: %s, %d multiprocessors, CUDA %d.%d\n\n", of.name, multiprocessors, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  std::printf("| bytes | operation | threads | alone: tree | warp_reductions | raking | raking_commutative_only | redux | "
              "full: tree | warp_reductions | raking | raking_commutative_only | redux |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  both<1>(), both<2>(), both<4>(), both<6>(), both<8>(), both<12>(), both<16>(), both<32>();
  std::printf("\n| bytes | operation | eight trees of a warp, one after the other | side by side | ratio |\n|---|---|---|---|---|\n");
  row_of_trees<1, add_words>(), row_of_trees<2, add_words>(), row_of_trees<4, add_words>(), row_of_trees<6, add_words>();
  row_of_trees<1, divide_words>(), row_of_trees<2, divide_words>(), row_of_trees<4, divide_words>(), row_of_trees<6, divide_words>();
  std::printf("\n%s\n", wrong ? "WRONG: the ways do not agree" : "all ways give the same integers");
  return wrong ? 1 : 0;
}
