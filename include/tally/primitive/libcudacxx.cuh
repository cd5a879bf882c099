// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libcu++ calls an operation and a type, for the verbs whose instruction it has a function for. Layer 2.
#pragma once

#include <tally/primitive/word.hpp>

#include <cuda/ptx>

namespace tally::v0::primitive::verbs {

/// The tag of an operation.
template <operation Op>
__device__ __forceinline__ auto libcudacxx_operation() {
  if constexpr (Op == operation::add)
    return cuda::ptx::op_add_t{};
  else if constexpr (Op == operation::min)
    return cuda::ptx::op_min_t{};
  else if constexpr (Op == operation::max)
    return cuda::ptx::op_max_t{};
  else if constexpr (Op == operation::inc)
    return cuda::ptx::op_inc_t{};
  else if constexpr (Op == operation::dec)
    return cuda::ptx::op_dec_t{};
  else if constexpr (Op == operation::bit_and)
    return cuda::ptx::op_and_op_t{};
  else if constexpr (Op == operation::bit_or)
    return cuda::ptx::op_or_op_t{};
  else
    return cuda::ptx::op_xor_op_t{};
}

template <element_type>
struct libcudacxx_word;
template <>
struct libcudacxx_word<element_type::b32> {
  using type = u32;
};
template <>
struct libcudacxx_word<element_type::u32> {
  using type = u32;
};
template <>
struct libcudacxx_word<element_type::s32> {
  using type = i32;
};
template <>
struct libcudacxx_word<element_type::b64> {
  using type = u64;
};
template <>
struct libcudacxx_word<element_type::u64> {
  using type = u64;
};
template <>
struct libcudacxx_word<element_type::s64> {
  using type = i64;
};
template <>
struct libcudacxx_word<element_type::f32> {
  using type = float;
};
template <>
struct libcudacxx_word<element_type::f64> {
  using type = double;
};

/// The C++ type of a word under an operation, among those libcu++ names.
template <operation Op, class T>
using libcudacxx_type = typename libcudacxx_word<word_type<Op, T>()>::type;

template <operation Op, class T>
__device__ __forceinline__ auto* libcudacxx_pointer(T* p) {
  return reinterpret_cast<libcudacxx_type<Op, T>*>(p);
}
template <operation Op, class T>
__device__ __forceinline__ auto const* libcudacxx_pointer(T const* p) {
  return reinterpret_cast<libcudacxx_type<Op, T> const*>(p);
}

} // namespace tally::v0::primitive::verbs
