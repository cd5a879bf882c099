// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both kernels of folds by key of partitioned elements, as host code: they have the answers of the CPU to the last bit, in one pass and in several, in one
// part and in several, wherever the elements of a partition are, and as elements come where keys come in runs.
#include "emulated/kernel_on_host.hpp"
#include "emulated/same_answers.hpp"

#undef __shared__
#define __shared__ // the kernels' table is an object of this file
#include <tally/kernel/fold_partitions.cuh>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace tally::v0::kernel {
extern char table[1 << 20]; // of by_key.cpp
}

using namespace tally::v0;

namespace {

constexpr i64 bins = 700, elements = 24'003;

constexpr keys_plan of_block{.route = keys_route::in_shared_memory, .threads_per_block = threads_of_partitions, .blocks_per_multiprocessor = 1, .elements_per_load = 1,
                             .loads_in_flight = 1, .replicas = 1, .ranges = 1, .hot_slots = 0, .in_order = true, .threads_per_row = 0, .copies = 1,
                             .hot_keys = 0, .asks_ahead = false, .in_place = false, .gives_in_bulk = false, .numbers_in_32 = true, .cluster_blocks = 1, .slots_in_cluster = 0};
constexpr keys_plan in_runs(int load) {
  keys_plan p = of_block;
  p.route = keys_route::in_global_memory, p.hot_slots = 16, p.turns_of_table = 1, p.elements_per_load = load, p.loads_in_flight = 2;
  return p;
}
/// Partitions of 48 slots, of which the last has fewer, by loads of four elements or one, and threads for the runs of a tile.
template <int Load, int Run>
constexpr partitioned_keys_plan plan_of{of_block, in_runs(Load), 48, threads_of_partitions, 8, Load, Run, 2};

/// The same with windows of the digits of exact sums.
template <int Load, int Run>
constexpr partitioned_keys_plan in_windows = [] {
  partitioned_keys_plan p = plan_of<Load, Run>;
  p.table.sums_in_windows = p.in_runs.sums_in_windows = true;
  return p;
}();

/// The memory of all answers after all launches; whether keys were found to come in runs.
struct folded {
  std::vector<std::vector<u64>> answers;
  bool in_runs;
};
template <partitioned_keys_plan P, class Where, class Program, class... Nodes, class Source>
folded folded_by_kernels(domain<Where, Program, pack<Nodes...>> const& d, Source const& source, i64 of_pass, i64 part, i64 share) {
  auto const& type = detail::keyed_types<Where, Program, pack<Nodes...>>::type();
  axes_layout const at = layout_of(d.program, source, Where::is_reduced);
  auto p = d.program;
  p.extent = at.extent;
  i64 const slots = d.where.bins, partitions = (slots - 1) / P.slots_of_partition + 1, whole = at.extent - at.extent % P.elements_per_load;
  i64 const passes = (partitions - 1) / of_pass + 1, parts = (whole - 1) / part + 1, words = passes * parts * (of_pass + 1);
  std::vector<std::vector<u64>> cells;
  folded out{{}, false};
  keyed_memory memory{};
  auto const unwritten = [](i64 bytes) { return std::vector<u64>(static_cast<std::size_t>(bytes / 8 + 2), 0xdeadbeefdeadbeefull); };
  for (int i = 0; i < type.fold_count; ++i) {
    cells.push_back(unwritten(slots * type.cell_bytes[i]));
    memory.cells[i] = cells.back().data();
  }
  u64 stray[3]{0, 0, 0};
  memory.stray = stray;
  u32 windows[max_keyed_folds];
  std::memset(windows, 0xab, sizeof windows);
  memory.windows = windows;
  std::vector<u32> beyond(static_cast<std::size_t>(type.fold_count * words_of_bits(slots)), 0xabababab), claimed = beyond;
  memory.beyond = beyond.data();
  memory.claimed = P.table.sums_in_windows ? claimed.data() : nullptr;
  answer_arrays to{};
  for (int i = 0; i < int(sizeof...(Nodes)); ++i) {
    out.answers.push_back(unwritten(slots * 8));
    to.at[i] = out.answers.back().data();
  }
  partitioned_tile const tile{int(of_pass), P.elements_of_tile(), kernel::travelling_columns<Program>::bytes};
  auto tiles = unwritten(((part - 1) / P.elements_of_tile() + 1) * tile.bytes() + 16), counts = unwritten((words + 1) * 4);
  auto* const first_tile = reinterpret_cast<unsigned char*>(tiles.data()) + (reinterpret_cast<u64>(tiles.data()) % 16 == 0 ? 0 : 8);
  auto* const first_count = reinterpret_cast<u32*>(counts.data());
  auto const part_of = [&](i64 pass, i64 k) {
    i64 const before = (pass * parts + k) * (of_pass + 1), partition = pass * of_pass;
    return slot_partitions{first_tile, first_count + before, words - before, first_count + words, k * part, std::min((k + 1) * part, whole), share,
                           u32(partition * P.slots_of_partition), int(std::min(of_pass, partitions - partition))};
  };
  std::memset(kernel::table, 0xab, sizeof kernel::table);
  emulated::shared_begin = kernel::table, emulated::shared_end = kernel::table + sizeof kernel::table;
  auto const run_phase = [&](keyed_phase phase, slot_partitions const& of, i64 blocks) {
    emulated::launch(blocks, threads_of_partitions, [&] { kernel::fold_partitions<P>(d.where, p, at, d.nodes, of, memory, to, phase); });
  };
  if constexpr (P.table.sums_in_windows) run_phase(keyed_phase::aim, part_of(0, 0), 1);
  run_phase(keyed_phase::open, part_of(0, 0), 2);
  for (i64 pass = 0; pass < passes; ++pass)
    for (i64 k = 0; k < parts; ++k) {
      auto const of = part_of(pass, k);
      emulated::launch(2, threads_of_partitions, [&] { kernel::partition<P>(d.where, p, of, memory.stray); });
      run_phase(keyed_phase::fold, of, 3);
    }
  if (whole != at.extent) run_phase(keyed_phase::meet, part_of(0, 0), 1);
  run_phase(keyed_phase::close, part_of(0, 0), 1);
  out.in_runs = first_count[words] != 0;
  return out;
}

/// In one pass and part, and in several of both.
template <partitioned_keys_plan... P, class R>
void same(R const& r, bool in_runs = false) {
  INFO(text_of(r));
  auto const d = get<0>(r.folds).bind(r.pipe);
  auto const right = run(r, on::cpu);
  auto const check = [&]<partitioned_keys_plan Plan>() {
    auto const at_once = folded_by_kernels<Plan>(d, r.pipe.source, 15, elements, 100'000);
    same_answers(right, at_once.answers);
    CHECK(at_once.in_runs == in_runs);
    same_answers(right, folded_by_kernels<Plan>(d, r.pipe.source, 6, 2 * Plan.elements_of_tile(), 500).answers);
  };
  (check.template operator()<P>(), ...);
}

enum class kind_of_keys { even, hot, nearly_sorted, sorted };
std::vector<i32> keys_of(kind_of_keys kind) {
  std::mt19937 random(5);
  std::vector<i32> keys(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const by_place = static_cast<i32>(i * std::size_t(bins) / 20 / keys.size() * 20);
    keys[i] = kind == kind_of_keys::sorted                            ? by_place
              : kind == kind_of_keys::nearly_sorted                   ? by_place + static_cast<i32>(i % 20)
              : kind == kind_of_keys::hot && random() % 2 == 0        ? i32(bins / 2)
                                                                      : static_cast<i32>(random() % unsigned(bins));
  }
  return keys;
}
template <class T>
std::vector<T> numbers() {
  std::mt19937 random(3);
  std::vector<T> x(static_cast<std::size_t>(elements));
  for (T& v : x) v = static_cast<T>(std::ldexp(double(random() % 2001) - 1000., int(random() % 20) - 10));
  return x;
}

} // namespace

TEST_CASE("partitioned keys, emulated: exact sums and others, of partitions in all tiles, in few and of one slot") {
  auto const x = numbers<float>();
  for (auto const kind : {kind_of_keys::even, kind_of_keys::hot, kind_of_keys::nearly_sorted}) {
    CAPTURE(int(kind));
    auto const keys = keys_of(kind);
    same<plan_of<4, 32>, in_windows<4, 32>>(from(x, keys) | by_key(_2, bins, sum(_1), count));
    if (kind == kind_of_keys::hot) continue;
    same<plan_of<1, 8>>(from(x, keys) | filter(_2 % 3 != 0) | by_key(_2 - 50, bins, mean(_1), max(_1).where(_1 < 3.f)).dropping_strays());
  }
}

TEST_CASE("partitioned keys, emulated: elements of other widths, several columns, and sums of products") {
  auto const x = numbers<float>();
  auto const wide = numbers<double>();
  auto const small = numbers<i8>();
  auto const keys = keys_of(kind_of_keys::even);
  same<plan_of<4, 16>, in_windows<4, 16>>(from(wide, keys, small) | by_key(_2, bins, sum(_1), sum(_3).checked(), min(_1)));
  same<plan_of<4, 32>>(from(x, keys, small) | by_key(_2, bins, sum(_1 * _1), bit_xor(_3), count_modulo(7)));
}

TEST_CASE("partitioned keys, emulated: numbers that are far from the others, many and few") {
  auto const keys = keys_of(kind_of_keys::even);
  for (std::size_t const apart : {3, 400}) {
    auto x = numbers<float>();
    for (std::size_t i = 0; i < x.size(); i += apart) x[i] = std::ldexp(x[i], int(i / apart % 160) - 80);
    same<plan_of<4, 16>, in_windows<4, 16>>(from(x, keys) | by_key(_2, bins, sum(_1), max(_1)));
    same<in_windows<4, 16>>(from(x, keys) | by_key(_2, bins, mean(_1), sum(_1 * _1)));
  }
}

TEST_CASE("partitioned keys, emulated: keys that come in runs are folded as they come") {
  auto const x = numbers<float>();
  auto const keys = keys_of(kind_of_keys::sorted);
  same<plan_of<4, 32>, in_windows<4, 32>>(from(x, keys) | by_key(_2, bins, sum(_1), count), true);
  same<plan_of<1, 32>>(from(x, keys) | by_key(_2, bins, sum(_1), max(_1)), true);
  auto shorter = keys;
  for (std::size_t i = 0; i < shorter.size(); ++i) shorter[i] = static_cast<i32>(i / 240);
  same<plan_of<4, 32>, in_windows<4, 32>>(from(x, shorter) | by_key(_2, bins, sum(_1), count), true);
  for (std::size_t i = 0; i < shorter.size(); ++i) shorter[i] = static_cast<i32>(i / 700 * 16 % bins); // all of which a block would keep in one place
  same<plan_of<4, 32>, in_windows<4, 32>>(from(x, shorter) | by_key(_2, bins, mean(_1), sum(_1 * _1), min(_1)), true);
  same<in_windows<1, 32>>(from(x, shorter) | filter(_1 > 0.f) | by_key(_2, bins, sum(_1), max(_1)), true);
  same<in_windows<4, 32>>(from(x, shorter) | filter(_1 > 1e9f) | by_key(_2, bins, sum(_1), count), false); // nobody is met
}
