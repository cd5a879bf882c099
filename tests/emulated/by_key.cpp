// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel that folds by key as elements come, as host code: it has the answers of the CPU to the last bit by every route and in every kind of
// cell, and no instruction for one memory is given an address of the other.
#include "emulated/kernel_on_host.hpp"
#include "emulated/same_answers.hpp"

#undef __shared__
#define __shared__ // the kernel's table is an object of this file
#include <tally/kernel/by_key.cuh>

#include <doctest/doctest.h>

#include <random>
#include <tuple>

namespace tally::v0::kernel {
alignas(16) char table[1 << 20];
}

using namespace tally::v0;

namespace {

constexpr i64 bins = 61;

/// Routes of elements: tables of blocks, replicated, of ranges, of words that a thread takes alone, and hot slots in front of the table of all.
constexpr keys_plan in_tables{.route = keys_route::in_shared_memory, .threads_per_block = 64, .blocks_per_multiprocessor = 1, .elements_per_load = 4,
                              .loads_in_flight = 2, .replicas = 4, .ranges = 1, .hot_slots = 0, .in_order = true, .threads_per_row = 0, .copies = 1,
                              .hot_keys = 0, .asks_ahead = false, .in_place = false, .gives_in_bulk = false, .numbers_in_32 = false, .cluster_blocks = 1, .slots_in_cluster = 0};
constexpr keys_plan with(keys_plan p, auto const& change) {
  change(p);
  return p;
}
constexpr keys_plan in_ranges = with(in_tables, [](keys_plan& p) { p.ranges = 3, p.replicas = 1; });
constexpr keys_plan in_bulk = with(in_tables, [](keys_plan& p) { p.replicas = 1, p.gives_in_bulk = p.numbers_in_32 = true; });
constexpr keys_plan ranges_in_bulk = with(in_bulk, [](keys_plan& p) { p.ranges = 3, p.numbers_in_32 = false; });
/// Hot keys, which a sample finds, have a cell for every lane.
constexpr keys_plan hot_apart = with(in_tables, [](keys_plan& p) { p.hot_keys = 4; });
constexpr keys_plan ranges_hot_apart = with(in_ranges, [](keys_plan& p) { p.hot_keys = 2; });
/// Windows of exact sums, which a sample finds, in every kind of table.
constexpr keys_plan in_windows = with(in_tables, [](keys_plan& p) { p.sums_in_windows = true; });
constexpr keys_plan windows_in_ranges = with(in_ranges, [](keys_plan& p) { p.sums_in_windows = true; });
constexpr keys_plan windows_in_bulk = with(in_bulk, [](keys_plan& p) { p.sums_in_windows = true; });
constexpr keys_plan place_by_place = with(in_tables, [](keys_plan& p) { p.in_order = false, p.elements_per_load = p.loads_in_flight = 1; });
constexpr keys_plan on_rows = with(in_tables, [](keys_plan& p) { p.on_rows = true, p.standing = 4, p.loads_in_flight = 1; });
constexpr keys_plan rows_apart = with(on_rows, [](keys_plan& p) { p.standing = 0, p.apart = 6; });
constexpr keys_plan in_hot_slots = with(in_tables, [](keys_plan& p) { p.route = keys_route::in_global_memory, p.hot_slots = 8, p.replicas = 1; });
constexpr keys_plan windows_in_hot_slots = with(in_hot_slots, [](keys_plan& p) { p.sums_in_windows = true; });
constexpr keys_plan for_all = with(in_hot_slots, [](keys_plan& p) { p.hot_slots = 0; });
/// Slots that two blocks keep together, two pages each, in front of the table of all.
constexpr keys_plan in_clusters = with(in_hot_slots, [](keys_plan& p) { p.cluster_blocks = 2, p.slots_in_cluster = 2 * slots_of_page, p.gives_in_bulk = true; });
constexpr keys_plan clusters_of_32 = with(in_clusters, [](keys_plan& p) { p.numbers_in_32 = true; });
/// All in one launch, each block answering a part of the slots.
constexpr keys_plan in_one_cluster = with(in_tables, [](keys_plan& p) { p.route = keys_route::in_one_cluster, p.replicas = 1, p.cluster_blocks = 4, p.numbers_in_32 = true; });
/// Routes of rows of one key, to the table of all or to copies of it.
constexpr keys_plan of_rows = with(for_all, [](keys_plan& p) { p.threads_per_row = 4, p.elements_per_load = 1; });
constexpr keys_plan of_rows_in_tables = with(of_rows, [](keys_plan& p) { p.route = keys_route::in_shared_memory; });
constexpr keys_plan one_cluster_of_rows = with(of_rows_in_tables, [](keys_plan& p) { p.route = keys_route::in_one_cluster, p.cluster_blocks = 2; });
constexpr keys_plan in_copies = with(of_rows, [](keys_plan& p) { p.copies = 2; });
template <int V>
constexpr keys_plan beside = with(of_rows, [](keys_plan& p) { p.elements_per_load = V, p.asks_ahead = true; });
constexpr keys_plan copies_beside = with(beside<8>, [](keys_plan& p) { p.copies = 2; });

template <keys_plan P>
constexpr keys_plan of_32 = with(P, [](keys_plan& p) { p.numbers_in_32 = true; });
template <keys_plan...>
struct keys_list {};

std::vector<u64> unwritten(i64 bytes) { return std::vector<u64>(static_cast<std::size_t>(bytes / 8 + 2), 0xdeadbeefdeadbeefull); }

/// The memory of all answers after the phases of a launch by a plan.
template <keys_plan P, class Where, class Program, class... Nodes, class Source>
std::vector<std::vector<u64>> folded_by_kernel(domain<Where, Program, pack<Nodes...>> const& d, Source const& source) {
  auto const& type = detail::keyed_types<Where, Program, pack<Nodes...>>::type();
  axes_layout const at = layout_of(d.program, source, Where::is_reduced);
  auto p = d.program;
  p.extent = at.extent;
  i64 const slots = d.where.bins * at.groups, copied = P.copies > 1 ? copied_slots(P, slots, at.groups) : 0;
  std::vector<std::vector<u64>> cells, copies, answers;
  keyed_memory memory{};
  for (int i = 0; i < type.fold_count; ++i) {
    cells.push_back(unwritten(slots_given_in_bulk(slots) * type.cell_bytes[i]));
    copies.push_back(unwritten(copied * type.cell_bytes[i]));
    memory.cells[i] = cells.back().data();
    memory.copies[i] = copies.back().data();
  }
  u64 stray[3]{0, 0, 0};
  memory.stray = stray;
  u32 windows[max_keyed_folds];
  std::memset(windows, 0xab, sizeof windows);
  memory.windows = windows;
  std::vector<u32> beyond(static_cast<std::size_t>(type.fold_count * words_of_bits(slots)), 0xabababab);
  memory.beyond = beyond.data();
  auto hot = unwritten(hot_places(P.hot_keys) * i64(sizeof(u64)));
  memory.hot = hot.data();
  answer_arrays to{};
  for (int i = 0; i < int(sizeof...(Nodes)); ++i) {
    answers.push_back(unwritten(slots * 32));
    to.at[i] = answers.back().data();
  }
  std::memset(kernel::table, 0xab, sizeof kernel::table);
  emulated::shared_begin = kernel::table, emulated::shared_end = kernel::table + sizeof kernel::table;
  auto const run_phase = [&](keyed_phase phase, i64 blocks) {
    auto const kernel = [&] { kernel::by_key<P>(d.where, p, at, d.nodes, memory, to, phase); };
    if (P.cluster_blocks > 1 && phase == keyed_phase::fold) emulated::launch_clusters(blocks, P.threads_per_block, P.cluster_blocks, kernel);
    else emulated::launch(blocks, P.threads_per_block, kernel);
  };
  if constexpr (P.route == keys_route::in_one_cluster) {
    run_phase(keyed_phase::fold, P.cluster_blocks);
    CHECK((stray[0] == ~u64(0) && stray[2] == 0));
  } else {
    run_phase(keyed_phase::open, 2);
    run_phase(keyed_phase::fold, 6);
    if (P.copies > 1) run_phase(keyed_phase::meet, 2);
    run_phase(keyed_phase::close, 3);
  }
  return answers;
}

template <keys_plan... P, class R>
void same(R const& r) {
  INFO(text_of(r));
  auto const d = get<0>(r.folds).bind(r.pipe);
  auto const right = run(r, on::cpu);
  (same_answers(right, folded_by_kernel<P>(d, r.pipe.source)), ...);
}
/// Under exact.
template <keys_plan... P, class R>
void same_exactly(R const& r) {
  INFO(text_of(r));
  auto const d = get<0>(r.folds).bind(answers::exactly<std::remove_cvref_t<decltype(r.pipe)>>{r.pipe});
  auto const right = run(r, on::cpu, exact);
  (same_answers(right, folded_by_kernel<P>(d, r.pipe.source)), ...);
}
/// As they come: of numbers that add up in any order.
template <keys_plan... P, class R>
void same_as_they_come(R const& r) {
  INFO(text_of(r));
  auto const d = get<0>(r.folds).bind(r.pipe);
  auto const right = run(r, on::cpu);
  (same_answers(right, folded_by_kernel<P>(d.direct, r.pipe.source)), ...);
}

/// Half of them in the middle bin, or runs of one key as long as several warps.
std::vector<i32> keys_of(std::size_t n, bool in_runs) {
  std::mt19937 random(5);
  std::vector<i32> keys(n);
  for (std::size_t i = 0; i < n; ++i)
    keys[i] = in_runs ? static_cast<i32>(i / 700 * 17 % bins) : random() % 2 == 0 ? i32(bins / 2) : static_cast<i32>(random() % unsigned(bins));
  return keys;
}
template <class T>
std::vector<T> numbers(std::size_t n) {
  std::mt19937 random(3);
  std::vector<T> x(n);
  for (T& v : x) v = static_cast<T>(std::is_integral_v<T> ? double(random()) - 2e9 : std::ldexp(double(random() % 2001) - 1000., int(random() % 20) - 10));
  return x;
}
/// Whose sums have few bits.
template <class T>
std::vector<T> small_numbers(std::size_t n) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; i += 37) x[i] = static_cast<T>(float(int(i % 5) - 2));
  return x;
}

/// Some of them NaN, of either sign, some of them zeros of either sign.
template <class T>
std::vector<T> with_nan(std::vector<T> x) {
  for (std::size_t i = 0; i < x.size(); i += 3) x[i] = T(i % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : -std::numeric_limits<float>::quiet_NaN());
  for (std::size_t i = 1; i < x.size(); i += 7) x[i] = T(i % 2 == 0 ? 0.f : -0.f);
  return x;
}

} // namespace

TEST_CASE("by_key, emulated: every kind of cell, in tables of blocks, in hot slots and in the table of all") {
  constexpr std::size_t n = 5003;
  auto const x = numbers<float>(n);
  auto const d = numbers<double>(n);
  auto const words = numbers<i32>(n);
  auto const longs = numbers<i64>(n);
  auto const bytes = numbers<i8>(n);
  auto const x_and_nan = with_nan(x);
  auto const d_and_nan = with_nan(d);
  for (bool const in_runs : {false, true}) {
    auto const keys = keys_of(n, in_runs);
    auto const all = [&](auto const& r) { same<in_tables, in_ranges, in_bulk, ranges_in_bulk, place_by_place, in_hot_slots, for_all>(r); };
    all(from(x, keys) | by_key(_2, bins, sum(_1), count, max(_1), sum(_1).where(_1 > 1.f)));
    all(from(d, keys) | by_key(_2, bins, sum(_1), min(_1), sum(_1 * _1)));
    all(from(longs, keys) | by_key(_2, bins, sum(_1), sum(_1).checked(), min(_1), max(_1), bit_and(_1), bit_or(_1), bit_xor(_1)));
    all(from(words, keys) | by_key(_2, bins, sum(_1), sum(_1).in<i32>(), sum(_1).in<u32>(), bit_and(_1), bit_or(_1), bit_xor(_1), min(_1)));
    all(from(bytes, keys) | filter(_1 != 3) | by_key(_2, bins, sum(_1).in<i16>(), bit_and(_1), bit_xor(_1), max(_1)));
    all(from(keys) | by_key(_1, bins, count_modulo(7), countdown_modulo(1000), count_modulo(1), count));
    same<in_tables, in_ranges, in_bulk, ranges_in_bulk, in_one_cluster>(from(keys) | by_key(_1, bins, count));
    same<in_one_cluster>(from(words, keys) | filter(_1 != 3) | by_key(_2, bins, sum(_1), sum(_1).in<u32>(), min(_1), max(_1).or_else(9), count_modulo(7), bit_and(_1), bit_xor(_1)));
    same<in_one_cluster>(from(x_and_nan, keys) | by_key(_2, 3, max(_1).ignoring_nan().or_else(-1.f), count).dropping_strays()); // fewer slots than blocks
    all(from(x_and_nan, keys) | by_key(_2, bins, max(_1).ignoring_nan().or_else(-1.f), min(_1).ignoring_nan().or_else(-2.f), max(_1).or_else(-3.f)));
    all(from(d_and_nan, keys) | filter(_2 != 9) | by_key(_2, bins, min(_1).ignoring_nan().or_else(5.)));
  }
}

TEST_CASE("by_key, emulated: windows of exact sums, of numbers near each other and far, and of what is not finite") {
  auto const all = [&](auto const& r) { same<in_windows, windows_in_ranges, windows_in_bulk, windows_in_hot_slots>(r); };
  auto const far = [](auto x, std::size_t apart = 5) {
    using T = std::remove_cvref_t<decltype(x[0])>;
    std::mt19937 random(7);
    for (std::size_t i = 0; i < x.size(); i += apart) x[i] = std::ldexp(x[i], int(random() % 200) - 100);
    for (std::size_t i = 1; i < x.size(); i += 7) x[i] = T(0);
    x[9] = std::numeric_limits<T>::denorm_min(), x[10] = -std::numeric_limits<T>::max() / 4, x[11] = std::numeric_limits<T>::max();
    return x;
  };
  for (std::size_t const n : {std::size_t(700), std::size_t(5003)}) // fewer than a sample has, and more
    for (bool const in_runs : {false, true}) {
      auto const keys = keys_of(n, in_runs);
      auto const near = numbers<float>(n);
      auto const far_apart = far(near);
      auto with_special = far_apart;
      with_special[40] = std::numeric_limits<float>::infinity(), with_special[n - 3] = std::numeric_limits<float>::quiet_NaN(), with_special[n - 1] = -std::numeric_limits<float>::infinity();
      all(from(near, keys) | by_key(_2, bins, sum(_1), count, variance(_1), sum(_1 * _1).where(_1 > 1.f)));
      for (auto const& x : {far_apart, with_special, far(near, 331)}) all(from(x, keys) | filter(_2 != 3) | by_key(_2, bins, sum(_1), sum(_1 * _1), max(_1)));
      same_exactly<in_windows, windows_in_hot_slots>(from(far_apart, keys) | by_key(_2, bins, moments<4>(_1)));
      auto const wide = numbers<double>(n), wide_and_far = far(wide);
      all(from(wide, keys) | by_key(_2, bins, sum(_1), mean(_1)));
      for (auto const& x : {wide_and_far, far(wide, 331)}) all(from(x, near, keys) | by_key(_3, bins, sum(_1), sum(_1 * _1), covariance(_1, _2)));
    }
}

TEST_CASE("by_key, emulated: windows that sums have more bits than") {
  for (float const sign : {1.f, -1.f}) {
    std::vector<float> x(60'011);
    std::vector<i32> keys(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = sign * (i % 2 == 0 ? 0x1.fffffep1f : 0x1.000002p-55f), keys[i] = i % 1000 == 999 ? 5 : 3;
    same<in_windows, windows_in_ranges, windows_in_hot_slots>(from(x, keys) | by_key(_2, bins, sum(_1), count));
    for (std::size_t i = x.size() / 2; i < x.size(); ++i) x[i] = -x[i];
    same<in_windows, windows_in_ranges, windows_in_hot_slots>(from(x, keys) | by_key(_2, bins, sum(_1), sum(_1 * _1)));
  }
}

TEST_CASE("by_key, emulated: warps of few slots, of numbers anywhere, some of which have none") {
  std::mt19937 random(11);
  std::vector<float> x(6007), near(x.size());
  std::vector<double> wide(x.size());
  std::vector<i32> keys(x.size());
  std::vector<i8> kept(x.size());
  for (int const most : {3, 40, 150}) { // elements of a run
    for (std::size_t i = 0, run = 0; i < x.size(); ++i, --run) {
      if (run == 0) run = 1 + random() % unsigned(most);
      keys[i] = i > 0 && run > 1 ? keys[i - 1] : static_cast<i32>(random() % unsigned(bins));
      kept[i] = static_cast<i8>(random() % 5);
      near[i] = static_cast<float>(int(random() % 2001) - 1000);
      x[i] = std::ldexp(near[i], int(random() % 260) - 140);
      wide[i] = std::ldexp(double(near[i]) + 0x1p-40, i % 3 != 0 ? 0 : int(random() % 2000) - 1000);
    }
    x[50] = std::numeric_limits<float>::infinity();
    wide[70] = -std::numeric_limits<double>::infinity();
    wide[71] = std::numeric_limits<double>::denorm_min();
    wide[900] = std::numeric_limits<double>::quiet_NaN();
    auto const some = from(x, keys, kept, near) | filter(_3 != 0);
    same<in_tables, in_windows, in_hot_slots, windows_in_hot_slots>(some | by_key(_2, bins, sum(_1), sum(_4).where(_1 > 0.f), count, max(_1), argmax(_4).or_else(-1)));
    same<in_tables, in_windows, in_hot_slots, windows_in_hot_slots>(some | by_key(_2, bins, variance(_4), sum(_1 * _4)));
    same<in_windows, in_hot_slots, windows_in_hot_slots>(from(wide, keys, kept) | filter(_3 != 0) | by_key(_2, bins, sum(_1), min(_1)));
    same_as_they_come<in_tables, in_hot_slots>(some | by_key(_2, bins, sum(_4), count));
  }
}

TEST_CASE("by_key, emulated: values and their places, in one word and in two, of ties, NaN and slots of nothing") {
  constexpr std::size_t n = 5003;
  auto const check = [&]<keys_plan... P>(keys_list<P...>, auto x, auto none, std::vector<i32> const& keys) {
    for (std::size_t i = 0; i < n; i += 3) x[i] = x[i / 1000 * 1000]; // ties
    same<P...>(from(x, keys) | filter(_2 != 3) | by_key(_2, bins, argmax(_1).or_else(-1), argmin(_1).or_else(-2), first(_1).or_else(none), last(_1).or_else(none), count,
                                                       argmax(_1).where(_1 == none).or_else(-3)));
  };
  for (bool const in_runs : {false, true}) {
    auto const keys = keys_of(n, in_runs);
    check(keys_list<in_tables, of_32<in_tables>, of_32<in_ranges>, of_32<in_hot_slots>, for_all, in_one_cluster>{}, with_nan(numbers<float>(n)), 0.f, keys);
    check(keys_list<in_tables, for_all, in_one_cluster>{}, with_nan(numbers<double>(n)), 0., keys);
    check(keys_list<of_32<in_tables>>{}, with_nan(numbers<bf16>(n)), bf16(0.f), keys);
    check(keys_list<of_32<for_all>>{}, numbers<i8>(n), i8(3), keys);
    check(keys_list<of_32<in_tables>>{}, numbers<u32>(n), u32(3), keys);
    check(keys_list<in_hot_slots>{}, numbers<i64>(n), i64(3), keys);
  }
  auto const rows = keys_of(200, false);
  auto const x = numbers<float>(200 * 24);
  same<of_rows, of_32<of_rows_in_tables>, of_32<in_copies>>(from(shaped(x, 200, 24), along<0>(rows)) | by_key<0>(_2, bins, argmax(_1), last(_1), sum(_1)));
}

TEST_CASE("by_key, emulated: a matrix beside keys of its rows and numbers of its columns; warps of one slot, also of what is not finite") {
  i64 const rows = 24, columns = 260;
  auto x = numbers<float>(std::size_t(rows * columns));
  x[5 * 260 + 9] = std::numeric_limits<float>::infinity();
  x[7 * 260 + 1] = std::numeric_limits<float>::quiet_NaN();
  x[8 * 260 + 2] = std::numeric_limits<float>::denorm_min();
  x[8 * 260 + 3] = -std::numeric_limits<float>::max();
  x[8 * 260 + 99] = std::numeric_limits<float>::max();
  auto const factors = numbers<float>(std::size_t(columns));
  auto const keys = keys_of(std::size_t(rows), false);
  auto const beside = from(shaped(x.data(), rows, columns), along<1>(factors), along<0>(keys)) | by_key(_3, bins, sum(_1), max(_2), count, sum(_1).where(_2 > 0.f));
  same<on_rows, rows_apart, place_by_place>(beside);
  auto const odd = from(shaped(x.data(), 23, 257), along<1>(shaped(factors.data(), 257)), along<0>(shaped(keys.data(), 23))) | by_key(_3, bins, sum(_1), sum(_1 * _2));
  same<rows_apart, place_by_place>(odd);
}

TEST_CASE("by_key, emulated: integers and sums of floats that the blocks of a cluster keep together, fewer slots than they have room for and more") {
  constexpr std::size_t n = 5003;
  auto const x = with_nan(numbers<float>(n));
  auto const words = numbers<i32>(n);
  auto const naturals = numbers<u32>(n);
  auto const longs = numbers<i64>(n);
  auto const small = small_numbers<float>(n);
  for (i64 const slots : {61, 300, 701})
    for (bool const in_runs : {false, true}) {
      CAPTURE(slots);
      auto keys = keys_of(n, in_runs);
      for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<i32>(i64(keys[i]) * 11 % slots);
      keys[n - 1] = static_cast<i32>(slots - 1);
      auto const all = [&](auto const& r) { same<in_clusters, clusters_of_32>(r); };
      all(from(keys) | by_key(_1, slots, count));
      all(from(words, keys) | by_key(_2, slots, sum(_1), sum(_1).in<i32>(), sum(_1).in<u32>(), count_if(_1 > 0)));
      all(from(longs, keys) | by_key(_2, slots, sum(_1), bit_and(_1), bit_or(_1), bit_xor(_1), min(_1), max(_1)));
      all(from(naturals, keys) | filter(_1 % 3u != 0u) | by_key(_2, slots, min(_1).or_else(7u), max(_1).or_else(9u), count_modulo(7), countdown_modulo(1000)));
      all(from(x, keys) | by_key(_2, slots, max(_1).or_else(-3.f), min(_1).ignoring_nan().or_else(-2.f)));
      same_as_they_come<in_clusters, clusters_of_32>(from(small, keys) | filter(_1 > 0.f) | by_key(_2, slots, sum(_1), count));
    }
}

TEST_CASE("by_key, emulated: rows of one key, in tables, in copies and in the table of all, one by one and neighbours at once") {
  constexpr i64 rows = 400;
  auto const keys = keys_of(std::size_t(rows), false);
  for (i64 const width : {8, 24, 37}) {
    auto const x = numbers<float>(std::size_t(rows * width));
    auto const words = numbers<i32>(std::size_t(rows * width));
    auto const of = [&](auto const& v) { return from(shaped(v, rows, width), along<0>(keys)); };
    same<of_rows, of_rows_in_tables, in_copies>(of(x) | by_key<0>(_2, bins, sum(_1), max(_1)));
    same<of_rows, of_rows_in_tables, in_copies>(of(words) | by_key<0>(_2, bins, bit_xor(_1), sum(_1).in<i32>(), count_modulo(5), sum(_1).checked()));
    same<one_cluster_of_rows>(of(words) | by_key<0>(_2, bins, bit_xor(_1), sum(_1).in<i32>(), count_modulo(5), argmax(_1)));
    if (width % 8 != 0) continue;
    auto const floats = small_numbers<float>(std::size_t(rows * width));
    same_as_they_come<of_rows, of_rows_in_tables, in_copies, beside<2>, beside<4>>(of(floats) | by_key<0>(_2, bins, sum(_1), sum(_1 * _1)));
  }
}

TEST_CASE("by_key, emulated: keys of elements that a sample finds to be hot, in tables and in ranges of slots, and none that is hot") {
  auto const x = small_numbers<float>(5003);
  for (bool const in_runs : {false, true})
    for (i64 const slots : {bins, i64(62)}) {
      auto const keys = keys_of(x.size(), in_runs);
      same_as_they_come<hot_apart, ranges_hot_apart, in_tables>(from(x, keys) | by_key(_2, slots, sum(_1), count, sum(_1).in<double>().where(_1 > 0.f)));
    }
  std::vector<i32> uniform(x.size());
  for (std::size_t i = 0; i < uniform.size(); ++i) uniform[i] = static_cast<i32>(i % 997);
  same_as_they_come<hot_apart, ranges_hot_apart>(from(x, uniform) | by_key(_2, 997, sum(_1), count));
}

TEST_CASE("by_key, emulated: sums kept in 16 bits where neighbours are added at once, and in 32 where they come one by one") {
  constexpr i64 rows = 400;
  auto const keys = keys_of(std::size_t(rows), false);
  auto const of = [&](auto const& v, i64 width) { return from(shaped(v, rows, width), along<0>(keys)); };
  for (i64 const width : {8, 16}) {
    auto const x = small_numbers<bf16>(std::size_t(rows * width));
    auto const y = small_numbers<f16>(std::size_t(rows * width));
    same_as_they_come<of_rows, of_rows_in_tables, in_copies, beside<2>, beside<4>, beside<8>>(of(x, width) | by_key<0>(_2, bins, sum(_1).in<bf16>()));
    same_as_they_come<of_rows, beside<8>>(of(y, width) | by_key<0>(_2, bins, sum(_1).in<f16>()));
  }
  auto const x = small_numbers<bf16>(std::size_t(rows));
  same_as_they_come<in_tables, in_ranges, in_hot_slots, for_all>(from(x, keys) | by_key(_2, bins, sum(_1).in<bf16>(), count));
}

TEST_CASE("by_key, emulated: least and greatest numbers of 16 bits, neighbours at once and one by one, of NaN alone and of nothing") {
  constexpr i64 rows = 400;
  auto keys = keys_of(std::size_t(rows), false);
  keys[5] = bins - 1, keys[7] = bins - 1;
  for (i32& k : keys) k = k == 3 ? 4 : k; // a slot of nothing
  auto const check = [&]<class Half>(Half, i64 width) {
    auto x = numbers<float>(std::size_t(rows * width));
    auto const some = with_nan(x);
    std::vector<Half> h(x.size());
    for (std::size_t i = 0; i < h.size(); ++i) h[i] = Half(keys[i / std::size_t(width)] == 2 ? std::numeric_limits<float>::quiet_NaN() : some[i]); // a slot of NaN alone
    auto const all = from(shaped(h, rows, width), along<0>(keys));
    same<of_rows, of_rows_in_tables, in_copies, beside<2>, beside<4>, beside<8>, copies_beside>(
        all | by_key<0>(_2, bins, min(_1).ignoring_nan().or_else(Half(7.f)), max(_1).ignoring_nan().or_else(Half(9.f))));
  };
  for (i64 const width : {8, 24}) {
    check(bf16{}, width);
    check(f16{}, width);
  }
}
