// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a refusal is spelled: a class whose body holds one static_assert with a code and a sentence. Layer 0. Naming the
// class asks and costs nothing; instantiating it prints exactly one error. Every rule a user can break has one class
// below, so this file is also the list of the rules; docs/errors.md explains each.
#pragma once

#include <tally/base/config.hpp>

namespace tally::inline v0 {

/// What a refused pipeline turns into: it absorbs whatever follows, so that one mistake is one error.
struct ill_formed {
  template <class T>
  constexpr operator T() const;
};

namespace because {

template <class...>
inline constexpr bool never = false;

/// Nothing is wrong.
struct fine {};

template <class Given>
struct placeholder_needs_a_column {
  static_assert(never<Given>, "[tally-R1] a placeholder names a column that is not there: from(a, b) has _1 and _2, and "
                              "map(e1, ..., ek) leaves _1 to _k. docs/errors.md#R1");
};
template <class Given>
struct fold_of_needs_an_associative_operation {
  static_assert(never<Given>, "[tally-R2] fold_of(...): the operation does not declare associativity, so it cannot be "
                              "regrouped. Write fold_of(identity, combine, lift, lower, associative). docs/errors.md#R2");
};
template <class Given>
struct filter_needs_a_condition {
  static_assert(never<Given>, "[tally-R3] filter(p) and where(p): p must give bool for an element; write a comparison "
                              "such as _1 > 0. docs/errors.md#R3");
};
template <class Given>
struct the_gpu_needs_device_text {
  static_assert(never<Given>, "[tally-R4] on::gpu: this pipeline holds a host lambda or a host-only view, which has no "
                              "device text. Write the element expression with _1, or TALLY_FUNCTION. docs/errors.md#R4");
};
template <class Given>
struct nothing_follows_reduce {
  static_assert(never<Given>, "[tally-R5] a pipeline ends with reduce(...): put map and filter before it, and arithmetic "
                              "of folds inside it. docs/errors.md#R5");
};
template <class Given>
struct run_needs_a_reduction {
  static_assert(never<Given>, "[tally-R6] this pipeline folds nothing yet: end it with | reduce(sum) or | sum. "
                              "docs/errors.md#R6");
};
template <class Given>
struct reduce_needs_folds {
  static_assert(never<Given>, "[tally-R7] reduce(f1, f2, ...) takes folds: sum, max(_1), mean(_1 * _2), fold_of(...). "
                              "docs/errors.md#R7");
};
template <class Given>
struct an_element_is_no_fold {
  static_assert(never<Given>, "[tally-R8] an expression mixes elements (_1) with folds (sum): a fold is known only when "
                              "all elements have been read. docs/errors.md#R8");
};
template <class Given>
struct the_fold_needs_another_type {
  static_assert(never<Given>, "[tally-R9] this fold is not defined for the type of its element: sum needs numbers, min "
                              "and max an order, bit_and integers. docs/errors.md#R9");
};
template <class Given>
struct from_needs_columns {
  static_assert(never<Given>, "[tally-R10] from(columns...): a column is a sized random-access range of trivially copyable "
                              "elements that stays alive, or device(pointer, n). docs/errors.md#R10");
};
template <class Given>
struct pipe_composes_stages {
  static_assert(never<Given>, "[tally-R11] operator| composes a source with map, filter, reduce or a fold; the bitwise or "
                              "of elements is bits_or(a, b). docs/errors.md#R11");
};
template <class Given>
struct the_fold_takes_another_number_of_elements {
  static_assert(never<Given>, "[tally-R12] this fold takes another number of element expressions: sum(_1), "
                              "covariance(_1, _2), count. docs/errors.md#R12");
};
template <class Given>
struct run_into_needs_an_output_for_each_answer {
  static_assert(never<Given>, "[tally-R13] run_into(reduction, outputs...) takes one output an answer, in order: a variable "
                              "or a pointer to a type that holds every value of the answer (count gives i64). docs/errors.md#R13");
};

} // namespace because

/// A verdict: names a class of because:: without instantiating it.
template <class Because>
struct reason {
  using type = Because;
};
} // namespace tally::inline v0
