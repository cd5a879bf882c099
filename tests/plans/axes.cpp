// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans of groups along axes, over random layouts: every load that a plan makes is aligned to its size and lies inside its column.
// The places are computed by the functions the kernels use, so a plan that a GPU would answer with a misaligned address fails here.
#include <tally/plan/spell.hpp>
#include <tally/tally.hpp>

#include "properties/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tally::v0;
using properties::dice;

namespace {

/// A random grid of `rank` axes over a column of `size` bytes an element that begins at a multiple of 4, 8 or 16; odd_rows: dense, and its
/// rows, which are folded, have an odd number of elements.
struct random_grid {
  axes_facts f{};
  i64 low = 0, high = 0; ///< offsets of the first and the last element

  random_grid(dice& d, int rank, i64 size, bool odd_rows) {
    auto& s = f.of.sources[0];
    f.of.source_count = 1;
    f.of.fold_count = 1;
    f.of.folds[0] = {4, true, false, block_algorithm::raking};
    f.of.target = targets::h200;
    f.of.lanes_per_group = int(16 / size > 8 ? 8 : 16 / size);
    f.of.rows_per_leaf = 8;
    s = {size, 1, 16 >> d.below(3), load_primitive::vector_ldg};
    if (s.address_alignment < size)
      s.address_alignment = int(size);
    static constexpr i64 extents[] = {1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128, 129, 256, 1000, 1024, 1025, 2048, 3072, 5000};
    static constexpr i64 odd[] = {129, 777, 1023, 1025, 2047, 2049, 5001, 16387};
    static constexpr i64 strides[] = {0, 1, 1, -1, 2, 3, 4, 16, 64, 100, 1024};
    f.at.groups = f.at.extent = 1;
    i64 step = 1, position = 1;
    bool const dense = odd_rows || d.percent(50);
    std::vector<std::pair<grid_axis, bool>> axes;
    for (int k = 0; k < rank; ++k) {
      bool const row = odd_rows && k == 0;
      grid_axis a{row ? odd[d.below(std::size(odd))] : extents[d.below(std::size(extents))], position, {dense ? step : strides[d.below(std::size(strides))]}};
      position *= a.extent;
      step *= a.extent;
      axes.insert(axes.begin(), {a, row || (!odd_rows && d.percent(50))});
    }
    axes.back().second = true; // something is folded
    for (auto const& [a, reduced] : axes) {
      (reduced ? f.at.extent : f.at.groups) *= a.extent;
      (reduced ? f.at.reduced[f.at.reduced_axes++] : f.at.kept[f.at.kept_axes++]) = a;
      (a.steps[0] < 0 ? low : high) += (a.extent - 1) * a.steps[0];
    }
    f.at.last[0] = high;
    f.of.extent = f.at.extent;
  }
};

/// Whether a load of `bytes` at an offset of elements is one that memory answers.
bool answers(random_grid const& g, i64 offset, i64 bytes) {
  auto const& s = g.f.of.sources[0];
  i64 const at = s.address_alignment * 16 + offset * s.bytes_per_element, last = offset + (bytes - 1) / s.bytes_per_element;
  return (bytes == s.bytes_per_element || at % bytes == 0) && offset >= g.low && last <= g.high;
}

/// Loads of `neighbours` elements along an axis from a place, as kernel/strip.cuh makes them.
bool strip_answers(random_grid const& g, i64 offset, i64 step, int neighbours, int bytes_per_load) {
  i64 const size = g.f.of.sources[0].bytes_per_element;
  if (bytes_per_load <= size)
    return answers(g, offset, size) && answers(g, offset + (neighbours - 1) * step, size);
  bool good = step == 1;
  for (i64 b = 0; b < neighbours * size; b += bytes_per_load)
    good = good && answers(g, offset + b / size, bytes_per_load);
  return good;
}

/// Whether the aligned pieces around neighbours lie inside their column, but for what is in front of it.
bool pieces_answer(random_grid const& g, i64 offset, int neighbours) {
  auto const& s = g.f.of.sources[0];
  i64 const first = s.address_alignment * 16 + offset * s.bytes_per_element, base = i64(1) << 40; // an address is not negative
  i64 const behind = first + neighbours * s.bytes_per_element, end = (behind + base + 15) / 16 * 16 - base;
  return neighbours * s.bytes_per_element == 16 && end <= s.address_alignment * 16 + (g.high + 1) * s.bytes_per_element;
}

/// Why a plan in stripes is wrong: the strips of a row begin where kernel/across_groups.cuh has them.
std::string why_stripes_are_wrong(random_grid const& g, axes_planned const& p) {
  auto const& at = g.f.at;
  i64 const of_row = p.cut.row_groups, of_strip = p.plan.groups_per_strip(), rows = at.groups / of_row;
  int const bytes = int(g.f.of.sources[0].bytes_per_element) * p.plan.groups_beside;
  if (of_row < of_strip || p.plan.threads_across != 32 || p.plan.bytes_per_load[0] != bytes)
    return "a strip is longer than its row";
  std::vector<bool> folded(static_cast<std::size_t>(of_row));
  for (i64 strip = 0; strip < p.cut.strips_per_row; ++strip) {
    i64 const first = std::min(strip * of_strip, of_row - of_strip);
    for (int x = 0; x < 32; ++x)
      for (int v = 0; v < p.plan.groups_per_thread; ++v) {
        i64 const group = first + p.plan.group_in_strip(x, v);
        folded[static_cast<std::size_t>(group)] = true;
        for (i64 row : {i64(0), rows / 2, rows - 1})
          for (i64 e : {i64(0), at.extent / 3, at.extent - 1}) {
            auto place = group_origin<1>(at, row * of_row + group);
            move_along(place, at.reduced, at.reduced_axes, e);
            if (v % p.plan.groups_beside == 0 && !answers(g, place.offset[0], bytes))
              return "group " + std::to_string(row * of_row + group) + ", element " + std::to_string(e);
          }
      }
  }
  return std::find(folded.begin(), folded.end(), false) == folded.end() ? "" : "a group is in no strip";
}

std::string why_wrong(random_grid const& g, axes_planned const& p) {
  auto const& at = g.f.at;
  if (p.plan.in_stripes())
    return why_stripes_are_wrong(g, p);
  int const bytes = p.plan.bytes_per_load[0];
  bool const along = p.plan.route == axes_route::threads_along_group;
  int const lanes = along ? p.plan.lanes_in_leaf / p.plan.threads_along() : 1, beside = along ? 1 : p.plan.groups_per_thread;
  auto const sampled = [](i64 n, i64 k) { return k < 40 || k + 40 >= n || k % 97 == 0; };
  i64 const of_row = g.f.row_groups(), strips = (of_row - 1) / beside + 1, count = at.groups / of_row * strips;
  for (i64 strip = 0; strip < count; ++strip)
    if (i64 const in_row = strip % strips * beside, group = strip / strips * of_row + in_row; sampled(count, strip))
      for (i64 e = 0; e < at.extent; e += lanes)
        if (sampled(at.extent / lanes, e / lanes)) {
          auto place = group_origin<1>(at, group);
          move_along(place, at.reduced, at.reduced_axes, e);
          i64 const left = at.extent - e;
          int const there = int(along ? std::min(left, i64(lanes)) : std::min(of_row - in_row, i64(beside)));
          bool const vectors = bytes > g.f.of.sources[0].bytes_per_element;
          if (p.plan.realigned & 1) {
            i64 const of_leaf = g.f.of.elements_per_leaf(), start = e / of_leaf * of_leaf, end = std::min(start + of_leaf, at.extent) - 1;
            auto place_of_leaf = group_origin<1>(at, group);
            move_along(place_of_leaf, at.reduced, at.reduced_axes, along || at.reduced[0].steps[0] < 0 ? start : end);
            i64 const reach = place_of_leaf.offset[0] + (along ? end - start : 0);
            if (pieces_end_inside(at, 0, reach, along ? lanes : beside)) {
              if (!pieces_answer(g, place.offset[0], along ? lanes : beside))
                return "a piece around element " + std::to_string(e) + " of group " + std::to_string(group) + " ends behind the column";
              continue;
            }
          }
          if (p.plan.striped) { // as load_striped of kernel/strip.cuh goes from run to run
            grid_axis const &outer = at.reduced[0], &inner = at.reduced[1];
            i64 const of_row_of_leaf = i64(32) * lanes, of_thread = e / of_row_of_leaf * of_row_of_leaf + e / lanes % 32;
            auto const offset_of = [&](i64 element) {
              auto here = group_origin<1>(at, group);
              move_along(here, at.reduced, at.reduced_axes, element);
              return here.offset[0];
            };
            i64 left_of_run = inner.extent - of_thread % inner.extent, jumped = 0;
            for (int v = 0; v < lanes && of_thread + v * 32 < at.extent; ++v) {
              if (v > 0 && v * 32 >= left_of_run)
                jumped += outer.steps[0] - inner.extent * inner.steps[0], left_of_run += inner.extent;
              if (offset_of(of_thread) + jumped + v * 32 * inner.steps[0] != offset_of(of_thread + v * 32))
                return "group " + std::to_string(group) + ", element " + std::to_string(of_thread + v * 32) + " is on another run";
            }
            continue;
          }
          if (p.plan.threads_apart) {
            grid_axis const &outer = at.reduced[0], &inner = at.reduced[1];
            i64 const size = g.f.of.sources[0].bytes_per_element, here = inner.extent - e % inner.extent, piece = std::max<i64>(1, bytes / size);
            for (i64 v = 0; v < there; v += piece) {
              i64 const jump = v < here ? 0 : outer.steps[0] - inner.extent * inner.steps[0];
              if (v + piece > there || (v < here && v + piece > here) || !answers(g, place.offset[0] + v * inner.steps[0] + jump, piece * size))
                return "group " + std::to_string(group) + ", element " + std::to_string(e + v) + " is on another run";
            }
            continue;
          }
          i64 const step = along ? g.f.element_step(0) : beside > 1 ? g.f.group_step(0) : 0;
          i64 const of_row_of_leaf = i64(32) * g.f.of.lanes_per_group;
          bool const by_itself = along && (p.plan.narrow_at_ends & 1) != 0 && (e / of_row_of_leaf + 1) * of_row_of_leaf > at.extent;
          if (along && vectors && !by_itself && there * g.f.of.sources[0].bytes_per_element % bytes != 0)
            return "a vector reaches behind element " + std::to_string(e) + " of a group";
          if (!strip_answers(g, place.offset[0], step, there, by_itself ? int(g.f.of.sources[0].bytes_per_element) : bytes))
            return "group " + std::to_string(group) + ", element " + std::to_string(e) + ", offset " + std::to_string(place.offset[0]);
        }
  return {};
}

/// Facts of one commutative fold of 4 bytes over so many columns, on an H200.
axes_facts one_fold(int columns, int lanes_per_group) {
  axes_facts f{};
  f.of.lanes_per_group = lanes_per_group;
  f.of.rows_per_leaf = 8;
  f.of.source_count = columns;
  f.of.fold_count = 1;
  f.of.folds[0] = {4, true, false, block_algorithm::raking};
  f.of.target = targets::h200;
  return f;
}

} // namespace

TEST_CASE("every load of a plan along axes is aligned and inside its column") {
  std::set<std::string> plans;
  int realigned = 0, apart = 0, striped = 0, in_stripes = 0;
  for (u64 seed = 0; seed < 2500; ++seed) {
    dice d(seed);
    bool const odd_rows = seed % 5 == 0;
    random_grid const g(d, 1 + int(d.below(odd_rows ? 2 : 4)), i64(1) << d.below(odd_rows ? 2 : 4), odd_rows);
    if (g.f.at.extent * g.f.at.groups > 40'000'000)
      continue;
    axes_planned const p = make_axes_plan(g.f);
    plans.insert(spell(p.plan, 1));
    realigned += p.plan.realigned != 0;
    apart += p.plan.threads_apart;
    striped += p.plan.striped;
    in_stripes += p.plan.in_stripes();
    INFO("seed ", seed, ": ", spell(p.plan, 1));
    std::string const wrong = why_wrong(g, p);
    CHECK(wrong == "");
    CHECK(p.plan.threads_across >= 1);
    CHECK(p.plan.threads_per_block() <= 1024);
    CHECK(p.cut.leaves_of_chunk * p.cut.chunks >= p.cut.leaves);
    if (p.plan.route == axes_route::threads_along_group && !p.plan.one_leaf) {
      i64 const groups_of_block = p.plan.warps_per_block / p.plan.warps_per_group;
      CHECK(p.plan.leaves_in_room >= p.cut.leaves_of_chunk);
      CHECK(groups_of_block * p.plan.leaves_in_room * g.f.of.state_bytes() <= 48 * 1024);
      CHECK((groups_of_block == 1 || p.plan.leaves_in_room <= 32)); // the warps of one group meet a second time
    }
  }
  CHECK(plans.size() > 200);
  CHECK(realigned > 200);
  CHECK(apart > 10);
  CHECK(striped > 10);
  CHECK(in_stripes > 20);
}

TEST_CASE("columns that are the same for neighbouring groups, or all along a group, do not narrow the loads of others") {
  auto f = one_fold(3, 4);
  f.of.sources[0] = {4, 1, 16};
  f.of.sources[1] = f.of.sources[2] = {4, 1, 4};
  f.of.extent = f.at.extent = f.at.groups = 4096;
  f.at.kept_axes = f.at.reduced_axes = 1;
  f.at.kept[0] = {4096, 1, {1, 0, 1}};
  f.at.reduced[0] = {4096, 4096, {4096, 1, 0}};
  f.of.sources[2].address_alignment = 16;
  auto const p = make_axes_plan(f).plan;
  CHECK(p.route == axes_route::threads_across_groups);
  CHECK(p.groups_per_thread == 4);
  CHECK(p.standing == 2);
  CHECK(p.lasting == 4);
  CHECK(p.bytes_per_load[0] == 16);
  CHECK(p.bytes_per_load[1] == 4);
  CHECK(p.bytes_per_load[2] == 16);
  f.at.kept[0].steps[0] = 0; // the same in all columns: nothing to load together
  f.at.kept[0].steps[2] = 0;
  CHECK(make_axes_plan(f).plan.groups_per_thread == 1);
}

TEST_CASE("columns of rows that begin anywhere are folded in stripes, where the last strip folds little again") {
  auto f = one_fold(1, 8);
  f.of.sources[0] = {2, 1, 16};
  f.of.extent = f.at.extent = 5000;
  f.at.kept_axes = f.at.reduced_axes = 1;
  auto const planned = [&](i64 columns) {
    f.at.groups = columns;
    f.at.kept[0] = {columns, 1, {1}};
    f.at.reduced[0] = {5000, columns, {columns}};
    return make_axes_plan(f);
  };
  struct expected {
    i64 columns;
    int groups, beside;
  };
  for (auto const& [width, groups, beside] : {expected{16384, 4, 4}, {16383, 4, 1}, {16382, 4, 2}, {127, 2, 1}, {128, 4, 4}, {129, 1, 1}, {255, 4, 1}, {63, 1, 1}, {191, 2, 1}, {33, 1, 1}}) {
    i64 const columns = width;
    CAPTURE(columns);
    auto const p = planned(columns);
    CHECK(p.plan.groups_per_thread == groups);
    CHECK(p.plan.groups_beside == beside);
    CHECK(p.plan.bytes_per_load[0] == 2 * beside);
    CHECK(p.cut.strips_per_row * p.plan.groups_per_strip() >= columns);
  }
}
