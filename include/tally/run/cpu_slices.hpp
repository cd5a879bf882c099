// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a slot keeps of an exact sum of floats on the CPU: two slices of every float, as doubles whose additions cannot round. Layer 5, host
// only. The loop that cuts and adds depends on no type of the user's and is compiled once, in dsl/cpu/slices.cpp.
#pragma once

#include <tally/run/cpu_keys.hpp>
#include <tally/run/cpu_lanes.hpp>

namespace tally::inline v0::cpu {

/// The sums of both slices.
struct float_slices {
  wide<double, 2> q;
};

/// Where floats are cut: those smaller than `top` into multiples of two units, for which 1.5 x 2^52 of each stands here.
struct float_cutters {
  double top = 0, upper = 0, lower = 0;
};

/// Adds n floats, at most a block, to the slices of their slots; x has room for a multiple of four. Those that the slices cannot hold are added
/// to none: bit j of the answer is element j.
u64 add_slices(float_slices* table, int n, float* x, u32 const* slots, float_cutters const& cut);

} // namespace tally::inline v0::cpu
