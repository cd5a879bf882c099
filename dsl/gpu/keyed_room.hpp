// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a read by key asks for on its way: room for its tables, and launches. Where nobody waits for it the room is the stream's, and stays;
// what is only prepared launches nothing. Compiled side, gpu.
#pragma once

#include "gpu/tables.hpp"
#include "gpu/workspace.hpp"

#include <tally/run/gpu_keys.hpp>

#include <cstdint>
#include <mutex>

namespace tally::v0::gpu {

/// Columns that are in host memory come to the device; what it is, is known from here on.
inline void stage(keys_request& r, keys_in_flight& flight) {
  r.f.of.target = target_of(r.ordinal);
  stage_columns(r.columns, r.f.of.source_count, r.f.of.sources, r.ordinal, r.stream, flight.staged);
}

/// Answers that lie elsewhere than at a multiple of 16 bytes cannot be the cells: rows are added to them by vectors.
inline void settle_cells(keys_request& r) {
  for (int i = 0; i < r.type->fold_count; ++i) r.f.gives_cells = r.f.gives_cells && reinterpret_cast<std::uintptr_t>(r.to.at[i]) % 16 == 0;
}

inline device_memory room_for(tables const& of, keys_request const& r) {
  if (!r.enqueued) return of.made(r.ordinal, r.stream);
  of.place_in(workspace(r.ordinal, r.stream, of.bytes(), workspace_kind::tables));
  return {};
}

/// Where the room of a read is the stream's, nobody queues between its launches.
inline std::unique_lock<std::mutex> nobody_between(keys_request const& r) {
  return r.enqueued ? queueing_alone(r.ordinal) : std::unique_lock<std::mutex>();
}

inline void launch(keys_request const& r, kernel const& k, launch_shape const& shape, void** arguments) {
  if (r.launches) launch(k, shape, arguments, r.stream);
}

} // namespace tally::v0::gpu
