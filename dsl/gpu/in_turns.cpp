// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks that take turns on a GPU: columns are staged once, every walk is given its memory, and all are launched once.
#include "base/formatted.hpp"
#include "gpu/device.hpp"
#include "gpu/partials_room.hpp"
#include "gpu/segments_room.hpp"
#include "gpu/workspace.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_turns.hpp>

#include <algorithm>

namespace tally::v0::gpu {
namespace {

/// What stands where a program without folds is told.
struct no_program {
  unsigned char bytes[64];
};

template <class F>
void for_each_segments(turns_request const& r, F const& f) {
  for (int i = 0; i < max_segments_in_turns && r.segments[i] != nullptr; ++i) f(i, *r.segments[i]);
}
/// Whether anybody asks what was wrong.
bool is_told(turns_request const& r) {
  bool told = false;
  for_each_segments(r, [&](int, segments_request const& one) { told = told || one.told; });
  return told;
}
std::string name_of_segments(segments_request const& r, segments_plan const& p) {
  return formatted("tally::v0::kernel::planned_segments<{}, {}, {}, {}>", spell(p), r.type->program(), r.type->nodes(), r.offset_type);
}
/// The columns of all walks, each staged once for those that read it.
void stage(turns_request& r, staged_columns& staged) {
  auto const& first = *r.segments[0];
  column_place places[max_sources]{};
  source_facts sources[max_sources]{};
  auto const for_each_walk = [&](auto const& f) {
    for_each_segments(r, [&](int, segments_request& one) { f(one.columns, one.f); });
    if (r.whole != nullptr) f(r.whole->columns, r.whole->f);
  };
  for_each_walk([&](column_place const* columns, facts const& f) {
    for (int c = 0; c < f.source_count; ++c)
      if (places[c].pointer == nullptr) places[c] = columns[c];
  });
  stage_columns(places, first.f.source_count, sources, first.ordinal, first.stream, staged);
  for_each_walk([&](column_place* columns, facts& f) {
    for (int c = 0; c < f.source_count; ++c)
      if (columns[c].pointer != nullptr) {
        *columns[c].pointer = *places[c].pointer;
        f.sources[c].address_alignment = sources[c].address_alignment;
      }
  });
}
/// Memory for where parts of long segments meet, of all reads, which are in one launch; what is to be zero. Where nobody asks what was
/// wrong it is the stream's, else of this request, whose faults no other may find.
struct zeros_of_turns {
  void* memory;
  std::size_t bytes;
};
zeros_of_turns lay_out(turns_request& r, turns_planned const& p) {
  std::size_t parts = 0, zeros = 0;
  for_each_segments(r, [&](int i, segments_request& one) {
    parts += segments_room(p.segments[i], one).bytes_of_parts();
    zeros += segments_room(p.segments[i], one).bytes_of_zeros();
  });
  auto& first = *r.segments[0];
  bool const told = is_told(r);
  if (told) first.zeros = allocate(zeros, first.ordinal, first.stream);
  void* const cleared = told ? first.zeros.data() : workspace(first.ordinal, first.stream, zeros, workspace_kind::cleared);
  auto* next_parts = parts > 0 ? static_cast<char*>(workspace(first.ordinal, first.stream, parts, workspace_kind::scratch)) : nullptr;
  auto* next_zeros = static_cast<char*>(cleared);
  for_each_segments(r, [&](int i, segments_request& one) {
    segments_room const room(p.segments[i], one);
    room.lay_out(next_parts, next_zeros);
    next_parts += room.bytes_of_parts();
    next_zeros += room.bytes_of_zeros();
  });
  return {cleared, zeros};
}

} // namespace

turns_planned plan_turns(turns_request const& r, int ordinal) {
  turns_facts f{};
  f.any_whole = r.whole != nullptr;
  if (f.any_whole) {
    f.whole = r.whole->f;
    f.whole.target = target_of(ordinal);
    f.whole.keys_beside = r.keys.any();
  }
  for_each_segments(r, [&](int i, segments_request const& one) {
    f.segments[i] = {one.f, one.segments, one.counted};
    f.segments[i].of.target = target_of(ordinal);
    f.count = i + 1;
  });
  return make_turns_plan(f);
}

unit unit_of(turns_request const& r, turns_planned const& p) {
  unit u;
  std::string whole = "tally::v0::plan{}, tally::v0::program<tally::v0::pack<>>, void*";
  if (r.whole != nullptr) {
    auto const& f = r.whole->f;
    auto const* const finished = r.whole->finished;
    u = unit_of(*r.whole->type, p.plan.whole, f, finished != nullptr ? finished->type : nullptr);
    whole = formatted("{}, {}, {}", spell(p.plan.whole, f.source_count, f.fold_count), r.whole->type->name(),
                      finished != nullptr ? "tally::v0::answers_at<nodes>" : "program::states*");
  } else {
    u.assertions = formatted("static_assert(sizeof(tally::v0::program<tally::v0::pack<>>) <= {}, \"there is room for a program without folds\");\n", sizeof(no_program));
  }
  u.header = "tally/kernel/in_turns.cuh";
  u.definitions = r.definitions();
  std::string segments;
  for_each_segments(r, [&](int i, segments_request const& one) {
    std::string const name = name_of_segments(one, p.plan.segments[i]);
    if (p.plan.segments[i].in_windows) u.extra_headers.push_back("tally/kernel/exact_segments.cuh");
    u.assertions += formatted("static_assert(sizeof({}) == {}, \"host and device lay segments out alike\");\n", name, one.argument_bytes);
    segments += formatted("{}{}", i > 0 ? ", " : "", name);
  });
  segments = formatted("tally::v0::pack<{}>", segments);
  u.assertions += formatted("static_assert(sizeof({0}) == {1} && tally::v0::kernel::all_segments<{0}>::room_bytes() <= {2}, \"a block has room for its tiles\");\n", segments,
                            r.segments_bytes, p.shared_bytes);
  u.name_expression = formatted("tally::v0::kernel::in_turns<{}, {}>", whole, segments);
  add_keys(u, r.keys);
  return u;
}

queued_run enqueue(turns_request& r) {
  auto& first = *r.segments[0];
  queued_run q{};
  q.ordinal = first.ordinal;
  q.stream = first.stream;
  stage(r, q.staged);
  turns_planned p = plan_turns(r, q.ordinal);
  kernel const& k = r.kernels->get(with_keys(p.plan, &r.keys), q.ordinal, [&] { return unit_of(r, p); });
  auto const zeros = lay_out(r, p);
  no_program nothing{};
  leaf_counts counts{};
  partials_view view{};
  void* states = nullptr;
  void* result = &states;
  if (r.whole != nullptr) {
    counts = leaves_of(r.whole->f);
    view = room_for_partials(*r.whole->type, p.blocks.of[0], q.ordinal, q.stream);
    if (r.whole->finished != nullptr)
      result = const_cast<void*>(r.whole->finished->argument);
    else
      q.states = readback(r.whole->type->states_bytes, q.ordinal, q.stream);
    states = q.states.device();
  }
  void* arguments[6 + max_keys_beside] = {&p.blocks, r.all_segments, r.whole != nullptr ? r.whole->program : &nothing, &counts, &view, result};
  add_arguments(arguments + 6, r.keys);
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(p.all_blocks);
  shape.block_threads = static_cast<unsigned>(p.plan.segments[0].threads_per_block());
  shape.dynamic_shared_bytes = static_cast<std::size_t>(std::max(p.shared_bytes, r.keys.shared_bytes()));
  if (!first.launches) return q;
  auto const alone = is_told(r) ? std::unique_lock<std::mutex>() : queueing_alone(q.ordinal);
  clear(zeros.memory, zeros.bytes, q.ordinal, q.stream);
  if (r.whole != nullptr) open(r.keys, r.whole->columns, 0);
  launch(k, shape, arguments, q.stream);
  close(r.keys);
  return q;
}

} // namespace tally::v0::gpu
