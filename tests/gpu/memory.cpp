// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every way into a kernel (load primitive) with every way out of its blocks (block algorithm), at ragged sizes, over columns
// that begin and end with their allocation: what compute-sanitizer's memcheck is run over (docs/howto/check_memory.md).
// Without it these cases still compare every answer with the CPU's.
#include "gpu/device.hpp"
#include "gpu/on_device.hpp"
#include "gpu/watchdog.hpp"

#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using namespace tally::v0;

namespace {

/// The first n numbers in device memory; the last byte is the allocation's last, `skip` bytes stand before the first. By the
/// driver's plain allocation and not from the pool: what memcheck holds a kernel to is then exactly these bytes.
template <class T>
class ending_column {
public:
  ending_column(std::vector<T> const& numbers, i64 n, std::size_t skip = 0) {
    auto const bytes = static_cast<std::size_t>(n) * sizeof(T);
    gpu::current_device const in_scope(device_);
    gpu::check(device_.call.allocate(&memory_, skip + bytes), "cuMemAlloc", 0);
    start_ = reinterpret_cast<T*>(memory_ + skip);
    gpu::copy(start_, numbers.data(), bytes, 0);
    gpu::wait(0);
  }
  ending_column(ending_column const&) = delete;
  ending_column& operator=(ending_column const&) = delete;
  ~ending_column() {
    gpu::current_device const in_scope(device_);
    device_.call.free(memory_);
  }
  T const* data() const { return start_; }

private:
  gpu::device_state& device_ = gpu::device_of(0);
  gpu::driver::address memory_ = 0;
  T* start_ = nullptr;
};

/// How the warps of a block meet: along the tree as the planner says, or in an algorithm of CUB's, given by hand, because the
/// planner has its own opinion of where those pay.
constexpr block_algorithm ways_out[] = {block_algorithm::neighbour_tree, block_algorithm::warp_reductions,
                                        block_algorithm::raking, block_algorithm::raking_commutative_only};
constexpr contract contract_of(block_algorithm out) {
  return out == block_algorithm::neighbour_tree ? contract::reproducible : contract::fast;
}

template <class R>
plan plan_of(R const& r, block_algorithm out) {
  auto bound = bind(r);
  auto f = detail::request_for(bound.program, on::gpu, contract_of(out)).f;
  f.target = gpu::target_of(0);
  plan p = make_plan(f).plan;
  if (out != block_algorithm::neighbour_tree) {
    p.order = combine_order::free;
    for (int i = 0; i < f.fold_count; ++i) p.folds[i].block = out;
  }
  return p;
}

/// The answers of a run by a given plan.
template <class R>
auto answers_by(plan const& p, R const& r, contract c) {
  auto bound = bind(r);
  auto request = detail::request_for(bound.program, on::gpu, c);
  request.given = &p;
  auto queued = gpu::enqueue(request);
  return detail::answers_of(r, bound, *static_cast<typename decltype(bound.program)::states const*>(queued.states.wait()));
}

/// Sentences of many threads, checked by one.
class complaints {
public:
  void add(std::string const& sentence) {
    std::scoped_lock const lock(guard_);
    all_ += "\n  " + sentence;
  }
  void check() const { CHECK_MESSAGE(all_.empty(), all_); }

private:
  std::mutex guard_;
  std::string all_;
};

/// Folds whose answers are the same bits in any order, so that they can be compared under fast as well.
auto order_free_folds() { return reduce(sum, minmax, argmin, bit_xor, first, max.where(_1 % 3 == 1).or_else(0)); }
/// Folds that round: their bits follow the tree.
auto rounding_folds() { return reduce(sum, variance, minmax, mean.where(_1 > 0), moments<2>); }

/// One plan, made for the largest size, over all sizes.
template <class T, class Make>
void compare(complaints& to, load_primitive in, block_algorithm out, std::size_t skip, std::vector<i64> const& sizes, Make make) {
  auto const numbers = uneven_numbers<T>(static_cast<std::size_t>(sizes.back()));
  auto const what = name_of<T>() + ", block algorithm " + std::to_string(static_cast<int>(out));
  try {
    ending_column<T> const whole(numbers, sizes.back(), skip);
    plan const p = plan_of(make(whole.data(), sizes.back()), out);
    if (p.sources[0].load != in) to.add(what + ": another load than the one to be tested was planned");
    for (i64 n : sizes) {
      ending_column<T> const column(numbers, n, skip);
      auto const expected = run(make(numbers.data(), n), on::cpu.threads(1));
      if (!same_bits(answers_by(p, make(column.data(), n), contract_of(out)), expected))
        to.add(what + ": other bits at " + std::to_string(n));
      tally_test_progress();
    }
  } catch (std::exception const& e) {
    to.add(what + ": " + e.what());
  }
}

/// All types and ways out at once: most of the time is the kernel compiler's.
template <class Free, class Rounding>
void on_every_way_out(load_primitive in, std::size_t skip_elements, bool large, Free of_integers, Rounding of_floats) {
  if (no_kernels()) return;
  complaints wrong;
  auto const sizes_for = [&](std::size_t bytes) {
    i64 const group = static_cast<i64>(16 / bytes > 8 ? 8 : 16 / bytes), leaf = 32 * group * 8;
    std::vector<i64> sizes{1, 31, 33, 32 * group + 1, leaf - 1, leaf, leaf + 1, 3 * leaf + 17, 70 * leaf + 333};
    i64 const many = (i64(gpu::facts_of(0).multiprocessors) * 16 * 8 + 1) * leaf; // a ring has something to fill ahead
    if (large) sizes.insert(sizes.end(), {many - 1, many + leaf / 2 + 17});
    return sizes;
  };
  {
    std::vector<std::jthread> crew;
    auto const add = [&]<class T>(T, block_algorithm out, auto make) {
      crew.emplace_back([=, &wrong] { compare<T>(wrong, in, out, skip_elements * sizeof(T), sizes_for(sizeof(T)), make); });
    };
    for (block_algorithm out : ways_out) add(int(), out, of_integers);
    add(u8(), block_algorithm::neighbour_tree, of_integers);
    add(float(), block_algorithm::neighbour_tree, of_floats);
    add(double(), block_algorithm::neighbour_tree, of_floats);
  }
  wrong.check();
}

} // namespace

// values of: BLOCK_REDUCE_WARP_REDUCTIONS, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY
TEST_CASE("no kernel leaves its memory: groups of neighbours, loaded at once") {
  on_every_way_out(
      load_primitive::vector_ldg, 0, false, [](auto const* x, i64 n) { return from(device(x, n)) | order_free_folds(); },
      [](auto const* x, i64 n) { return from(device(x, n)) | rounding_folds(); });
}

TEST_CASE("no kernel leaves its memory: rings filled by the bulk copy engine") {
  if (no_kernels()) return;
  if (gpu::facts_of(0).compute_major < 9) {
    MESSAGE("skipped: this GPU has no bulk copy engine");
    return;
  }
  on_every_way_out(
      load_primitive::bulk_ring, 0, true, [](auto const* x, i64 n) { return from(device(x, n)) | order_free_folds(); },
      [](auto const* x, i64 n) { return from(device(x, n)) | rounding_folds(); });
}

TEST_CASE("no kernel leaves its memory: striped loads, of columns that are not aligned") {
  on_every_way_out(
      load_primitive::striped_ldg, 1, false, [](auto const* x, i64 n) { return from(device(x, n)) | order_free_folds(); },
      [](auto const* x, i64 n) { return from(device(x, n)) | rounding_folds(); });
}

TEST_CASE("no kernel leaves its memory: striped loads, of elements far apart and in reverse") {
  on_every_way_out(
      load_primitive::striped_ldg, 0, false,
      [](auto const* x, i64 n) { return from(every(x, (n + 2) / 3, 3)) | order_free_folds(); },
      [](auto const* x, i64 n) { return from(every(x + n - 1, n, -1)) | rounding_folds(); });
}

TEST_CASE("no kernel leaves its memory: computed columns, alone and beside one that is read") {
  on_every_way_out(
      load_primitive::computed, 0, false, [](auto const*, i64 n) { return from(iota(n)) | order_free_folds(); },
      [](auto const* x, i64 n) { return from(iota(n), device(x, n)) | map(_1 * _2) | rounding_folds(); });
}

/// Not run with the others: it shows that the checker sees what it is there to see.
TEST_SUITE("one element too far" * doctest::skip()) {
  TEST_CASE("a column that is one element shorter than it says") {
    if (no_kernels()) return;
    auto const numbers = uneven_numbers<int>(1001);
    ending_column<int> const column(numbers, 1000);
    auto const least = run(from(device(numbers.data(), 1000)) | min, on::cpu);
    CHECK(run(from(device(column.data(), 1001)) | min, on::gpu) <= least); // whatever stands behind the column
  }
}
