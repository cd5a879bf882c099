// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a read by key asks for on its way: room for its tables, and launches. Where nobody waits for it the room is the stream's, and stays;
// what is only prepared launches nothing. Compiled side, gpu.
#pragma once

#include "gpu/tables.hpp"

#include <tally/run/gpu_keys.hpp>

namespace tally::inline v0::gpu {

inline device_memory room_for(tables const& of, keys_request const& r) {
  if (!r.enqueued) return of.made(r.ordinal, r.stream);
  of.place_in(workspace(r.ordinal, r.stream, of.bytes(), workspace_kind::tables));
  return {};
}

inline void launch(keys_request const& r, kernel const& k, launch_shape const& shape, void** arguments) {
  if (r.launches) launch(k, shape, arguments, r.stream);
}

} // namespace tally::inline v0::gpu
