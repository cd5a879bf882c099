// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of operands that are the same along an axis, or that have strides of their own, compiled down to a cubin. Needs NVRTC, no GPU.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>

using namespace tally::v0;

namespace {

float const* const somewhere = reinterpret_cast<float const*>(std::uintptr_t(0x7f0000000000));
auto lying(i64 rows, i64 columns, i64 down, i64 along) { return shaped(somewhere, {rows, columns}, {down, along}); }

bool able() {
  static bool const yes = gpu::can_compile() || std::printf("skipped: no NVRTC on this machine\n") == 0;
  return yes;
}

/// Compiles the kernel of a fold of the whole source, and gives its plan.
template <class R>
plan compiles(R const& r, target const& chip) {
  auto const b = bind_checked(r);
  using Program = std::remove_cvref_t<decltype(b.program)>;
  facts const f = facts_of(b.program, chip, contract::reproducible);
  plan const p = make_plan(f).plan;
  CHECK(legal(p, f));
  INFO(text_of(r));
  if (able()) {
    gpu::compiled made;
    CHECK_NOTHROW(made = gpu::compile(gpu::unit_of(detail::type_of<Program>(), p, f), chip.compute_major, chip.compute_minor));
    CHECK(made.log == "");
  }
  return p;
}

} // namespace

TEST_CASE("folds of the whole find the rows of operands") {
  auto const& chip = targets::h200;
  auto const p = compiles(from(shaped(somewhere, 4096, 4096), lying(4096, 4096, 0, 1), lying(4096, 4096, 1, 0)) | reduce(sum(_1 * _2 * _3)), chip);
  CHECK(p.sources[0].load == load_primitive::vector_ldg);
  CHECK(p.sources[1] == source_choice{load_primitive::grid_vector_ldg, 16});
  CHECK(p.sources[2] == source_choice{load_primitive::grid_same_ldg, 4});
  auto const odd = compiles(from(shaped(somewhere, 4096, 4097), lying(4096, 4097, 0, 1), lying(4096, 4097, 1, 0)) | reduce(sum(_1 * _2 * _3)), chip);
  CHECK(odd.sources[1] == source_choice{load_primitive::grid_ldg, 4});
  CHECK(odd.sources[2] == source_choice{load_primitive::grid_two_ldg, 4});
  bf16 const* const small = reinterpret_cast<bf16 const*>(std::uintptr_t(0x7f0000000000));
  auto const words = compiles(from(shaped(small, 4096, 4097), shaped(small, {i64(4096), i64(4097)}, {0, 1})) | reduce(sum(_1 * _2)), chip);
  CHECK(words.sources[1] == source_choice{load_primitive::grid_words_ldg, 4});
  CHECK(compiles(from(lying(4096, 4096, 8194, 1)) | reduce(max), targets::a100).sources[0] == source_choice{load_primitive::grid_vector_ldg, 8});
  CHECK(compiles(from(lying(4096, 4096, 1, 4096)) | reduce(max), targets::a100).sources[0].load == load_primitive::striped_ldg);
}

TEST_CASE("columns have operands that stand: the same for neighbours, the same all along") {
  if (!able()) return;
  auto const lasting = explain(from(shaped(somewhere, 4096, 4096), lying(4096, 4096, 0, 1), lying(4096, 4096, 1, 0)) | reduce(over<0>(sum((_1 - _2) * _3))), targets::h200);
  CHECK(lasting.text().find("once a leaf") != std::string::npos);
  CHECK(lasting.ptx().find("across_groups") != std::string::npos);
}

TEST_CASE("rows that end anywhere have wide loads of an operand but where they end") {
  if (!able()) return;
  auto const e = explain(from(shaped(somewhere, 4096, 4097), lying(4096, 4097, 0, 1)) | reduce(over<1>(sum(_1 * _2))), targets::h200);
  CHECK(e.text().find("16 B per load, element by element where a group ends") != std::string::npos);
  CHECK(e.ptx().find("ld.global.cs.v4.u32") != std::string::npos);
}

TEST_CASE("rows, columns and the whole of a matrix have operands beside its tiles") {
  if (!able()) return;
  auto const all = from(shaped(somewhere, 65536, 4096), lying(65536, 4096, 0, 1), lying(65536, 4096, 1, 0)) | reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1 * _3)));
  auto const e = explain(all, targets::h200);
  CHECK(e.text().find("one pass") != std::string::npos);
  CHECK(e.text().find("once a unit") != std::string::npos);
  CHECK(e.ptx().find("cp.async.bulk") != std::string::npos);
  auto const odd = explain(from(shaped(somewhere, 65536, 4097), lying(65536, 4097, 1, 0)) | reduce(over<1>(sum(_1 * _2)), over<0>(sum(_1))), targets::h200);
  CHECK(odd.ptx().find("cp.async.bulk") != std::string::npos);
}
