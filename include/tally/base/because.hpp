// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a refusal is spelled: a class whose body holds one static_assert with a code and a sentence. Layer 0. Naming the
// class asks and costs nothing; completing it prints exactly one error. A refused call returns that class, so it is
// completed where the user wrote the call, and the compiler names that line and no line of the library. Every rule a
// user of pipelines can break has one class below, so this file is also their list; docs/errors.md explains each. Those of the device verbs are
// primitive/refused.hpp.
#pragma once

#include <tally/base/config.hpp>

namespace tally::v0 {

/// What has been refused and reported: it absorbs whatever follows, so that one mistake is one error.
struct ill_formed {
  template <class T>
  TALLY_HD constexpr operator T() const {
    __builtin_unreachable();
  }
  template <class... Ts>
  TALLY_HD constexpr ill_formed operator()(Ts const&...) const {
    return {};
  }
  template <class T>
  TALLY_HD constexpr ill_formed in() const {
    return {};
  }
  template <class T>
  TALLY_HD constexpr ill_formed where(T const&) const {
    return {};
  }
  template <class T>
  TALLY_HD constexpr ill_formed or_else(T const&) const {
    return {};
  }
  template <class T>
  TALLY_HD constexpr ill_formed operator[](T const&) const {
    return {};
  }
  template <class T>
  TALLY_HD constexpr ill_formed extent(T const&) const {
    return {};
  }
  TALLY_HD constexpr ill_formed const* begin() const { return nullptr; }
  TALLY_HD constexpr ill_formed const* end() const { return nullptr; }
  TALLY_HD constexpr ill_formed maybe() const { return {}; }
  TALLY_HD constexpr ill_formed ignoring_nan() const { return {}; }
  TALLY_HD constexpr ill_formed checked() const { return {}; }
  TALLY_HD constexpr ill_formed compensated() const { return {}; }
  TALLY_HD constexpr ill_formed get() const { return {}; }
  TALLY_HD constexpr ill_formed text() const { return {}; }
  TALLY_HD constexpr ill_formed json() const { return {}; }
  TALLY_HD constexpr ill_formed mermaid() const { return {}; }
  TALLY_HD constexpr ill_formed ptx() const { return {}; }
  TALLY_HD constexpr bool ready() const { return true; }
};

/// Something that was refused; T must be complete, which every value is.
template <class T>
concept refused = __is_base_of(ill_formed, T);

namespace because {

template <class...>
inline constexpr bool never = false;

/// Nothing is wrong.
struct fine {};

// Facts a compiler prints beside the sentence.
template <int>
struct names {}; ///< the highest placeholder that is named
template <int>
struct there_are {}; ///< how many there are
template <int>
struct answers {}; ///< how many answers the refused reduction would have had: comes first
template <class...>
struct type_of {}; ///< what was met

template <class... Given>
struct placeholder_needs_a_column : ill_formed {
  static_assert(never<Given...>, "[tally-R1] a placeholder names an element that is not there: from(a, b) has _1 and "
                                 "_2, and map(e1, ..., ek) leaves _1 to _k. docs/errors.md#R1");
};
template <class... Given>
struct fold_of_needs_an_associative_operation : ill_formed {
  static_assert(never<Given...>, "[tally-R2] fold_of(...): the operation does not declare associativity, so it cannot"
                                 " be regrouped. Write fold_of(identity, combine, lift, lower, associative). "
                                 "docs/errors.md#R2");
};
template <class... Given>
struct filter_needs_a_condition : ill_formed {
  static_assert(never<Given...>, "[tally-R3] filter(p), where(p), count_if(p), any, all, none: p must give bool for "
                                 "an element; write a comparison such as _1 > 0. docs/errors.md#R3");
};
template <class... Given>
struct the_gpu_needs_device_text : ill_formed {
  static_assert(never<Given...>, "[tally-R4] on::gpu: this pipeline holds a host lambda or a host-only view, which "
                                 "has no device text. Write the element expression with _1, or TALLY_FUNCTION. "
                                 "docs/errors.md#R4");
};
template <class... Given>
struct nothing_follows_reduce : ill_formed {
  static_assert(never<Given...>, "[tally-R5] a pipeline ends with reduce(...): put map and filter before it, and "
                                 "arithmetic of folds inside it, reduce(sum / 2). docs/errors.md#R5");
};
template <class... Given>
struct run_needs_a_reduction : ill_formed {
  static_assert(never<Given...>, "[tally-R6] what is run must be a pipeline that folds: run(from(x) | reduce(sum)) or"
                                 " run(from(x) | sum). docs/errors.md#R6");
};
template <class... Given>
struct reduce_needs_folds : ill_formed {
  static_assert(never<Given...>, "[tally-R7] reduce(f1, f2, ...) takes folds, one at least: sum, max(_1), mean(_1 * "
                                 "_2), fold_of(...). docs/errors.md#R7");
};
template <class... Given>
struct an_element_is_no_fold : ill_formed {
  static_assert(never<Given...>, "[tally-R8] an expression mixes elements (_1) with folds (sum): a fold is known only"
                                 " when all elements have been read. Name its answer in a let(...), or run twice and capture it. "
                                 "docs/errors.md#R8");
};
template <class... Given>
struct the_fold_needs_another_type : ill_formed {
  static_assert(never<Given...>, "[tally-R9] this fold is not defined for the type of its element: sum adds numbers, "
                                 "min and max need an order, bit_and integers, checked() integers, compensated() "
                                 "floats. docs/errors.md#R9");
};
template <class... Given>
struct from_needs_columns : ill_formed {
  static_assert(never<Given...>, "[tally-R10] from(columns...): a column is a sized random-access range of numbers or"
                                 " trivially copyable structs that outlives the call (no temporary vector), or "
                                 "device(pointer, n). docs/errors.md#R10");
};
template <class... Given>
struct pipe_composes_stages : ill_formed {
  static_assert(never<Given...>, "[tally-R11] a | b: a is a range or a pipeline, which begins with from(...); b is "
                                 "map, filter, reduce, a fold, a grouping or collect. The bitwise or of elements is bits_or(a, b). "
                                 "docs/errors.md#R11");
};
template <class... Given>
struct the_fold_takes_another_number_of_elements : ill_formed {
  static_assert(never<Given...>, "[tally-R12] this fold takes another number of elements: sum(_1), covariance(_1, "
                                 "_2), count, count_if(_1 > 0). The larger of two elements is most(_1, _2). "
                                 "docs/errors.md#R12");
};
template <class... Given>
struct run_into_needs_an_output_for_each_answer : ill_formed {
  static_assert(never<Given...>, "[tally-R13] run_into(reduction, outputs...) takes one output an answer, in order: a"
                                 " variable, a pointer or, of arrays, a contiguous range, of a type that holds every value of the answer (count gives "
                                 "i64). docs/errors.md#R13");
};
template <class... Given>
struct the_operation_needs_other_elements : ill_formed {
  static_assert(never<Given...>, "[tally-R14] an operation is not defined for its elements: % & ^ ~ << >> take "
                                 "integers, a function what its parameters say (a host function in map and filter "
                                 "gets every element, in a fold _1). docs/errors.md#R14");
};
template <class... Given>
struct one_read_has_room_for_no_more : ill_formed {
  static_assert(never<Given...>, "[tally-R15] one read takes at most 8 columns, of which every mention of a let is one, and 16 different "
                                 "folds: map a let once, or split the folds over two runs. docs/errors.md#R15");
};
template <class... Given>
struct fold_of_needs_functions_of_its_state : ill_formed {
  static_assert(never<Given...>, "[tally-R16] fold_of(state, combine, lift, lower, laws): lift(elements...) and "
                                 "combine(state, state) give the state, lower(state) the answer; a state is trivially"
                                 " copyable, 256 bytes at most. docs/errors.md#R16");
};
template <class... Given>
struct run_takes_a_place_and_a_contract : ill_formed {
  static_assert(never<Given...>, "[tally-R17] the options of run are one place (on::any, on::cpu, on::cpu.threads(n),"
                                 " on::gpu, on::gpu(k)) and one contract (reproducible, fast, exact). "
                                 "docs/errors.md#R17");
};
template <class... Given>
struct the_stage_takes_other_arguments : ill_formed {
  static_assert(never<Given...>, "[tally-R18] map(e1, ..., ek) takes at least one element expression, filter(p) "
                                 "exactly one: several conditions are p && q. docs/errors.md#R18");
};
template <class... Given>
struct the_answers_have_no_such_operation : ill_formed {
  static_assert(never<Given...>, "[tally-R19] arithmetic on folds is arithmetic on their answers, and these have none"
                                 " of this kind; or_else(v) takes a value of the answer's type. docs/errors.md#R19");
};
template <class... Given>
struct the_order_is_out_of_range : ill_formed {
  static_assert(never<Given...>, "[tally-R20] moments<K> takes 2 <= K <= 4, norm<P> takes P >= 1. docs/errors.md#R20");
};
template <class... Given>
struct the_fold_has_no_such_form : ill_formed {
  static_assert(never<Given...>, "[tally-R21] this fold has no such form: checked() and compensated() are forms of "
                                 "sum, as in sum.checked() / count; in<T>() is one of folds that add or multiply, not "
                                 "of min or count; ignoring_nan() is one of folds of elements. docs/errors.md#R21");
};
template <class... Given>
struct a_range_is_no_element : ill_formed {
  static_assert(never<Given...>, "[tally-R22] a range stands where an element is expected: name the columns in "
                                 "from(a, b), and write _1 and _2 for their elements. docs/errors.md#R22");
};
template <class... Given>
struct an_operand_is_a_number : ill_formed {
  static_assert(never<Given...>, "[tally-R23] beside an element or a fold stands a number, an expression or a fold: a"
                                 " struct or an enumeration is handled by a TALLY_FUNCTION. docs/errors.md#R23");
};

template <class... Given>
struct the_fold_has_no_exact_form : ill_formed {
  static_assert(never<Given...>, "[tally-R24] exact: a fold rounds and has no exact form. Of floats, sum, mean, variance, "
                                 "stddev, moments and sums of products have one. Folds that are free of order are exact as they "
                                 "are. docs/errors.md#R24");
};
template <class... Given>
struct columns_have_the_same_axes : ill_formed {
  static_assert(never<Given...>, "[tally-R25] the columns of one source have the same axes: give a range its axes with "
                                 "shaped(x, rows, columns), and let an operand of fewer axes be seen along the others "
                                 "with along<1>(x). docs/errors.md#R25");
};
template <class... Given>
struct over_needs_axes_of_the_source : ill_formed {
  static_assert(never<Given...>, "[tally-R26] over<A, ...>(folds...), like by_key<A, ...> and index_along<A>, names axes of its source, "
                                 "each once, counted from 0: a matrix has 0 and 1, and over<0>(sum) sums its columns. "
                                 "docs/errors.md#R26");
};
template <class... Given>
struct a_group_has_one_plain_answer : ill_formed {
  static_assert(never<Given...>, "[tally-R27] an array of answers holds a value for every group: in over, by_segment and "
                                 "by_key write fold.or_else(v) instead of fold.maybe(), and no host function. docs/errors.md#R27");
};
template <class... Given>
struct groups_are_run : ill_formed {
  static_assert(never<Given...>, "[tally-R28] groupings are computed by run, run_into, enqueue and batch: partial, start and run_timed "
                                 "take folds of the whole source. docs/errors.md#R28");
};
template <class... Given>
struct a_key_is_an_integer : ill_formed {
  static_assert(never<Given...>, "[tally-R29] by_key(key, bins, folds...), group_by(key, folds...), key_bins(key, bins): the key of an element is an "
                                 "integer expression, such as _2 or cast<int>(_1 / 10), and bins how many keys there are. docs/errors.md#R29");
};
template <class... Given>
struct keys_have_8_bytes_together : ill_formed {
  static_assert(never<Given...>, "[tally-R38] group_by(key, key, folds...): several keys have 8 bytes together at most; one of fewer values is cast, "
                                 "such as cast<short>(_2). docs/errors.md#R38");
};
template <class... Given>
struct a_histogram_has_bounds_and_bins : ill_formed {
  static_assert(never<Given...>, "[tally-R30] histogram(low, high, bins), histogram(_1, low, high, bins), or up to three "
                                 "even_bins(_1, low, high, bins) and key_bins(_1, bins); folds in place of the count come last. docs/errors.md#R30");
};
template <class... Given>
struct enqueue_needs_a_kernel_that_finishes : ill_formed {
  static_assert(never<Given...>, "[tally-R37] enqueue and prepare(reduction, outputs...) take folds of the whole source, over, by_segment, "
                                 "histogram and by_key(...).dropping_strays(), none of them checked() or maybe(), and for each answer a "
                                 "pointer to its own type; the place is a GPU. docs/errors.md#R37");
};
template <class... Given>
struct by_segment_needs_offsets : ill_formed {
  static_assert(never<Given...>, "[tally-R32] by_segment(offsets, folds...) takes integers of 32 or 64 bits, one after the other in "
                                 "memory that outlives the call, and a source of one axis: rows of a matrix are over<1>(folds...). "
                                 "docs/errors.md#R32");
};
template <class... Given>
struct batch_takes_reductions : ill_formed {
  static_assert(never<Given...>, "[tally-R33] batch(r1, r2, ...) takes whole reductions, one at least: batch(from(x) | sum, from(y) | "
                                 "reduce(min, max)). docs/errors.md#R33");
};
template <class... Given>
struct a_let_has_the_axes_of_its_source : ill_formed {
  static_assert(never<Given...>, "[tally-R34] let(r) stands in map, filter and folds of a source that has the axes of the source of r, "
                                 "before folds, groupings and collect, for run, run_into and explain. docs/errors.md#R34");
};
template <class... Given>
struct let_takes_one_answer : ill_formed {
  static_assert(never<Given...>, "[tally-R35] let(r): r is a pipeline that ends with one fold, or with over<...>, by_segment, by_key of "
                                 "all axes or histogram of one fold, such as from(shaped(x, rows, n)) | over<1>(mean). docs/errors.md#R35");
};
template <class... Given>
struct collect_leaves_nothing_out : ill_formed {
  static_assert(never<Given...>, "[tally-R36] collect writes every element of its source, so no filter stands before it: write "
                                 "map(select(condition, a, b)). docs/errors.md#R36");
};

} // namespace because

/// Refused before and reported there; Given may hold because::answers.
template <class... Given>
struct absorbed : ill_formed {};

/// A verdict: names a class of because:: without completing it.
template <class Because>
struct reason {
  using type = Because;
};
/// The verdict that nothing is wrong.
using allowed = reason<because::fine>;

namespace detail {
template <class T>
inline constexpr int answer_count = 1;
template <template <class...> class Because, int N, class... Given>
inline constexpr int answer_count<Because<because::answers<N>, Given...>> = N;

template <int N, class Verdict>
struct verdict_on_answers {
  using type = Verdict;
};
template <int N, template <class...> class Because, class... Given>
struct verdict_on_answers<N, reason<Because<Given...>>> {
  using type = reason<Because<because::answers<N>, Given...>>;
};
} // namespace detail

/// The first of several verdicts that is not `allowed`.
template <class Verdict, class... Verdicts>
TALLY_HD constexpr auto first_reason() {
  if constexpr (sizeof...(Verdicts) == 0 || !__is_same(Verdict, allowed))
    return Verdict{};
  else
    return first_reason<Verdicts...>();
}

} // namespace tally::v0
