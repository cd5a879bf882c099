// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that turns tiles of elements on their way, as host code: the elements of the CPU, for tiles of every shape, of elements of every size, of
// several arrays and columns, and the bulk engine is sent whole pieces of 16 bytes and nothing else.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/turned_elements.cuh>

#include <doctest/doctest.h>

using namespace tally::v0;

namespace {

/// Kept axes of a collection whose innermost one memory does not follow: the plan needs their extents only for its blocks.
template <int... Bytes>
constexpr elements_plan plan_of(int columns, bool natural_second, bool rows_are_whole, i64 along = 64) {
  axes_facts f{};
  f.of.target = targets::h200;
  f.of.source_count = columns;
  f.of.sources[0] = {4, 1, 4, load_primitive::vector_ldg};
  f.of.sources[1] = {4, 1, 4, load_primitive::vector_ldg};
  f.at.kept_axes = 2;
  f.at.kept[0] = {along, 64, {1, natural_second ? 64 : 0}};
  f.at.kept[1] = {rows_are_whole ? 64 : 63, 1, {64, 1}};
  f.at.groups = f.at.kept[0].extent * f.at.kept[1].extent;
  written_facts const to[] = {{Bytes, 16}...};
  return make_elements_plan(f, to, int(sizeof...(Bytes))).plan;
}

template <class T>
struct aligned_array {
  std::vector<T> all;
  T* first;
  explicit aligned_array(i64 n) : all(static_cast<std::size_t>(n) + 16), first(all.data()) {
    while (reinterpret_cast<u64>(first) % 16 != 0) ++first;
  }
};

/// Whether the kernel writes the arrays of a collection of Ts as the CPU does.
template <elements_plan P, class... Ts, class R>
void same(R const& r) {
  INFO(text_of(r));
  auto const p = detail::program_of_elements(r.pipe);
  auto const at = layout_of(p, r.pipe.source, detail::nothing_reduced);
  CAPTURE(at.groups);
  std::tuple<aligned_array<Ts>...> out{aligned_array<Ts>(at.groups)...};
  answer_arrays to{};
  for_each_index<int(sizeof...(Ts))>([&](auto i) { to.at[i] = std::get<i>(out).first; });
  axes_facts f{};
  f.of = facts_of(p, targets::h200, contract::reproducible);
  f.at = at;
  for (int c = 0; c < f.of.source_count; ++c) f.of.sources[c].address_alignment = 4; // nobody says more here
  written_facts const written[] = {{int(sizeof(Ts)), 16}...};
  auto const planned = make_elements_plan(f, written, int(sizeof...(Ts)));
  REQUIRE(planned.plan == P);
  primitive::rows_stored = 0;
  [&]<int... I>(index_list<I...>) {
    emulated::launch(planned.blocks, unsigned(P.strip.threads_per_block()), [&] {
      kernel::turned_elements<P.strip, P.in_bulk, std::remove_const_t<decltype(p)>, std::remove_cvref_t<decltype(r.pipe.values)>, P.bytes_per_store[I]...>(
          p, at, r.pipe.values, to, P.turned_axis);
    });
  }(indices_up_to<int(sizeof...(Ts))>{});
  constexpr bool goes_in_bulk = P.in_bulk && P.bytes_per_store[0] == 16; // a constant: docs/decisions/both_compilers_read_the_tests.md
  CHECK((primitive::rows_stored > 0) == goes_in_bulk);
  auto const right = run(r, on::cpu);
  auto const check = [&](auto const& array, auto const& of) {
    CHECK(std::memcmp(of.first, array.data(), array.size() * sizeof(*array.data())) == 0);
  };
  if constexpr (sizeof...(Ts) == 1)
    check(right, std::get<0>(out));
  else
    for_each_index<int(sizeof...(Ts))>([&](auto i) { check(std::get<i>(right), std::get<i>(out)); });
}

std::vector<float> numbers(i64 n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (i64 i = 0; i < n; ++i) x[std::size_t(i)] = static_cast<float>(i * 7 % 1001) / 4.f;
  return x;
}

} // namespace

TEST_CASE("turned elements, emulated: tiles of every shape") {
  auto const x = numbers(200 * 300);
  auto const turned = [&](i64 rows, i64 n) { return from(shaped(x.data(), {rows, n}, {1, rows})) | map(_1 * 2.f) | collect; };
  same<plan_of<4>(1, false, true), float>(turned(64, 64));
  same<plan_of<4>(1, false, true), float>(turned(65, 68));
  same<plan_of<4>(1, false, true), float>(turned(130, 132));
  same<plan_of<4>(1, false, false), float>(turned(64, 63));
  same<plan_of<4>(1, false, false), float>(turned(199, 129));
  same<plan_of<4>(1, false, true, 16), float>(turned(16, 16));
  same<plan_of<4>(1, false, true, 4), float>(turned(4, 1000));
  same<plan_of<4>(1, false, true, 5), float>(turned(5, 4100));
  same<plan_of<4>(1, false, false, 4), float>(turned(4, 1027));
  same<plan_of<4>(1, false, true, 17), float>(turned(17, 64));
}
TEST_CASE("turned elements, emulated: elements of every size, and several arrays of them") {
  auto const x = numbers(96 * 144);
  auto const source = from(shaped(x.data(), {96, 144}, {1, 96}));
  same<plan_of<1>(1, false, true), u8>(source | map(cast<u8>(_1)) | collect);
  same<plan_of<2>(1, false, true), f16>(source | map(cast<f16>(_1)) | collect);
  same<plan_of<8>(1, false, true), double>(source | map(cast<double>(_1) / 3.) | collect);
  same<plan_of<4, 1, 8>(1, false, true), float, u8, double>(source | map(_1, cast<u8>(_1), cast<double>(_1)) | collect);
}
TEST_CASE("turned elements, emulated: beside columns that lie as they are written, positions, and axes outside and between") {
  auto const x = numbers(64 * 64 * 3), y = numbers(64 * 64 * 3);
  same<plan_of<4>(2, true, true), float>(from(shaped(x.data(), {64, 64}, {1, 64}), shaped(y.data(), 64, 64)) | map(_1 - _2) | collect);
  auto const outside = from(shaped(x.data(), {3, 64, 64}, {64 * 64, 1, 64})) | collect;
  static constexpr elements_plan second = [] {
    auto p = plan_of<4>(1, false, true);
    p.turned_axis = 1;
    return p;
  }();
  same<second, float>(outside);
  same<plan_of<4>(1, false, true), float>(from(shaped(x.data(), {64, 3, 64}, {1, 64, 64 * 3})) | collect); // of the innermost axis and the outermost
  same<plan_of<4>(1, false, true), float>(from(shaped(x.data() + 63, {64, 64}, {-1, 64})) | collect);
}
