// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tile loop in registers of 16 bytes, which is what a processor that is not an x86 has: the specification of tests/cpu/tile.cpp
// once more, in a program of its own, since both would be one definition of the same loops.
#include <tally/base/config.hpp>
#undef TALLY_WIDE_LOOP
#include "../cpu/tile.cpp"

static_assert(tally::v0::cpu::detail::register_bytes == 16);
