// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The launches of a read by keys: the slots of all are emptied, elements folded, copies brought together, answers made. Compiled side, gpu.
#pragma once

#include <tally/run/gpu_keys.hpp>

namespace tally::v0::gpu {

/// The memory of all slots, and of what else its plan wants; it lives in `flight`.
keyed_memory lay_out(keys_request const& r, keys_plan const& plan, keys_in_flight& flight);

class keyed_phases {
public:
  keyed_phases(keys_request& r, keys_plan const& plan, kernel const& k, keyed_memory const& memory) : r_(r), plan_(plan), k_(k), memory_(memory) {}
  void open();
  void fold(i64 blocks, i64 shared_bytes);
  /// Brings copies together, and makes the answers.
  void close();

private:
  keys_request& r_;
  keys_plan const& plan_;
  kernel const& k_;
  keyed_memory memory_;
  void launch_phase(keyed_phase phase, unsigned blocks, i64 shared_bytes);
  unsigned blocks_over_slots() const;
};

} // namespace tally::v0::gpu
