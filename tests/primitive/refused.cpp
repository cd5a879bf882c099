// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bad use of a typed verb is one error: a sentence and a code, and the line of the kernel. Each kernel below makes one
// mistake, and NVRTC meets it; the same kernel without the mistake compiles. Needs NVRTC, no GPU.
#include "primitive/device_unit.hpp"

#include <tally/primitive/copyable.hpp>
#include <tally/primitive/reducible.hpp>
#include <tally/primitive/refused.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

/// What NVRTC says about a kernel with this statement, empty when it compiles. The statement stands on line 14.
std::string said_about(std::string const& statement, char const* architecture) {
  std::string const unit = "#include <tally/primitive/accumulate.cuh>\n"
                           "#include <tally/primitive/cluster_push.cuh>\n"
                           "#include <tally/primitive/copy.cuh>\n"
                           "#include <tally/primitive/red.cuh>\n"
                           "#include <tally/primitive/red_async.cuh>\n"
                           "#include <tally/primitive/red_vector.cuh>\n"
                           "using namespace tally::v0;\n"
                           "using namespace tally::v0::primitive;\n"
                           "template <class T> __global__ void kernel(T* data, T value) {\n"
                           "  __shared__ stage<T, 128> a, b;\n"
                           "  __shared__ barrier bar;\n"
                           "  bulk_bytes const n = a.bytes();\n"
                           "  lanes<T, 4> const four{};\n" +
                           statement + "\n}\n";
  return device_unit::compile(unit, architecture, {"kernel<float>"}).complaints;
}

/// A mistake: the statement, what its fix is, and the code.
struct mistake {
  char const* what;
  std::string wrong, right;
  char const* code;
  char const* architecture;
};

constexpr char const* h200 = "sm_90a";

std::vector<mistake> const mistakes{
    {"a bulk minimum of floats", "reduce<operation::min>(in_global(data), in_shared(a.elements), n);",
     "reduce<operation::add>(in_global(data), in_shared(a.elements), n);", "P1", h200},
    {"a bulk reduction of bytes", "reduce<operation::add>(in_global((u8*)data), in_shared((u8 const*)a.elements), n);",
     "reduce<operation::add>(in_global((u32*)data), in_shared((u32 const*)a.elements), n);", "P1", h200},
    {"a vector on an old chip", "red<operation::add>(in_global((lanes<float, 4>*)data), four);",
     "red<operation::add>(in_global(data), value);", "P2", "sm_80"},
    {"a byte mask before sm_100", "copy_masked(in_global(data), in_shared(a.elements), n, u16(0xfff));",
     "copy(in_global(data), in_shared(a.elements), n);", "P2", h200},
    {"a published sum before sm_100", "red_async_release<operation::add>(in_global((u32*)data), 1u);",
     "red<operation::add, semantics::release>(in_global((u32*)data), 1u);", "P2", h200},
    {"floats summed in another block by the bulk engine",
     "reduce<operation::add>(in_cluster(a.elements, 1u), in_shared(b.elements), n, in_cluster(&bar, 1u));",
     "reduce<operation::add>(in_cluster((u32*)a.elements, 1u), in_shared((u32 const*)b.elements), n, "
     "in_cluster(&bar, 1u));",
     "P3", h200},
    {"a float summed in another block",
     "red_async<operation::add>(in_cluster(a.elements, 1u), value, in_cluster(&bar, 1u));",
     "red_async<operation::add>(in_cluster((u64*)a.elements, 1u), 1ull, in_cluster(&bar, 1u));", "P3", h200},
    {"red.async to the own block", "red_async<operation::add>(in_shared((u32*)a.elements), 1u, in_cluster(&bar, 1u));",
     "red<operation::add>(in_shared((u32*)a.elements), 1u);", "P3", h200},
    {"the maximum of floats by red", "red<operation::max>(in_global(data), value);",
     "red<operation::max>(in_global((i32*)data), 1);", "P4", h200},
    {"bits of floats", "red<operation::bit_xor>(in_shared(a.elements), value);",
     "red<operation::bit_xor>(in_shared((u32*)a.elements), 1u);", "P4", h200},
    {"a counter that wraps, of 64 bits", "red<operation::inc>(in_global((u64*)data), 1ull);",
     "red<operation::inc>(in_global((u32*)data), 1u);", "P4", h200},
    {"a vector in shared memory", "red<operation::add>(in_shared((lanes<float, 4>*)a.elements), four);",
     "red<operation::add>(in_shared(a.elements), value);", "P5", h200},
    {"the minimum of four floats", "red<operation::min>(in_global((lanes<float, 4>*)data), four);",
     "red<operation::add>(in_global((lanes<float, 4>*)data), four);", "P5", h200},
    {"a published maximum", "red_async_release<operation::max>(in_global((u32*)data), 1u);",
     "red_async_release<operation::add>(in_global((u32*)data), 1u);", "P6", "sm_100a"},
    {"a device told at the scope of the gpu",
     "red_async_release<operation::add, scope::gpu, true>(in_global((u32*)data), 1u);",
     "red_async_release<operation::add, scope::sys, true>(in_global((u32*)data), 1u);", "P6", "sm_100a"},
    {"a copy inside a block", "copy(in_shared(a.elements), in_shared(b.elements), n);",
     "copy(in_cluster(a.elements, 1u), in_shared(b.elements), n, in_cluster(&bar, 1u));", "P7", h200},
    {"a copy inside global memory", "copy(in_global(data), in_global(data + 128), n);",
     "copy(in_global(data), in_shared(a.elements), n);", "P7", h200},
    {"words of floats pushed to the leader of a cluster",
     "__shared__ push_room<T, 64> room; cluster_words<operation::add, T, 64> push(room, value);",
     "__shared__ push_room<u64, 64> room; cluster_words<operation::add, u64, 64> push(room, 0);", "P3", h200},
    {"the least of 64 bits pushed to the leader of a cluster",
     "__shared__ push_room<i64, 64> room; cluster_sum<operation::min, i64, 64> push(room, 0);",
     "__shared__ push_room<i32, 64> room; cluster_sum<operation::min, i32, 64> push(room, 0);", "P3", h200},
    {"bits of rows of floats",
     "accumulate<operation::bit_or>(rows_by_key<T, u32>{data, 4, nullptr}, tile_of_rows<T>{data, 1, 4, 4});",
     "accumulate<operation::min>(rows_by_key<T, u32>{data, 4, nullptr}, tile_of_rows<T>{data, 1, 4, 4});", "P8", h200},
    {"the least of 64 bits in another block",
     "accumulate<operation::min>(in_cluster((u64*)a.elements, 1u), in_shared((u64 const*)b.elements), 4);",
     "accumulate<operation::min>(in_cluster((u32*)a.elements, 1u), in_shared((u32 const*)b.elements), 4);", "P8", h200},
    {"the greatest of rows of f64 in tables of a cluster",
     "accumulate<operation::max>(rows_of_cluster<double, u32>{(double*)a.elements, 4, nullptr, 8}, "
     "tile_of_rows<double>{(double*)data, 1, 4, 4});",
     "accumulate<operation::max>(rows_of_cluster<T, u32>{a.elements, 4, nullptr, 8}, tile_of_rows<T>{data, 1, 4, 4});", "P8",
     h200},
    {"floats of a tile announced to another block",
     "accumulate<operation::add>(in_cluster(a.elements, 1u), in_shared(b.elements), 4, in_cluster(&bar, 1u));",
     "accumulate<operation::add>(in_cluster((u32*)a.elements, 1u), in_shared((u32 const*)b.elements), 4, "
     "in_cluster(&bar, 1u));",
     "P3", h200},
    {"a tile of bytes", "accumulate<operation::add>(in_global((u8*)data), in_shared((u8 const*)a.elements), 16);",
     "accumulate<operation::add>(in_global((u32*)data), in_shared((u32 const*)a.elements), 4);", "P8", h200},
    {"a counter that wraps, of 64 bits, word by word",
     "accumulate_by_words<operation::inc>(rows_by_key<u64, u32>{(u64*)data, 4, nullptr}, "
     "tile_of_rows<u64>{(u64*)data, 1, 4, 4});",
     "accumulate_by_words<operation::inc>(rows_by_key<u32, u32>{(u32*)data, 4, nullptr}, "
     "tile_of_rows<u32>{(u32*)data, 1, 4, 4});",
     "P8", h200},
    {"rows of minima of floats in bulk",
     "__shared__ stage<u32, 1024> room; accumulate_in_bulk<operation::min>(rows_by_key<T, u32>{data, 4, nullptr}, "
     "tile_of_rows<T>{data, 1, 4, 4}, (unsigned char*)&room, 4096);",
     "__shared__ stage<u32, 1024> room; accumulate_in_bulk<operation::add>(rows_by_key<T, u32>{data, 4, nullptr}, "
     "tile_of_rows<T>{data, 1, 4, 4}, (unsigned char*)&room, 4096);",
     "P1", h200},
    {"a bulk size of 24 bytes", "copy(in_global(data), in_shared(a.elements), bulk_bytes::of<24>());",
     "copy(in_global(data), in_shared(a.elements), bulk_bytes::of<32>());", "D1", h200},
    {"a stage of 12 bytes", "__shared__ stage<T, 3> three; three.elements[0] = value;",
     "__shared__ stage<T, 4> four_of; four_of.elements[0] = value;", "D1", h200},
    {"a reduction from global memory", "reduce<operation::add>(in_shared(a.elements), in_global(data), n);",
     "reduce<operation::add>(in_global(data), in_shared(a.elements), n);", "P7", h200},
};

long count(std::string const& text, std::string const& word) {
  long found = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

} // namespace

TEST_CASE("bad use of a verb is one error with its code, at the line of the kernel") {
  if (!device_unit::can_compile()) return;
  for (mistake const& m : mistakes) {
    if (!device_unit::knows(std::atoi(m.architecture + 3))) continue;
    CAPTURE(std::string(m.what));
    std::string const said = said_about(m.wrong, m.architecture);
    CAPTURE(said);
    CHECK(count(said, "): error:") == 1);
    CHECK(count(said, std::string("static assertion failed with \"[tally-") + m.code + "]") == 1);
    CHECK(said.find(std::string("docs/errors.md#") + m.code) != said.npos);
    CHECK(said.find("at line 14 of kernel.cu") != said.npos);
  }
}

TEST_CASE("the verb that the kernel should have used compiles") {
  if (!device_unit::can_compile()) return;
  for (mistake const& m : mistakes) {
    if (!device_unit::knows(std::atoi(m.architecture + 3))) continue;
    CAPTURE(std::string(m.what));
    CHECK(said_about(m.right, m.architecture) == "");
  }
}

TEST_CASE("verdicts can be asked without printing them") {
  using namespace tally::v0;
  using namespace tally::v0::primitive;
  constexpr form legal_sum = bulk_reduction<operation::add, float>(space::global);
  CHECK(std::same_as<decltype(primitive::why_not<legal_sum, sm_90>()), allowed>);
  CHECK(std::same_as<decltype(primitive::why_not<legal_sum, sm_80>()),
                     reason<because::the_chip_is_too_old<refused_form<legal_sum>, because::there_are<90>>>>);
  constexpr form masked = masked_bulk_copy();
  CHECK(std::same_as<decltype(primitive::why_not<masked, sm_90a>()),
                     reason<because::the_chip_is_too_old<refused_form<masked>, because::there_are<100>>>>);
  constexpr form least = bulk_reduction<operation::min, double>(space::global);
  CHECK(std::same_as<decltype(primitive::why_not<least, sm_90>()), reason<because::no_such_bulk_reduction<refused_form<least>>>>);
  constexpr form hinted = bulk_copy(space::shared_cta, space::shared_cluster, true);
  CHECK(std::same_as<decltype(primitive::why_not<hinted, sm_90>()),
                     reason<because::the_bulk_engine_has_no_such_way<refused_form<hinted>>>>);
}
