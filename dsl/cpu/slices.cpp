// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats cut into two slices and added to those of their slots, four at a time. Layer 5.

#include <tally/run/cpu_registers.hpp>
#include <tally/run/cpu_slices.hpp>

#include <cstring>

namespace tally::inline v0::cpu {
namespace {

template <bool Whole>
TALLY_INLINE u64 add(float_slices* table, int n, float const* x, u32 const* slots, float_cutters const& cut) {
  using four = wide<double, 4>;
  int const count = Whole ? keyed_block : n;
  four const top = four{} + cut.top, upper = four{} + cut.upper, lower = four{} + cut.lower;
  static_assert(keyed_block <= 64);
  u64 odd = 0;
  for (int j = 0; j < count; j += 4) {
    wide<float, 4> f;
    std::memcpy(&f, x + j, sizeof f);
    four const d = __builtin_convertvector(f, four);
    four first = (d + upper) - upper, rest = d - first;
    wide<i64, 4> const fits = (d < top) & (d > -top) & ((rest + lower) - lower == rest);
    if (((fits[0] & fits[1]) & (fits[2] & fits[3])) == 0)
      for (int i = 0; i < 4; ++i)
        if (fits[i] == 0) {
          first[i] = rest[i] = 0;
          odd |= u64(1) << (j + i);
        }
    table[slots[j]].q += __builtin_shufflevector(first, rest, 0, 4);
    if (Whole || j + 1 < count) table[slots[j + 1]].q += __builtin_shufflevector(first, rest, 1, 5);
    if (Whole || j + 2 < count) table[slots[j + 2]].q += __builtin_shufflevector(first, rest, 2, 6);
    if (Whole || j + 3 < count) table[slots[j + 3]].q += __builtin_shufflevector(first, rest, 3, 7);
  }
  return odd;
}

} // namespace

u64 add_slices(float_slices* table, int n, float* x, u32 const* slots, float_cutters const& cut) {
  for (int j = n; j % 4 != 0; ++j) x[j] = 0; // which every slice holds
  return detail::with_or_without_registers([&]() TALLY_INLINE_LAMBDA {
    return n == keyed_block ? add<true>(table, n, x, slots, cut) : add<false>(table, n, x, slots, cut);
  });
}

} // namespace tally::inline v0::cpu
