// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sweeps the numbers of a plan on the GPU at hand and prints device time per launch, so that the constants in
// plan/tile.hpp can be chosen from evidence: tune [workload] [log2 n ...]. TUNE_QUEUED, and comma lists in TUNE_THREADS, TUNE_LEAVES,
// TUNE_BLOCKS, TUNE_STAGES and the number TUNE_ROWS, say what is tried.
#include <tally/tally.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace tune_folds { // where kernels can name them

TALLY_STRUCT(matrix, { unsigned long long a, b, c, d; });
TALLY_FUNCTION(matrix_product, (matrix x, matrix y), {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
});
TALLY_FUNCTION(shear, (unsigned v), { return v % 2 ? matrix{1, v, 0, 1} : matrix{1, 0, v, 1}; });
TALLY_FUNCTION(itself, (matrix x), { return x; });

} // namespace tune_folds

namespace {

using namespace tally::v0;
using namespace tune_folds;

/// Memory as cudaMalloc gives it, which is what users and the peers measure on; pooled memory has smaller pages.
float* plain_device_memory(std::size_t bytes) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto const call = [&](char const* name) { return dlsym(driver, name); };
  void* context = nullptr;
  unsigned long long address = 0;
  reinterpret_cast<int (*)(void**, int)>(call("cuDevicePrimaryCtxRetain"))(&context, 0);
  reinterpret_cast<int (*)(void*)>(call("cuCtxSetCurrent"))(context);
  reinterpret_cast<int (*)(unsigned long long*, std::size_t)>(call("cuMemAlloc_v2"))(&address, bytes);
  return reinterpret_cast<float*>(address);
}

/// The numbers of a comma list in the environment, or those to try otherwise.
std::vector<int> numbers(char const* name, std::vector<int> otherwise) {
  char const* list = std::getenv(name);
  if (list == nullptr)
    return otherwise;
  otherwise.clear();
  for (char* end = nullptr; *list != 0; list = *end == ',' ? end + 1 : end)
    otherwise.push_back(int(std::strtol(list, &end, 10)));
  return otherwise;
}

struct view {
  void* epoch;
  void* words;
};

/// Median microseconds per launch of one plan over rotating inputs; negative when the plan cannot run.
template <class Bound>
double time_plan(Bound b, i64 n, i64 slices, plan const& p, facts const& f) {
  using Program = decltype(b.program);
  auto const& type = detail::type_of<Program>();
  auto const& kernel = gpu::load(gpu::unit_of(type, p, f), 0);
  i64 blocks = planning::blocks_of(f, p);
  if (char const* most = std::getenv("TUNE_MOST_BLOCKS"); most != nullptr && f.any_exact()) // others need every one
    blocks = std::min<i64>(blocks, std::atoi(most));
  auto* room = static_cast<char*>(gpu::workspace(0, {}, 64 + 8 * std::size_t(blocks + blocks / 16 + 8) * std::size_t(type.words_per_partial)));
  bool const on_device = std::getenv("TUNE_ANSWER_ON_DEVICE") != nullptr;
  auto slot = gpu::take_result_slot(0, type.states_bytes);
  auto place = gpu::allocate(type.states_bytes, 0);
  view v{room, room + 64};
  static unsigned long long launches = 0;
  struct {
    void* last;
    unsigned long long number;
    unsigned first_blocks;
  } order{p.reads_ahead ? room + 8 : nullptr, 0, unsigned(f.target.multiprocessors * p.blocks_per_multiprocessor)};
  void* answer = on_device ? place.data() : slot.device();
  gpu::launch_shape shape;
  shape.grid_blocks = unsigned(blocks);
  shape.block_threads = unsigned(p.threads_per_block);
  shape.dynamic_shared_bytes = std::size_t(planning::ring_bytes_per_block(f, p));
  shape.overlaps = p.overlaps_launch;
  if (p.one_cluster)
    shape.cluster_blocks = unsigned(blocks);
  int const inner = n >= (i64(1) << 26) ? 8 : 60;
  std::vector<double> times;
  i64 turn = 0;
  for (int trial = 0; trial < 9; ++trial) {
    auto begun = gpu::record(0, {}, true);
    for (int i = 0; i < inner; ++i) {
      auto part = b.program.part((turn++ % slices) * n, n);
      i64 counts[2] = {f.leaves(), f.extent / f.elements_per_leaf()};
      order.number = ++launches;
      void* arguments[] = {&part, &counts, &v, &order, &answer};
      gpu::launch(kernel, shape, arguments);
    }
    auto done = gpu::record(0, {}, true);
    double const t = gpu::seconds_between(begun, done) / inner * 1e6;
    if (trial > 1)
      times.push_back(t);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Make, class Contract>
void sweep(char const* name, Make make, std::vector<int> const& sizes, Contract c, int columns) {
  i64 const most = i64(1) << 30;
  for (int lg : sizes) {
    i64 const n = i64(1) << lg, slices = std::max<i64>(1, most / n / columns);
    auto const r = make(most);
    auto b = [&] {
      if constexpr (std::is_same_v<Contract, exact_contract>)
        return bind_exactly(r);
      else
        return bind(r);
    }();
    b.program.extent = n;
    facts f = facts_of(b.program, gpu::target_of(0), c);
    f.queued = std::getenv("TUNE_QUEUED") != nullptr;
    auto chosen = make_plan(f);
    struct entry {
      double t;
      plan p;
    };
    std::vector<entry> all;
    if (std::getenv("TUNE_NO_OVERLAP") != nullptr)
      chosen.plan.overlaps_launch = false;
    if (std::getenv("TUNE_NO_CLUSTER") != nullptr) {
      chosen.plan.one_cluster = false;
      for (auto& choice : chosen.plan.folds)
        choice.cluster = cluster_combine::no_cluster;
    }
    for (int threads : numbers("TUNE_THREADS", {128, 256, 512, 1024}))
      for (int leaves : numbers("TUNE_LEAVES", {1, 4, 8, 16}))
        for (int per : numbers("TUNE_BLOCKS", {1, 2, 3, 4}))
          for (int stages : numbers("TUNE_STAGES", {0, 2, 3})) {
            plan p = chosen.plan;
            p.threads_per_block = threads;
            p.leaves_per_warp = leaves;
            p.blocks_per_multiprocessor = per;
            p.stages = stages;
            p.rows_in_flight = f.any_exact() ? f.rows_per_leaf / f.source_count : stages > 0 ? 2 : f.rows_per_leaf;
            if (char const* rows = std::getenv("TUNE_ROWS"))
              p.rows_in_flight = std::atoi(rows);
            for (int i = 0; i < f.source_count; ++i)
              p.sources[i].load = stages > 0 ? load_primitive::bulk_ring : load_primitive::vector_ldg;
            if (stages > 0 && (threads < 128 || per > 2))
              continue;
            bool const too_few = planning::blocks_of(f, p) < 2 && leaves > 1;
            if (f.any_exact() && leaves != (stages > 0 ? 8 : 1)) // its warps take leaves by turns
              continue;
            if (too_few || per * threads > 1024 || !legal(p, f) || std::getenv("TUNE_CHOSEN_ONLY") != nullptr)
              continue;
            try {
              all.push_back({time_plan(b, n, slices, p, f), p});
            } catch (error const& e) {
              std::printf("%s\n", e.what());
            }
          }
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& x) { return a.t < x.t; });
    double const own = time_plan(b, n, slices, chosen.plan, f);
    auto const print = [](double t, plan const& p) {
      std::printf(" T%d M%d B%d S%d %.2f;", p.threads_per_block, p.leaves_per_warp, p.blocks_per_multiprocessor, p.stages, t);
    };
    std::printf("%s 2^%d chosen", name, lg);
    print(own, chosen.plan);
    std::printf(" best");
    for (std::size_t i = 0; i < std::min<std::size_t>(12, all.size()); ++i)
      print(all[i].t, all[i].p);
    std::printf(" %.0f GB/s\n", 4e-3 * columns * double(n) / (all.empty() ? own : all[0].t));
    std::fflush(stdout);
  }
}

} // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "sum";
  std::vector<int> sizes;
  for (int i = 2; i < argc; ++i)
    sizes.push_back(std::atoi(argv[i]));
  if (sizes.empty())
    sizes = {16, 18, 20, 22, 24, 25, 26, 28, 30};
  if (gpu::device_count() == 0) {
    std::printf("no GPU: %s\n", gpu::why_no_device().c_str());
    return 0;
  }
  std::vector<float> host(std::size_t(1) << 24);
  unsigned long long state = 1;
  for (auto& h : host) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    h = float(state >> 40) / 16777216.f - 0.5f;
  }
  auto const memory = gpu::allocate(std::size_t(4) << 30, 0);
  float* const x = std::getenv("TUNE_POOLED") ? static_cast<float*>(memory.data()) : plain_device_memory(std::size_t(4) << 30);
  for (int k = 0; k < 64; ++k)
    gpu::copy(x + (std::size_t(k) << 24), host.data(), std::size_t(4) << 24, 0);
  gpu::wait(0);
  if (what == "sum")
    sweep("sum", [&](i64 n) { return from(device(x, n)) | sum; }, sizes, contract::reproducible, 1);
  if (what == "fast")
    sweep("fast", [&](i64 n) { return from(device(x, n)) | sum; }, sizes, contract::fast, 1);
  if (what == "exact")
    sweep("exact", [&](i64 n) { return from(device(x, n)) | sum; }, sizes, exact, 1);
  if (what == "exact_dot") // of the two halves of memory; log2 n is at most 29
    sweep("exact_dot", [&](i64 n) { return from(device(x, n / 2), device(x + n / 2, n / 2)) | sum(_1 * _2); }, sizes, exact, 2);
  if (what == "sumexp")
    sweep("sumexp", [&](i64 n) { return from(device(x, n)) | sum(exp(_1)); }, sizes, contract::reproducible, 1);
  if (what == "seven_positions")
    sweep("seven_positions", [&](i64 n) { return from(device(x, n)) | reduce(sum, min, max, mean, variance, argmin, argmax); }, sizes, contract::reproducible, 1);
  if (what == "five")
    sweep("five", [&](i64 n) { return from(device(x, n)) | reduce(sum, min, max, mean, variance); }, sizes, contract::reproducible, 1);
  if (what == "five_fast")
    sweep("five_fast", [&](i64 n) { return from(device(x, n)) | reduce(sum, min, max, mean, variance); }, sizes, contract::fast, 1);
  if (what == "sum_bf16")
    sweep("sum_bf16", [&](i64 n) { return from(device(reinterpret_cast<bf16 const*>(x), n)) | sum; }, sizes, contract::reproducible, 1);
  if (what == "five_bf16")
    sweep("five_bf16", [&](i64 n) { return from(device(reinterpret_cast<bf16 const*>(x), n)) | reduce(sum, min, max, mean, variance); }, sizes, contract::reproducible, 1);
  if (what == "five_f64") // log2 n is at most 29
    sweep("five_f64", [&](i64 n) { return from(device(reinterpret_cast<double const*>(x), n / 2)) | reduce(sum, min, max, mean, variance); }, sizes, contract::reproducible, 2);
  if (what == "variance")
    sweep("variance", [&](i64 n) { return from(device(x, n)) | variance; }, sizes, contract::reproducible, 1);
  if (what == "variance_fast")
    sweep("variance_fast", [&](i64 n) { return from(device(x, n)) | variance; }, sizes, contract::fast, 1);
  if (what == "isum")
    sweep("isum", [&](i64 n) { return from(device(reinterpret_cast<i32 const*>(x), n)) | sum; }, sizes, contract::reproducible, 1);
  if (what == "argmax")
    sweep("argmax", [&](i64 n) { return from(device(x, n)) | argmax; }, sizes, contract::reproducible, 1);
  for (contract c : {contract::reproducible, contract::fast})
    if (what == "wide_states") { // both contracts of what CUB may combine
      auto const product_of_matrices = fold_of(matrix{1, 0, 0, 1}, matrix_product, shear, itself, associative);
      auto const words = reinterpret_cast<u32 const*>(x);
      auto const doubles = reinterpret_cast<double const*>(x);
      sweep("matrices", [&](i64 n) { return from(device(words, n)) | product_of_matrices; }, sizes, c, 1);
      sweep("moments", [&](i64 n) { return from(device(doubles, n / 2)) | moments<4>; }, sizes, c, 2);
      sweep("seven", [&](i64 n) { return from(device(x, n)) | reduce(sum, min, max, mean, variance, sum(_1 * _1), norm<2>); }, sizes, c, 1);
      sweep("args", [&](i64 n) { return from(device(doubles, n / 2)) | reduce(argmin, argmax); }, sizes, c, 2);
    }
  if (what == "imin") // by redux.sync
    sweep("imin", [&](i64 n) { return from(device(reinterpret_cast<i32 const*>(x), n)) | reduce(min, max); }, sizes, contract::reproducible, 1);
  if (what == "shifted")
    sweep("shifted", [&](i64 n) { return from(device(x + 1, n - 1)) | sum; }, sizes, contract::reproducible, 1);
}
