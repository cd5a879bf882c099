// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUB as a contestant: DeviceReduce in the form its manual gives for each workload, with tally's accumulators (64-bit for
// integers, f32 for bf16). Compiled twice, with the toolkit's CCCL and with the newest one, which adds the environment API
// with its determinism levels. Scratch is allocated once, outside the timing. Test layer.
#include "device_run.hpp"

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/functional>
#include <cuda/std/complex>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#if CCCL_VERSION >= 3004000
#define BENCH_HAS_ENVIRONMENTS 1
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/__memory_resource/get_memory_resource.h>
#include <cuda/__stream/get_stream.h>
#include <thrust/reduce.h>
#include <thrust/system/cuda/execution_policy.h>
#else
#define BENCH_HAS_ENVIRONMENTS 0
#endif

namespace bench {
namespace {

template <class T> constexpr const char* type_name = "?";
template <> constexpr const char* type_name<float> = "f32";
template <> constexpr const char* type_name<double> = "f64";
template <> constexpr const char* type_name<std::int32_t> = "i32";
template <> constexpr const char* type_name<std::int8_t> = "i8";
template <> constexpr const char* type_name<__nv_bfloat16> = "bf16";
using c64 = cuda::std::complex<float>;
template <> constexpr const char* type_name<c64> = "c64";

template <class T> T read(const unsigned char* bytes, std::size_t offset = 0) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

constexpr std::int64_t any_size = std::int64_t{1} << 40;

/// A call with CUB's two-phase form: `call(scratch, bytes, columns, answer, n, stream)`.
template <class Call> struct two_phase : device_run {
  std::int64_t n = 0;

  bool prepare(std::int64_t count, addresses columns) override {
    n = count;
    std::size_t bytes = 0;
    return !failed(Call::run(nullptr, bytes, columns, nullptr, n, nullptr), "sizing") && own(bytes);
  }
  cudaError_t enqueue(addresses columns, cudaStream_t stream) override {
    std::size_t bytes = scratch_bytes;
    return Call::run(scratch, bytes, columns, answer, n, stream);
  }
  void lower(const unsigned char* bytes, double* results) const override { Call::lower(bytes, results, n); }
};

template <class Call>
maker row(const char* workload, const char* type, const char* variant, int columns, int results, int alignment = 1,
          int multiple_of = 1, std::int64_t n_max = any_size) {
  return {{workload, type, variant, "peer", columns, results, alignment, multiple_of, n_max}, &make_run<two_phase<Call>>};
}

// ---- sums -----------------------------------------------------------------------------------------------------------

template <class T, class Count> struct plain_sum {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    return cub::DeviceReduce::Sum(scratch, bytes, x ? static_cast<T const*>(x[0]) : nullptr, static_cast<T*>(answer),
                                  static_cast<Count>(n), s);
  }
  static void lower(const unsigned char* bytes, double* results, std::int64_t) {
    if constexpr (std::is_same_v<T, c64>) {
      results[0] = read<float>(bytes), results[1] = read<float>(bytes, 4);
    } else {
      results[0] = static_cast<double>(read<T>(bytes));
    }
  }
};

struct as_given {
  template <class T> __host__ __device__ T operator()(T v) const { return v; }
};
template <class A> struct widen {
  template <class T> __host__ __device__ A operator()(T v) const { return static_cast<A>(v); }
};

/// Sum into a wider accumulator: the raw pointer keeps CUB's vector loads.
template <class T, class A> struct wide_sum {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<T const*>(x[0]), static_cast<A*>(answer), n,
                                              cuda::std::plus<A>{}, widen<A>{}, A{}, s);
  }
  static void lower(const unsigned char* bytes, double* results, std::int64_t) {
    results[0] = static_cast<double>(read<A>(bytes));
  }
};

// ---- fused element work ---------------------------------------------------------------------------------------------

struct element_square { __host__ __device__ float operator()(float x) const { return x * x; } };
struct element_exp { __host__ __device__ float operator()(float x) const { return expf(x); } };
struct element_dot { __host__ __device__ float operator()(float x, float y, float) const { return x * y; } };
struct element_sad { __host__ __device__ float operator()(float x, float y, float) const { return fabsf(x - y); } };
struct element_wmse {
  __host__ __device__ float operator()(float x, float y, float w) const { return w * (x - y) * (x - y); }
};

enum class lowering { value, root, over_n };
template <lowering L> void lower_one(const unsigned char* bytes, double* results, std::int64_t n) {
  double const v = read<float>(bytes);
  results[0] = L == lowering::root ? std::sqrt(v) : L == lowering::over_n ? v / static_cast<double>(n) : v;
}

template <class Element, lowering L> struct one_column {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<float const*>(x[0]),
                                              static_cast<float*>(answer), n, cuda::std::plus<float>{}, Element{}, 0.f, s);
  }
  static void lower(const unsigned char* b, double* r, std::int64_t n) { lower_one<L>(b, r, n); }
};

template <class Element> struct of_tuple {
  template <class Tuple> __host__ __device__ float operator()(Tuple const& t) const {
    if constexpr (thrust::tuple_size<Tuple>::value == 2) return Element{}(thrust::get<0>(t), thrust::get<1>(t), 0.f);
    else return Element{}(thrust::get<0>(t), thrust::get<1>(t), thrust::get<2>(t));
  }
};

/// Columns zipped, as the manuals show it.
template <class Element, int Columns, lowering L> struct zipped {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    auto column = [&](int c) { return static_cast<float const*>(x[c]); };
    auto reduce = [&](auto zip) {
      return cub::DeviceReduce::TransformReduce(scratch, bytes, zip, static_cast<float*>(answer), n,
                                                cuda::std::plus<float>{}, of_tuple<Element>{}, 0.f, s);
    };
    if constexpr (Columns == 2) return reduce(thrust::make_zip_iterator(column(0), column(1)));
    else return reduce(thrust::make_zip_iterator(column(0), column(1), column(2)));
  }
  static void lower(const unsigned char* b, double* r, std::int64_t n) { lower_one<L>(b, r, n); }
};

/// Columns read four elements at a time, as a user does who looked at the profile.
template <class Element, int Columns> struct at_four {
  float4 const* column[3];
  __device__ float operator()(std::int64_t i) const {
    float4 const x = column[0][i], y = column[1][i];
    float4 w{0.f, 0.f, 0.f, 0.f};
    if constexpr (Columns == 3) w = column[2][i];
    Element e;
    return (e(x.x, y.x, w.x) + e(x.y, y.y, w.y)) + (e(x.z, y.z, w.z) + e(x.w, y.w, w.w));
  }
};
template <class Element, int Columns, lowering L> struct fours {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    at_four<Element, Columns> element{{static_cast<float4 const*>(x[0]), static_cast<float4 const*>(x[1]),
                                       Columns == 3 ? static_cast<float4 const*>(x[2]) : nullptr}};
    return cub::DeviceReduce::TransformReduce(scratch, bytes, thrust::counting_iterator<std::int64_t>(0),
                                              static_cast<float*>(answer), n / 4, cuda::std::plus<float>{}, element, 0.f,
                                              s);
  }
  static void lower(const unsigned char* b, double* r, std::int64_t n) { lower_one<L>(b, r, n); }
};

// ---- several folds, wide states -------------------------------------------------------------------------------------

struct moments { float sum, squares, low, high; };
struct moments_of { __host__ __device__ moments operator()(float x) const { return {x, x * x, x, x}; } };
struct moments_join {
  __host__ __device__ moments operator()(moments a, moments b) const {
    return {a.sum + b.sum, a.squares + b.squares, fminf(a.low, b.low), fmaxf(a.high, b.high)};
  }
};
/// sum min max mean variance from raw moments: cheaper than a careful variance, and near enough on the data used here.
struct five {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    float const inf = std::numeric_limits<float>::infinity();
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<float const*>(x[0]),
                                              static_cast<moments*>(answer), n, moments_join{}, moments_of{},
                                              moments{0.f, 0.f, inf, -inf}, s);
  }
  static void lower(const unsigned char* bytes, double* r, std::int64_t n) {
    auto const m = read<moments>(bytes);
    double const mean = m.sum / static_cast<double>(n);
    r[0] = m.sum, r[1] = m.low, r[2] = m.high, r[3] = mean, r[4] = m.squares / static_cast<double>(n) - mean * mean;
  }
};

struct welford { float count, mean, m2; };
struct welford_of { __host__ __device__ welford operator()(float x) const { return {1.f, x, 0.f}; } };
struct welford_join {
  __host__ __device__ welford operator()(welford a, welford b) const {
    float const count = a.count + b.count;
    if (count == 0.f) return a;
    float const delta = b.mean - a.mean, share = b.count / count;
    return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
  }
};
struct variance {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<float const*>(x[0]),
                                              static_cast<welford*>(answer), n, welford_join{}, welford_of{}, welford{},
                                              s);
  }
  static void lower(const unsigned char* bytes, double* r, std::int64_t n) {
    r[0] = read<welford>(bytes).m2 / static_cast<double>(n);
  }
};

struct logsum { float high, sum; };
struct logsum_of { __host__ __device__ logsum operator()(float x) const { return {x, 1.f}; } };
struct logsum_join {
  __host__ __device__ logsum operator()(logsum a, logsum b) const {
    if (a.high < b.high) { logsum const t = a; a = b; b = t; }
    if (b.sum == 0.f) return a;
    return {a.high, a.sum + b.sum * expf(b.high - a.high)};
  }
};
struct logsumexp {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    return cub::DeviceReduce::TransformReduce(scratch, bytes, static_cast<float const*>(x[0]),
                                              static_cast<logsum*>(answer), n, logsum_join{}, logsum_of{},
                                              logsum{-std::numeric_limits<float>::infinity(), 0.f}, s);
  }
  static void lower(const unsigned char* bytes, double* r, std::int64_t) {
    auto const v = read<logsum>(bytes);
    r[0] = v.high + std::log(static_cast<double>(v.sum));
  }
};

struct argmax {
  static cudaError_t run(void* scratch, std::size_t& bytes, addresses x, void* answer, std::int64_t n, cudaStream_t s) {
    auto* position = static_cast<std::int64_t*>(answer);
    auto* value = static_cast<float*>(answer ? static_cast<void*>(position + 1) : nullptr);
    return cub::DeviceReduce::ArgMax(scratch, bytes, static_cast<float const*>(x[0]), value, position, n, s);
  }
  static void lower(const unsigned char* bytes, double* r, std::int64_t) {
    r[0] = static_cast<double>(read<std::int64_t>(bytes));
  }
};

// ---- the environment API --------------------------------------------------------------------------------------------

#if BENCH_HAS_ENVIRONMENTS
/// Hands out one block again and again: allocation stays out of the timing, as with the two-phase form.
struct kept_memory {
  void* block = nullptr;
  std::size_t capacity = 0;
  void* allocate(cuda::stream_ref, std::size_t bytes, std::size_t) { return allocate_sync(bytes, 256); }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) noexcept {}
  void* allocate_sync(std::size_t bytes, std::size_t) { return bytes <= capacity ? block : throw std::bad_alloc(); }
  void deallocate_sync(void*, std::size_t, std::size_t) noexcept {}
  friend bool operator==(kept_memory const& a, kept_memory const& b) { return a.block == b.block; }
  friend bool operator!=(kept_memory const& a, kept_memory const& b) { return !(a == b); }
  friend constexpr void get_property(kept_memory const&, cuda::mr::device_accessible) noexcept {}
};

static_assert(cuda::mr::resource<kept_memory>);

template <class T, class A, class Determinism> struct in_environment : device_run {
  std::int64_t n = 0;

  // The environment form says nothing about the size of its scratch: one block that is large for any grid of partials.
  bool prepare(std::int64_t count, addresses) override { return n = count, own(std::size_t{64} << 20); }
  cudaError_t enqueue(addresses x, cudaStream_t stream) override {
    kept_memory memory{scratch, scratch_bytes};
    auto environment = cuda::std::execution::env{
        cuda::stream_ref{stream}, cuda::execution::require(Determinism{}),
        cuda::std::execution::prop{cuda::mr::get_memory_resource, memory}};
    static_assert(cuda::mr::__has_query_get_memory_resource<decltype(environment)>);
    if constexpr (std::is_same_v<T, A>) {
      return cub::DeviceReduce::Sum(static_cast<T const*>(x[0]), static_cast<A*>(answer), n, environment);
    } else {
      return cub::DeviceReduce::TransformReduce(static_cast<T const*>(x[0]), static_cast<A*>(answer), n,
                                                cuda::std::plus<>{}, widen<A>{}, A{}, environment);
    }
  }
  void lower(const unsigned char* bytes, double* r) const override { r[0] = static_cast<double>(read<A>(bytes)); }
};

/// Thrust asks its policy's allocator on every call: this one hands out the same block.
struct kept_allocator {
  using value_type = char;
  char* block = nullptr;
  char* allocate(std::ptrdiff_t) { return block; }
  void deallocate(char*, std::size_t) {}
};

struct thrust_sum : device_run {
  std::int64_t n = 0;
  bool prepare(std::int64_t count, addresses) override { return n = count, own(std::size_t{64} << 20); }
  cudaError_t enqueue(addresses x, cudaStream_t stream) override {
    kept_allocator memory{static_cast<char*>(scratch)};
    auto const* first = static_cast<float const*>(x[0]);
    thrust::reduce_into(thrust::cuda::par_nosync(memory).on(stream), first, first + n, static_cast<float*>(answer), 0.f,
                        cuda::std::plus<float>{});
    return cudaSuccess;
  }
  void lower(const unsigned char* bytes, double* r) const override { r[0] = static_cast<double>(read<float>(bytes)); }
};

template <class T, class A, class Determinism> maker row_in(const char* variant) {
  return {{"sum", type_name<T>, variant, "peer", 1, 1, 1, 1, any_size}, &make_run<in_environment<T, A, Determinism>>};
}
#endif

std::vector<maker> make_table() {
  using std::int64_t, std::int32_t, std::int8_t;
  constexpr auto value = lowering::value, root = lowering::root, over_n = lowering::over_n;
  std::vector<maker> all{
      row<plain_sum<float, int64_t>>("sum", "f32", "Sum", 1, 1),
      row<plain_sum<float, int32_t>>("sum", "f32", "Sum 32-bit count", 1, 1, 1, 1, 0x7fffffff),
      row<plain_sum<double, int64_t>>("sum", "f64", "Sum", 1, 1),
      row<wide_sum<int32_t, int64_t>>("sum", "i32", "TransformReduce i64", 1, 1),
      row<wide_sum<int8_t, int64_t>>("sum", "i8", "TransformReduce i64", 1, 1),
      row<wide_sum<__nv_bfloat16, float>>("sum", "bf16", "TransformReduce f32", 1, 1),
      row<one_column<element_square, root>>("norm", "f32", "TransformReduce", 1, 1),
      row<one_column<element_exp, value>>("sumexp", "f32", "TransformReduce", 1, 1),
      row<zipped<element_dot, 2, value>>("dot", "f32", "TransformReduce zip", 2, 1),
      row<zipped<element_sad, 2, value>>("sad", "f32", "TransformReduce zip", 2, 1),
      row<zipped<element_wmse, 3, over_n>>("wmse", "f32", "TransformReduce zip", 3, 1),
      row<fours<element_dot, 2, value>>("dot", "f32", "TransformReduce float4", 2, 1, 16, 4),
      row<fours<element_sad, 2, value>>("sad", "f32", "TransformReduce float4", 2, 1, 16, 4),
      row<fours<element_wmse, 3, over_n>>("wmse", "f32", "TransformReduce float4", 3, 1, 16, 4),
      row<five>("five", "f32", "TransformReduce raw moments", 1, 5),
      row<argmax>("argmax", "f32", "ArgMax", 1, 1),
      row<plain_sum<c64, int64_t>>("sum", "c64", "Sum", 1, 2, 8),
      row<logsumexp>("logsumexp", "f32", "TransformReduce", 1, 1),
      row<variance>("variance", "f32", "TransformReduce Chan", 1, 1),
  };
#if BENCH_HAS_ENVIRONMENTS
  namespace level = cuda::execution::determinism;
  all.push_back(row_in<float, float, level::not_guaranteed_t>("Sum not_guaranteed"));
  all.push_back(row_in<float, float, level::gpu_to_gpu_t>("Sum gpu_to_gpu"));
  all.push_back(row_in<double, double, level::not_guaranteed_t>("Sum not_guaranteed"));
  all.push_back(row_in<double, double, level::gpu_to_gpu_t>("Sum gpu_to_gpu"));
  all.push_back(row_in<std::int32_t, std::int64_t, level::not_guaranteed_t>("TransformReduce i64 not_guaranteed"));
  all.push_back(row_in<__nv_bfloat16, float, level::not_guaranteed_t>("TransformReduce f32 not_guaranteed"));
  all.push_back({{"sum", "f32", "thrust::reduce_into par_nosync", "peer", 1, 1, 1, 1, any_size}, &make_run<thrust_sum>});
#endif
  return all;
}

}  // namespace

std::vector<maker> const& makers() {
  static std::vector<maker> const table = make_table();
  return table;
}

const char* name() {
  static std::string const text = "cub " + std::to_string(CCCL_MAJOR_VERSION) + "." + std::to_string(CCCL_MINOR_VERSION) +
                                  "." + std::to_string(CCCL_PATCH_VERSION);
  return text.c_str();
}
const char* version() {
  static std::string const text = "CCCL " + std::to_string(CCCL_VERSION) + ", nvcc " +
                                  std::to_string(__CUDACC_VER_MAJOR__) + "." + std::to_string(__CUDACC_VER_MINOR__) + "." +
                                  std::to_string(__CUDACC_VER_BUILD__);
  return text.c_str();
}

}  // namespace bench
