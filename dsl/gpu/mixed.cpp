// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows, columns and total of a matrix on a GPU: stage what is in host memory, plan, find or compile the kernel, launch once.
#include "base/formatted.hpp"
#include "gpu/launch_order.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_mixed.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {
namespace {

/// The lines of a unit that make sure that host and device lay a domain out alike.
std::string layout_of_domain(group_type const& t, char const* name) {
  return formatted("using {0} = {1};\n"
                   "using {0}_nodes = {2};\n"
                   "static_assert(sizeof({0}) == {3} && alignof({0}) == {4}, \"host and device lay a program out alike\");\n"
                   "static_assert(sizeof({0}::states) == {5}, \"host and device lay its states out alike\");\n"
                   "static_assert(sizeof({0}_nodes) == {6}, \"host and device lay its nodes out alike\");\n",
                   name, t.program(), t.nodes(), t.program_bytes, t.program_alignment, t.states_bytes, t.nodes_bytes);
}

constexpr std::size_t rounded(i64 states, std::size_t bytes) { return (static_cast<std::size_t>(states) * bytes + 255) / 256 * 256; }

/// What kernel/mixed_meeting.cuh calls mixed_room, in bytes.
std::size_t scratch_bytes(mixed_request const& r, mixed_cut const& cut) {
  auto const along = static_cast<std::size_t>(r.f.along_bytes);
  i64 const columns = cut.matrices * cut.columns;
  return rounded(cut.slots() * columns, r.columns_type->states_bytes) + rounded(cut.slot_groups() * columns, r.columns_type->states_bytes) +
         rounded(cut.matrices * cut.states_of_rows(), along) + rounded(cut.matrices * cut.states_of_row_groups(), along) +
         rounded(cut.parts_of_wholes, r.total_type->states_bytes) + rounded(cut.wholes * cut.groups_of_whole, r.total_type->states_bytes);
}

/// Launches behind others of its kind.
void launch_behind(mixed_request const& r, mixed_planned const& chosen, kernel const& k, launch_shape const& shape, void** arguments, launch_order& order,
                   void* head) {
  byte_ranges reads, writes;
  reads.add(r.places, r.f.of.source_count);
  auto const note = [&](mixed_answers const& a, i64 groups) { writes.add(a.to.at, a.count, static_cast<std::size_t>(groups) * a.bytes); };
  note(r.to_columns, chosen.cut.matrices * chosen.cut.columns);
  note(r.to_rows, chosen.cut.matrices * chosen.cut.rows);
  if (r.finished != nullptr)
    writes.add(r.finished->places, r.finished->count, static_cast<std::size_t>(chosen.cut.wholes) * r.finished->bytes);
  else if (r.to_total != nullptr)
    writes.add(r.to_total, r.total_type->states_bytes);
  launch(k, shape, arguments, r.stream, order,
         {static_cast<char*>(head), chosen.plan.blocks_per_multiprocessor * r.f.of.target.multiprocessors, reads, writes});
}

} // namespace

unit unit_of(mixed_request const& r, mixed_plan const& p) {
  unit u;
  char const* const route = p.few_columns > 0 ? "few_columns" : "mixed";
  u.header = formatted("tally/kernel/{}.cuh", route);
  if (r.finished != nullptr) u.extra_headers.push_back("tally/kernel/finish.cuh");
  u.definitions = r.definitions();
  u.assertions = layout_of_domain(*r.columns_type, "of_columns") + layout_of_domain(*r.rows_type, "of_rows") +
                 layout_of_domain(*r.total_type, "of_all");
  u.name_expression = formatted("tally::v0::kernel::{}<{}, of_columns, of_columns_nodes, of_rows, of_rows_nodes, of_all, {}>", route, spell(p),
                                r.finished != nullptr ? "tally::v0::answers_at<of_all_nodes>" : "of_all::states*");
  if (r.keys != nullptr) add_keys(u, *r.keys);
  return u;
}

mixed_planned plan_mixed(mixed_request& r, staged_columns& staged) {
  r.f.of.target = target_of(r.ordinal);
  mixed_planned first = make_mixed_plan(r.f); // what does not join is not staged twice
  if (!first.joins) return first;
  stage_columns(r.places, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, staged);
  r.f.of.queued = r.f.of.queued && !staged.any();
  return make_mixed_plan(r.f);
}

void enqueue(mixed_request& r, mixed_planned const& chosen) {
  kernel const& k = r.kernels->get(with_keys(chosen.plan, r.keys), r.ordinal, [&] { return unit_of(r, chosen.plan); });
  struct { // what kernel/mixed_meeting.cuh calls mixed_places
    void* scratch;
    void* counters;
  } places{workspace(r.ordinal, r.stream, scratch_bytes(r, chosen.cut), workspace_kind::scratch),
           workspace(r.ordinal, r.stream, 4 * static_cast<std::size_t>(chosen.cut.arrivals()), workspace_kind::zeros)};
  void* const head = chosen.plan.reads_ahead ? workspace(r.ordinal, r.stream, head_bytes) : nullptr;
  if (!r.launches) return;
  auto cut = chosen.cut;
  launch_order order;
  void* arguments[11 + max_keys_beside] = {r.columns, const_cast<void*>(r.column_nodes), r.rows, const_cast<void*>(r.row_nodes), r.total, &cut, &r.to_columns.to, &r.to_rows.to,
                       r.finished != nullptr ? const_cast<void*>(r.finished->argument) : &r.to_total, &places, &order};
  if (r.keys != nullptr) {
    open(*r.keys, r.places, chosen.begin_of_tables);
    add_arguments(arguments + 11, *r.keys);
  }
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.blocks());
  shape.block_threads = mixed_threads;
  shape.dynamic_shared_bytes = static_cast<std::size_t>(chosen.shared_bytes);
  shape.overlaps = chosen.plan.reads_ahead;
  if (chosen.plan.reads_ahead)
    launch_behind(r, chosen, k, shape, arguments, order, head);
  else
    launch(k, shape, arguments, r.stream);
  if (r.keys != nullptr) close(*r.keys);
}

} // namespace tally::v0::gpu
