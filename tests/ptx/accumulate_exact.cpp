// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine code of exact sums of rows: integer reductions only, by lane or in bulk, and no red at all where rows are gathered
// and find room. Needs NVRTC, no GPU.
#include "ptx/kernel_text.hpp"

#include <tally/run/device.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

std::string ptx_of(std::string const& verb, std::string const& type, int major) {
  tally::v0::gpu::unit u;
  u.header = "tally/primitive/rows_gathered.cuh";
  u.definitions = "using namespace tally::v0;\nusing namespace tally::v0::primitive;\n"
                  "template <class T>\n"
                  "__global__ void exact(exact_rows_by_key<T, i64> to, tile_of_rows<T> from, T* table, i64 rows, filed_rows filed) {\n"
                  "  extern __shared__ __align__(128) unsigned char room[];\n  (void)room;\n  " +
                  verb + ";\n}\n";
  u.name_expression = "exact<" + type + ">";
  return tally::v0::gpu::compile(u, major, 0).ptx;
}

bool has(std::string const& text, std::string const& word) { return text.find(word) != text.npos; }

char const by_red[] = "accumulate_exactly(to, from)", in_bulk[] = "accumulate_exactly_in_bulk(to, from, room, 4096)",
           gathered[] = "gather_exactly(table, from.columns, rows, filed, to, from)";

} // namespace

TEST_CASE("exact, by red: lanes of 64 bits, on old chips too, and no red of a float") {
  if (!ptx::can_compile()) return;
  for (int major : {8, 9})
    for (char const* type : {"float", "bf16", "double"}) {
      auto const text = ptx_of(by_red, type, major);
      CHECK(has(text, "red.relaxed.gpu.global.add.u64"));
      CHECK(has(text, "red.relaxed.gpu.global.or.b32")); // the marks
      CHECK_FALSE(has(text, "global.add.f"));
      CHECK_FALSE(has(text, "global.add.noftz"));
    }
}

TEST_CASE("exact, in bulk: stores, fence, reduction of 64-bit integers, group, and a wait before the kernel ends") {
  if (!ptx::can_compile()) return;
  auto const text = ptx_of(in_bulk, "float", 9);
  std::string const order[]{"cp.async.bulk.wait_group.read", "st.shared", "fence.proxy.async.shared::cta",
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64", "cp.async.bulk.commit_group"};
  std::size_t at = 0;
  for (auto const& word : order) {
    at = text.find(word, at);
    CHECK_MESSAGE(at != text.npos, word);
  }
  CHECK(has(text, "cp.async.bulk.wait_group "));
  CHECK_FALSE(has(text, "red.relaxed.gpu.global.add"));
}

TEST_CASE("exact, gathered: rows are read and written 16 bytes at once, and nothing but marks is atomic") {
  if (!ptx::can_compile()) return;
  auto const text = ptx_of(gathered, "float", 9);
  CHECK((has(text, "ld.global.cs.v4") || has(text, "ld.global.cs.v2.u64") || has(text, "ld.global.cs.v2.b64")));
  CHECK((has(text, "st.global.v4") || has(text, "st.global.v2")));
  CHECK_FALSE(has(text, "red.relaxed.gpu.global.add"));
  CHECK_FALSE(has(text, "atom."));
}
