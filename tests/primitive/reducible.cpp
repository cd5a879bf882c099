// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specifies the concepts of primitive/reducible.hpp and primitive/copyable.hpp: what the instructions of each chip do with
// each type of element. Written from the manual; that the table behind the concepts is ptxas' own is tests/legality.
#include <tally/primitive/copyable.hpp>
#include <tally/primitive/reducible.hpp>
#include <tally/primitive/spell.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

using namespace tally::v0;
using namespace tally::v0::primitive;

namespace {

/// What `holds.operator()<operation>()` says of every operation: "amxid&|^", with '-' where there is none.
template <class Holds>
std::string every_operation(Holds holds) {
  constexpr std::array operations{operation::add, operation::min,     operation::max,    operation::inc,
                                  operation::dec, operation::bit_and, operation::bit_or, operation::bit_xor};
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::string{(holds.template operator()<operations[I]>() ? "amxid&|^"[I] : '-')...};
  }
  (std::make_index_sequence<8>{});
}

template <class T, space To, architecture On = sm_90>
std::string in_bulk() {
  return every_operation([]<operation Op> { return bulk_reducible<Op, T, To, On>; });
}
template <class T, architecture On = sm_90>
std::string remote() {
  return every_operation([]<operation Op> { return red_async_reducible<Op, T, On>; });
}
template <class T, space To = space::global, architecture On = sm_90>
std::string one() {
  return every_operation([]<operation Op> { return scalar_reducible<Op, T, To, On>; });
}
template <class T, int Width, architecture On = sm_90>
std::string vectors() {
  return every_operation([]<operation Op> { return vector_reducible<Op, T, Width, On>; });
}

} // namespace

TEST_CASE("the bulk engine reduces into global memory") {
  constexpr space g = space::global;
  CHECK(in_bulk<u32, g>() == "amxid&|^");
  CHECK(in_bulk<i32, g>() == "amx--&|^");
  CHECK(in_bulk<u64, g>() == "amx--&|^");
  CHECK(in_bulk<i64, g>() == "amx--&|^"); // adds as u64: addition does not see signs
  CHECK(in_bulk<f16, g>() == "amx-----");
  CHECK(in_bulk<bf16, g>() == "amx-----");
  CHECK(in_bulk<f32, g>() == "a-------");
  CHECK(in_bulk<f64, g>() == "a-------");
  CHECK(in_bulk<u8, g>() == "--------");
  CHECK(in_bulk<i16, g>() == "--------");
  CHECK(in_bulk<bool, g>() == "--------");
  CHECK(in_bulk<u32, g, sm_80>() == "--------");
  CHECK(in_bulk<u32, g, sm_120>() == "amxid&|^");
}

TEST_CASE("the bulk engine reduces into another block's memory: 32-bit integers, and sums of 64 bits") {
  constexpr space c = space::shared_cluster;
  CHECK(in_bulk<u32, c>() == "amxid&|^");
  CHECK(in_bulk<i32, c>() == "amx--&|^");
  CHECK(in_bulk<u64, c>() == "a-------");
  CHECK(in_bulk<i64, c>() == "a-------");
  CHECK(in_bulk<f32, c>() == "--------");
  CHECK(in_bulk<bf16, c>() == "--------");
  CHECK(in_bulk<u32, space::shared_cta>() == "--------");
}

TEST_CASE("red.async does for one word what the bulk engine does for many") {
  CHECK(remote<u32>() == "amxid&|^");
  CHECK(remote<i32>() == "amx--&|^");
  CHECK(remote<u64>() == "a-------");
  CHECK(remote<i64>() == "a-------");
  CHECK(remote<f32>() == "--------");
  CHECK(remote<u32, sm_80>() == "--------");
}

TEST_CASE("only sums are published, and by the newest chips") {
  CHECK(publishable<operation::add, u32>);
  CHECK(publishable<operation::add, i64>);
  CHECK_FALSE(publishable<operation::max, u32>);
  CHECK_FALSE(publishable<operation::add, f32>);
  CHECK_FALSE(publishable<operation::add, u32, sm_90a>);
  CHECK(legal(published_reduction<operation::add, u32>(scope::sys, true), sm_100));
  CHECK_FALSE(legal(published_reduction<operation::add, u32>(scope::gpu, true), sm_100));
}

TEST_CASE("red of one element") {
  CHECK(one<u32>() == "amxid&|^");
  CHECK(one<u32, space::shared_cta>() == "amxid&|^");
  CHECK(one<i64>() == "amx--&|^");
  CHECK(one<f32>() == "a-------");
  CHECK(one<f64, space::shared_cluster>() == "a-------");
  CHECK(one<f16>() == "a-------");
  CHECK(one<two<bf16>>() == "a-------");
  CHECK(one<f16, space::global, sm_80>() == "a-------");
  CHECK(one<bf16, space::global, sm_80>() == "--------");
  CHECK(one<f32, space::shared_cluster, sm_80>() == "--------");
}

TEST_CASE("red of several neighbours") {
  CHECK(vectors<f32, 2>() == "a-------");
  CHECK(vectors<f32, 4>() == "a-------");
  CHECK(vectors<f32, 8>() == "--------");
  CHECK(vectors<f64, 2>() == "--------");
  CHECK(vectors<u32, 4>() == "--------");
  CHECK(vectors<bf16, 8>() == "amx-----");
  CHECK(vectors<two<f16>, 4>() == "amx-----");
  CHECK(vectors<two<f16>, 8>() == "--------");
  CHECK(vectors<f32, 4, sm_80>() == "--------");
}

TEST_CASE("the widest red takes 16 bytes where there is a vector") {
  CHECK(widest_reduction<operation::add, f32, sm_90>() == 4);
  CHECK(widest_reduction<operation::add, bf16, sm_90>() == 8);
  CHECK(widest_reduction<operation::min, f16, sm_100>() == 8);
  CHECK(widest_reduction<operation::add, f16, sm_80>() == 2);
  CHECK(widest_reduction<operation::add, f64, sm_90>() == 1);
  CHECK(widest_reduction<operation::max, i64, sm_90>() == 1);
  CHECK(widest_reduction<operation::max, f32, sm_90>() == 0);
  CHECK(widest_reduction<operation::min, f16, sm_80>() == 0);
}

TEST_CASE("copies in every direction") {
  CHECK(bulk_copyable<space::global, space::shared_cta>);
  CHECK(bulk_copyable<space::global, space::shared_cluster>);
  CHECK(bulk_copyable<space::shared_cta, space::shared_cluster>);
  CHECK(bulk_copyable<space::shared_cta, space::global>);
  CHECK_FALSE(bulk_copyable<space::global, space::global>);
  CHECK_FALSE(bulk_copyable<space::shared_cluster, space::shared_cta>);
  CHECK_FALSE(bulk_copyable<space::global, space::shared_cta, sm_80>);
  CHECK(multicasting<sm_90>);
  CHECK_FALSE(multicasting<sm_80>);
  CHECK(byte_masking<sm_100>);
  CHECK(byte_masking<sm_120>);
  CHECK_FALSE(byte_masking<sm_90a>);
  CHECK(bulk_prefetching<sm_90>);
  CHECK_FALSE(bulk_prefetching<sm_80>);
  CHECK_FALSE(
      legal(bulk_copy(space::shared_cta, space::shared_cluster, true), sm_100a)); // no hint without global memory
  CHECK(multicast_is_quick(sm_90a));
  CHECK_FALSE(multicast_is_quick(sm_90));
}

TEST_CASE("forms are written as the manual writes them") {
  CHECK(spell(bulk_copy(space::global, space::shared_cta)) ==
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes");
  CHECK(spell(bulk_multicast(true)) ==
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint");
  CHECK(spell(masked_bulk_copy(true)) == "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask");
  CHECK(spell(bulk_prefetch()) == "cp.async.bulk.prefetch.L2.global");
  CHECK(spell(bulk_reduction<operation::add, bf16>(space::global)) ==
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16");
  CHECK(spell(bulk_reduction<operation::min, bf16>(space::global)) ==
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.bf16");
  CHECK(spell(remote_reduction<operation::bit_and, i32>()) ==
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.and.b32");
  CHECK(spell(published_reduction<operation::add, u32>(scope::sys, true)) ==
        "red.async.mmio.release.sys.global.add.u32");
  CHECK(spell(reduction<operation::add, two<f16>, 4>(space::global, semantics::release, scope::sys, true)) ==
        "red.release.sys.global.add.noftz.L2::cache_hint.v4.f16x2");
}
