// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pipelines and the parts of primitive/ whose PTX the page of instructions looks into.
#include "primitive/reaching.hpp"

#include "primitive/device_unit.hpp"
#include "primitive/form_of.hpp"

#include <tally/tally.hpp>

#include <cstdint>

TALLY_STRUCT(reaching_affine, { float scale, shift; });
TALLY_FUNCTION(reaching_then, (reaching_affine a, reaching_affine b), {
  return reaching_affine{a.scale * b.scale, a.shift * b.scale + b.shift};
});
TALLY_FUNCTION(reaching_step, (float x), { return reaching_affine{0.5f, x}; });
TALLY_FUNCTION(reaching_shift, (reaching_affine a), { return a.shift; });

namespace reaching {

namespace {

using namespace tally;

constexpr i64 many = i64(1) << 24;

template <class T>
auto numbers(std::uintptr_t remainder = 0) {
  return device(reinterpret_cast<T const*>(std::uintptr_t(0x7f0000000000) + remainder), many);
}

auto recurrence() { return fold_of(reaching_affine{1, 0}, reaching_then, reaching_step, reaching_shift, associative); }

/// A pipeline.
template <class Reduction, class... Options>
user pipeline(char const* name, char const* text, Reduction const& r, Options... options) {
  auto const explained = explain(r, options...);
  user u{name, text, true, form_of::read_all(explained.ptx()), {}};
  auto const& p = explained.details().planned.plan;
  for (auto const& fold : p.folds) {
    char const* const names[]{"", "BLOCK_REDUCE_WARP_REDUCTIONS", "BLOCK_REDUCE_RAKING",
                              "BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY"};
    if (fold.block != block_algorithm::neighbour_tree) u.blocks.push_back(names[int(fold.block)]);
  }
  return u;
}

/// A part of primitive/: kernels that use it, one for each instance.
user part(char const* name, char const* text, std::string const& header, std::string const& kernels,
          std::vector<std::string> const& instances) {
  auto const made = device_unit::compile("#include <tally/primitive/" + header +
                                             ">\nusing namespace tally;\nusing namespace tally::primitive;\n" + kernels,
                                         "sm_90a", instances);
  REQUIRE_MESSAGE(!made.ptx.empty(), made.complaints);
  return {name, text, false, form_of::read_all(made.ptx), {}};
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
                             from(numbers<float>()) | recurrence(), targets::h200, fast));
    found.push_back(part("rows", "`accumulate` of rows by keys, through registers", "accumulate.cuh", rows_kernels,
                         ladder("rows")));
    found.push_back(part("rows in bulk", "`accumulate_in_bulk` of rows by keys", "accumulate.cuh", rows_kernels,
                         ladder("rows_in_bulk")));
    found.push_back(
        part("tile", "`accumulate` of a tile of shared memory", "accumulate.cuh", rows_kernels, ladder("tile")));
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
