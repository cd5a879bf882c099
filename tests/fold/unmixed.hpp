// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of tables of keys: the way back from mixed bits, which makes keys that meet where they are wanted to. Test layer.
#pragma once

#include <tally/fold/key_table.hpp>

/// The key whose mixed bits are h.
inline tally::v0::u32 unmixed(tally::v0::u32 h) {
  auto const inverse = [](tally::v0::u32 a) {
    tally::v0::u32 x = a;
    for (int i = 0; i < 5; ++i) x *= 2 - a * x;
    return x;
  };
  h ^= h >> 16;
  h *= inverse(0x846ca68bu);
  h ^= h >> 15 ^ h >> 30;
  h *= inverse(0x7feb352du);
  return h ^ h >> 16;
}
