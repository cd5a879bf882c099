// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bits of every answer of the table of folds, hashed; written by tests/laws/same_bits.cpp. They belong to the
// version of the tree and never change without a new one.
#pragma once

#include <string_view>

namespace golden {
inline constexpr int of_tree_version = 1;
struct entry {
  std::string_view name;
  unsigned long long hash;
};
inline constexpr entry bits[] = {
    {"bf16 free", 0xbb717f6bc6232836ull},
    {"bf16 tree", 0xb6aa4e04a5fa2ad7ull},
    {"bool free", 0x79d921c7ee80faf4ull},
    {"bool tree", 0x1b9641a241ba72f5ull},
    {"f16 free", 0xdc6b6ff35a378b38ull},
    {"f16 numbers only", 0x93d76bb7f0e4267ull},
    {"f16 tree", 0x858ed3fd457d38faull},
    {"f32 every third", 0xc7099ca425a59f33ull},
    {"f32 free", 0x9ab5896f0ba47cfull},
    {"f32 numbers only", 0x4fe628cff903bull},
    {"f32 own folds", 0x4b79876201385c33ull},
    {"f32 reversed", 0xea3b0b10c9cd5560ull},
    {"f32 some", 0xdc9c93e1937b7b48ull},
    {"f32 tree", 0x17523c9fac1eef64ull},
    {"f64 free", 0xe3d444c0815ca8full},
    {"f64 tree", 0x4be51c2e6b62cf19ull},
    {"i16 free", 0x7fb4fb2e1ed5a08full},
    {"i16 tree", 0x7d3a33c176ffff00ull},
    {"i32 free", 0x2b51c793c6d8f54eull},
    {"i32 tree", 0x70c951101a1bcecaull},
    {"i64 free", 0x5e9c6948493988e8ull},
    {"i64 tree", 0x4722397136e2234ull},
    {"i8 free", 0x71107f590af49c4full},
    {"i8 tree", 0x5b60d96d0da27f2dull},
    {"iota", 0xd777f24c479c6752ull},
    {"three columns", 0xf705de0f8eb6d963ull},
    {"u16 free", 0xb6c1cd3ffc6bab08ull},
    {"u16 tree", 0xe441a5c5ec14195dull},
    {"u32 free", 0xfccc8a2d56e1ed37ull},
    {"u32 own folds", 0xac93f354cae62672ull},
    {"u32 tree", 0x3bcbc244a974b266ull},
    {"u64 free", 0x785ba3b232fa5bbeull},
    {"u64 own folds", 0x1f9513f0bd2aded6ull},
    {"u64 tree", 0x881bded79eb2aa1eull},
    {"u8 free", 0xa1187b8aaa8440eull},
    {"u8 own folds", 0x3410d31cb211f40dull},
    {"u8 tree", 0x6b867c86969fb72full},
};
} // namespace golden
