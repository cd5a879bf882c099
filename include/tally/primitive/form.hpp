// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of the PTX instructions that reduce and copy in bulk, and one instruction form as a value of them. Layer 2.
// A form says what stands in the mnemonic, nothing of operands; whether it exists is legal.hpp's, how it is written is
// spell.hpp's. The words are those of the PTX ISA, 9.7.9.25.4 (bulk copies), 9.7.13.6 (red), 9.7.13.7 (red.async).
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0::primitive {

/// The instruction families.
enum class family : unsigned char { copy_bulk, prefetch_bulk, reduce_bulk, red_async, red };

/// What is done to the destination; `none` for copies and prefetches.
enum class operation : unsigned char { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };

/// The type of an element as PTX names it; `none` for copies and prefetches, which move bytes.
enum class element_type : unsigned char { none, b32, b64, u32, u64, s32, s64, f16, f16x2, bf16, bf16x2, f32, f64 };

/// A state space; `generic` is not written, `shared` is written without ::cta (and means it).
enum class space : unsigned char { generic, global, shared, shared_cta, shared_cluster };

/// Memory ordering; `unstated` is not written (and means relaxed).
enum class semantics : unsigned char { unstated, relaxed, release };

/// The threads that may look on; `unstated` is not written (and means gpu).
enum class scope : unsigned char { unstated, cta, cluster, gpu, sys };

/// How the end is announced; `unstated` is not written.
enum class completion : unsigned char { unstated, mbarrier, bulk_group };

/// One instruction form: the words of a mnemonic, each at its default when it is not written.
struct form {
  family instruction = family::red;
  operation op = operation::none;
  element_type type = element_type::none;
  space destination = space::generic;
  space source = space::generic; ///< of bulk copies and bulk reductions; red and red.async take a register
  semantics order = semantics::unstated;
  primitive::scope scope = primitive::scope::unstated;
  primitive::completion completion = primitive::completion::unstated;
  unsigned char width = 1; ///< elements in one vector operand of red: 1, 2, 4 or 8
  bool multicast = false;  ///< .multicast::cluster, with a 16-bit mask of blocks
  bool cache_hint = false; ///< .L2::cache_hint, with a 64-bit policy
  bool byte_mask = false;  ///< .cp_mask, with a 16-bit mask of the bytes of each 16
  bool noftz = false;      ///< .noftz: subnormal numbers are kept
  bool mmio = false;       ///< .mmio
  TALLY_HD friend constexpr bool operator==(form const&, form const&) = default;
};

/// A form between other spaces.
TALLY_HD constexpr form moved(form f, space destination, space source = space::generic) {
  f.destination = destination;
  f.source = source;
  return f;
}

/// What code is assembled for: sm_90 is {90}, sm_90a {90, 'a'}, sm_100f {100, 'f'}.
struct architecture {
  short number = 90;   ///< ten times the major compute capability and the minor one
  char features = ' '; ///< 'a' of this chip alone, 'f' of its family, ' ' none
  TALLY_HD friend constexpr bool operator==(architecture const&, architecture const&) = default;
};

inline constexpr architecture sm_80{80};
inline constexpr architecture sm_90{90};
inline constexpr architecture sm_90a{90, 'a'};
inline constexpr architecture sm_100{100};
inline constexpr architecture sm_100a{100, 'a'};
inline constexpr architecture sm_120{120};

} // namespace tally::v0::primitive

namespace tally {
namespace primitive = v0::primitive;
} // namespace tally
