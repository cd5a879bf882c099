// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a typed verb has no instruction: one sentence a family, which says what there is instead. Layer 2. The verbs refuse
// with it where they are called; `why_not` asks without refusing. docs/errors.md explains each code.
#pragma once

#include <tally/base/because.hpp>
#include <tally/primitive/legal.hpp>

namespace tally::v0 {

namespace because {
template <class... Given>
struct no_such_bulk_reduction : ill_formed {
  static_assert(never<Given...>, "[tally-P1] the bulk engine reduces into global memory: add of integers of 32 and 64 "
                                 "bits, of f32, f64, f16, bf16; min, max of such integers, of f16, bf16; inc, dec of "
                                 "u32; bit_and, bit_or, bit_xor of such integers. docs/errors.md#P1");
};
template <class... Given>
struct the_chip_is_too_old : ill_formed {
  static_assert(never<Given...>, "[tally-P2] the chip that this is compiled for lacks the instruction: bulk copies, "
                                 "clusters, vectors and bf16 need sm_90; byte masks and red_async_release sm_100. "
                                 "docs/errors.md#P2");
};
template <class... Given>
struct no_such_reduction_between_blocks : ill_formed {
  static_assert(never<Given...>, "[tally-P3] into another block of the cluster go: add of integers of 32 and 64 bits; "
                                 "min, max, bit_and, bit_or, bit_xor of 32 bits; inc, dec of u32. Copy floats there "
                                 "and fold them in their order. docs/errors.md#P3");
};
template <class... Given>
struct no_such_red : ill_formed {
  static_assert(never<Given...>, "[tally-P4] red takes add of integers of 32 and 64 bits and of floats; min, max, "
                                 "bit_and, bit_or, bit_xor of such integers; inc, dec of u32; with a cache policy in "
                                 "global memory only. fold_word also finds the min and max of floats. docs/errors.md#P4");
};
template <class... Given>
struct no_such_vector_red : ill_formed {
  static_assert(never<Given...>,
                "[tally-P5] red of neighbours takes, in global memory, add of 2 or 4 f32, and add, min, "
                "max of 2, 4 or 8 f16 or bf16. docs/errors.md#P5");
};
template <class... Given>
struct no_such_published_reduction : ill_formed {
  static_assert(never<Given...>,
                "[tally-P6] red_async_release takes add of integers of 32 and 64 bits, for the threads "
                "of the gpu or of the system; with mmio for the system only. docs/errors.md#P6");
};
template <class... Given>
struct the_bulk_engine_has_no_such_way : ill_formed {
  static_assert(never<Given...>, "[tally-P7] the bulk engine copies from global to shared memory and back, and copies "
                                 "and reduces from a block's shared memory to another block's; it reduces from shared "
                                 "to global memory. A cache policy needs global memory at one end. docs/errors.md#P7");
};
template <class... Given>
struct nothing_accumulates_it : ill_formed {
  static_assert(never<Given...>,
                "[tally-P8] accumulate takes add, min, max of integers of 32 and 64 bits and of floats; "
                "bit_and, bit_or, bit_xor of such integers; inc, dec of u32. Into another block go no min, max of 64 "
                "bits. docs/errors.md#P8");
};
} // namespace because

namespace primitive {

/// A form as a type, for the compiler to print.
template <form>
struct refused_form {};

namespace detail {
/// Whether the bulk engine has this family between these spaces, for some operation on some type.
TALLY_HD constexpr bool is_a_way(form f) {
  if (f.instruction == family::reduce_bulk) {
    f.op = operation::add;
    f.type = element_type::u32;
    f.noftz = false;
  }
  return since(f) != 0;
}
} // namespace detail

/// The verdict on a form for a chip, as `reason<because::...>` or `allowed`: names the class without completing it.
template <form F, architecture On>
TALLY_HD constexpr auto why_not() {
  using given = refused_form<F>;
  if constexpr (legal(F, On))
    return allowed{};
  else if constexpr (since(F) != 0)
    return reason<because::the_chip_is_too_old<given, because::there_are<since(F)>>>{};
  else if constexpr (F.instruction != family::red && F.instruction != family::red_async && !detail::is_a_way(F))
    return reason<because::the_bulk_engine_has_no_such_way<given>>{};
  else if constexpr (F.instruction == family::reduce_bulk && F.destination == space::global)
    return reason<because::no_such_bulk_reduction<given>>{};
  else if constexpr (F.instruction == family::red_async && F.order == semantics::release)
    return reason<because::no_such_published_reduction<given>>{};
  else if constexpr (F.instruction == family::reduce_bulk || F.instruction == family::red_async)
    return reason<because::no_such_reduction_between_blocks<given>>{};
  else if constexpr (F.instruction == family::red && F.width > 1)
    return reason<because::no_such_vector_red<given>>{};
  else
    return reason<because::no_such_red<given>>{};
}

} // namespace primitive

} // namespace tally::v0
