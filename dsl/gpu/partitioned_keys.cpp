// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folds by key of partitioned elements on a GPU: plan, find or compile both kernels, and partition and fold the read part by part.
#include "base/formatted.hpp"
#include "gpu/keyed_room.hpp"

#include <tally/plan/spell.hpp>
#include <tally/run/gpu_partitioned_keys.hpp>

#include <tally/base/error.hpp>

namespace tally::v0::gpu {

unit unit_of_partition(keyed_type const& t, partitioned_keys_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/partition.cuh");
  u.extra_headers.emplace_back("tally/kernel/answers.cuh"); // its assertions name the nodes
  u.name_expression = formatted("tally::v0::kernel::partition<{}, {}, {}>", spell(p), t.where(), t.of.program());
  return u;
}

unit unit_of_folds(keyed_type const& t, partitioned_keys_plan const& p) {
  unit u = unit_without_name(t, "tally/kernel/fold_partitions.cuh");
  u.name_expression = formatted("tally::v0::kernel::fold_partitions<{}, {}, {}, {}>", spell(p), t.where(), t.of.program(), t.of.nodes());
  return u;
}

namespace {

/// Parts of half the size, of whole tiles; false where they would be too short.
bool halve_parts(partitioned_keys_planned& chosen, i64 whole) {
  i64 const of_tile = chosen.plan.elements_of_tile(), tiles = (chosen.part - 1) / of_tile + 1, half = (tiles + 1) / 2;
  if (half * of_tile < planning::elements_worth_partitions) return false;
  chosen.part = half * of_tile;
  chosen.parts = (whole - 1) / chosen.part + 1;
  chosen.tile_bytes = chosen.tile_bytes / tiles * half;
  return true;
}

class partitioned_read {
public:
  /// Where there is no memory for a part, parts are shorter.
  partitioned_read(keys_request& r, partitioned_keys_planned& chosen, kernel const& partitions, kernel const& folds, keys_in_flight& flight)
      : r_(r), chosen_(chosen), partitions_(partitions), folds_(folds) {
    for (bool done = false; !done;)
      try {
        lay_out(flight);
        done = true;
      } catch (out_of_memory const&) {
        if (!halve_parts(chosen, whole())) throw;
      }
  }

  void queue() {
    i64 const over_slots = planning::least_of((r_.f.slots - 1) / chosen_.plan.table.threads_per_block + 1, i64(r_.f.of.target.multiprocessors) * 16);
    if (chosen_.plan.table.sums_in_windows) launch_folds(keyed_phase::aim, part(0, 0), 1, bytes_to_aim_windows);
    launch_folds(keyed_phase::open, part(0, 0), over_slots, sizeof(runs_met));
    for (i64 pass = 0; pass < chosen_.passes; ++pass)
      for (i64 k = 0; k < chosen_.parts; ++k) {
        launch_partition(part(pass, k));
        launch_folds(keyed_phase::fold, part(pass, k), chosen_.fold_blocks, chosen_.fold_shared_bytes);
      }
    if (r_.f.at.extent != whole()) launch_folds(keyed_phase::meet, part(0, 0), 1, 0);
    launch_folds(keyed_phase::close, part(0, 0), over_slots, 0);
  }

private:
  keys_request& r_;
  partitioned_keys_planned const& chosen_;
  kernel const &partitions_, &folds_;
  keyed_memory memory_{};
  unsigned char* tiles_;
  u32* counts_;

  void lay_out(keys_in_flight& flight) {
    keys_request const& r = r_;
    void *stray = nullptr, *tiles = nullptr, *counts = nullptr, *windows = nullptr, *beyond = nullptr, *claimed = nullptr;
    tables of;
    of.add(stray, 3 * i64(sizeof(u64)));
    for (int i = 0; i < r.type->fold_count; ++i) of.add(memory_.cells[i], slots_given_in_bulk(r.f.slots) * r.type->cell_bytes[i]);
    of.add(tiles, chosen_.tile_bytes);
    of.add(counts, (words() + 1) * i64(sizeof(u32)));
    if (chosen_.plan.table.sums_in_windows) {
      of.add(windows, max_keyed_folds * i64(sizeof(u32)));
      for (void** bits : {&beyond, &claimed}) of.add(*bits, r.type->fold_count * words_of_bits(r.f.slots) * i64(sizeof(u32)));
    }
    flight.memory = room_for(of, r);
    memory_.windows = static_cast<u32*>(windows);
    memory_.beyond = static_cast<u32*>(beyond);
    memory_.claimed = static_cast<u32*>(claimed);
    flight.stray = memory_.stray = static_cast<u64*>(stray);
    tiles_ = static_cast<unsigned char*>(tiles);
    counts_ = static_cast<u32*>(counts);
  }
  /// Elements that are whole loads.
  i64 whole() const { return r_.f.at.extent - r_.f.at.extent % chosen_.plan.elements_per_load; }
  i64 words_of_part() const { return chosen_.of_pass + 1; }
  i64 words() const { return chosen_.passes * chosen_.parts * words_of_part(); }
  slot_partitions part(i64 pass, i64 k) const {
    i64 const first = k * chosen_.part, before = (pass * chosen_.parts + k) * words_of_part(), partition = pass * chosen_.of_pass;
    return {tiles_, counts_ + before, words() - before, counts_ + words(), first, planning::least_of(first + chosen_.part, whole()), chosen_.share,
            static_cast<u32>(partition * chosen_.plan.slots_of_partition), static_cast<int>(planning::least_of(chosen_.of_pass, chosen_.partitions - partition))};
  }
  void launch_partition(slot_partitions of) {
    void* arguments[] = {const_cast<void*>(r_.where), r_.program, &of, &memory_.stray};
    launch_one(partitions_, chosen_.plan.threads_per_block, chosen_.blocks, chosen_.shared_bytes, arguments);
  }
  void launch_folds(keyed_phase phase, slot_partitions of, i64 blocks, i64 shared_bytes) {
    void* arguments[] = {const_cast<void*>(r_.where), r_.program, &r_.f.at, const_cast<void*>(r_.nodes), &of, &memory_, &r_.to, &phase};
    launch_one(folds_, chosen_.plan.table.threads_per_block, blocks, shared_bytes, arguments);
  }
  void launch_one(kernel const& k, int threads, i64 blocks, i64 shared_bytes, void** arguments) {
    launch_shape shape;
    shape.block_threads = static_cast<unsigned>(threads);
    shape.grid_blocks = static_cast<unsigned>(blocks);
    shape.dynamic_shared_bytes = static_cast<std::size_t>(shared_bytes);
    launch(r_, k, shape, arguments);
  }
};

} // namespace

void enqueue_partitioned(keys_request& r, i64 partitions, partitioned_kernels& kernels, keys_in_flight& flight) {
  partitioned_keys_planned chosen = make_partitioned_keys_plan(r.f, partitions);
  kernel const& partition = kernels.partitions.get(chosen.plan, r.ordinal, [&] { return unit_of_partition(*r.type, chosen.plan); });
  kernel const& folds = kernels.folds.get(chosen.plan, r.ordinal, [&] { return unit_of_folds(*r.type, chosen.plan); });
  auto const alone = nobody_between(r);
  partitioned_read(r, chosen, partition, folds, flight).queue();
}

} // namespace tally::v0::gpu
