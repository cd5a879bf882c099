// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can differ between two moments of a protocol that runs, and what must hold in each. Test layer.
#pragma once

#include "protocols/thread_program.hpp"

#include <cstdint>
#include <string>
#include <type_traits>

namespace protocols {

/// What a protocol must keep; the test says which one caught a mutant.
enum class property {
  bytes_are_equal,            ///< a phase sees the bytes it expects
  arrivals_are_equal,         ///< and the arrivals it was initialised for
  parity_alternates,          ///< a wait ends with its own phase
  barriers_are_initialised,   ///< before others and the engine know them
  data_has_arrived,           ///< before it is read
  refill_after_release,       ///< a stage is filled when everybody has read it
  proxy_fence_before_engine,  ///< ordinary stores, then the fence, then the engine
  source_free_before_reuse,   ///< the engine has read a stage before it is written again
  engine_done_before_exit,    ///< nothing in flight from or to the memory of a block that is gone
  result_complete_before_use, ///< everything is written before the result is used
  remote_block_is_alive,      ///< it runs before it is touched, and is still there
  remote_block_is_another,    ///< the destination of a remote reduction
  no_deadlock,
  result_is_sequential ///< every tile once, in order
};
inline char const* name_of(property p) {
  constexpr char const* names[] = {"bytes_are_equal",
                                   "arrivals_are_equal",
                                   "parity_alternates",
                                   "barriers_are_initialised",
                                   "data_has_arrived",
                                   "refill_after_release",
                                   "proxy_fence_before_engine",
                                   "source_free_before_reuse",
                                   "engine_done_before_exit",
                                   "result_complete_before_use",
                                   "remote_block_is_alive",
                                   "remote_block_is_another",
                                   "no_deadlock",
                                   "result_is_sequential"};
  return names[int(p)];
}

/// A property that does not hold, and where.
struct broken {
  property which;
  std::string what;
};

/// A set of facts.
struct facts {
  static constexpr int words = 7;
  u64 w[words];
  bool has(int i) const { return w[i / 64] >> (i % 64) & 1; }
  void add(int i) { w[i / 64] |= u64(1) << (i % 64); }
  void drop(int i) { w[i / 64] &= ~(u64(1) << (i % 64)); }
  void join(facts const& o) {
    for (int i = 0; i < words; ++i) w[i] |= o.w[i];
  }
};

/// Everything that can differ between two moments; no padding, so that it can be hashed as words.
struct moment {
  static constexpr int max_threads = 6, max_barriers = 24, max_places = 28, max_copies = 40;
  struct copy {
    std::uint8_t issuer, at, state, group; ///< which instruction of which thread; state: see explorer
  };
  facts truth;              ///< what is so
  facts known[max_threads]; ///< to each thread
  facts arriving[max_barriers], published[max_barriers];
  u64 content[max_places];
  u64 result;
  std::int16_t bytes[max_barriers]; ///< still expected, in units of 16
  std::uint8_t count[max_barriers], phase[max_barriers];
  std::int8_t pending[max_barriers]; ///< arrivals
  copy copies[max_copies];
  std::uint8_t next[max_threads], folded[max_threads], groups[max_threads], gone[max_threads];
  std::uint8_t place_state[max_places]; ///< see explorer
  std::uint8_t copy_count, announced, spare[2];
};
static_assert(std::has_unique_object_representations_v<moment> && sizeof(moment) % 8 == 0);

} // namespace protocols
