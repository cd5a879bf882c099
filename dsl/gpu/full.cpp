// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The route "full" on a GPU: stage what is in host memory, plan, find or compile the kernel, launch once.
#include "base/formatted.hpp"
#include "gpu/device.hpp"
#include "gpu/launch_order.hpp"
#include "gpu/partials_room.hpp"

#include <tally/plan/spell.hpp>
#include <tally/plan/targets.hpp>
#include <tally/run/gpu_keys_beside.hpp>

#include <tally/base/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace tally::v0::gpu {

namespace {

/// Launches behind others of its kind.
void launch_behind(full_request const& r, tally::v0::plan const& p, kernel const& k, launch_shape const& shape, void** arguments, launch_order& order, char* head) {
  byte_ranges reads, writes;
  reads.add(r.columns, r.f.source_count);
  if (r.answer != nullptr) writes.add(r.answer, r.type->states_bytes);
  if (r.finished != nullptr) writes.add(r.finished->places, r.finished->count, r.finished->bytes);
  launch(k, shape, arguments, r.stream, order, {head, p.blocks_per_multiprocessor * r.f.target.multiprocessors, reads, writes});
}

kernel const& kernel_for(full_request const& r, tally::v0::plan const& p, int ordinal) {
  return r.kernels->get(p, ordinal, [&] { return unit_of(*r.type, p, r.f, r.finished != nullptr ? r.finished->type : nullptr); });
}

planned plan_for(full_request const& r) {
  planned out = make_plan(r.f);
  if (r.given != nullptr) {
    out.plan = *r.given;
    out.blocks = planning::blocks_of(r.f, out.plan);
  }
  if (char const* wrong = why_illegal(out.plan, r.f)) throw compile_failed(formatted("illegal plan: {}.", wrong));
  if (out.blocks > 0x7fffffff)
    throw too_large(formatted("{} elements need {} blocks, a launch has at most {}.", r.f.extent, out.blocks, 0x7fffffff));
  return out;
}

/// A plan, its blocks and its kernel.
struct chosen_kernel {
  tally::v0::plan plan;
  i64 blocks;
  kernel const* made;
};
/// Plans a run and finds its kernel, or remembers both: a thread asks for one thing again and again. Lists of kernels and what is in them
/// stay for ever.
chosen_kernel const& choose(full_request const& r, int ordinal) {
  struct choice {
    void const* kernels;
    int ordinal;
    facts f;
    chosen_kernel chosen;
  };
  thread_local choice before[8]{};
  auto& here = before[reinterpret_cast<std::uintptr_t>(r.kernels) / alignof(std::max_align_t) % std::size(before)];
  if (r.given != nullptr || here.kernels != r.kernels || here.ordinal != ordinal || !(here.f == r.f)) {
    here.kernels = nullptr; // what throws is not remembered, and neither is a given plan
    planned const p = plan_for(r);
    here = {r.given != nullptr ? nullptr : r.kernels, ordinal, r.f, {p.plan, p.blocks, &kernel_for(r, p.plan, ordinal)}};
  }
  return here.chosen;
}

} // namespace

target target_of(int ordinal) {
  device_facts const& d = facts_of(ordinal);
  target t{};
  t.read_bytes_per_second = targets::part_of_rate_read * d.memory_bytes_per_second;
  t.launch_seconds = targets::h200.launch_seconds;
  t.compute_major = d.compute_major;
  t.compute_minor = d.compute_minor;
  t.multiprocessors = d.multiprocessors;
  t.max_cluster_blocks = d.max_cluster;
  t.most_cluster_blocks = d.most_cluster;
  t.shared_bytes_per_block = static_cast<i64>(d.shared_bytes_per_block_optin);
  t.l2_bytes = static_cast<i64>(d.l2_bytes);
  return t;
}

unit unit_of(program_type const& t, tally::v0::plan const& p, facts const& f, group_type const* answers) {
  unit u;
  std::string const program = t.name();
  u.header = "tally/kernel/full.cuh";
  auto const any_fold = [&](auto const& is) { return std::any_of(std::begin(p.folds), std::end(p.folds), is); };
  if (any_fold([](auto const& choice) { return is_cub(choice.block); })) u.extra_headers.push_back("tally/kernel/block_cub.cuh");
  if (any_fold([](auto const& choice) { return choice.block == block_algorithm::redux; }))
    u.extra_headers.push_back("tally/kernel/block_redux.cuh");
  if (p.stages > 0) u.extra_headers.push_back("tally/kernel/ring.cuh");
  if (p.one_cluster) u.extra_headers.push_back("tally/kernel/cluster.cuh");
  u.definitions = t.definitions();
  u.assertions = formatted("using program = {};\n"
                           "static_assert(sizeof(program) == {} && alignof(program) == {}, \"host and device lay a program out alike\");\n"
                           "static_assert(sizeof(program::states) == {}, \"host and device lay its states out alike\");\n"
                           "static_assert(tally::v0::kernel::words_per_partial<program> == {}, \"host and device count the same words\");\n",
                           program, t.bytes, t.alignment, t.states_bytes, t.words_per_partial);
  if (answers != nullptr) {
    u.extra_headers.push_back("tally/kernel/finish.cuh");
    u.definitions = answers->definitions();
    u.assertions += formatted("using nodes = {};\n"
                              "static_assert(sizeof(nodes) == {}, \"host and device lay its nodes out alike\");\n",
                              answers->nodes(), answers->nodes_bytes);
  }
  u.name_expression = formatted("tally::v0::kernel::full<{}, {}, {}>", spell(p, f.source_count, f.fold_count), program,
                                answers != nullptr ? "tally::v0::answers_at<nodes>" : "program::states*");
  return u;
}

std::string ptx_of(unit const& u, target const& t) { return compile(u, t.compute_major, t.compute_minor).ptx; }

int home_of(column_place const* columns, int count) {
  for (int i = 0; i < count; ++i)
    if (columns[i].pointer != nullptr) {
      int owner = -1;
      residence const where = residence_of(*columns[i].pointer, &owner);
      if (where == residence::device || where == residence::managed) return owner < 0 ? 0 : owner;
    }
  return -1;
}

namespace {

/// Where a run goes, with its columns there.
queued_run begin(full_request& r) {
  int const home = r.ordinal >= 0 ? r.ordinal : home_of(r.columns, r.f.source_count);
  queued_run q{};
  q.ordinal = home >= 0 ? home : 0;
  q.stream = r.stream;
  r.f.target = target_of(q.ordinal);
  stage_columns(r.columns, r.f.source_count, r.f.sources, q.ordinal, q.stream, q.staged);
  return q;
}

/// Queues the launch of a run that has begun, with the keys beside it where there are any.
void queue(full_request& r, queued_run& q, chosen_kernel const& chosen, keys_of_read const* keys, bool timed) {
  partials_view view = room_for_partials(*r.type, chosen.blocks, q.ordinal, q.stream);
  if (r.answer == nullptr && r.finished == nullptr) q.states = readback(r.type->states_bytes, q.ordinal, q.stream);
  void* answer = r.answer != nullptr ? r.answer : q.states.device();
  leaf_counts counts = leaves_of(r.f);
  launch_order order;
  void* arguments[5 + max_keys_beside] = {r.program, &counts, &view, &order, r.finished != nullptr ? const_cast<void*>(r.finished->argument) : &answer};
  if (keys != nullptr) add_arguments(arguments + 5, *keys);
  launch_shape shape;
  shape.grid_blocks = static_cast<unsigned>(chosen.blocks);
  if (chosen.plan.one_cluster) shape.cluster_blocks = shape.grid_blocks;
  shape.block_threads = static_cast<unsigned>(chosen.plan.threads_per_block);
  shape.dynamic_shared_bytes = static_cast<std::size_t>(keys != nullptr ? keys->shared_bytes() : planning::ring_bytes_per_block(r.f, chosen.plan));
  shape.overlaps = chosen.plan.overlaps_launch;
  if (!r.launches) return;
  if (timed) q.begun = record(q.ordinal, q.stream, true);
  if (chosen.plan.reads_ahead && !q.staged.any()) // not behind copies to the device
    launch_behind(r, chosen.plan, *chosen.made, shape, arguments, order, static_cast<char*>(view.epoch));
  else
    launch(*chosen.made, shape, arguments, q.stream);
  if (timed) q.done = record(q.ordinal, q.stream, true);
}

} // namespace

queued_run enqueue(full_request& r, bool timed) {
  queued_run q = begin(r);
  queue(r, q, choose(r, q.ordinal), nullptr, timed);
  return q;
}

unit unit_of(program_type const& t, tally::v0::plan const& p, facts const& f, keys_of_read const& keys, std::string (*definitions)()) {
  unit u = unit_of(t, p, f);
  u.definitions = definitions();
  add_keys(u, keys);
  return u;
}

queued_run enqueue(full_request& r, keys_of_read const& keys, kernels_of<plan_beside<tally::v0::plan>>& kernels, std::string (*definitions)()) {
  queued_run q = begin(r);
  r.f.keys_beside = true;
  planned const p = plan_for(r);
  kernel const& k = kernels.get(with_keys(p.plan, &keys), q.ordinal, [&] { return unit_of(*r.type, p.plan, r.f, keys, definitions); });
  open(keys, r.columns, 0);
  queue(r, q, {p.plan, p.blocks, &k}, &keys, false);
  close(keys);
  return q;
}

void run(full_request& r, void* states, std::size_t bytes) {
  queued_run q = enqueue(r);
  std::memcpy(states, q.states.wait(), bytes);
}

} // namespace tally::v0::gpu
