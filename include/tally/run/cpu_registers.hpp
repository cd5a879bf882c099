// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registers that loops on the CPU are compiled for: in a program for any x86, those that nearly every x86 since 2013 has. A
// machine without them folds element by element (cpu_plain.hpp), to the same bits: a second set of vector loops would cost every
// user a fifth of the time that a program takes to compile. Layer 5, host only.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0::cpu::detail {

#if defined(TALLY_WIDE_LOOP)
inline constexpr bool registers_are_certain = false;
inline constexpr int register_bytes = 32;
inline bool has_registers() { return tally::v0::detail::cpu_runs_wide_loops(); }
/// Calls a loop, a lambda that is always inlined, compiled for these registers.
template <class Loop>
TALLY_WIDE_LOOP auto with_registers(Loop const& loop) {
  return loop();
}
#else
inline constexpr bool registers_are_certain = true;
#if defined(__AVX2__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif
inline bool has_registers() { return true; }
template <class Loop>
[[gnu::noinline]] auto with_registers(Loop const& loop) {
  return loop();
}
#endif
template <class Loop>
[[gnu::noinline, gnu::cold]] auto without_registers(Loop const& loop) {
  return loop();
}
/// Calls a loop that any machine can run, with these registers where it has them.
template <class Loop>
auto with_or_without_registers(Loop const& loop) {
  if constexpr (!registers_are_certain)
    if (!has_registers()) return without_registers(loop);
  return with_registers(loop);
}

} // namespace tally::v0::cpu::detail
