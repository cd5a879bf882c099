// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specifies plan/combinable.hpp: which folds the instructions of each chip combine.
#include <tally/fold/mean.hpp>
#include <tally/fold/variance.hpp>
#include <tally/plan/combinable.hpp>

using namespace tally::v0;
using namespace tally::v0::planning;
using primitive::space;
using does = primitive::operation;

namespace {

constexpr auto a100 = primitive::sm_80, h200 = primitive::sm_90a;
constexpr space global = space::global, cluster = space::shared_cluster, block = space::shared_cta;

// Sums, in the accumulator they have.
static_assert(bulk_combinable<sum_monoid<float>, global, h200>);
static_assert(bulk_combinable<sum_monoid<double>, global, h200>);
static_assert(bulk_combinable<sum_monoid<i64>, global, h200>);
static_assert(bulk_combinable<sum_monoid<u64>, cluster, h200>);
static_assert(bulk_combinable<count_monoid, cluster, h200>);
static_assert(!bulk_combinable<sum_monoid<float>, cluster, h200>);
static_assert(!bulk_combinable<sum_monoid<float>, global, a100>);
static_assert(red_combinable<sum_monoid<float>, global, a100>);
static_assert(red_combinable<count_monoid, block, a100>);
static_assert(!red_combinable<count_monoid, cluster, a100>);
static_assert(red_async_combinable<sum_monoid<i64>, h200>);
static_assert(!red_async_combinable<sum_monoid<double>, h200>);

// Ends and bits, of integers that are words.
static_assert(bulk_combinable<extreme_monoid<i32, true>, cluster, h200>);
static_assert(bulk_combinable<extreme_monoid<i64, false>, global, h200>);
static_assert(!bulk_combinable<extreme_monoid<i64, false>, cluster, h200>);
static_assert(!bulk_combinable<extreme_monoid<u8, false>, global, h200>);
static_assert(!red_combinable<extreme_monoid<float, true>, global, h200>);
static_assert(!red_combinable<extreme_monoid<bf16, true>, global, h200>);
static_assert(bulk_combinable<bit_monoid<u32, bit_rule::xor_>, cluster, h200>);
static_assert(bulk_combinable<bit_monoid<i64, bit_rule::and_>, global, h200>);
static_assert(!red_async_combinable<bit_monoid<u64, bit_rule::or_>, h200>);

// A count modulo m goes up one by one; two of them are added modulo m, which nothing does.
static_assert(stepped_by<count_modulo_monoid<true>> == does::inc);
static_assert(stepped_by<count_modulo_monoid<false>> == does::dec);
static_assert(stepped_by<sum_monoid<float>> == does::add);
static_assert(combined_by<count_modulo_monoid<true>> == does::none);

// More than a word, or more than an operation.
static_assert(combined_by<compensated_sum_monoid<float>> == does::none);
static_assert(combined_by<checked_sum_monoid<i64>> == does::none);
static_assert(combined_by<extreme_number_monoid<float, true>> == does::none);
static_assert(combined_by<variance_monoid<double>> == does::none);
static_assert(!red_combinable<variance_monoid<double>, global, h200>);

} // namespace
