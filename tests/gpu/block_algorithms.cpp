// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each way the threads of a block combine their states, as the planner chooses it: the values of the CPU. The folds are of
// integers, so that any grouping has the same bits; two of them do not commute, so that any other order has others.
#include "gpu/device.hpp"
#include "gpu/on_device.hpp"
#include "gpu/watchdog.hpp"

#include <tally/plan/spell.hpp>
#include <tally/tally.hpp>

#include <mutex>
#include <string>
#include <thread>

namespace block_algorithms_spec {

TALLY_STRUCT(matrix, { unsigned long long a, b, c, d; });
TALLY_FUNCTION(matrix_product, (matrix x, matrix y), {
  return matrix{x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
});
TALLY_FUNCTION(shear, (unsigned v), { return v % 2 ? matrix{1, v, 0, 1} : matrix{1, 0, v, 1}; });
TALLY_FUNCTION(itself, (matrix x), { return x; });

TALLY_STRUCT(record, { unsigned long long key, more[6]; });
TALLY_FUNCTION(record_of, (unsigned v), {
  return record{v, {v + 1ull, v * 3ull, v ^ 5ull, v + 7ull, v * 11ull, v - 13ull}};
});
TALLY_FUNCTION(totals, (record x, record y), {
  return record{x.key + y.key, {x.more[0] + y.more[0], x.more[1] ^ y.more[1], x.more[2] | y.more[2], x.more[3] + y.more[3],
                                x.more[4] + y.more[4], x.more[5] + y.more[5]}};
});
TALLY_FUNCTION(unchanged, (record x), { return x; });

TALLY_STRUCT(box, { double low, high, lower, upper; });
TALLY_FUNCTION(hull, (box a, box b), {
  return box{a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high, a.lower < b.lower ? a.lower : b.lower,
             a.upper > b.upper ? a.upper : b.upper};
});
TALLY_FUNCTION(point, (double v), { return box{v, v, -3 * v, -3 * v}; });
TALLY_FUNCTION(same_box, (box b), { return b; });

} // namespace block_algorithms_spec

namespace {

using namespace tally::v0;
using namespace block_algorithms_spec;

auto product_of_matrices() { return fold_of(matrix{1, 0, 0, 1}, matrix_product, shear, itself, associative); }
auto bounding_box() { return fold_of(box{1e300, -1e300, 1e300, -1e300}, hull, point, same_box, order_free); }
auto all_totals() { return fold_of(record{}, totals, record_of, unchanged, order_free); }

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

/// The plan that an H200 gets.
template <class R>
plan plan_of(R const& r, contract c) {
  auto bound = bind(r);
  auto f = detail::request_for(bound.program, on::gpu, c).f;
  f.target = targets::h200;
  return make_plan(f).plan;
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

constexpr long large = 13 * 1024 * 1024 + 777; // leaves for all multiprocessors of an H200
constexpr long sizes[] = {1, 31, 127, 129, 1023, 1024, 1025, 8191, 30001, 70001, 1048576, large - 778, large};

/// The plans for the largest size, under both contracts, at all sizes.
template <class T, class Make>
void compare(complaints& wrong, std::string const& what, std::vector<block_algorithm> const& expected, Make make, std::size_t skip) {
  try {
    auto const all = uneven_numbers<T>(std::size_t(large) + skip);
    on_device<T> const there(all);
    for (contract c : {contract::fast, contract::reproducible}) {
      plan const p = plan_of(make(from(device(there.data() + skip, i64(large)))), c);
      for (std::size_t i = 0; i < expected.size() && c == contract::fast; ++i)
        if (p.folds[i].block != expected[i]) wrong.add(what + ": fold " + std::to_string(i) + " by " + spell(p.folds[i].block));
      for (long n : sizes) {
        auto const here = run(make(from(device(all.data() + skip, i64(n)))), on::cpu.threads(1));
        if (!same_bits(answers_by(p, make(from(device(there.data() + skip, i64(n)))), c), here))
          wrong.add(what + ": other bits at " + std::to_string(n) + ", contract " + std::to_string(int(c)));
        tally_test_progress();
      }
    }
  } catch (std::exception const& e) {
    wrong.add(what + ": " + e.what());
  }
}

/// Comparisons side by side: most of the time is the kernel compiler's.
class crew {
public:
  template <class T, class Make>
  void add(std::string const& what, std::vector<block_algorithm> const& expected, Make make, std::size_t skip = 0) {
    threads_.emplace_back([=, this] { compare<T>(wrong_, what, expected, make, skip); });
  }
  void finish() {
    threads_.clear();
    wrong_.check();
  }

private:
  complaints wrong_;
  std::vector<std::jthread> threads_;
};

bool no_h200() {
  if (no_kernels()) return true;
  if (gpu::facts_of(0).compute_major >= 9) return false;
  MESSAGE("skipped: the plans are those of a chip with a bulk copy engine");
  return true;
}

constexpr auto raked = block_algorithm::raking, raked_freely = block_algorithm::raking_commutative_only,
               by_warps = block_algorithm::warp_reductions, redux = block_algorithm::redux;

} // namespace

TEST_CASE("folds that do not commute are raked in the order of the threads") {
  if (no_h200()) return;
  crew hands;
  hands.add<unsigned>("matrices", {raked}, [](auto source) { return source | product_of_matrices(); });
  hands.add<unsigned>("filtered", {raked}, [](auto source) { return source | filter(_1 % 3 != 0) | product_of_matrices(); });
  hands.add<unsigned>("misaligned", {raked}, [](auto source) { return source | product_of_matrices(); }, 1);
  hands.add<unsigned>("beside others", {raked, raked, raked},
                    [](auto source) { return source | reduce(product_of_matrices(), sum, max); });
  hands.finish();
}

TEST_CASE("wide states that are cheap to combine are raked in any order, vast ones reduced warp by warp") {
  if (no_h200()) return;
  crew hands;
  hands.add<double>("boxes", {raked_freely}, [](auto source) { return source | bounding_box(); });
  hands.add<double>("boxes and positions", {raked_freely, raked},
                  [](auto source) { return source | reduce(bounding_box(), argmin.where(_1 > 0).or_else(i64(-1))); });
  hands.add<unsigned>("records", {by_warps}, [](auto source) { return source | all_totals(); });
  hands.add<unsigned>("records, misaligned", {by_warps}, [](auto source) { return source | all_totals(); }, 3);
  hands.finish();
}

// values of: redux.sync
TEST_CASE("redux.sync combines integers of at most 32 bits") {
  if (no_h200()) return;
  crew hands;
  hands.add<int>("i32", {redux, redux, redux, redux, redux},
               [](auto source) { return source | reduce(min, max, bit_and, bit_or, bit_xor); });
  hands.add<unsigned>("u32", {redux, redux, redux},
                    [](auto source) { return source | reduce(min, max, bit_and(cast<unsigned>(bits_or(_1, 7u)))); });
  hands.add<i8>("i8", {redux, redux, redux}, [](auto source) { return source | reduce(min, max, bit_xor); });
  hands.add<u16>("u16", {redux, redux, redux}, [](auto source) { return source | reduce(min, max, bit_and); });
  hands.add<unsigned>("sum", {redux}, [](auto source) { return source | sum.in<unsigned>(); });
  hands.add<int>("with a float", {redux}, [](auto source) { return source | reduce(max, sum(_1 * 0.5f)); });
  hands.finish();
}
