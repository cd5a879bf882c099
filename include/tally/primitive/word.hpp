// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which PTX element type stands for a C++ type under an operation, and the register it travels in. Layer 2. Addition does
// not see signs, so i64 adds as u64; the bitwise operations see bits only; f16 and bf16 keep their subnormals (.noftz)
// wherever the instruction lets one say it.
#pragma once

#include <tally/base/numbers.hpp>
#include <tally/primitive/form.hpp>

namespace tally::v0::primitive {

/// Two neighbouring elements in one 32-bit word.
template <small_float T>
struct alignas(4) two {
  T low, high;
};

/// N neighbouring elements, aligned as one vector operand needs.
template <class T, int N>
struct alignas(N * sizeof(T)) lanes {
  T at[N];
};

namespace verbs {
/// Keeps a parameter out of deduction.
template <class T>
struct itself {
  using type = T;
};
TALLY_HD constexpr bool is_bitwise(operation op) {
  return op == operation::bit_and || op == operation::bit_or || op == operation::bit_xor;
}
template <class T>
inline constexpr element_type plain_type = element_type::none;
template <>
inline constexpr element_type plain_type<float> = element_type::f32;
template <>
inline constexpr element_type plain_type<double> = element_type::f64;
template <>
inline constexpr element_type plain_type<f16> = element_type::f16;
template <>
inline constexpr element_type plain_type<bf16> = element_type::bf16;
template <>
inline constexpr element_type plain_type<two<f16>> = element_type::f16x2;
template <>
inline constexpr element_type plain_type<two<bf16>> = element_type::bf16x2;
} // namespace verbs

/// The element type of T under an operation; `none` when no instruction knows it.
template <operation Op, class T>
TALLY_HD constexpr element_type word_type() {
  if constexpr (!integer<T>)
    return verbs::plain_type<T>;
  else if constexpr (sizeof(T) == 4)
    return verbs::is_bitwise(Op) ? element_type::b32 : T(-1) < T(0) ? element_type::s32 : element_type::u32;
  else if constexpr (sizeof(T) == 8)
    return verbs::is_bitwise(Op)                  ? element_type::b64
           : T(-1) < T(0) && Op != operation::add ? element_type::s64
                                                  : element_type::u64;
  else
    return element_type::none;
}

/// Whether a form of this operation and type says .noftz.
TALLY_HD constexpr bool keeps_subnormals(family instruction, operation op, element_type type, int width = 1) {
  bool const half = type == element_type::f16 || type == element_type::bf16 || type == element_type::f16x2 ||
                    type == element_type::bf16x2;
  return half && (op == operation::add || (instruction == family::red && width > 1));
}

namespace verbs {
template <int Bytes>
struct register_of;
template <>
struct register_of<2> {
  using type = u16;
};
template <>
struct register_of<4> {
  using type = u32;
};
template <>
struct register_of<8> {
  using type = u64;
};
} // namespace verbs

/// The bits of a word, in the register that carries them.
template <class T>
TALLY_HD constexpr auto bits_of(T v) {
  return __builtin_bit_cast(typename verbs::register_of<int(sizeof(T))>::type, v);
}

} // namespace tally::v0::primitive
