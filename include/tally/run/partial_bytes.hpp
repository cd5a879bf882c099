// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The door to the byte form of partials: numbers little-endian, a header that says what was folded, a checksum at the
// end. Type-erased and compiled in dsl/cpu. Layer 5.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <tally/fold/tree.hpp>

namespace tally::v0::partials {

/// The version of the byte form; a reader refuses every other one.
inline constexpr u32 format_version = 1;

/// One node of the canonical tree: the leaves [index << level, (index + 1) << level).
struct node {
  i64 index;
  int level;
  constexpr i64 first_leaf() const { return index << level; }
  constexpr i64 end_leaf() const { return (index + 1) << level; }
};

/// A partial without its types.
struct contents {
  u64 kind;               ///< a hash of what is folded
  leaf_shape shape;       ///< of the tree
  bool any_order;         ///< every fold is free of order: one state, no borders
  std::size_t state_bytes; ///< the states of one node
  i64 begin = 0, end = 0; ///< elements covered
  std::vector<node> nodes{};
  std::vector<std::byte> states{}; ///< of each node, one after the other
};

/// Hashes the spelling of a type, the same under g++ and clang++ except for lambdas and inline namespaces of the user's,
/// and the bytes of what it captures.
u64 kind_of(std::string spelling, std::string const& captured);
/// The byte form.
std::vector<std::byte> encode(contents const&);
/// Reads the byte form; throws bad_bytes when it is damaged, of another version, or of another kind, shape, order or
/// state size than expected.
contents decode(std::span<std::byte const>, contents const& expected);

} // namespace tally::v0::partials
