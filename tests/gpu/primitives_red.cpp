// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every form of red gives the value of the operation: each operation and type, memory ordering, scope and space, with
// and without a cache policy, one by one and in vectors. All threads meet at one word, signs are mixed.
#include "gpu/primitive_kernel.hpp"

#include <tally/primitive/reducible.hpp>

using namespace tally::v0;
using namespace tally::v0::primitive;

namespace {

/// Slot (order * 5 + scope) * 5 + where: in global memory, there with a policy, at a generic address of it, in shared
/// memory, in shared memory by the cluster's address.
char const text[] = R"device(
template <operation Op, class T, int I>
__device__ void one_by_one(T* out, T start, T value) {
  constexpr semantics order = semantics(I / 5);
  constexpr scope who = scope(I % 5);
  __shared__ T own[2];
  if (threadIdx.x == 0) own[0] = own[1] = start;
  __syncthreads();
  red<Op, order, who>(in_global(out), value);
  red<Op, order, who>(in_global(out + 1), value, cache_policy::evict_last());
  red<Op, order, who>(anywhere(out + 2), value);
  red<Op, order, who>(in_shared(own), value);
  red<Op, order, who>(in_cluster(own + 1, 0), value);
  __syncthreads();
  if (threadIdx.x < 2) out[3 + threadIdx.x] = own[threadIdx.x];
  __syncthreads();
}
template <operation Op, class T>
__global__ void scalars(T* out, T start, T const* values) {
  for_each_index<15>([&](auto i) { one_by_one<Op, T, i>(out + i * 5, start, values[threadIdx.x]); });
}
template <operation Op, class T, int N>
__global__ void vectors(lanes<T, N>* out, lanes<T, N> const* values) {
  for_each_index<15>([&](auto i) {
    constexpr semantics order = semantics(i / 5);
    constexpr scope who = scope(i % 5);
    red<Op, order, who>(in_global(out + i * 2), values[threadIdx.x]);
    red<Op, order, who>(in_global(out + i * 2 + 1), values[threadIdx.x], cache_policy::evict_first(0.5f));
  });
}
)device";

constexpr int threads = 96;

template <class T>
T counted_up(T a, T b) {
  return a >= b ? T(0) : T(a + 1);
}
template <class T>
T counted_down(T a, T b) {
  return a == 0 || a > b ? b : T(a - 1);
}

template <class T>
T folded(operation op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (op) {
    case operation::add: return T(U(U(a) + U(b)));
    case operation::inc: return counted_up(a, b);
    case operation::dec: return counted_down(a, b);
    case operation::bit_and: return T(a & b);
    case operation::bit_or: return T(a | b);
    case operation::bit_xor: return T(a ^ b);
    default: return op == operation::min ? (b < a ? b : a) : (a < b ? b : a);
    }
  } else if (op == operation::add) {
    return T(a + b);
  } else {
    return op == operation::min ? (b < a ? b : a) : (a < b ? b : a);
  }
}

/// Whole numbers whose sums stay whole in every type; inc and dec need one bound for all.
template <class T>
T number(operation op, unsigned i) {
  if (op == operation::inc || op == operation::dec) return T(70);
  int const small = int(i * 2654435761u >> 16 & 7) - 4 + (i % 2 == 0);
  if constexpr (std::is_integral_v<T>)
    return op == operation::add ? T(small * 1234567) : T(T(i + 1) * T(0x9e3779b97f4a7c15u) ^ T(i << 20));
  else
    return T(float(op == operation::add ? small : small * 50 + int(i) + 1));
}

template <class T>
std::string name_of_type() {
  if constexpr (std::is_same_v<T, two<f16>>)
    return "two<f16>";
  else if constexpr (std::is_same_v<T, two<bf16>>)
    return "two<bf16>";
  else
    return device_name<T>();
}

template <class T>
T number_of(operation op, unsigned i) {
  if constexpr (requires(T x) { x.low; })
    return {number<decltype(T::low)>(op, 2 * i), number<decltype(T::low)>(op, 2 * i + 1)};
  else
    return number<T>(op, i);
}
template <class T>
T folded_of(operation op, T a, T b) {
  if constexpr (requires { a.low; })
    return {folded(op, a.low, b.low), folded(op, a.high, b.high)};
  else
    return folded(op, a, b);
}

template <class T>
void scalars(operation op) {
  CAPTURE(name_of_type<T>());
  CAPTURE(device_name(op));
  std::vector<T> values(threads);
  for (unsigned i = 0; i < threads; ++i) values[i] = number_of<T>(op, i);
  T const start = number_of<T>(op, 1000);
  T expected = start;
  for (T const& v : values) expected = folded_of(op, expected, v);
  on_device const values_there(values), out(std::vector<T>(75, start));
  primitive_kernel const kernel("tally/primitive/red_vector.cuh", text,
                                "scalars<" + device_name(op) + ", " + name_of_type<T>() + ">");
  kernel({.block_threads = threads}, out.data(), start, values_there.data());
  auto const answers = out.back();
  for (std::size_t i = 0; i < answers.size(); ++i)
    CHECK_MESSAGE(same_bits(answers[i], expected),
                  "order " << i / 25 << ", scope " << i / 5 % 5 << ", place " << i % 5);
}

template <class T, int N>
void vectors(operation op) {
  CAPTURE(name_of_type<T>());
  CAPTURE(device_name(op));
  CAPTURE(N);
  std::vector<T> values(std::size_t(threads * N)), start(std::size_t(30 * N));
  for (unsigned i = 0; i < values.size(); ++i) values[i] = number_of<T>(op, i);
  for (unsigned i = 0; i < start.size(); ++i) start[i] = number_of<T>(op, 1000 + i % N);
  std::vector<T> expected(start.begin(), start.begin() + N);
  for (std::size_t i = 0; i < values.size(); ++i) expected[i % N] = folded_of(op, expected[i % N], values[i]);
  on_device const values_there(values), out(start);
  primitive_kernel const kernel("tally/primitive/red_vector.cuh", text,
                                "vectors<" + device_name(op) + ", " + name_of_type<T>() + ", " + std::to_string(N) +
                                    ">");
  kernel({.block_threads = threads}, out.data(), values_there.data());
  auto const answers = out.back();
  for (std::size_t i = 0; i < answers.size(); ++i)
    CHECK_MESSAGE(same_bits(answers[i], expected[i % N]), "form " << i / N << ", lane " << i % N);
}

template <class T>
void vectors_of_halves() {
  for (auto op : {operation::add, operation::min, operation::max}) {
    vectors<T, 2>(op);
    vectors<T, 4>(op);
    vectors<T, 8>(op);
    vectors<two<T>, 2>(op);
    vectors<two<T>, 4>(op);
  }
}

} // namespace

// values of: red.relaxed.*.u32, red.release.*.u32, red.relaxed.*.b32, red.release.*.b32
TEST_CASE("red of u32 knows eight operations") {
  if (no_kernels()) return;
  for (auto op : {operation::add, operation::min, operation::max, operation::inc, operation::dec, operation::bit_and,
                  operation::bit_or, operation::bit_xor})
    scalars<u32>(op);
}

// values of: red.relaxed.*.s32, red.release.*.s32, red.relaxed.*.u64, red.relaxed.*.s64, red.relaxed.*.b64
TEST_CASE("red of the other integers") {
  if (no_kernels()) return;
  for (auto op :
       {operation::add, operation::min, operation::max, operation::bit_and, operation::bit_or, operation::bit_xor}) {
    scalars<i32>(op);
    scalars<u64>(op);
    scalars<i64>(op);
  }
}

// values of: red.relaxed.*.add.f32, red.relaxed.*.add.f64, red.relaxed.*.add.noftz.f16, red.relaxed.*.add.noftz.bf16
// values of: red.relaxed.*.add.noftz.f16x2, red.relaxed.*.add.noftz.bf16x2
TEST_CASE("red of floats adds") {
  if (no_kernels()) return;
  scalars<float>(operation::add);
  scalars<double>(operation::add);
  scalars<f16>(operation::add);
  scalars<bf16>(operation::add);
  scalars<two<f16>>(operation::add);
  scalars<two<bf16>>(operation::add);
}

// values of: red.relaxed.*.v2.*, red.relaxed.*.v4.*, red.relaxed.*.v8.*
TEST_CASE("red of vectors of floats") {
  if (no_kernels()) return;
  vectors<float, 2>(operation::add);
  vectors<float, 4>(operation::add);
  vectors_of_halves<f16>();
  vectors_of_halves<bf16>();
}

TEST_CASE("red.add.f32 flushes subnormals in global memory and keeps them in shared memory") {
  if (no_kernels()) return;
  char const subnormals[] = R"device(
__global__ void subnormal(float* out) {
  __shared__ float own;
  own = 0x1p-130f;
  out[0] = 0x1p-130f;
  red<operation::add>(in_global(out), 0x1p-131f);
  red<operation::add>(in_shared(&own), 0x1p-131f);
  __syncthreads();
  out[1] = own;
}
)device";
  on_device const out(std::vector<float>{1.f, 1.f});
  primitive_kernel("tally/primitive/red.cuh", subnormals, "subnormal")({}, out.data());
  CHECK(out.back()[0] == 0.f);
  CHECK(out.back()[1] == 0x1.8p-130f);
}

TEST_CASE("red reaches the memory of another block of the cluster") {
  if (no_kernels()) return;
  char const next[] = R"device(
template <class T>
__global__ void to_the_next(T* out, T start, T const* values) {
  __shared__ T own;
  if (threadIdx.x == 0) own = start;
  meet_cluster();
  u32 const rank = (own_rank() + 1) % cluster_blocks();
  red<operation::add, semantics::relaxed, scope::cluster>(in_cluster(&own, rank), values[own_rank() * blockDim.x + threadIdx.x]);
  meet_cluster();
  if (threadIdx.x == 0) out[own_rank()] = own;
}
)device";
  auto const check = [&]<class T>(T start) {
    primitive_kernel const kernel("tally/primitive/verbs.cuh", next, "to_the_next<" + device_name<T>() + ">");
    for (unsigned blocks : {2u, 3u, 8u}) {
      std::vector<T> values(blocks * threads), expected(blocks, start);
      for (unsigned i = 0; i < values.size(); ++i) {
        values[i] = number<T>(operation::add, i);
        auto& at = expected[(i / threads + 1) % blocks];
        at = folded(operation::add, at, values[i]);
      }
      on_device const values_there(values), out(std::vector<T>(blocks, T(1)));
      kernel({.grid_blocks = blocks, .block_threads = threads, .cluster_blocks = blocks}, out.data(), start,
             values_there.data());
      CHECK_MESSAGE(out.back() == expected, blocks << " blocks of " << device_name<T>());
    }
  };
  check(u32(7));
  check(i64(-7));
  check(3.0f);
  check(-3.0);
}
