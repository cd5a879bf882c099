// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of folds by key is what their plans say: where elements meet, and by which instructions. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

using namespace tally::v0;

TALLY_FUNCTION(ptx_folded_key, (int k), { return k & 63; });

namespace {

/// n elements of made-up device memory.
template <class T>
auto made_up(i64 n, std::uintptr_t at) {
  return device(reinterpret_cast<T const*>(at), n);
}
auto const x = made_up<float>(1 << 24, 0x700000000000);
auto const keys = made_up<int>(1 << 24, 0x710000000000);

struct planned_text {
  keys_plan plan;
  std::string ptx;
  int count(std::string const& word) const {
    int n = 0;
    for (auto at = ptx.find(word); at != std::string::npos; at = ptx.find(word, at + 1)) ++n;
    return n;
  }
  bool has(std::string const& word) const { return count(word) > 0; }
};

/// Plans and compiles a keyed reduction for a chip, under fast or not.
template <bool Fast = false, class R>
planned_text compiled(R const& r, target const& chip = targets::h200) {
  auto const bound = get<0>(r.folds).bind(r.pipe);
  auto const& d = detail::domain_under<Fast>(bound);
  using Where = std::remove_cvref_t<decltype(d.where)>;
  using Program = std::remove_cvref_t<decltype(d.program)>;
  using types = detail::keyed_types<Where, Program, std::remove_cvref_t<decltype(d.nodes)>>;
  axes_layout const at = layout_of(bound.program, r.pipe.source, Where::is_reduced);
  auto p = d.program;
  p.extent = at.extent;
  auto const plan = make_keys_plan(detail::facts_of_keys(d, p, at, chip, Fast ? contract::fast : contract::reproducible)).plan;
  return {plan, gpu::compile(gpu::unit_of(types::type(), plan), chip.compute_major, chip.compute_minor).ptx};
}
bool can_compile() {
  if (!gpu::can_compile())
    std::printf("skipped: no NVRTC on this machine\n");
  return gpu::can_compile();
}

} // namespace

TEST_CASE("a histogram counts in 32 bits of shared memory, by loads of 16 bytes") {
  if (!can_compile()) return;
  auto const t = compiled(from(keys) | by_key(_1, 256, count));
  CHECK(t.plan.route == keys_route::in_shared_memory);
  CHECK(t.plan.replicas == 1);
  CHECK(t.has("ld.global.cs.v4"));
  CHECK(t.count("red.shared.add.u32") >= t.plan.elements_per_load * t.plan.loads_in_flight);
  auto const even = compiled(from(x) | histogram(0, 1, 4096));
  CHECK(even.plan.route == keys_route::in_shared_memory);
  CHECK(even.has("cvt.f64.f32"));
  auto const of_keys = compiled(from(x, keys) | histogram(key_bins(_2, 32), even_bins(_1, 0, 1, 64)));
  CHECK(of_keys.plan.route == keys_route::in_shared_memory);
  CHECK(of_keys.has("red.shared.add.u32"));
  auto const large = compiled(from(keys) | by_key(_1, 32768, count));
  CHECK(large.plan.route == keys_route::in_shared_memory);
  CHECK(large.has("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"));
  CHECK_FALSE(large.has("red.relaxed.gpu.global"));
  CHECK_FALSE(t.has("cp.reduce.async.bulk"));
  CHECK(compiled(from(keys) | by_key(_1, 200'000, count)).plan.ranges == 4);
  auto const many = compiled(from(keys) | by_key(_1, 1 << 20, count));
  CHECK(many.plan.route == keys_route::in_global_memory);
  CHECK(many.plan.hot_slots == 4096);
  CHECK(many.has("atom.shared.cas.b32"));
  CHECK(many.plan.cluster_blocks == 8);
  CHECK(many.count("red.relaxed.cluster.shared::cluster.add.u32") >= many.plan.elements_per_load * many.plan.loads_in_flight);
  CHECK(many.has("barrier.cluster.arrive.release"));
  CHECK(many.has("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"));
  auto const floats = compiled<true>(from(keys, x) | by_key(_1, 1 << 20, sum(_2)));
  CHECK(floats.plan.cluster_blocks == 8);
  CHECK_FALSE(floats.has("red.relaxed.cluster.shared::cluster")); // which would be a loop
  CHECK(floats.has("atom.cas.b32"));                              // once, in whichever block has the slot
  CHECK(floats.has("red.relaxed.gpu.global.add.f32"));
  CHECK(floats.has("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32"));
}

TEST_CASE("clusters keep what one red of integers folds in another block, sums of f32 under fast, and nothing else") {
  if (!can_compile()) return;
  auto const in_clusters = [](auto const& r) {
    auto const t = compiled(r);
    CHECK(t.has("red.relaxed.cluster.shared::cluster") == (t.plan.cluster_blocks == 8));
    return t.plan.cluster_blocks == 8;
  };
  auto const of = [&]<class T>(T) { return from(keys, made_up<T>(1 << 24, 0x720000000000)); };
  i64 const bins = 300'000;
  CHECK(in_clusters(of(i32{}) | by_key(_1, bins, min(_2))));
  CHECK(in_clusters(of(u32{}) | by_key(_1, bins, max(_2))));
  CHECK(in_clusters(of(float{}) | by_key(_1, bins, max(_2))));
  CHECK(in_clusters(of(bf16{}) | by_key(_1, bins, min(_2).ignoring_nan())));
  CHECK(in_clusters(of(i64{}) | by_key(_1, bins, sum(_2))));
  CHECK(in_clusters(of(u64{}) | by_key(_1, bins, bit_and(_2), bit_xor(_2))));
  CHECK_FALSE(in_clusters(of(i64{}) | by_key(_1, bins, min(_2)))); // of 64 bits: not atomic there
  CHECK_FALSE(in_clusters(of(u64{}) | by_key(_1, bins, max(_2))));
  CHECK_FALSE(in_clusters(of(double{}) | by_key(_1, bins, max(_2))));
  CHECK_FALSE(in_clusters(of(double{}) | by_key(_1, bins, max(_2).ignoring_nan())));
  CHECK_FALSE(in_clusters(of(i64{}) | by_key(_1, bins, sum(_2).checked())));
  auto const under_fast = [](auto const& r) { return compiled<true>(r).plan.cluster_blocks == 8; };
  CHECK(under_fast(of(bf16{}) | by_key(_1, bins, sum(_2))));
  CHECK(under_fast(of(float{}) | filter(_2 > 0.f) | by_key(_1, bins, sum(_2), count, max(_2))));
  CHECK_FALSE(under_fast(of(double{}) | by_key(_1, bins, sum(_2))));
}

TEST_CASE("exact sums add digits of 64 bits, and no float") {
  if (!can_compile()) return;
  auto const t = compiled(from(x, keys) | by_key(_2, 1'000'000, sum(_1), mean(_1), variance(_1), sum(_1 * _1)));
  CHECK(t.plan.route == keys_route::in_global_memory);
  CHECK(t.has("red.relaxed.gpu.global.add.u64"));
  CHECK_FALSE(t.has("add.f32"));
}

TEST_CASE("a warp of one slot adds sums once; counts do not ask") {
  if (!can_compile()) return;
  auto const sums = compiled<true>(from(x, keys) | by_key(_2, 1000, sum(_1)));
  CHECK(sums.plan.route == keys_route::in_shared_memory);
  CHECK(sums.plan.loads_in_flight == 4);
  CHECK(sums.count("vote.sync.any") >= sums.plan.loads_in_flight);
  CHECK(sums.count("vote.sync.all") >= sums.plan.loads_in_flight);
  CHECK(sums.count("shfl.sync.down") >= 5 * sums.plan.loads_in_flight);
  auto const far_keys = made_up<i64>(1 << 24, 0x720000000000);
  CHECK(compiled<true>(from(x, far_keys) | by_key(_2, 1000, sum(_1))).plan.loads_in_flight == 2); // of 48 bytes a thread: registers
  CHECK(compiled<true>(from(x, far_keys) | by_key(_2, 1'000'000, sum(_1))).plan.loads_in_flight == 4);
  CHECK(compiled(from(x, keys) | by_key(_2, 1000, sum(_1))).has("redux.sync.add"));
  CHECK_FALSE(compiled(from(keys) | by_key(_1, 1000, count)).has("vote.sync."));
}

TEST_CASE("sums of 64 bits in a block's table are added in halves") {
  if (!can_compile()) return;
  auto const integers = compiled(from(made_up<i64>(1 << 24, 0x730000000000), keys) | by_key(_2, 1000, sum(_1)));
  CHECK(integers.plan.route == keys_route::in_shared_memory);
  CHECK_FALSE(integers.has("shared::cta.add.u64"));
  CHECK_FALSE(integers.has("shared.add.u64"));
  CHECK_FALSE(compiled(from(x, keys) | by_key(_2, 1000, sum(_1))).has("shared::cta.add.u64"));
  CHECK(integers.has("global.add.u64")); // to those of all, whole
}

TEST_CASE("under fast, rows of floats are added four columns at a time") {
  if (!can_compile()) return;
  auto const of_row = made_up<int>(1 << 18, 0x710000000000);
  auto const t = compiled<true>(from(shaped(x, 1 << 18, 64), along<0>(of_row)) | by_key<0>(_2, 1'000'000, sum(_1)));
  CHECK(t.plan.route == keys_route::in_global_memory);
  CHECK(t.plan.in_place);
  CHECK(t.plan.elements_per_load == 4);
  CHECK(t.plan.threads_per_row == 16);
  CHECK(t.has("red.relaxed.gpu.global.add.v4.f32"));
  CHECK(t.plan.asks_ahead);
  CHECK(t.has("prefetch.global.L2"));
  CHECK(t.plan.hot_keys > 0);
  auto const of_bf16 = made_up<bf16>(1 << 24, 0x720000000000);
  auto const small = compiled<true>(from(shaped(of_bf16, 1 << 18, 64), along<0>(of_row)) | by_key<0>(_2, 1000, sum(_1)));
  CHECK(small.plan.elements_per_load == 4); // one red
  CHECK(small.has("red.relaxed.gpu.global.add.v4.f32"));
  CHECK(small.has("atom.shared.cas.b32")); // counts a sample
  CHECK_FALSE(small.has("prefetch.global.L2"));
  auto const few = compiled<true>(from(shaped(x, 1 << 18, 64), along<0>(of_row)) | by_key<0>(_2, 100, sum(_1)));
  CHECK(few.plan.copies > 1);
  CHECK(few.plan.hot_keys == 0);
  CHECK_FALSE(few.has("atom.shared.cas.b32"));
  CHECK(compiled<true>(from(shaped(x, 1 << 18, 64), along<0>(of_row)) | filter(_1 > 0.f) | by_key<0>(_2, 100'000, sum(_1))).plan.threads_per_row ==
        0); // elements of a row pass or not
}

TEST_CASE("sums of 16 bits are added eight at a time, and come one by one into floats where the chip has no such red") {
  if (!can_compile()) return;
  auto const of_row = made_up<int>(1 << 18, 0x710000000000);
  auto const halves = made_up<bf16>(1 << 24, 0x720000000000);
  auto const rows = from(shaped(halves, 1 << 18, 32), along<0>(of_row)) | by_key<0>(_2, 100'000, sum(_1).in<bf16>());
  auto const at_once = compiled<true>(rows);
  CHECK(at_once.plan.elements_per_load == 8);
  CHECK(at_once.plan.in_place);
  CHECK(at_once.has("red.relaxed.gpu.global.add.noftz.v4.bf16x2"));
  auto const of_floats = made_up<float>(1 << 24, 0x740000000000);
  auto const converted = compiled<true>(from(shaped(of_floats, 1 << 18, 32), along<0>(of_row)) | by_key<0>(_2, 100'000, sum(_1).in<bf16>()));
  CHECK(converted.plan.elements_per_load == 4);
  CHECK(converted.has("red.relaxed.gpu.global.add.noftz.v4.bf16 ")); // each is in a register of its own
  auto const older = compiled<true>(rows, targets::a100);
  CHECK(older.plan.elements_per_load == 1);
  CHECK_FALSE(older.plan.in_place);
  CHECK(older.has("red.relaxed.gpu.global.add.f32"));
  CHECK_FALSE(older.has("cas.b16"));
  auto const elements = compiled<true>(from(halves, keys) | by_key(_2, 1000, sum(_1).in<bf16>()));
  CHECK(elements.has("shared::cta.add.f32"));
  CHECK_FALSE(elements.has("noftz"));
}

TEST_CASE("bits, sums that wrap and cycles take one red a word, and no lock") {
  if (!can_compile()) return;
  auto const words = made_up<u32>(1 << 24, 0x720000000000);
  auto const t = compiled(from(words, keys) | by_key(_2, 1 << 20, bit_and(_1), bit_or(_1), bit_xor(_1), sum(_1).in<u32>(), count_modulo(7), countdown_modulo(7)));
  for (auto const one : {"and.b32", "or.b32", "xor.b32", "add.u32", "inc.u32", "dec.u32"}) {
    CAPTURE(one);
    CHECK(t.has(std::string("red.relaxed.gpu.global.") + one));
    CHECK(t.has(std::string("shared::cta.") + one));
  }
  CHECK_FALSE(t.has("membar"));
  CHECK_FALSE(t.has("fence"));
}

TEST_CASE("every kind of cell compiles: positions, extremes, checked sums, bits, keys by functions") {
  if (!can_compile()) return;
  auto const t = compiled(from(x, keys) | filter(_1 > 0.f) |
                          by_key(ptx_folded_key(_2), 64, argmin(_1), last(_1), min(_1), max(_2), sum(_2).checked(), bit_xor(_2), count, any(_1 > 2.f)));
  CHECK(t.plan.route == keys_route::in_shared_memory);
  CHECK(t.has("red.relaxed.cta.shared::cta.max.u64"));
  CHECK(t.has("min.s32"));
  auto const d = made_up<double>(1 << 20, 0x720000000000);
  auto const k = made_up<u8>(1 << 20, 0x730000000000);
  auto const places = compiled(from(d, k) | by_key(_2, 256, argmax(_1), first(_1)));
  CHECK(places.has("atom.relaxed.cta.shared.cas.b128"));
  CHECK(places.has("atom.relaxed.gpu.global.cas.b128"));
  CHECK(compiled(from(d, k) | by_key(_2, 256, sum(_1), max(_1), sum(_1 * _1), mean(cast<bf16>(_1)))).plan.in_order);
}
