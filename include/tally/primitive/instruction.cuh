// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a form to the text an asm statement takes, so that a verb is one statement whatever its operation, type and
// qualifiers, and nobody writes a mnemonic by hand. A form that does not exist, or not on the chip that code is made for,
// is refused here. Layer 2.
#pragma once

#include <tally/base/pack.hpp>
#include <tally/primitive/legal.hpp>
#include <tally/primitive/refused.hpp>
#include <tally/primitive/spell.hpp>

namespace tally::v0::primitive {

/// The chip this pass of the compiler makes code for; the host's pass makes none and knows every form.
#if defined(__CUDA_ARCH__)
inline constexpr architecture compiled_for{short(__CUDA_ARCH__ / 10)};
#else
inline constexpr architecture compiled_for = sm_100a;
#endif

namespace verbs {
template <form F>
inline constexpr form_text spelled = spell(F);
template <form F, class Indices>
struct letters_of;
template <form F, int... I>
struct letters_of<F, index_list<I...>> {
  static constexpr char const text[] = {spelled<F>.letters[I]..., 0};
};
/// The mnemonic of a form as an array whose length is its own, which is what asm takes.
template <form F>
using instruction = letters_of<F, indices_up_to<spelled<F>.size>>;
} // namespace verbs

/// Whether the chip that code is made for has a form.
template <form F>
inline constexpr bool available = legal(F, compiled_for);

/// Prints why a form is refused: no chip has it, or the one that code is made for has not.
template <form F>
__device__ constexpr void refuse() {
  (void)sizeof(typename decltype(why_not<F, compiled_for>())::type);
}

/// The same for a class template, in a static_assert: prints the reason once.
template <form F>
inline constexpr bool given = sizeof(typename decltype(why_not<F, compiled_for>())::type) > 0;

} // namespace tally::v0::primitive
