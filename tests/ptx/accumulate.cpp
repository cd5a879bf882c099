// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of each rung of the ladder is the widest instruction that the type, the operation and the chip have,
// and nothing wider is left in it on a chip that lacks it. Needs NVRTC, no GPU.
#include "ptx/kernel_text.hpp"

#include <tally/run/device.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

std::string ptx_of(std::string const& verb, std::string const& operation, std::string const& type, int major) {
  tally::gpu::unit u;
  u.header = "tally/primitive/accumulate.cuh";
  u.definitions = "using namespace tally;\nusing namespace tally::primitive;\n"
                  "template <operation Op, class T>\n"
                  "__global__ void climb(rows_by_key<T, i64> to, tile_of_rows<T> from) {\n"
                  "  extern __shared__ __align__(128) unsigned char room[];\n  (void)room;\n  " +
                  verb + ";\n}\n";
  u.name_expression = "climb<operation::" + operation + ", " + type + ">";
  return tally::gpu::compile(u, major, 0).ptx;
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
