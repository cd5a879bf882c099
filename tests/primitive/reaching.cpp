// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines and the parts of primitive/ whose PTX the page of instructions looks into.
#include "primitive/reaching.hpp"

#include "primitive/device_unit.hpp"
#include "primitive/form_of.hpp"
#include "fold/own_folds.hpp"
#include "plans/made_up.hpp"

#include <tally/tally.hpp>

#include <cstdint>

namespace reaching {

namespace {

using namespace tally::v0;
using tally::primitive::architecture, tally::primitive::sm_90a, tally::primitive::sm_100a;

constexpr i64 many = i64(1) << 24, few = i64(1) << 15;

template <class T>
auto numbers(int remainder = 0) {
  return made_up::numbers<T>(many, remainder);
}

/// A pipeline.
template <class Reduction, class... Options>
user pipeline(char const* name, char const* text, Reduction const& r, Options... options) {
  auto const explained = explain(r, options...);
  user u{name, text, true, form_of::read_all(explained.ptx()), {}};
  auto const& p = explained.details().planned.plan;
  for (auto const& fold : p.folds) {
    char const* const names[]{"", "BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_REDUCE_RAKING",
                              "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY", "redux.sync"};
    if (fold.block != block_algorithm::neighbour_tree) u.blocks.push_back(names[int(fold.block)]);
  }
  return u;
}

/// A pipeline whose answers are of groups.
template <class Reduction, class... Options>
user grouped_pipeline(char const* name, char const* text, Reduction const& r, Options... options) {
  return {name, text, true, form_of::read_all(explain(r, options...).ptx()), {}};
}

/// A part of primitive/: kernels that use it, one for each instance.
user part(char const* name, char const* text, std::string const& header, std::string const& kernels,
          std::vector<std::string> const& instances, architecture made_for = sm_90a) {
  auto const made = device_unit::compile("#include <tally/primitive/" + header +
                                             ">\nusing namespace tally::v0;\nusing namespace tally::primitive;\n" + kernels,
                                         "sm_" + std::to_string(made_for.number) + made_for.features, instances);
  REQUIRE_MESSAGE(!made.ptx.empty(), made.complaints);
  return {name, text, false, form_of::read_all(made.ptx), {}, made_for};
}

/// "kernel<operation::add, u32>" for each operation and type of a list.
std::vector<std::string> each(std::string const& kernel, std::vector<std::string> const& operations,
                              std::vector<std::string> const& types) {
  std::vector<std::string> instances;
  for (auto const& op : operations)
    for (auto const& type : types) instances.push_back(kernel + "<operation::" + op + ", " + type + ">");
  return instances;
}

std::vector<std::string> joined(std::vector<std::string> a, std::vector<std::string> const& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> const order_and_bits{"min", "max", "bit_and", "bit_or", "bit_xor"};

/// Every operation on every type that some instruction of the ladder knows.
std::vector<std::string> ladder(std::string const& kernel) {
  auto instances = each(kernel, {"add"}, {"u32", "i32", "u64", "i64", "float", "double", "f16", "bf16"});
  instances = joined(instances, each(kernel, order_and_bits, {"u32", "i32", "u64", "i64"}));
  instances = joined(instances, each(kernel, {"min", "max"}, {"f16", "bf16"}));
  return joined(instances, each(kernel, {"inc", "dec"}, {"u32"}));
}

/// The same without what is refused in another block.
std::vector<std::string> ladder_between_blocks(std::string const& kernel) {
  auto instances = ladder(kernel);
  std::erase_if(instances, [](std::string const& i) {
    return i.find("64>") != i.npos && (i.find("::min") != i.npos || i.find("::max") != i.npos);
  });
  return instances;
}

/// Every operation on every integer that goes from block to block.
std::vector<std::string> between_blocks(std::string const& kernel) {
  auto instances = each(kernel, {"add"}, {"u32", "i32", "u64"});
  instances = joined(instances, each(kernel, order_and_bits, {"u32", "i32"}));
  return joined(instances, each(kernel, {"inc", "dec"}, {"u32"}));
}

char const rows_kernels[] = R"(
template <operation Op, class T>
__global__ void rows(T* table, u32 const* keys, T const* tile, i64 count, int columns) {
  accumulate<Op>(rows_by_key<T, u32>{table, columns, keys}, tile_of_rows<T>{tile, count, columns, columns});
}
template <operation Op, class T>
__global__ void rows_in_bulk(T* table, u32 const* keys, T const* tile, i64 count, int columns) {
  extern __shared__ __align__(128) unsigned char room[];
  accumulate_in_bulk<Op>(rows_by_key<T, u32>{table, columns, keys}, tile_of_rows<T>{tile, count, columns, columns}, room,
                         4096);
}
template <operation Op, class T>
__global__ void tile(T* answers, T const* x, int n) {
  __shared__ stage<T, 256> room;
  room.elements[threadIdx.x] = x[threadIdx.x];
  accumulate<Op>(in_global(answers), in_shared<T const>(room.elements), n);
}
)";

char const narrow_kernels[] = R"(
template <operation Op, class T>
__global__ void halves_alone(T* table, u32 const* keys, T const* tile, i64 count, int columns) {
  accumulate<Op, red_width{16, halves::alone}>(rows_by_key<T, u32>{table, columns, keys},
                                               tile_of_rows<T>{tile, count, columns, columns});
}
)";

char const shared_kernels[] = R"(
template <operation Op, class T>
__global__ void block(T* out, u32 const* keys, T const* tile, i64 count, int columns) {
  extern __shared__ __align__(128) unsigned char room[];
  T* const table = reinterpret_cast<T*>(room);
  accumulate<Op>(rows_of_block<T, u32>{table, columns, keys}, tile_of_rows<T>{tile, count, columns, columns});
  __syncthreads();
  out[threadIdx.x] = table[threadIdx.x];
}
template <operation Op, class T>
__global__ void cluster(T* out, u32 const* keys, T const* tile, i64 count, int columns, int rows_per_block) {
  extern __shared__ __align__(128) unsigned char room[];
  T* const table = reinterpret_cast<T*>(room);
  accumulate<Op>(rows_of_cluster<T, u32>{table, columns, keys, rows_per_block}, tile_of_rows<T>{tile, count, columns, columns});
  meet_cluster();
  out[threadIdx.x] = table[threadIdx.x];
}
template <operation Op, class T>
__global__ void to_block(T* out, T const* x, int n) {
  __shared__ stage<T, 256> sum, tile;
  tile.elements[threadIdx.x] = x[threadIdx.x];
  meet_cluster();
  accumulate<Op>(in_cluster(sum.elements, 0), in_shared<T const>(tile.elements), n);
  meet_cluster();
  out[threadIdx.x] = sum.elements[threadIdx.x];
}
template <operation Op, class T>
__global__ void to_block_in_bulk(T* out, T const* x, int n) {
  __shared__ stage<T, 256> sum, tile;
  __shared__ barrier arrived;
  tile.elements[threadIdx.x] = x[threadIdx.x];
  meet_cluster();
  accumulate<Op>(in_cluster(sum.elements, 0), in_shared<T const>(tile.elements), n, in_cluster(&arrived, 0));
  meet_cluster();
  out[threadIdx.x] = sum.elements[threadIdx.x];
}
)";

char const store_kernels[] = R"(
__global__ void stored(float* out, int tiles, int n) {
  extern __shared__ __align__(128) unsigned char room[];
  store_ring<2> ring(room, bulk_bytes::of<1024>());
  for (int k = 0; k < tiles; ++k)
    ring.turn(in_global(out + k * n), n, [&](float* tile) { tile[threadIdx.x % n] = float(k); });
  ring.finish();
}
)";

char const publish_kernels[] = R"(
template <class T>
__global__ void published(T* count, T* everywhere) {
  publish_of_block(in_global(count), T(1));
  publish_of_block<scope::sys>(in_global(everywhere), T(1));
}
)";
char const device_kernels[] = R"(
template <class T>
__global__ void told(T* device) {
  publish<scope::sys, true>(in_global(device), T(1));
}
)";

char const ring_kernels[] = R"(
__global__ void through(u32* out, u32 const* in, i64 tiles) {
  __shared__ stage<u32, 256> room[2];
  __shared__ ring_barriers<2> barriers;
  constexpr bulk_bytes per_tile = bulk_bytes::of<1024>();
  prefetch(in_global(in), per_tile);
  load_ring<2> ring(barriers, reinterpret_cast<unsigned char*>(room), per_tile);
  ring.run(
      tiles, [&](i64) { return per_tile; },
      [&](i64 k, unsigned char* at, expected& told) {
        copy(in_shared(reinterpret_cast<u32*>(at)), in_global(in + k * 256), per_tile, told);
      },
      [&](i64 k, unsigned char const* at) {
        if (threadIdx.x != 32) return;
        copy(in_global(out + k * 256), in_shared(reinterpret_cast<u32 const*>(at)), per_tile);
        commit_bulk_group();
        wait_bulk_groups();
      });
}
)";

char const multicast_kernels[] = R"(
__global__ void to_all(u32* out, u32 const* in, i64 tiles) {
  __shared__ stage<u32, 256> room[2];
  __shared__ ring_barriers<2> barriers;
  constexpr bulk_bytes per_tile = bulk_bytes::of<1024>();
  multicast_ring<2> ring(barriers, reinterpret_cast<unsigned char*>(room), per_tile);
  ring.run(
      tiles, [&](i64) { return per_tile; },
      [&](i64 k, unsigned char* at, u16 blocks, barrier& announced) {
        copy_to_blocks(blocks, in_shared(reinterpret_cast<u32*>(at)), in_global(in + k * 256), per_tile, announced);
      },
      [&](i64 k, unsigned char const* at) { out[k * 256 + threadIdx.x] = reinterpret_cast<u32 const*>(at)[threadIdx.x]; });
}
)";

char const push_kernels[] = R"(
template <operation Op, class T>
__global__ void words(T* out, T const* x) {
  __shared__ push_room<T, 64> room;
  cluster_words<Op, T, 64> push(room, T());
  push.turn([&](int i) { return x[i]; }, [&](T const* sum) { out[threadIdx.x] = sum[threadIdx.x]; });
  push.finish();
}
template <operation Op, class T>
__global__ void sums(T* out, T const* x) {
  __shared__ push_room<T, 64> room;
  cluster_sum<Op, T, 64> push(room, T());
  push.turn([&](T* tile) { tile[threadIdx.x] = x[threadIdx.x]; },
            [&](T const* sum) { out[threadIdx.x] = sum[threadIdx.x]; });
  push.finish();
}
)";

char const copy_kernels[] = R"(
__global__ void copies(float* out, float const* x) {
  __shared__ copy_room<float, 64, 8> room;
  cluster_copy<float, 64, 8> push(room);
  push.turn([&](float* tile) { tile[threadIdx.x] = x[threadIdx.x]; },
            [&](stage<float, 64> const(&slots)[8]) { out[threadIdx.x] = slots[1].elements[threadIdx.x]; });
  push.finish();
}
)";

} // namespace

std::vector<user> const& users() {
  static std::vector<user> const all = [] {
    std::vector<user> found;
    found.push_back(pipeline("deviations", "`from(x) | reduce(variance, min)` of f64",
                             from(numbers<double>()) | reduce(variance, min), targets::h200));
    found.push_back(pipeline("five folds", "`run(from(x) | reduce(sum, min, max, mean, variance), fast)` of f64",
                             from(numbers<double>()) | reduce(sum, min, max, mean, variance), targets::h200, fast));
    found.push_back(pipeline("moments", "`run(from(x) | moments<4>, fast)` of f64",
                             from(numbers<double>()) | moments<4>, targets::h200, fast));
    found.push_back(pipeline("recurrence", "`run(from(x) | recurrence, fast)`, a fold that does not commute",
                             from(numbers<float>()) | own_recurrence, targets::h200, fast));
    found.push_back(pipeline("matrices", "`run(from(x) | product, fast)` of 2 x 2 matrices of u64",
                             from(numbers<unsigned>()) | own_matrices,
                             targets::h200, fast));
    found.push_back(pipeline("boxes", "`run(from(x) | hull, fast)` of boxes of four f64",
                             from(numbers<double>()) | own_boxes,
                             targets::h200, fast));
    found.push_back(pipeline("records", "`run(from(x) | totals, fast)` of seven u64",
                             from(numbers<unsigned>()) | own_records,
                             targets::h200, fast));
    found.push_back(pipeline("extremes", "`run(from(x) | reduce(min, max, bit_or))` of i32",
                             from(numbers<int>()) | reduce(min, max, bit_or), targets::h200));
    found.push_back(pipeline("few bits", "`from(x) | reduce(min, max, bit_and, bit_or, bit_xor, sum.in<u32>())` of 2^15 u32",
                             from(made_up::numbers<u32>(few)) | reduce(min, max, bit_and, bit_or, bit_xor, sum.in<u32>()), targets::h200));
    found.push_back(pipeline("few integers", "`from(x) | reduce(sum, sum.in<i32>(), min, max, mean)` of 2^15 i32",
                             from(made_up::numbers<i32>(few)) | reduce(sum, sum.in<i32>(), min, max, mean), targets::h200));
    found.push_back(pipeline("few floats", "`from(x) | reduce(sum, min, max, mean, variance)` of 2^15 f32",
                             from(made_up::numbers<float>(few)) | reduce(sum, min, max, mean, variance), targets::h200));
    auto const bins_of_all = i64(1) << 20, bins_of_block = i64(3500), float_bins_of_block = i64(10'000);
    auto const by_key_of = [&](char const* name, char const* text, i64 bins, auto const& columns, auto... folds) {
      found.push_back(grouped_pipeline(name, text, columns | by_key(_1, bins, folds...), targets::h200));
    };
    auto const keys = made_up::numbers<u32>(many);
    auto const place = cast<u32>(tally::index); // elements that know their place are not copied elsewhere
    for (i64 bins : {bins_of_block, bins_of_all}) {
      bool const few_bins = bins == bins_of_block;
      by_key_of(few_bins ? "bits by few keys" : "bits by key",
                few_bins ? "`from(key, x, y) | by_key(_1, 3500, bit_and(_2), bit_or(_2), bit_xor(_2), bit_and(_3), ...)` of u32 and u64, one of them `.where(place > 5)`"
                         : "the same by 2^20 keys",
                bins, from(keys, numbers<u32>(), numbers<u64>()), bit_and(_2), bit_or(_2), bit_xor(_2), bit_and(_3), bit_or(_3), bit_xor(_3).where(place > 5u));
      by_key_of(few_bins ? "integers by few keys" : "integers by key",
                few_bins ? "`from(key, x, y) | by_key(_1, 3500, sum(_2), sum(_2).in<u32>(), sum(_2).in<i32>(), min(_2), max(_2), min(_3), max(_3))` of i32 and i64"
                         : "the same by 2^20 keys",
                bins, from(keys, numbers<i32>(), numbers<i64>()), sum(_2), sum(_2).in<u32>(), sum(_2).in<i32>(), min(_2), max(_2), min(_3), max(_3).where(place > 5u));
      by_key_of(few_bins ? "cycles by few keys" : "cycles by key",
                few_bins ? "`from(key, x) | by_key(_1, 3500, count_modulo(7), countdown_modulo(9), min(_1), max(_1), min(_2), max(_2))` of u64"
                         : "the same by 2^20 keys",
                bins, from(keys, numbers<u64>()), count_modulo(7), countdown_modulo(9), min(_1), max(_1), min(_2), max(_2).where(place > 5u));
      found.push_back(grouped_pipeline(
          few_bins ? "floats by few keys" : "floats by key",
          few_bins ? "`run(from(key, x, h) | by_key(_1, 10000, sum(_2), sum(_2).in<double>(), sum(_3).in<f16>(), sum(_3).in<bf16>()), fast)`"
                   : "the same by 2^20 keys",
          from(keys, numbers<float>(), numbers<bf16>()) |
              by_key(_1, few_bins ? float_bins_of_block : bins, sum(_2), sum(_2).in<double>(), sum(_3).in<f16>(), sum(_3).in<bf16>().where(place > 5u)),
          targets::h200, fast));
    }
    auto const bins_of_cluster = i64(1) << 18;
    by_key_of("bits in clusters", "`from(key, x) | by_key(_1, bins, bit_and(_2), bit_or(_2), bit_xor(_2).where(place > 5))` of u32, by 2^18 keys", bins_of_cluster,
              from(keys, numbers<u32>()), bit_and(_2), bit_or(_2), bit_xor(_2).where(place > 5u));
    by_key_of("integers in clusters", "`from(key, x) | by_key(_1, bins, sum(_2), sum(_2).in<u32>(), sum(_2).in<i32>().where(place > 5))` of i32", bins_of_cluster,
              from(keys, numbers<i32>()), sum(_2), sum(_2).in<u32>(), sum(_2).in<i32>().where(place > 5u));
    by_key_of("cycles in clusters", "`from(key) | by_key(_1, bins, count_modulo(7), countdown_modulo(9).where(place > 5))`", bins_of_cluster, from(keys), count_modulo(7),
              countdown_modulo(9).where(place > 5u));
    by_key_of("naturals in clusters", "`from(key) | by_key(_1, bins, min(place), max(place))` of u32", bins_of_cluster, from(keys), min(place), max(place));
    by_key_of("extremes in clusters", "the same of i32", bins_of_cluster, from(keys), min(cast<i32>(tally::index)), max(cast<i32>(tally::index)));
    auto const long_rows = from(made_up::matrix<float>(4096, 65536));
    auto const means = long_rows | over<1>(mean);
    found.push_back(grouped_pipeline("long rows", "`from(rows) | map(_1 - let(mu)) | collect`, mu `from(rows) | over<1>(mean)`, of 65536 columns",
                                     long_rows | map(_1 - let(means)) | collect, targets::h200));
    found.push_back(grouped_pipeline("turned elements", "`from(shaped(x, {4096, 8192}, {1, 4096})) | collect` of f32",
                                     from(shaped(made_up::address<float>(0), {4096, 8192}, {1, 4096})) | collect, targets::h200));
    auto const rows_by_key = [&]<class T>(char const* name, char const* text, T, i64 columns, contract c, auto... folds) {
      found.push_back(grouped_pipeline(name, text,
                                       from(made_up::matrix<T>(1 << 20, columns), along<0>(made_up::numbers<i64>(1 << 20))) |
                                           by_key<0>(_2, 100'000, folds...),
                                       targets::h200, c));
    };
    auto const rows_of = [&]<class T>(char const* name, char const* text, T of, i64 columns) {
      rows_by_key(name, text, of, columns, fast, sum(_1).template in<T>());
    };
    auto const extremes_of = [&](char const* name, char const* text, auto of, i64 columns) {
      rows_by_key(name, text, of, columns, contract::reproducible, min(_1).ignoring_nan(), max(_1).ignoring_nan());
    };
    extremes_of("extremes of f16 by key", "`from(rows, along<0>(key)) | by_key<0>(_2, bins, min(_1).ignoring_nan(), max(_1).ignoring_nan())` of f16", f16{}, 32);
    extremes_of("extremes of four f16 by key", "the same of four columns", f16{}, 4);
    extremes_of("extremes of pairs of f16 by key", "the same of two columns", f16{}, 2);
    extremes_of("extremes of bf16 by key", "the same of bf16", bf16{}, 32);
    extremes_of("extremes of four bf16 by key", "the same of four columns", bf16{}, 4);
    extremes_of("extremes of pairs of bf16 by key", "the same of two columns", bf16{}, 2);
    rows_of("rows by key", "`run(from(rows, along<0>(key)) | by_key<0>(_2, bins, sum(_1)), fast)` of f32", 0.f, 32);
    rows_of("pairs by key", "the same of two columns", 0.f, 2);
    rows_of("rows of f16 by key", "`run(from(rows, along<0>(key)) | by_key<0>(_2, bins, sum(_1).in<f16>()), fast)` of f16", f16{}, 32);
    rows_of("four f16 by key", "the same of four columns", f16{}, 4);
    rows_of("pairs of f16 by key", "the same of two columns", f16{}, 2);
    rows_of("rows of bf16 by key", "`run(from(rows, along<0>(key)) | by_key<0>(_2, bins, sum(_1).in<bf16>()), fast)` of bf16", bf16{}, 32);
    rows_of("four bf16 by key", "the same of four columns", bf16{}, 4);
    rows_of("pairs of bf16 by key", "the same of two columns", bf16{}, 2);
    auto const converted = [&]<class T, class Half>(char const* name, char const* text, T of, Half, i64 columns) {
      rows_by_key(name, text, of, columns, fast, sum(_1).template in<Half>());
    };
    auto const extremes_converted = [&]<class T, class Half>(char const* name, char const* text, T of, Half, i64 columns) {
      rows_by_key(name, text, of, columns, contract::reproducible, min(cast<Half>(_1)).ignoring_nan(), max(cast<Half>(_1)).ignoring_nan());
    };
    converted("f32 kept in f16 by key", "`run(from(rows, along<0>(key)) | by_key<0>(_2, bins, sum(_1).in<f16>()), fast)` of f32", 0.f, f16{}, 32);
    converted("f32 kept in bf16 by key", "the same kept in bf16", 0.f, bf16{}, 32);
    converted("pairs of f32 kept in f16 by key", "the same of two columns, kept in f16", 0.f, f16{}, 2);
    converted("pairs of f32 kept in bf16 by key", "the same of two columns, kept in bf16", 0.f, bf16{}, 2);
    converted("u8 kept in f16 by key", "the same of u8, kept in f16", u8{}, f16{}, 32);
    converted("u8 kept in bf16 by key", "the same of u8, kept in bf16", u8{}, bf16{}, 32);
    extremes_converted("extremes of f32 kept in f16 by key",
                       "`from(rows, along<0>(key)) | by_key<0>(_2, bins, min(cast<f16>(_1)).ignoring_nan(), max(cast<f16>(_1)).ignoring_nan())` of f32", 0.f, f16{}, 32);
    extremes_converted("extremes of f32 kept in bf16 by key", "the same of bf16", 0.f, bf16{}, 32);
    extremes_converted("extremes of u8 kept in f16 by key", "the same of u8, of f16", u8{}, f16{}, 32);
    extremes_converted("extremes of u8 kept in bf16 by key", "the same of u8, of bf16", u8{}, bf16{}, 32);
    found.push_back(part("rows", "`accumulate` of rows by keys, through registers", "accumulate.cuh", rows_kernels,
                         ladder("rows")));
    found.push_back(part("rows in bulk", "`accumulate_in_bulk` of rows by keys", "accumulate.cuh", rows_kernels,
                         ladder("rows_in_bulk")));
    found.push_back(
        part("tile", "`accumulate` of a tile of shared memory", "accumulate.cuh", rows_kernels, ladder("tile")));
    found.push_back(part("halves alone", "`accumulate<Op, red_width{16, halves::alone}>`, for whoever wants them",
                         "accumulate.cuh", narrow_kernels,
                         each("halves_alone", {"add", "min", "max"}, {"f16", "bf16"})));
    found.push_back(part("rows of block", "`accumulate` of rows by keys into a table of the block", "accumulate.cuh",
                         shared_kernels, ladder("block")));
    found.push_back(part("rows of cluster", "`accumulate` of rows by keys into a table that the blocks of a cluster share",
                         "accumulate.cuh", shared_kernels, ladder_between_blocks("cluster")));
    found.push_back(part("tile to block", "`accumulate` of a tile into another block", "accumulate.cuh", shared_kernels,
                         ladder_between_blocks("to_block")));
    found.push_back(part("told tile to block", "`accumulate` of a tile into another block, whose barrier is told",
                         "accumulate.cuh", shared_kernels, between_blocks("to_block_in_bulk")));
    found.push_back(part("store ring", "`store_ring`", "store_ring.cuh", store_kernels, {"stored"}));
    found.push_back(part("store ring on sm_100", "the same where the engine takes ragged ends", "store_ring.cuh",
                         store_kernels, {"stored"}, sm_100a));
    std::vector<std::string> const counts{"published<u32>", "published<i32>", "published<u64>"};
    found.push_back(part("publish", "`publish_of_block`, a count after what was accumulated", "publish.cuh", publish_kernels,
                         counts));
    found.push_back(part("publish on sm_100", "the same where there is red.async.release, and `publish<scope::sys, true>`",
                         "publish.cuh", std::string(publish_kernels) + device_kernels,
                         joined(counts, {"told<u32>", "told<i32>", "told<u64>"}), sm_100a));
    found.push_back(part("load ring", "`load_ring`, out again by bulk stores", "verbs.cuh", ring_kernels, {"through"}));
    found.push_back(part("multicast ring", "`multicast_ring`", "verbs.cuh", multicast_kernels, {"to_all"}));
    found.push_back(
        part("cluster words", "`cluster_words`", "cluster_push.cuh", push_kernels, between_blocks("words")));
    found.push_back(part("cluster sum", "`cluster_sum`", "cluster_push.cuh", push_kernels, between_blocks("sums")));
    found.push_back(part("cluster copy", "`cluster_copy`", "cluster_push.cuh", copy_kernels, {"copies"}));
    return found;
  }();
  return all;
}

} // namespace reaching
