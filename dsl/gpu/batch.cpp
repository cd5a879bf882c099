// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches on a GPU. Of one type: programs and the table of their parts go to the device, one launch, and states come back in one piece. Of several:
// programs come with the launch.
#include "base/formatted.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_batch.hpp>

#include <tally/base/error.hpp>

#include <algorithm>
#include <vector>

namespace tally::v0::gpu {

unit unit_of_batch(program_type const& t, segments_plan const& p) {
  unit u;
  std::string const program = t.name();
  u.header = "tally/kernel/batch.cuh";
  u.definitions = t.definitions();
  u.assertions = formatted("using program = {};\n"
                           "static_assert(sizeof(program) == {} && alignof(program) == {}, \"host and device lay a program out alike\");\n"
                           "static_assert(sizeof(program::states) == {}, \"host and device lay its states out alike\");\n",
                           program, t.bytes, t.alignment, t.states_bytes);
  u.name_expression = formatted("tally::v0::kernel::batch<{}, {}>", spell(p), program);
  return u;
}

namespace {
/// Where parts meet, and their arrivals, which are zeros before and after; null where there are none.
struct meeting_memory {
  void *parts, *arrivals;
};
meeting_memory room_for_meetings(std::size_t words, std::size_t places, int ordinal, stream_ref stream) {
  if (places == 0) return {nullptr, nullptr};
  void* const parts = workspace(ordinal, stream, words * 4, workspace_kind::scratch);
  auto* const zeros = static_cast<char*>(workspace(ordinal, stream, 64 + places * 4, workspace_kind::zeros));
  return {parts, zeros + 64}; // behind what segments report
}
} // namespace

result_slot compute(batch_request const& r) {
  segments_plan const plan = make_batch_plan(r.f);
  i64 const size = elements_per_part(r.f, plan);
  std::vector<i64> first_part{0};
  i64 most = 0;
  for (i64 i = 0; i < r.items; ++i) {
    i64 const parts = r.extents[i] == 0 ? 0 : (r.extents[i] - 1) / size + 1;
    first_part.push_back(first_part.back() + parts);
    most = std::max(most, parts);
  }
  i64 const blocks = (first_part.back() - 1) / plan.warps_per_block + 1;
  if (blocks > 0x7fffffff) throw too_large(formatted("{} reductions need {} blocks, a launch has at most {}.", r.items, blocks, 0x7fffffff));
  meeting_levels levels{};
  auto const places = static_cast<std::size_t>(cut_batch(r.items, first_part.back(), most, levels));
  kernel const& k = r.kernels->get(plan, r.ordinal, [&] { return unit_of_batch(*r.type, plan); });
  device_memory const programs = stage(r.programs, static_cast<std::size_t>(r.items) * r.type->bytes, r.ordinal, r.stream);
  device_memory const table = stage(first_part.data(), first_part.size() * sizeof(i64), r.ordinal, r.stream);
  meeting_memory m = room_for_meetings(places * static_cast<std::size_t>(r.type->words_per_partial), places, r.ordinal, r.stream);
  result_slot slot = take_result_slot(r.ordinal, static_cast<std::size_t>(r.items) * r.type->states_bytes);
  void* const at_programs = programs.data();
  void* const at_table = table.data();
  void* const answers = slot.device();
  i64 const items = r.items;
  void* arguments[] = {const_cast<void**>(&at_programs), const_cast<void**>(&at_table), const_cast<i64*>(&items), &levels, &m.parts, &m.arrivals,
                       const_cast<void**>(&answers)};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(blocks);
  shape.block_threads = static_cast<unsigned>(plan.threads_per_block());
  launch(k, shape, arguments, r.stream);
  wait(r.ordinal, r.stream);
  return slot;
}

unit unit_of(batch_of_types_request const& r, batch_of_types_plan const& p) {
  unit u;
  u.header = "tally/kernel/batch_of_types.cuh";
  u.definitions = r.definitions();
  std::string programs, plans;
  for (int i = 0; i < r.count; ++i) {
    std::string const program = r.types[i]->name();
    u.assertions += formatted("static_assert(sizeof({}::states) == {}, \"host and device lay its states out alike\");\n", program, r.types[i]->states_bytes);
    programs += (i > 0 ? ", " : "") + program;
    plans += ", " + spell(p.of[i]);
  }
  programs = formatted("tally::v0::pack<{}>", programs);
  u.assertions += formatted("static_assert(sizeof({}) == {}, \"host and device lay programs out alike\");\n", programs, r.argument_bytes);
  u.name_expression = formatted("tally::v0::kernel::batch_of_types<{}{}>", programs, plans);
  return u;
}

readback enqueue(batch_of_types_request const& r, batch_of_types_cut& cut) {
  batch_of_types_planned p = plan_batch_of_types(r.programs, r.count);
  kernel const& k = r.kernels->get(p.plan, r.ordinal, [&] { return unit_of(r, p.plan); });
  meeting_memory m = room_for_meetings(static_cast<std::size_t>(p.words), static_cast<std::size_t>(p.places), r.ordinal, r.stream);
  readback states(static_cast<std::size_t>(p.answer_bytes), r.ordinal, r.stream);
  void* answers = states.device();
  void* arguments[] = {const_cast<void*>(r.argument), &p.cut, &m.parts, &m.arrivals, &answers};
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(p.blocks);
  shape.block_threads = threads_of_batch;
  launch(k, shape, arguments, r.stream);
  cut = p.cut;
  return states;
}

} // namespace tally::v0::gpu
