// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of each rung of the ladder is the widest instruction that the type, the operation and the chip have,
// and nothing wider is left in it on a chip that lacks it. Needs NVRTC, no GPU.
#include "primitive/device_unit.hpp"
#include "ptx/kernel_text.hpp"

#include <tally/run/device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

std::string ptx_of(std::string const& verb, std::string const& operation, std::string const& type, int major) {
  tally::v0::gpu::unit u;
  u.header = "tally/primitive/verbs.cuh";
  u.definitions = "using namespace tally::v0;\nusing namespace tally::v0::primitive;\n"
                  "template <operation Op, class T>\n"
                  "__global__ void climb(rows_by_key<T, i64> to, tile_of_rows<T> from) {\n"
                  "  extern __shared__ __align__(128) unsigned char room[];\n  (void)room;\n  " +
                  verb + ";\n}\n";
  u.name_expression = "climb<operation::" + operation + ", " + type + ">";
  return tally::v0::gpu::compile(u, major, 0).ptx;
}

long count(std::string const& text, std::string const& word) {
  long found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

char const by_red[] = "accumulate<Op>(to, from)", by_words[] = "accumulate_by_words<Op>(to, from)",
           in_bulk[] = "accumulate_in_bulk<Op>(to, from, room, 4096)";

} // namespace

TEST_CASE("through registers: 16 bytes a red where there is a vector") {
  if (!ptx::can_compile()) return;
  CHECK(count(ptx_of(by_red, "add", "float", 9), "red.relaxed.gpu.global.add.v4.f32") > 0);
  CHECK(count(ptx_of(by_red, "add", "bf16", 9), "red.relaxed.gpu.global.add.noftz.v4.bf16x2") > 0);
  CHECK(count(ptx_of(by_red, "min", "f16", 9), "red.relaxed.gpu.global.min.noftz.v4.f16x2") > 0);
}

TEST_CASE("loads of whole windows are wide, and four are issued before a red") {
  if (!ptx::can_compile()) return;
  auto const text = ptx_of(by_red, "add", "float", 9);
  int most = 0, in_a_row = 0;
  for (auto at = text.find(".global."); at != text.npos; at = text.find(".global.", at + 1)) {
    if (text.compare(at, 13, ".global.cs.v4") == 0) most = std::max(most, ++in_a_row);
    if (text.compare(at - 4, 4, ".gpu") == 0) in_a_row = 0; // red.relaxed.gpu.global
  }
  CHECK(most >= 4);
}

TEST_CASE("ends of rows and narrow rows are halved: 8 bytes, 4 bytes, and elements last") {
  if (!ptx::can_compile()) return;
  CHECK(count(ptx_of(by_red, "add", "float", 9), "red.relaxed.gpu.global.add.v2.f32") > 0);
  auto const sums = ptx_of(by_red, "add", "f16", 9);
  for (char const* width : {"v4.f16x2", "v2.f16x2", "f16x2", "f16"})
    CHECK_MESSAGE(count(sums, std::string("red.relaxed.gpu.global.add.noftz.") + width + " [") > 0, width);
  CHECK(count(sums, "v8.f16") == 0);
  auto const least = ptx_of(by_red, "min", "bf16", 9);
  for (char const* width : {"v4.bf16x2", "v2.bf16x2", "v2.bf16"}) // there is no red.min.bf16x2
    CHECK_MESSAGE(count(least, std::string("red.relaxed.gpu.global.min.noftz.") + width + " [") > 0, width);
}

TEST_CASE("a width that is asked for is the widest that is used") {
  if (!ptx::can_compile()) return;
  auto const of_8 = ptx_of("accumulate<Op, red_width{8}>(to, from)", "add", "float", 9);
  CHECK(count(of_8, "red.relaxed.gpu.global.add.v2.f32") > 0);
  CHECK(count(of_8, "red.relaxed.gpu.global.add.v4.f32") == 0);
  auto const of_4 = ptx_of("accumulate<Op, red_width{4}>(to, from)", "add", "bf16", 9);
  CHECK(count(of_4, "red.relaxed.gpu.global.add.noftz.bf16x2") > 0);
  CHECK(count(of_4, "add.noftz.v") == 0);
  auto const alone = ptx_of("accumulate<Op, red_width{16, halves::alone}>(to, from)", "add", "bf16", 9);
  for (char const* width : {"v8.bf16", "v4.bf16", "v2.bf16", "bf16"})
    CHECK_MESSAGE(count(alone, std::string("red.relaxed.gpu.global.add.noftz.") + width + " [") > 0, width);
  CHECK(count(alone, "bf16x2") == 0);
}

TEST_CASE("in shared memory: words and pairs, for the block or the cluster") {
  if (!ptx::can_compile()) return;
  std::string const in_block =
      "accumulate<Op>(rows_of_block<T, i64>{reinterpret_cast<T*>(room), 8, to.keys}, from)";
  std::string const in_cluster =
      "accumulate<Op>(rows_of_cluster<T, i64>{reinterpret_cast<T*>(room), 8, to.keys, 4}, from)";
  CHECK(count(ptx_of(in_block, "add", "float", 8), "red.relaxed.cta.shared::cta.add.f32") > 0);
  CHECK(count(ptx_of(in_block, "add", "f16", 8), "red.relaxed.cta.shared::cta.add.noftz.f16x2") > 0);
  CHECK(count(ptx_of(in_block, "min", "float", 8), "red.relaxed.cta.shared::cta.max.u32") > 0);
  CHECK(count(ptx_of(in_block, "max", "bf16", 8), "atom.relaxed.cta.shared::cta.cas.b16") > 0);
  CHECK(count(ptx_of(in_block, "inc", "u32", 8), "red.relaxed.cta.shared::cta.inc.u32") > 0);
  CHECK(count(ptx_of(in_cluster, "add", "u64", 9), "red.relaxed.cluster.shared::cluster.add.u64") > 0);
  CHECK(count(ptx_of(in_cluster, "add", "bf16", 9), "red.relaxed.cluster.shared::cluster.add.noftz.bf16 [") > 0);
  CHECK(count(ptx_of(in_cluster, "min", "f16", 9), "atom.relaxed.cluster.shared::cluster.cas.b16") > 0);
  // What ptxas makes no atomic in another block is not used.
  CHECK(count(ptx_of(in_cluster, "bit_xor", "u64", 9), "xor.b64 [") == 0);
  CHECK(count(ptx_of(in_cluster, "bit_xor", "u64", 9), "red.relaxed.cluster.shared::cluster.xor.b32") > 0);
  CHECK(count(ptx_of(in_cluster, "add", "f16", 9), "f16x2 [") == 0);
}

TEST_CASE("through registers, on chips and for types without vectors") {
  if (!ptx::can_compile()) return;
  auto const old = ptx_of(by_red, "add", "float", 8);
  CHECK(count(old, "red.relaxed.gpu.global.add.f32") > 0);
  CHECK(count(old, ".v4.f32 [") == 0);
  CHECK(count(ptx_of(by_red, "add", "f16", 8), "red.relaxed.gpu.global.add.noftz.f16x2") > 0);
  CHECK(count(ptx_of(by_red, "add", "bf16", 8), "atom.relaxed.gpu.global.cas.b16") > 0);
  CHECK(count(ptx_of(by_red, "add", "i64", 9), "red.relaxed.gpu.global.add.u64") > 0);
  CHECK(count(ptx_of(by_words, "add", "float", 9), "red.relaxed.gpu.global.add.v4.f32") == 0);
}

TEST_CASE("the least and the greatest float travel as integers, without compare and swap") {
  if (!ptx::can_compile()) return;
  auto const text = ptx_of(by_red, "min", "float", 9);
  CHECK(count(text, "red.relaxed.gpu.global.min.s32") > 0);
  CHECK(count(text, "red.relaxed.gpu.global.max.u32") > 0);
  CHECK(count(text, "atom.") == 0);
  CHECK(count(ptx_of(by_red, "max", "double", 8), "red.relaxed.gpu.global.min.u64") > 0);
}

TEST_CASE("in bulk: stores, fence, reduction, group, and a wait before the kernel ends, in this order") {
  if (!ptx::can_compile()) return;
  auto const text = ptx_of(in_bulk, "add", "double", 9);
  std::string const order[]{"cp.async.bulk.wait_group.read", "st.shared", "fence.proxy.async.shared::cta",
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64", "cp.async.bulk.commit_group"};
  std::size_t at = 0;
  for (auto const& word : order) {
    at = text.find(word, at);
    CHECK_MESSAGE(at != text.npos, word);
  }
  CHECK(text.find("cp.async.bulk.wait_group ") != text.npos);
}

TEST_CASE("ragged tiles and published counts take what sm_100 has, and only there") {
  if (!ptx::can_compile()) return;
  std::string const stored = "store_ring<2> ring(room, bulk_bytes::of<1024>()); ring.turn(in_global(to.table), "
                             "from.columns, [&](T* tile) { tile[threadIdx.x] = T(1); }); ring.finish()";
  std::string const published = "publish_of_block(in_global(to.table), T(1))";
  std::string const mask = "cp.async.bulk.global.shared::cta.bulk_group.cp_mask", async = "red.async.release.gpu.global.add.u32";
  CHECK(count(ptx_of(stored, "add", "u32", 9), mask) == 0);
  CHECK(count(ptx_of(stored, "add", "u32", 9), "st.global") > 0);
  CHECK(count(ptx_of(published, "add", "u32", 9), async) == 0);
  CHECK(count(ptx_of(published, "add", "u32", 9), "red.release.gpu.global.add.u32") > 0);
  if (!device_unit::knows(100)) return;
  CHECK(count(ptx_of(stored, "add", "u32", 10), mask) > 0);
  CHECK(count(ptx_of(stored, "add", "u32", 10), "st.global") == 0);
  CHECK(count(ptx_of(published, "add", "u32", 10), async) > 0);
  CHECK(count(ptx_of(published, "add", "u32", 10), "red.release") == 0);
}
