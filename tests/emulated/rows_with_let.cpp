// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of rows and their lets, as host code: the answers of the CPU to the last bit, for rows of any length, wherever they begin,
// and whether or not a part of an element is kept from the last let for what is written.
#include "emulated/kernel_on_host.hpp"

#include <tally/kernel/row_ahead.cuh>
#include <tally/kernel/rows_in_cluster.cuh>

#include <doctest/doctest.h>

#include <random>

using namespace tally::v0;

namespace {

/// The plan of rows of N floats, one behind the other from a multiple of 16 bytes on, beside further columns that every row has again and no let looks at,
/// and of elements of Bytes.
template <i64 Rows, i64 N, int Bytes, int Columns>
constexpr rows_planned planned_of() {
  axes_facts f{};
  f.of.extent = N;
  f.of.lanes_per_group = 4;
  f.of.rows_per_leaf = 8;
  f.of.source_count = Columns;
  for (int c = 0; c < Columns; ++c) f.of.sources[c] = {4, 1, 16, load_primitive::vector_ldg};
  f.of.target = targets::h200;
  f.at = {1, 1, Rows, N, {{Rows, N, {N}}}, {{N, 1, {1}}}, {Rows * N - 1}};
  for (int c = 1; c < Columns; ++c) f.at.reduced[0].steps[c] = 1, f.at.last[c] = N - 1, f.written_only |= 1 << c;
  written_facts const to[] = {{Bytes, 16}};
  return make_rows_plan(f, to, 1);
}

/// Memory for n elements that begins at a multiple of 16 bytes.
template <class T>
struct aligned_memory {
  std::vector<T> all;
  T* first;
  explicit aligned_memory(i64 n) : all(static_cast<std::size_t>(n) + 16 / sizeof(T)), first(all.data()) {
    first += (16 - reinterpret_cast<u64>(first) % 16) % 16 / sizeof(T);
  }
};

/// Whether the kernel writes the elements of a collection as the CPU does; Keeps: with the part that is kept, if there is one.
template <i64 Rows, i64 N, bool Keeps, class R>
bool writes_the_same(R const& r) {
  using Pipe = std::remove_cvref_t<decltype(r.pipe)>;
  using Computing = detail::computing_rows<Pipe>;
  auto const right = run(r, on::cpu);
  using T = std::remove_cvref_t<decltype(*right.data())>;
  static constexpr rows_planned planned = planned_of<Rows, N, int(sizeof(T)), Computing::Columns::size>();
  static constexpr axes_plan plan = planned.plan.strip;
  auto const chain = detail::in_order(pack<>{}, detail::all_lets(r.pipe, pack<>{}));
  auto base = Computing::base(r.pipe);
  axes_layout const at = Computing::layout(base, r.pipe);
  base.extent = at.extent;
  written_facts const written[] = {{int(sizeof(T)), 16}};
  CHECK(make_rows_plan({facts_of(base, targets::h200, contract::reproducible), at, Computing::written_only}, written, 1).plan == planned.plan);
  auto const computed = Computing::template of<Keeps>(r.pipe, chain);
  auto const nodes = Computing::Rows::nodes(chain);
  aligned_memory<T> out(Rows * N);
  answer_arrays to{};
  to.at[0] = out.first;
  emulated::launch_clusters(planned.blocks, unsigned(plan.threads_per_block()), unsigned(planned.plan.blocks_per_row), [&] {
    kernel::rows_with_let<plan, planned.plan.blocks_per_row, planned.plan.asks_ahead, decltype(base), decltype(computed.steps), std::remove_cvref_t<decltype(nodes)>, typename Computing::Lets,
                          decltype(computed.kept), decltype(computed.values), planned.plan.bytes_per_store[0]>(base, at, computed.steps, nodes,
                                                                                                              computed.kept, computed.values, to, 1);
  });
  return std::memcmp(right.data(), out.first, static_cast<std::size_t>(Rows * N) * sizeof(T)) == 0;
}
template <i64 Rows, i64 N, class R>
void same(R const& r, bool keeps) {
  INFO(text_of(r));
  using Computing = detail::computing_rows<std::remove_cvref_t<decltype(r.pipe)>>;
  CHECK(Computing::keeps(r.pipe, detail::in_order(pack<>{}, detail::all_lets(r.pipe, pack<>{}))) == keeps);
  CHECK(writes_the_same<Rows, N, false>(r));
  if constexpr (Computing::may_keep)
    CHECK(writes_the_same<Rows, N, true>(r) == keeps);
}

template <i64 Rows, i64 N>
void softmax_and_layer_norm() {
  CAPTURE(N);
  aligned_memory<float> x(Rows * N);
  std::mt19937 random(4);
  for (i64 i = 0; i < Rows * N; ++i) x.first[i] = static_cast<float>(int(random() % 4001) - 2000) / 200.f;
  auto const source = from(shaped(x.first, Rows, N));
  auto const greatest = source | over<1>(max);
  auto const total = source | map(exp((_1 - let(greatest)) / 3.f)) | over<1>(sum);
  same<Rows, N>(source | map(exp((_1 - let(greatest)) / 3.f) / let(total)) | collect, true);
  same<Rows, N>(source | map(exp((_1 - let(greatest)) / 2.f) / let(total)) | collect, false); // other numbers of run time
  auto const mu = source | over<1>(mean);
  auto const spread = source | over<1>(mean(squared(_1 - let(mu))));
  same<Rows, N>(source | map((_1 - let(mu)) / sqrt(let(spread) + 1e-5f)) | collect, false); // one operation
  same<Rows, N>(source | map(cast<double>(squared(_1 - let(mu))) / cast<double>(let(spread))) | collect, true);
  same<Rows, N>(source | map(_1 / let(spread) + squared(_1 - let(mu))) | collect, false); // what was read is needed as well
}

/// Bytes of x that were asked for: whole pieces of 16, each of them once.
i64 bytes_asked_of(float const* x, i64 n) {
  auto& asked = primitive::asked_in_bulk;
  std::sort(asked.begin(), asked.end(), [](auto const& a, auto const& b) { return a.from < b.from; });
  u64 end = reinterpret_cast<u64>(x);
  i64 bytes = 0;
  for (auto const& one : asked) {
    CHECK(one.from % 16 == 0);
    CHECK(one.n % 16 == 0);
    CHECK(one.from >= end);
    end = one.from + static_cast<u64>(one.n);
    bytes += one.n;
  }
  CHECK(end <= reinterpret_cast<u64>(x + n));
  asked.clear();
  return bytes;
}
/// The bytes that a sum of squares of deviations over its rows asks for.
template <i64 Rows, i64 N>
i64 bytes_asked() {
  CAPTURE(N);
  aligned_memory<float> x(Rows * N);
  for (i64 i = 0; i < Rows * N; ++i) x.first[i] = static_cast<float>(i % 911);
  auto const source = from(shaped(x.first, Rows, N));
  auto const mu = source | over<1>(mean);
  primitive::asked_in_bulk.clear();
  CHECK(writes_the_same<Rows, N, false>(source | map(squared(_1 - let(mu))) | collect));
  return bytes_asked_of(x.first, Rows * N);
}

} // namespace

TEST_CASE("rows with lets, emulated: a long row asks for the next one, and for nothing beside it") {
  CHECK(bytes_asked<3, 16384>() == 0); // several such rows share a multiprocessor
  CHECK(bytes_asked<3, 32768>() == 2 * 32768 * 4);
  CHECK(bytes_asked<2, 66 * 1024>() == 66 * 1024 * 4);
  CHECK(bytes_asked<2, 130 * 1024>() == 130 * 1024 * 4); // in a cluster of nine blocks
  i64 const odd = bytes_asked<4, 19003>();
  CHECK(odd <= 3 * 19003 * 4);
  CHECK(odd > 3 * (19003 * 4 - 19 * 32)); // of the ends of a leaf there may be parts of a piece
  CHECK(bytes_asked<3, 32769>() > 2 * (32769 * 4 - 33 * 32));
}
TEST_CASE("rows with lets, emulated: softmax and layer norm of rows of every length") {
  softmax_and_layer_norm<9, 2>();
  softmax_and_layer_norm<70, 31>();
  softmax_and_layer_norm<5, 129>();
  softmax_and_layer_norm<9, 1000>();
  softmax_and_layer_norm<3, 1024>();
  softmax_and_layer_norm<3, 4096>();
  softmax_and_layer_norm<3, 4097>();
  softmax_and_layer_norm<2, 17003>();
  softmax_and_layer_norm<1, 32768>();
  softmax_and_layer_norm<2, 32769>();
  softmax_and_layer_norm<1, 66 * 1024>();
}

namespace {
template <i64 Rows, i64 N>
void weighted(int late) {
  CAPTURE(N);
  aligned_memory<float> x(Rows * N), weight(N), bias(N);
  std::mt19937 random(5);
  auto const fill = [&](float* to, i64 n) {
    for (i64 i = 0; i < n; ++i) to[i] = static_cast<float>(int(random() % 4001) - 2000) / 200.f;
  };
  fill(x.first, Rows * N), fill(weight.first, N), fill(bias.first, N);
  auto const source = from(shaped(x.first, Rows, N));
  auto const greatest = source | over<1>(max);
  auto const total = source | map(exp(_1 - let(greatest))) | over<1>(sum);
  auto const r = from(shaped(x.first, Rows, N), along<1>(device(weight.first, N)), along<1>(device(bias.first, N))) |
                 map(exp(_1 - let(greatest)) / let(total) * _2 + _3) | collect;
  CHECK(planned_of<Rows, N, 4, 3>().plan.strip.late == late);
  CHECK(writes_the_same<Rows, N, false>(r));
  CHECK(writes_the_same<Rows, N, true>(r));
}
} // namespace

TEST_CASE("rows with lets, emulated: columns that every row has again come late where rows are long") {
  weighted<3, 1000>(0);
  weighted<3, 16384>(0);
  weighted<3, 17 * 1024>(0b110);
  weighted<3, 17003>(0b110);
  weighted<2, 29 * 1024>(0b110);
  weighted<2, 30003>(0b110);
}
