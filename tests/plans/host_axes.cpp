// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the host folds groups along axes: the choice from its facts, and those facts of real programs.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace tally::v0;

namespace {
using route = host_axes_route;

/// Long groups of memory that lie nowhere together, one too many to be copied.
constexpr host_axes_facts apart{.groups = planning::few_groups,
                                .extent = planning::copied_group,
                                .has_registers = true,
                                .in_rows = false,
                                .in_columns = false,
                                .looks_at_positions = false,
                                .elements_together = false,
                                .can_be_copied = true,
                                .lie = strip_lie::apart};
template <class Change>
constexpr host_axes_route with(Change const& change) {
  host_axes_facts f = apart;
  change(f);
  return choose_host_route(f);
}

/// The facts of a grouping along axes.
template <class R>
host_axes_facts facts_of_axes(R const& r) {
  auto const d = get<0>(r.folds).bind(r.pipe);
  return cpu::detail::host_axes_of(d.program, layout_of(d.program, r.pipe.source, std::remove_cvref_t<decltype(d.where)>::is_reduced));
}
} // namespace

TEST_CASE("numbers that lie well come first, long groups that lie together next, strips last") {
  static_assert(choose_host_route(apart) == route::strips);
  static_assert(with([](auto& f) { f.in_rows = f.in_columns = f.elements_together = true; }) == route::rows);
  static_assert(with([](auto& f) { f.in_columns = f.elements_together = true; }) == route::columns);
  static_assert(with([](auto& f) { f.elements_together = true; }) == route::in_turn);
  static_assert(with([](auto& f) { f.elements_together = true, f.extent = planning::long_group - 1; }) == route::strips);
  static_assert(with([](auto& f) { f.elements_together = f.looks_at_positions = true; }) == route::strips);
  CHECK(choose_host_route(apart) == route::strips);
}

TEST_CASE("few long groups are copied where that is possible, and they lie in no way together") {
  static_assert(with([](auto& f) { f.groups -= 1; }) == route::copied);
  static_assert(with([](auto& f) { f.groups -= 1, f.extent -= 1; }) == route::strips);
  static_assert(with([](auto& f) { f.groups -= 1, f.can_be_copied = false; }) == route::strips);
  static_assert(with([](auto& f) { f.groups -= 1, f.lie = strip_lie::groups_together; }) == route::strips);
  static_assert(with([](auto& f) { f.groups -= 1, f.lie = strip_lie::elements_together; }) == route::strips);
  CHECK(planning::strips_of(16) == 1);
  CHECK(planning::strips_of(17) == 2);
}

TEST_CASE("without registers only the tile loop is left, which has a way of its own there") {
  static_assert(with([](auto& f) { f.has_registers = false, f.in_rows = true; }) == route::element_by_element);
  static_assert(with([](auto& f) { f.has_registers = false, f.in_columns = true; }) == route::element_by_element);
  static_assert(with([](auto& f) { f.has_registers = false, f.groups = 1; }) == route::element_by_element);
  static_assert(with([](auto& f) { f.has_registers = false, f.elements_together = true; }) == route::in_turn);
  CHECK(with([](auto& f) { f.has_registers = false; }) == route::element_by_element);
}

TEST_CASE("what the types of a program rule out is never true of its facts") {
  std::vector<float> const x(1 << 16, 1.f);
  auto const few_columns = shaped(x.data(), 8192, 4);
  auto const numbers = facts_of_axes(from(few_columns) | reduce(over<0>(sum(_1 * _1))));
  CHECK(numbers.can_be_copied);
  CHECK(numbers.lie == strip_lie::apart);
  CHECK(choose_host_route(numbers) == route::copied);
  CHECK(facts_of_axes(from(shaped(x.data(), {8192, 4}, {8, 2})) | reduce(over<0>(sum))).can_be_copied);
  CHECK_FALSE(facts_of_axes(from(few_columns, shaped(iota(1 << 15), 8192, 4)) | reduce(over<0>(sum(_1 * cast<float>(_2))))).can_be_copied);
  auto const positions = facts_of_axes(from(few_columns) | reduce(over<0>(sum(_1 * cast<float>(tally::index)))));
  CHECK(positions.looks_at_positions);
  CHECK_FALSE(positions.can_be_copied);
  auto const masked = facts_of_axes(from(shaped(x.data(), 2048, 32)) | filter(_1 > 0.f) | reduce(over<0>(sum)));
  CHECK_FALSE(masked.in_rows);
  CHECK_FALSE(masked.in_columns);
  CHECK(masked.lie == strip_lie::groups_together);
}
