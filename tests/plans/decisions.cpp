// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner, decision by decision, on facts that are plain numbers: make_plan is constexpr, so most of this is
// checked by the compiler. Numbers that measurement may change live in the golden texts, not here.
#include <tally/fold/folds.hpp>
#include <tally/plan/facts_of.hpp>
#include <tally/plan/planner.hpp>
#include <tally/plan/targets.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace tally::v0;
using namespace std::string_view_literals;

namespace {

constexpr fold_facts rounding_fold{4, true, false, block_algorithm::raking, false, false, false, true};
constexpr fold_facts integer_fold{8, true, true, block_algorithm::raking, false, false, false, true};
constexpr fold_facts wide_fold{64, true, false, block_algorithm::raking};
constexpr fold_facts cheap_fold{40, true, true, block_algorithm::raking_commutative_only, false, false, false, true};
constexpr fold_facts small_integer{4, true, true, block_algorithm::raking, true, false, true, true};
constexpr fold_facts ordered_fold{8, false, false, block_algorithm::raking};
constexpr source_facts f32_column{4, 1, 16};
constexpr source_facts computed_column{0, 1, 16, load_primitive::computed};
constexpr source_facts f32_apart(i64 stride) { return {4, stride, 16, load_primitive::striped_ldg}; }

/// One read of n elements by some folds.
template <class... Folds>
constexpr facts facts_with(i64 n, contract c, target t, Folds... folds) {
  facts f{n, c, 4, 8, 1, int(sizeof...(Folds)), {f32_column}, {folds...}, t};
  return f;
}
constexpr facts sum_of(i64 n, contract c = contract::reproducible, target t = targets::h200) {
  return facts_with(n, c, t, rounding_fold);
}
constexpr facts with_column(facts f, source_facts s) {
  f.sources[f.source_count++] = s;
  return f;
}
constexpr facts with_first_column(facts f, source_facts s) {
  f.sources[0] = s;
  return f;
}

/// The refusal of a choice about a subject, or one that refuses nothing.
constexpr refusal refused(planned const& p, std::string_view choice, int subject = -1) {
  for (int i = 0; i < p.why_not.count; ++i)
    if (p.why_not.entries[i].choice == choice && p.why_not.entries[i].subject == subject) return p.why_not.entries[i];
  return {nullptr, "", -2, {}};
}
constexpr bool says(refusal const& r, std::string_view part) {
  return std::string_view(r.reason).find(part) != std::string_view::npos;
}
constexpr bool complains(plan const& p, facts const& f, std::string_view part) {
  char const* wrong = why_illegal(p, f);
  return wrong != nullptr && std::string_view(wrong).find(part) != std::string_view::npos;
}

// order: the contract and the laws of the folds decide
constexpr combine_order order_of(facts const& f) { return make_plan(f).plan.order; }
constexpr auto kept = contract::reproducible, given_up = contract::fast;

static_assert(order_of(sum_of(1000)) == combine_order::canonical_tree);
static_assert(order_of(sum_of(1000, given_up)) == combine_order::canonical_tree, "a word goes along the tree as fast");
static_assert(order_of(facts_with(1000, given_up, targets::h200, wide_fold)) == combine_order::free);
static_assert(order_of([] { auto f = sum_of(1000, given_up); f.queued = true; return f; }()) == combine_order::free, "warps stand side by side where launches read ahead");
static_assert(order_of([] { auto f = sum_of(1000); f.queued = true; return f; }()) == combine_order::canonical_tree);
static_assert(order_of(facts_with(1000, kept, targets::h200, integer_fold)) == combine_order::free);
static_assert(order_of(facts_with(1000, kept, targets::h200, integer_fold, rounding_fold)) ==
                  combine_order::canonical_tree,
              "one fold that rounds keeps the tree for all");
static_assert(order_of(facts_with(1000, given_up, targets::h200, rounding_fold, ordered_fold)) ==
                  combine_order::canonical_tree,
              "no contract exchanges the operands of a fold that does not commute");
static_assert(says(refused(make_plan(sum_of(1000)), "any order"), "rounds"));
static_assert(says(refused(make_plan(facts_with(1000, given_up, targets::h200, ordered_fold)), "any order"), "commute"));
static_assert(refused(make_plan(sum_of(1000, given_up)), "any order").numbers[0] == 4);
static_assert(refused(make_plan(facts_with(1000, given_up, targets::h200, wide_fold)), "any order").choice == nullptr);

// load: bytes, addresses and strides decide; one striped column makes all striped
constexpr load_primitive load_0(facts const& f) { return make_plan(f).plan.sources[0].load; }
constexpr load_primitive load_1(facts const& f) { return make_plan(f).plan.sources[1].load; }

static_assert(load_0(sum_of(1000)) == load_primitive::vector_ldg);
static_assert(make_plan(sum_of(1000)).plan.sources[0].bytes_per_load == 16);
static_assert(load_0(with_first_column(sum_of(1000), {4, 1, 8})) == load_primitive::striped_ldg);
static_assert(load_0(with_first_column(sum_of(1000), f32_apart(2))) == load_primitive::striped_ldg);
static_assert(load_0(with_first_column(sum_of(1000), f32_apart(-1))) == load_primitive::striped_ldg);
static_assert(load_0(with_first_column(sum_of(1000), {12, 1, 16})) == load_primitive::vector_ldg,
              "4 elements of 12 bytes are three loads of 16");
static_assert(load_0(with_first_column(sum_of(1000), computed_column)) == load_primitive::computed);
static_assert(load_0(with_column(sum_of(1000), {4, 1, 4})) == load_primitive::striped_ldg);
static_assert(load_1(with_column(sum_of(1000), {4, 1, 4})) == load_primitive::striped_ldg);
static_assert(load_1(with_column(sum_of(1000), computed_column)) == load_primitive::computed);
static_assert(load_0(with_column(sum_of(1000), computed_column)) == load_primitive::vector_ldg,
              "a computed column is in no layout");
static_assert(load_1(with_column(sum_of(1000), {1, 1, 4})) == load_primitive::vector_ldg,
              "4 bytes are asked to be aligned to 4");
static_assert(make_plan(with_column(sum_of(1000), {1, 1, 4})).plan.sources[1].bytes_per_load == 4);

constexpr refusal misaligned = refused(make_plan(with_first_column(sum_of(1000), {4, 1, 8})), "vector load", 0);
static_assert(misaligned.numbers[0] == 8 && misaligned.numbers[1] == 16 && says(misaligned, "aligned"));
constexpr refusal apart = refused(make_plan(with_first_column(sum_of(1000), f32_apart(7))), "vector load", 0);
static_assert(apart.numbers[0] == 7 && says(apart, "apart"));

// columns with axes: neighbours on a row, one for all of a row, or lane by lane where a row ends within a group
constexpr source_facts f32_on_rows(i64 row, i64 stride, int steps_alignment = 16, int address_alignment = 16) {
  return {4, stride, address_alignment, load_primitive::grid_vector_ldg, row, steps_alignment};
}
constexpr source_choice choice_1(source_facts s) { return make_plan(with_column(sum_of(1000), s)).plan.sources[1]; }
static_assert(choice_1(f32_on_rows(1024, 1)) == source_choice{load_primitive::grid_vector_ldg, 16});
static_assert(choice_1(f32_on_rows(1024, 1, 8)) == source_choice{load_primitive::grid_vector_ldg, 8});
static_assert(choice_1(f32_on_rows(1024, 1, 16, 4)) == source_choice{load_primitive::grid_vector_ldg, 4});
static_assert(choice_1(f32_on_rows(1024, 0, 16, 4)) == source_choice{load_primitive::grid_same_ldg, 4});
static_assert(choice_1({20, 1, 16, load_primitive::grid_vector_ldg, 40}) == source_choice{load_primitive::grid_ldg, 20}, "a struct of 20 bytes is no load");
static_assert(choice_1({16, 1, 4, load_primitive::grid_vector_ldg, 40}) == source_choice{load_primitive::grid_ldg, 16}, "nor is one of 16 that begins anywhere");
static_assert(choice_1(f32_on_rows(1023, 1)) == source_choice{load_primitive::grid_ldg, 4});
static_assert(choice_1(f32_on_rows(1023, 0)) == source_choice{load_primitive::grid_two_ldg, 4});
static_assert(choice_1(f32_on_rows(3, 0)) == source_choice{load_primitive::grid_ldg, 4}, "rows shorter than a group");
static_assert(choice_1(f32_on_rows(1024, 2)) == source_choice{load_primitive::striped_ldg, 4});
constexpr source_facts small_on_rows(i64 row, i64 bytes, int address_alignment = 16) {
  return {bytes, 1, address_alignment, load_primitive::grid_vector_ldg, row, 2};
}
static_assert(choice_1(small_on_rows(1023, 2)) == source_choice{load_primitive::grid_words_ldg, 4});
static_assert(choice_1(small_on_rows(1023, 1, 1)) == source_choice{load_primitive::grid_words_ldg, 4});
static_assert(choice_1(small_on_rows(1023, 2, 1)) == source_choice{load_primitive::grid_ldg, 2}, "an element in three words");
static_assert(choice_1(small_on_rows(7, 2)) == source_choice{load_primitive::grid_ldg, 2}, "rows without two groups");
static_assert(choice_1(small_on_rows((i64(1) << 30) + 1, 2)) == source_choice{load_primitive::grid_ldg, 2}, "32 bits say what is left of a row");
static_assert(load_0(with_column(sum_of(1000), f32_on_rows(1024, 0))) == load_primitive::vector_ldg);
static_assert(load_0(with_column(sum_of(1000), f32_on_rows(1024, 2))) == load_primitive::striped_ldg);
constexpr facts heavy_on_rows = with_first_column(facts_with(1 << 28, kept, targets::h200, wide_fold), f32_on_rows(1024, 1));
static_assert(says(refused(make_plan(heavy_on_rows), "bulk ring", 0), "rows of {0} elements lie apart"));
static_assert(sum_of(1000).bytes_read() == 4000);
constexpr facts beside_ten = with_column(sum_of(1000), {4, 1, 16, load_primitive::grid_vector_ldg, 10, 16, 10});
static_assert(beside_ten.bytes_read() == 4040, "an operand that is seen alike is read once");
static_assert(make_plan(with_column(sum_of(1000), f32_on_rows(1024, 1))).plan.rows_in_flight == 8);
static_assert(make_plan(with_column(with_column(with_column(sum_of(1000), f32_column), f32_column), f32_on_rows(1024, 1))).plan.rows_in_flight == 4);
constexpr plan queued_on_rows = [] {
  auto f = with_column(sum_of(1 << 28), f32_on_rows(1024, 1));
  f.queued = true;
  return make_plan(f).plan;
}();
static_assert(queued_on_rows.reads_ahead && queued_on_rows.leaves_per_warp == 4 && queued_on_rows.rows_in_flight == 8 && queued_on_rows.threads_per_block == 256);
constexpr plan with_choice(source_choice c) {
  plan p = make_plan(with_column(sum_of(1000), f32_on_rows(1024, 1))).plan;
  p.sources[1] = c;
  return p;
}
static_assert(complains(with_choice({load_primitive::grid_same_ldg, 4}), with_column(sum_of(1000), f32_on_rows(1024, 1)), "that are the same"));
static_assert(complains(with_choice({load_primitive::grid_two_ldg, 4}), with_column(sum_of(1000), f32_on_rows(1023, 1)), "that are the same"));
static_assert(complains(with_choice({load_primitive::grid_two_ldg, 4}), with_column(sum_of(1000), f32_on_rows(3, 0)), "no shorter"));
static_assert(complains(with_choice({load_primitive::grid_words_ldg, 4}), with_column(sum_of(1000), f32_on_rows(1023, 1)), "less than a word"));
static_assert(complains(with_choice({load_primitive::grid_vector_ldg, 16}), with_column(sum_of(1000), f32_on_rows(1024, 1, 8)), "aligned to its size"));
static_assert(complains(with_choice({load_primitive::grid_vector_ldg, 16}), with_column(sum_of(1000), f32_on_rows(1023, 1)), "whole groups"));
static_assert(complains(with_choice({load_primitive::grid_vector_ldg, 16}), with_column(sum_of(1000), f32_column), "needs axes"));
static_assert(complains(with_choice({load_primitive::striped_ldg, 4}), with_column(sum_of(1000), f32_on_rows(1024, 1)), "one layout"));

static_assert(planning::load_of<spread<float, 2>>() == load_primitive::grid_vector_ldg);
static_assert(planning::load_of<contiguous<float>>() == load_primitive::vector_ldg);
static_assert(planning::load_of<strided<float>>() == load_primitive::striped_ldg);
static_assert(planning::load_of<counting<i64>>() == load_primitive::computed);

// bulk ring: heavy folds of aligned columns with leaves to look ahead, on chips with a copy engine
static_assert(load_0(facts_with(1 << 28, kept, targets::h200, wide_fold)) == load_primitive::bulk_ring);
static_assert(make_plan(facts_with(1 << 28, kept, targets::h200, wide_fold)).plan.stages > 0);
static_assert(make_plan(sum_of(1 << 28)).plan.stages == 0);
static_assert(says(refused(make_plan(sum_of(1 << 28)), "bulk ring"), "faster than they load"));
static_assert(says(refused(make_plan(facts_with(1 << 28, kept, targets::a100, wide_fold)), "bulk ring"), "sm_"));
static_assert(says(refused(make_plan(facts_with(1 << 10, kept, targets::h200, wide_fold)), "bulk ring"), "fewer"));
constexpr facts short_address = with_first_column(facts_with(1 << 28, kept, targets::h200, wide_fold), {2, 1, 8});
static_assert(load_0(short_address) == load_primitive::vector_ldg);
static_assert(refused(make_plan(short_address), "bulk ring", 0).numbers[0] == 8);

// block: per fold, by the most constrained rule that applies
template <int Bytes, laws Law>
struct fold_of_bytes {
  struct state {
    char of[Bytes];
  };
  static constexpr laws law = Law;
  constexpr state identity() const { return {}; }
  constexpr state combine(state s, state) const { return s; }
  constexpr int lower(state, summary) const { return 0; }
};
static_assert(planning::block_of<sum_monoid<float>>() == block_algorithm::raking, "narrow");
static_assert(planning::block_of<sum_monoid<i64>>() == block_algorithm::raking);
static_assert(planning::block_of<variance_monoid<double>>() == block_algorithm::raking, "it divides");
static_assert(planning::block_of<fold_of_bytes<16, any_order>>() == block_algorithm::raking);
static_assert(planning::block_of<fold_of_bytes<24, any_order>>() == block_algorithm::raking_commutative_only);
static_assert(planning::block_of<fold_of_bytes<64, any_order>>() == block_algorithm::warp_reductions);
static_assert(planning::block_of<fold_of_bytes<24, any_grouping>>() == block_algorithm::raking, "it may cost");
static_assert(planning::block_of<fold_of_bytes<64, in_order>>() == block_algorithm::raking, "it keeps its order");
static_assert(planning::cheap_to_combine<sum_monoid<float>> && !planning::cheap_to_combine<variance_monoid<double>>);
static_assert(planning::redux_combinable<extreme_monoid<i16, true>> && planning::redux_combinable<bit_monoid<u32, bit_rule::or_>>);
static_assert(!planning::redux_combinable<extreme_monoid<i64, true>> && !planning::redux_combinable<extreme_monoid<float, true>>);

constexpr block_algorithm block_0(facts const& f) { return make_plan(f).plan.folds[0].block; }
static_assert(block_0(sum_of(1 << 20)) == block_algorithm::neighbour_tree);
static_assert(block_0(sum_of(1 << 20, given_up)) == block_algorithm::neighbour_tree);
constexpr i64 full_chip = 1 << 26, idle_chip = 1 << 20;
constexpr facts wide_on(i64 n, contract c = given_up) { return facts_with(n, c, targets::h200, wide_fold); }
static_assert(block_0(facts_with(full_chip, given_up, targets::a100, rounding_fold, wide_fold)) == block_algorithm::raking);
static_assert(block_0(facts_with(full_chip, given_up, targets::a100, wide_fold)) == block_algorithm::raking);
static_assert(block_0(wide_on(idle_chip)) == block_algorithm::neighbour_tree);
static_assert(says(refused(make_plan(wide_on(idle_chip)), "cub::BlockReduce", 0), "turn-around"));
static_assert(block_0(wide_on(full_chip)) == block_algorithm::neighbour_tree, "512 threads of 64 bytes are too much to rake");
static_assert(refused(make_plan(wide_on(full_chip)), "cub::BlockReduce", 0).numbers[0] == 512 * 64);
static_assert(block_0(facts_with(full_chip, given_up, targets::h200, cheap_fold)) == block_algorithm::raking_commutative_only);
static_assert(block_0(facts_with(idle_chip, given_up, targets::h200, cheap_fold)) == block_algorithm::raking_commutative_only);
static_assert(refused(make_plan(facts_with(full_chip, given_up, targets::h200, cheap_fold)), "cub::BlockReduce", 0).choice == nullptr);
static_assert(block_0(facts_with(full_chip, kept, targets::h200, cheap_fold)) == block_algorithm::neighbour_tree,
              "free of order or not, reproducible does not pay for CUB");
constexpr fold_facts vast_costly_fold{128, true, false, block_algorithm::raking};
static_assert(says(refused(make_plan(facts_with(2000, given_up, targets::h200, vast_costly_fold)), "cub::BlockReduce", 0), "state takes"));
constexpr fold_facts vast_fold{256, true, true, block_algorithm::warp_reductions, false, false, false, true};
static_assert(block_0(facts_with(1 << 16, given_up, targets::h200, vast_fold)) == block_algorithm::warp_reductions,
              "of it only a state per warp is in shared memory");
static_assert(says(refused(make_plan(sum_of(1 << 20)), "cub::BlockReduce", 0), "order"));

// a fold that does not commute is raked in the order of threads where its state is wide and the chip is full
constexpr fold_facts wide_ordered_fold{32, false, false, block_algorithm::raking};
constexpr facts ordered_on(i64 n, contract c) { return facts_with(n, c, targets::h200, wide_ordered_fold); }
static_assert(order_of(ordered_on(full_chip, given_up)) == combine_order::ordered);
static_assert(block_0(ordered_on(full_chip, given_up)) == block_algorithm::raking);
static_assert(order_of(ordered_on(full_chip, kept)) == combine_order::canonical_tree);
static_assert(order_of(ordered_on(idle_chip, given_up)) == combine_order::canonical_tree);
static_assert(says(refused(make_plan(ordered_on(idle_chip, given_up)), "any grouping"), "leaves"));
static_assert(block_0(facts_with(full_chip, given_up, targets::h200, ordered_fold)) == block_algorithm::neighbour_tree);

// redux.sync: integers of at most 32 bits, wherever all lanes of a warp have a state
static_assert(block_0(facts_with(1000, kept, targets::h200, small_integer)) == block_algorithm::redux);
static_assert(block_0(facts_with(full_chip, kept, targets::a100, small_integer)) == block_algorithm::redux);
static_assert(block_0(facts_with(1000, kept, targets::h200, small_integer, rounding_fold)) == block_algorithm::redux);
static_assert(block_0(facts_with(full_chip, kept, targets::h200, small_integer, wide_fold)) == block_algorithm::neighbour_tree,
              "the leaves of a warp have become one state by then");
static_assert(block_0(facts_with(1000, kept, targets::h200, integer_fold)) == block_algorithm::neighbour_tree);

// cluster: a wide state on a grid of a few blocks; words of integers by red.async, all else copied
constexpr fold_facts word_fold{8, true, true, block_algorithm::raking, true};
constexpr facts small_words_facts = facts_with(1 << 15, kept, targets::h200, word_fold, wide_fold);
constexpr plan small_words = make_plan(small_words_facts).plan;
static_assert(small_words.one_cluster && small_words.folds[0].cluster == cluster_combine::red_async);
static_assert(small_words.folds[1].cluster == cluster_combine::bulk_copy);
static_assert(says(refused(make_plan(small_words_facts), "red.async", 1), "integer"));
static_assert(!make_plan(sum_of(1 << 16)).plan.one_cluster);
static_assert(says(refused(make_plan(sum_of(1 << 16)), "one cluster"), "sooner"));
static_assert(!make_plan(facts_with(1000, kept, targets::h200, wide_fold)).plan.one_cluster, "one block needs nobody");
static_assert(refused(make_plan(facts_with(1 << 17, kept, targets::h200, wide_fold)), "one cluster").numbers[0] == 16);
static_assert(says(refused(make_plan(facts_with(1 << 16, kept, targets::a100, wide_fold)), "one cluster"), "sm_"));
static_assert(make_plan(sum_of(1 << 20)).plan.folds[0].cluster == cluster_combine::no_cluster);

// launch: only where the chip can
static_assert(make_plan(sum_of(1000)).plan.overlaps_launch);
static_assert(!make_plan(sum_of(1000, kept, targets::a100)).plan.overlaps_launch);
static_assert(refused(make_plan(sum_of(1000, kept, targets::a100)), "overlapped launch").numbers[0] == 8);

// queued: a launch reads ahead of the one in front where the chip can, never as a cluster, and folds longer subtrees for that
constexpr facts queued(facts f) {
  f.queued = true;
  return f;
}
constexpr planned queued_sum = make_plan(queued(sum_of(i64(1) << 24)));
static_assert(queued_sum.plan.reads_ahead && queued_sum.plan.leaves_per_warp == 32);
static_assert(queued_sum.blocks < make_plan(sum_of(i64(1) << 24)).blocks);
static_assert(!make_plan(sum_of(i64(1) << 24)).plan.reads_ahead);
static_assert(!make_plan(queued(sum_of(1000, kept, targets::a100))).plan.reads_ahead);
static_assert(!make_plan(queued(small_words_facts)).plan.one_cluster);
static_assert(queued_sum.plan.stages == 4 && queued_sum.plan.threads_per_block == 256 && queued_sum.blocks == 64);
static_assert(make_plan(queued(sum_of(i64(1) << 23))).plan.stages == 0 && make_plan(queued(sum_of(i64(1) << 23))).plan.leaves_per_warp == 16);
constexpr facts calling_functions(facts f) {
  f.calls_functions = true;
  return f;
}
constexpr plan queued_exponentials = make_plan(queued(calling_functions(sum_of(i64(1) << 28)))).plan;
static_assert(queued_exponentials.threads_per_block == 256 && queued_exponentials.leaves_per_warp == 16 && queued_exponentials.stages == 2);
static_assert(calls_function<decltype(exp(_1) + 1.f)> && calls_function<decltype(_1 < sqrt(_2))> && !calls_function<decltype(_1 * _1 - 2.f)>);
static_assert(make_plan(queued(facts_with(1 << 23, kept, targets::h200, wide_fold))).plan.stages == 0);
static_assert(make_plan(queued(facts_with(1 << 25, kept, targets::h200, wide_fold))).plan.stages == 2);
static_assert(make_plan(queued(facts_with(1 << 25, kept, targets::h200, wide_fold))).plan.leaves_per_warp == 32);
constexpr fold_facts exact_sum_of_f32{56, true, true, block_algorithm::raking_commutative_only, false, true};
constexpr bool exact_reads_ahead(i64 n) {
  return make_plan(queued(facts_with(n, contract::exact, targets::h200, exact_sum_of_f32))).plan.reads_ahead;
}
static_assert(exact_reads_ahead(1 << 24) && !exact_reads_ahead(1 << 27));

// tile: every element is covered, by as many blocks as the grid can combine
constexpr bool covers(planned const& p, facts const& f) {
  i64 const per_block = i64(p.plan.leaves_per_block()) * p.plan.elements_per_leaf();
  return p.blocks * per_block >= f.extent && (p.blocks - 1) * per_block < f.extent;
}
constexpr i64 sizes[] = {1,    2,     31,           32,                 1023,
                         1024, 65537, i64(1) << 20, (i64(1) << 28) + 5, (i64(1) << 31) + 3,
                         i64(1) << 40};

/// Eight columns of doubles, 64 bytes a row: more than every ring could hold.
constexpr facts eight_doubles(i64 n, target t) {
  facts f = facts_with(n, kept, t, wide_fold);
  f.lanes_per_group = 2;
  f.sources[0] = {8, 1, 16};
  while (f.source_count < max_sources) f = with_column(f, {8, 1, 16});
  return f;
}

/// Every combination of folds, columns, contract, chip and size gives a plan that is legal and covers its input.
constexpr bool all_legal() {
  constexpr fold_facts folds[] = {rounding_fold, integer_fold, wide_fold, ordered_fold, small_integer, wide_ordered_fold};
  constexpr source_facts columns[] = {{4, 1, 16}, {4, 1, 4}, f32_apart(5), computed_column, {1, 1, 1}, {2, 1, 8}};
  constexpr target chips[] = {targets::a100, targets::h200, targets::b200};
  for (auto const& a : folds)
    for (auto const& b : folds)
      for (auto const& column : columns)
        for (contract c : {kept, given_up})
          for (auto const& chip : chips)
            for (i64 n : sizes) {
              facts f = with_column(facts_with(n, c, chip, a, b), column);
              for (f.queued = false;; f.queued = true) {
                planned const p = make_plan(f);
                if (!legal(p.plan, f) || !covers(p, f) || p.why_not.count == why_not_list::capacity) return false;
                if (f.queued) break;
              }
            }
  return true;
}

plan good_plan() { return make_plan(sum_of(1 << 20)).plan; }

} // namespace

TEST_CASE("every combination of facts gives a legal plan that covers its input") { CHECK(all_legal()); }

TEST_CASE("the widest row gives a legal plan on every chip") {
  auto small = targets::b200;
  small.shared_bytes_per_block = 99 * 1024;
  for (auto const& chip : {targets::a100, targets::h200, targets::b200, small})
    for (i64 n : sizes) {
      facts const f = eight_doubles(n, chip);
      char const* wrong = why_illegal(make_plan(f).plan, f);
      CHECK_MESSAGE(wrong == nullptr, n << " elements: " << std::string(wrong ? wrong : ""));
    }
}

TEST_CASE("more work never gets fewer blocks or shorter subtrees") {
  planned before = make_plan(sum_of(1));
  for (i64 n : sizes) {
    planned const now = make_plan(sum_of(n));
    CAPTURE(n);
    CHECK(now.plan.leaves_per_warp >= before.plan.leaves_per_warp);
    CHECK(now.blocks * now.plan.leaves_per_block() >= before.blocks * before.plan.leaves_per_block());
    before = now;
  }
}

TEST_CASE("many folds and columns get smaller batches, not other trees") {
  facts f = facts_with(1 << 16, kept, targets::h200, rounding_fold, wide_fold, wide_fold);
  plan const one = make_plan(f).plan;
  for (int i = 0; i < 5; ++i) f = with_column(f, f32_column);
  plan const six = make_plan(f).plan;
  CHECK(six.rows_in_flight < one.rows_in_flight);
  CHECK(six.elements_per_leaf() == one.elements_per_leaf());
}

TEST_CASE("legal refuses a plan that cuts the tree elsewhere") {
  facts const f = sum_of(1 << 20);
  REQUIRE(legal(good_plan(), f));
  auto p = good_plan();
  p.threads_per_block = 96;
  CHECK(complains(p, f, "warps of a block must be a power of two"));
  p = good_plan(), p.threads_per_block = 2048;
  CHECK(complains(p, f, "multiple of 32"));
  p = good_plan(), p.leaves_per_warp = 3;
  CHECK(complains(p, f, "leaves_per_warp must be a power of two"));
  p = good_plan(), p.leaves_per_warp = 64;
  CHECK(complains(p, f, "32 lanes"));
  p = good_plan(), p.lanes_per_group = 8;
  CHECK(complains(p, f, "shape of a leaf belongs to the tree"));
  p = good_plan(), p.rows_in_flight = 3;
  CHECK(complains(p, f, "rows_in_flight must divide"));
}

TEST_CASE("legal refuses a plan that breaks the contract") {
  facts const f = sum_of(1 << 20);
  auto p = good_plan();
  p.order = combine_order::free;
  CHECK(complains(p, f, "only the fast contract"));
  p = good_plan(), p.folds[0].block = block_algorithm::warp_reductions;
  CHECK(complains(p, f, "a block combines neighbours"));
  facts const ordered = facts_with(1 << 20, given_up, targets::h200, ordered_fold);
  p = make_plan(ordered).plan, p.order = combine_order::free;
  CHECK(complains(p, ordered, "does not commute"));
  p = make_plan(ordered).plan, p.order = combine_order::ordered, p.folds[0].block = block_algorithm::raking_commutative_only;
  CHECK(complains(p, ordered, "folds that commute"));
  p = good_plan(), p.order = combine_order::ordered;
  CHECK(complains(p, f, "only the fast contract groups"));
  p = good_plan(), p.folds[0].block = block_algorithm::redux;
  CHECK(complains(p, f, "redux.sync needs"));
}

TEST_CASE("legal refuses what the chip or the address cannot do") {
  auto p = good_plan();
  CHECK(complains(p, sum_of(1 << 20, kept, targets::a100), "sm_90"));
  CHECK(complains(p, with_first_column(sum_of(1 << 20), {4, 1, 8}), "vector load needs"));
  CHECK(complains(p, with_first_column(sum_of(1 << 20), f32_apart(2)), "vector load needs"));
  facts const two = with_column(sum_of(1 << 20), f32_column);
  p = make_plan(two).plan, p.sources[1] = {load_primitive::striped_ldg, 4};
  CHECK(complains(p, two, "one layout"));
  p = good_plan();
  CHECK(complains(p, sum_of(i64(1) << 60), "2^31 - 1 blocks"));
  facts const ring = facts_with(1 << 28, kept, targets::h200, wide_fold);
  REQUIRE(legal(make_plan(ring).plan, ring));
  p = make_plan(ring).plan, p.one_cluster = true;
  CHECK(complains(p, ring, "fewer blocks than the grid"));
  p = small_words, p.folds[1].cluster = cluster_combine::red_async;
  CHECK(complains(p, small_words_facts, "words of integers"));
  p = small_words, p.folds[1].cluster = cluster_combine::no_cluster;
  CHECK(complains(p, small_words_facts, "and only there"));
  p = make_plan(ring).plan, p.leaves_per_warp = p.stages;
  CHECK(complains(p, ring, "more leaves than stages"));
  p = make_plan(ring).plan, p.stages = 16, p.leaves_per_warp = 32;
  CHECK(complains(p, ring, "shared memory"));
  p = queued_sum.plan, p.overlaps_launch = false;
  CHECK(complains(p, sum_of(i64(1) << 24), "a launch that overlaps"));
  p = small_words, p.reads_ahead = true;
  CHECK(complains(p, small_words_facts, "meet in memory"));
  p = make_plan(ring).plan, p.overlaps_launch = false;
  CHECK(complains(p, facts_with(1 << 28, kept, targets::a100, wide_fold), "sm_90"));
  CHECK(complains(p, with_first_column(ring, {4, 1, 8}), "16-byte addresses"));
  CHECK(complains(p, with_first_column(ring, f32_apart(2)), "neighbours"));
}

TEST_CASE("exact sums stay in their blocks: no more of them than run at once, and a ring for one column") {
  static constexpr fold_facts exact_fold{56, true, true, block_algorithm::raking_commutative_only, false, true};
  constexpr auto exact_sum_of = [](i64 n) { return facts_with(n, contract::exact, targets::h200, exact_fold); };
  for (i64 n : {i64(1000), i64(1) << 22, i64(1) << 24, i64(1) << 28, i64(1) << 33}) {
    auto const f = exact_sum_of(n);
    auto const planned = make_plan(f);
    CHECK(legal(planned.plan, f));
    CHECK(planned.blocks <= i64(f.target.multiprocessors) * planned.plan.blocks_per_multiprocessor);
    CHECK((planned.plan.stages > 0) == (n >= i64(1) << 28));
    CHECK_FALSE(planned.plan.one_cluster);
    CHECK(planned.plan.order == combine_order::free);
  }
  CHECK(make_plan(with_column(exact_sum_of(i64(1) << 28), f32_column)).plan.stages == 0);
  for (i64 n : {(i64(1) << 24) + 1025, (i64(1) << 25) - 1, (i64(1) << 30) + 3}) {
    auto const f = exact_sum_of(n);
    auto const planned = make_plan(f);
    i64 const turns = (f.leaves() - 1) / (planned.blocks * planned.plan.warps_per_block()) + 1;
    CHECK(planned.blocks * 5 >= i64(f.target.multiprocessors) * 4); // nearly all at work, and none for a last few leaves
    CHECK((f.leaves() - 1) / ((planned.blocks - 1) * planned.plan.warps_per_block()) + 1 > turns);
    CHECK((f.leaves() - 1) / (f.target.multiprocessors * planned.plan.warps_per_block()) + 1 == turns);
  }
  i64 fewer = 0; // warps a block for small inputs, so that neither they nor the blocks take long to meet
  for (i64 n : {i64(1) << 16, i64(1) << 18, i64(1) << 20, i64(1) << 22}) {
    auto const planned = make_plan(exact_sum_of(n));
    CHECK(planned.blocks == 4 * planned.plan.warps_per_block());
    CHECK(planned.blocks > fewer);
    fewer = planned.blocks;
  }
}

TEST_CASE("the digits of exact sums fit the shared memory of a kernel, whatever they are of") {
  constexpr auto sums_of = [](int bytes, int folds) {
    fold_facts const one{bytes, true, true, block_algorithm::raking_commutative_only, false, true};
    facts f = facts_with(i64(1) << 28, contract::exact, targets::h200, one);
    for (f.fold_count = 0; f.fold_count < folds; ++f.fold_count) f.folds[f.fold_count] = one;
    return f;
  };
  for (int bytes : {56, 88, 544, 808, 1072})
    for (int folds : {1, 2, 3, 4, 8}) {
      CAPTURE(bytes);
      CAPTURE(folds);
      auto const f = sums_of(bytes, folds);
      auto const p = make_plan(f).plan;
      CHECK(legal(p, f));
      CHECK(folds * bytes * (2 * p.warps_per_block() + 1) <= 48 * 1024);
    }
  CHECK(make_plan(sums_of(544, 2)).plan.threads_per_block == 512);
  CHECK(make_plan(sums_of(544, 3)).plan.threads_per_block == 256);
  CHECK(make_plan(sums_of(88, 2)).plan.rows_in_flight == 8); // of more sums, the batches of a whole leaf would not fit registers
  CHECK(make_plan(sums_of(88, 3)).plan.rows_in_flight == 2);
}

TEST_CASE("a plan is a value: equal facts give equal plans, and it can be a template argument") {
  CHECK(make_plan(sum_of(1 << 20)).plan == make_plan(sum_of(1 << 20)).plan);
  CHECK_FALSE(make_plan(sum_of(1 << 20)).plan == make_plan(sum_of(1 << 20, given_up)).plan);
  constexpr plan p = make_plan(sum_of(1 << 20)).plan;
  constexpr auto threads = []<plan P>() { return P.threads_per_block; };
  CHECK(threads.operator()<p>() == p.threads_per_block);
}
