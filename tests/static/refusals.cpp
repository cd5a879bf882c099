// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verdicts are types: who asks why a stage may not follow gets the class that would say so, and no message is printed. Each
// case below is decided while this file is compiled; the messages themselves are in tests/refusals.
#include <tally/tally.hpp>

#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <deque>
#include <list>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace tally::v0;

using floats = std::vector<float> const&;
using ints = std::vector<int> const&;
using doubles = std::vector<double> const&;
struct point {
  float x, y;
};

template <class... Columns>
using source_of = decltype(from(std::declval<Columns>()...));
template <class Pipe, class Stage>
using verdict = why_not<Pipe, Stage>;

/// Whether a verdict is one of the given rule, whatever the facts printed beside it.
template <template <class...> class Rule, class Verdict>
inline constexpr bool is = false;
template <template <class...> class Rule, class... Given>
inline constexpr bool is<Rule, Rule<Given...>> = true;

} // namespace

TEST_CASE("a stage that may follow has the verdict fine") {
  using pipe = source_of<floats>;
  using condition = decltype(filter(_1 > 0.f));
  using fold = decltype(reduce(sum, max(_1 * _1)));
  static_assert(std::same_as<verdict<pipe, condition>, because::fine>);
  static_assert(std::same_as<verdict<pipe, fold>, because::fine>);
  static_assert(accepts<condition, pipe>);
  static_assert(accepts<decltype(map(_1 + 1.f)), pipe>);
}

TEST_CASE("R1: a placeholder beyond the elements says which and how many there are") {
  using pipe = source_of<floats>;
  static_assert(std::same_as<verdict<pipe, decltype(filter(_2 > 0.f))>,
                             because::placeholder_needs_a_column<because::names<2>, because::there_are<1>>>);
  static_assert(std::same_as<verdict<pipe, decltype(reduce(sum, sum(_1 * _3)))>,
                             because::placeholder_needs_a_column<because::answers<2>, because::names<3>,
                                                                 because::there_are<1>>>);
  using mapped = decltype(std::declval<source_of<floats, floats>>() | map(_1 * _2));
  static_assert(is<because::placeholder_needs_a_column, verdict<mapped, decltype(reduce(sum(_2)))>>);
  static_assert(accepts<decltype(reduce(sum(_1))), mapped>);
}

TEST_CASE("R3: a condition is a bool, and nothing else is") {
  using pipe = source_of<ints>;
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(filter(_1))>>);
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(filter(_1 & 1))>>);
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(reduce(sum.where(_1)))>>);
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(reduce(any(_1)))>>);
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(reduce(all(_1)))>>);
  static_assert(is<because::filter_needs_a_condition, verdict<pipe, decltype(reduce(none(_1)))>>);
  static_assert(accepts<decltype(filter(_1 > 0 && true)), pipe>);
  static_assert(accepts<decltype(reduce(any)), source_of<std::vector<bool> const&>>);
}

TEST_CASE("R4 and R6: what can run, and where") {
  using sums = decltype(std::declval<source_of<floats>>() | sum);
  static_assert(detail::runnable<sums>);
  static_assert(detail::runnable<sums, on::gpu_place>);
  static_assert(!detail::runnable<source_of<floats>>);
  static_assert(is<because::run_needs_a_reduction, decltype(detail::judge_call<source_of<floats>>())::type>);
  auto const lambda = [](float v) { return v + 1; };
  using opaque = decltype(std::declval<source_of<floats>>() | map(lambda) | sum);
  static_assert(detail::runnable<opaque>);
  static_assert(detail::runnable<opaque, on::cpu_place>);
  static_assert(is<because::the_gpu_needs_device_text, decltype(detail::judge_call<opaque, on::gpu_place>())::type>);
}

TEST_CASE("R5: nothing follows reduce") {
  using sums = decltype(std::declval<source_of<floats>>() | sum);
  static_assert(is<because::nothing_follows_reduce, verdict<sums, decltype(filter(_1 > 0.f))>>);
  static_assert(is<because::nothing_follows_reduce, verdict<sums, decltype(map(_1))>>);
  static_assert(is<because::nothing_follows_reduce, verdict<sums, decltype(reduce(sum))>>);
}

TEST_CASE("R7, R2 and R18: what a stage is made of") {
  static_assert(is<because::reduce_needs_folds, decltype(detail::judge_reduce<placeholder<0>>())::type>);
  static_assert(is<because::reduce_needs_folds, decltype(detail::judge_reduce<>())::type>);
  static_assert(std::same_as<decltype(detail::judge_reduce<std::remove_cv_t<decltype(sum)>>()), allowed>);
  static_assert(is<because::fold_of_needs_an_associative_operation,
                   decltype(detail::judge_fold_of<float, commutative_t>())::type>);
  static_assert(std::same_as<decltype(detail::judge_fold_of<float, associative_t>()), allowed>);
  static_assert(std::same_as<decltype(detail::judge_fold_of<float, order_free_t>()), allowed>);
}

TEST_CASE("R8: a fold is no element and an element is no fold") {
  using pipe = source_of<floats>;
  static_assert(is<because::an_element_is_no_fold, verdict<pipe, decltype(filter(_1 > mean))>>);
  static_assert(is<because::an_element_is_no_fold, verdict<pipe, decltype(map(_1 - mean))>>);
  static_assert(is<because::an_element_is_no_fold, verdict<pipe, decltype(reduce(sum(_1 - mean)))>>);
  static_assert(is<because::an_element_is_no_fold, verdict<pipe, decltype(reduce(sum / _1))>>);
  static_assert(is<because::an_element_is_no_fold, verdict<pipe, decltype(reduce(sum.where(_1 > mean)))>>);
  static_assert(accepts<decltype(reduce(sum / count - 1)), pipe>);
}

TEST_CASE("R9: each fold has its types") {
  using of_points = source_of<std::vector<point> const&>;
  static_assert(is<because::the_fold_needs_another_type, verdict<of_points, decltype(reduce(sum))>>);
  static_assert(is<because::the_fold_needs_another_type, verdict<of_points, decltype(reduce(min))>>);
  static_assert(is<because::the_fold_needs_another_type, verdict<of_points, decltype(reduce(argmax))>>);
  static_assert(accepts<decltype(reduce(count, first, last)), of_points>);
  using of_floats = source_of<floats>;
  static_assert(is<because::the_fold_needs_another_type, verdict<of_floats, decltype(reduce(bit_xor))>>);
  static_assert(is<because::the_fold_needs_another_type, verdict<of_floats, decltype(reduce(sum.checked()))>>);
  static_assert(is<because::the_fold_needs_another_type, verdict<of_floats, decltype(reduce(variance.in<int>()))>>);
  static_assert(accepts<decltype(reduce(sum.compensated(), variance.in<double>())), of_floats>);
  static_assert(accepts<decltype(reduce(sum.checked(), bit_and)), source_of<ints>>);
}

TEST_CASE("R10: what is a column") {
  static_assert(columns<std::vector<float>&>);
  static_assert(columns<std::vector<float> const&, std::span<int const>, std::deque<double> const&>);
  static_assert(columns<std::vector<bool> const&>);
  static_assert(columns<std::array<float, 3>&>);
  static_assert(columns<float const (&)[7]>);
  static_assert(columns<std::vector<std::complex<double>> const&>);
  static_assert(columns<std::vector<point> const&>);
  static_assert(columns<sized_column<counting<i64>>>);
  static_assert(!columns<>);
  static_assert(!columns<std::vector<float>>);    // gone before it is read
  static_assert(!columns<std::array<float, 3>>);  // so is this one
  static_assert(!columns<std::list<float> const&>);
  static_assert(!columns<std::vector<std::string> const&>);
  static_assert(!columns<std::vector<std::vector<float>> const&>);
  static_assert(!columns<std::vector<long double> const&>);
  static_assert(!columns<float const*>);
  static_assert(!columns<int>);
  static_assert(!columns<floats, floats, floats, floats, floats, floats, floats, floats, floats>);
}

TEST_CASE("R11: what stands beside the bar") {
  static_assert(detail::composable<floats, decltype(map(_1))>);
  static_assert(!detail::beside_a_bar<std::vector<float>, std::vector<float>>); // not our business
  static_assert(is<because::pipe_composes_stages, decltype(detail::judge_pipe<placeholder<0>, int>())::type>);
  static_assert(is<because::pipe_composes_stages, decltype(detail::judge_pipe<source_of<floats>, placeholder<0>>())::type>);
  static_assert(is<because::pipe_composes_stages,
                   decltype(detail::judge_pipe<decltype(filter(_1 > 0)), decltype(map(_1))>())::type>);
}

TEST_CASE("R12: each fold has its number of elements") {
  using pipe = source_of<floats, floats>;
  static_assert(is<because::the_fold_takes_another_number_of_elements, verdict<pipe, decltype(reduce(sum(_1, _2)))>>);
  static_assert(is<because::the_fold_takes_another_number_of_elements, verdict<pipe, decltype(reduce(covariance(_1)))>>);
  static_assert(is<because::the_fold_takes_another_number_of_elements, verdict<pipe, decltype(reduce(count(_1)))>>);
  static_assert(accepts<decltype(reduce(covariance, covariance(_2, _1 * _1), count)), pipe>);
}

TEST_CASE("R14 and R22: operations ask for their elements") {
  using of_floats = source_of<floats>;
  static_assert(is<because::the_operation_needs_other_elements, verdict<of_floats, decltype(map(_1 % 2))>>);
  static_assert(is<because::the_operation_needs_other_elements, verdict<of_floats, decltype(filter(~_1 == 0))>>);
  auto const of_two = [](float a, float b) { return a < b; };
  static_assert(is<because::the_operation_needs_other_elements, verdict<of_floats, decltype(filter(of_two))>>);
  static_assert(accepts<decltype(filter(of_two)), source_of<floats, floats>>);
  static_assert(is<because::a_range_is_no_element, verdict<of_floats, decltype(reduce(sum(std::vector<float>())))>>);
  using of_points = source_of<std::vector<point> const&>;
  static_assert(is<because::the_operation_needs_other_elements, verdict<of_points, decltype(map(_1 + _1))>>);
  static_assert(is<because::the_operation_needs_other_elements, verdict<of_points, decltype(map(exp(_1)))>>);
}

TEST_CASE("R16: the functions of fold_of speak of its state") {
  auto const lift = [](float v) { return point{v, v}; };
  auto const add = [](point a, point b) { return point{a.x + b.x, a.y + b.y}; };
  auto const sum_of_floats = [](float a, float b) { return a + b; };
  auto const lower = [](point p) { return p.x; };
  using pipe = source_of<floats>;
  static_assert(accepts<decltype(reduce(fold_of(point{}, add, lift, lower, associative))), pipe>);
  static_assert(is<because::fold_of_needs_functions_of_its_state,
                   verdict<pipe, decltype(reduce(fold_of(point{}, sum_of_floats, lift, lower, associative)))>>);
  static_assert(is<because::fold_of_needs_functions_of_its_state,
                   verdict<pipe, decltype(reduce(fold_of(point{}, add, lower, lower, associative)))>>);
}

TEST_CASE("R17: the options of run") {
  using sums = decltype(std::declval<source_of<floats>>() | sum);
  static_assert(detail::runnable<sums, on::cpu_place, contract>);
  static_assert(detail::runnable<sums, contract, on::any_place>);
  static_assert(is<because::run_takes_a_place_and_a_contract,
                   decltype(detail::judge_call<sums, on::cpu_place, on::gpu_place>())::type>);
  static_assert(is<because::run_takes_a_place_and_a_contract, decltype(detail::judge_call<sums, int>())::type>);
}

TEST_CASE("R19 and R20: arithmetic on answers") {
  using pipe = source_of<floats>;
  static_assert(is<because::the_answers_have_no_such_operation, verdict<pipe, decltype(reduce(minmax + 1.f))>>);
  static_assert(is<because::the_answers_have_no_such_operation, verdict<pipe, decltype(reduce(sum % count))>>);
  static_assert(is<because::the_answers_have_no_such_operation, verdict<pipe, decltype(reduce(max.maybe() - 1.f))>>);
  static_assert(is<because::the_order_is_out_of_range, verdict<pipe, decltype(reduce(moments<5>))>>);
  static_assert(is<because::the_order_is_out_of_range, verdict<pipe, decltype(reduce(moments<1>))>>);
  static_assert(is<because::the_order_is_out_of_range, verdict<pipe, decltype(reduce(norm<0>))>>);
  static_assert(accepts<decltype(reduce(max - min, sqrt(variance), moments<4>, norm<3>)), pipe>);
  static_assert(accepts<decltype(reduce(sum % count)), source_of<ints>>);
}

TEST_CASE("R21: a fold has the forms it has") {
  static_assert(is<because::the_fold_has_no_such_form, decltype(max.checked())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(mean.compensated())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(min.in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(argmax(_1).where(_1 > 0).in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(count.in<float>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(any.in<float>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(first.in<float>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(bit_or.in<i64>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(count_modulo(7).in<i64>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(minmax.in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype((max - min).in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(norm_inf.in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(min.maybe().in<double>())>);
  static_assert(is<because::the_fold_has_no_such_form, decltype(max.or_else(0).in<double>())>);
  using pipe = source_of<floats>;
  static_assert(accepts<decltype(reduce(product.in<double>(), norm<2>.in<double>(), stddev.in<double>())), pipe>);
  static_assert(accepts<decltype(reduce((sum / count).in<double>(), (max - mean).in<double>())), pipe>);
  static_assert(accepts<decltype(reduce((sum / 2).maybe().in<double>(), mean.or_else(0).in<double>())), pipe>);
}

TEST_CASE("R24: under exact every fold is exact or free of order") {
  using pipe = source_of<floats>;
  using product_of = decltype(std::declval<pipe>() | reduce(sum, product));
  using exact_of = decltype(std::declval<pipe>() | reduce(sum, mean, sum(_1 * _1), max, argmin, count, norm<2>));
  static_assert(is<because::the_fold_has_no_exact_form, decltype(run(std::declval<product_of>(), exact))>);
  static_assert(is<because::the_fold_has_no_exact_form, decltype(explain(std::declval<product_of>(), exact))>);
  static_assert(detail::runnable<product_of, contract>);
  static_assert(detail::runnable<exact_of, exact_contract>);
  static_assert(detail::runnable<decltype(std::declval<source_of<ints>>() | reduce(sum, product, bit_xor)), exact_contract>);
  static_assert(detail::runnable<decltype(std::declval<pipe>() | reduce(moments<4>, variance(_1 * _1))), exact_contract>);
  static_assert(detail::runnable<decltype(std::declval<source_of<doubles>>() | moments<4>), exact_contract>);
  static_assert(detail::runnable<decltype(std::declval<pipe>() | covariance(_1, _1 * _1)), exact_contract>);
  static_assert(detail::runnable<decltype(std::declval<source_of<ints>>() | reduce(variance, covariance(_1, _1))), exact_contract>);
  using moments_of_ints = decltype(std::declval<source_of<ints>>() | moments<2>);
  static_assert(is<because::the_fold_has_no_exact_form, decltype(run(std::declval<moments_of_ints>(), exact))>);
  using fourth = decltype(std::declval<source_of<doubles>>() | by_segment(std::declval<ints>(), moments<4>));
  static_assert(!refused<decltype(run(std::declval<fourth>(), exact))>);
}

TEST_CASE("what was refused absorbs what follows") {
  using refusal = absorbed<>;
  static_assert(refused<refusal>);
  static_assert(refused<decltype(refusal() | filter(_1 > 0.f))>);
  static_assert(refused<decltype(refusal() | sum)>);
  static_assert(refused<decltype(run(refusal() | reduce(sum, max)))>);
  static_assert(std::tuple_size_v<decltype(run(refusal() | reduce(sum, max)))> == 2);
  static_assert(refused<decltype(refusal() / count)>);
  static_assert(refused<decltype(reduce(refusal(), sum))>);
  static_assert(refused<decltype(refusal().where(_1 > 0.f).or_else(1).maybe())>);
}
