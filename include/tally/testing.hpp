// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For users' own doctest specs: plans, explanations and pipelines print themselves when a check fails, an exact oracle
// for sums, and checks of a plan's choice and of unchanged bits. Stands above the layers; the only header that includes
// doctest.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <tally/fold/min_max.hpp>
#include <tally/fold/moments.hpp>
#include <tally/pipeline/by_segment.hpp>
#include <tally/pipeline/over.hpp>
#include <tally/plan/spell.hpp>
#include <tally/run/explain.hpp>
#include <tally/run/run_batch.hpp>
#include <tally/testing_exact.hpp>

namespace tally::v0::testing {

/// What the planner decides about a reduction on a target (targets::h200, ...): .plan, .blocks, .why_not. Its columns are
/// taken to lie in the target's memory at the addresses they have. Throws no_gpu for one that only the CPU can run.
template <class R>
planned planned_for(R const& r, target const& where, contract promise = contract::reproducible) {
  auto const explained = explain(r, where, promise);
  if (!explained.details().on_gpu)
    throw no_gpu("this reduction is planned for no GPU.");
  return explained.details().planned;
}

namespace detail {

/// Copies of the columns of a program, in host or device memory, `shift` alignments behind a border of 64 bytes.
template <class Program>
class displaced_columns {
public:
  displaced_columns(Program const& p, int shift, bool on_device) : moved_(p) {
    gpu::column_place places[max_sources]{};
    tally::v0::detail::places_of(moved_, places);
    for_each_index<decltype(p.columns)::size>([&](auto i) {
      using V = typename std::remove_cvref_t<decltype(get<i>(p.columns))>::value_type;
      if (places[i].pointer != nullptr && p.extent > 0)
        move(places[i], static_cast<std::size_t>(shift) * alignof(V) % 16, on_device);
    });
  }
  Program const& moved() const { return moved_; }

private:
  void move(gpu::column_place const& c, std::size_t skip, bool on_device) {
    auto const bytes = static_cast<std::size_t>(c.bytes);
    auto const* const from = static_cast<char const*>(*c.pointer) + c.low_bytes;
    char* to = nullptr;
    if (on_device) {
      of_device_.push_back(gpu::allocate(bytes + skip, 0));
      to = static_cast<char*>(of_device_.back().data()) + skip;
    } else {
      of_host_.push_back(std::make_unique<char[]>(bytes + skip + 64));
      auto const address = reinterpret_cast<std::uintptr_t>(of_host_.back().get());
      to = of_host_.back().get() + (64 - address % 64) + skip;
    }
    if (on_device || gpu::residence_of(from) == gpu::residence::device)
      gpu::copy(to, from, bytes, 0), gpu::wait(0);
    else
      std::memcpy(to, from, bytes);
    *c.pointer = to - c.low_bytes;
  }
  Program moved_;
  std::vector<std::unique_ptr<char[]>> of_host_;
  std::vector<gpu::device_memory> of_device_;
};

/// How many shifts by the alignments of its columns a program can tell apart.
template <class... Columns, class... Leaves>
constexpr int distinct_shifts(program<pack<Columns...>, Leaves...> const&) {
  int narrowest = 16;
  ((narrowest = memory_column<Columns> && int(alignof(typename Columns::value_type)) < narrowest
                    ? int(alignof(typename Columns::value_type))
                    : narrowest),
   ...);
  return 16 / narrowest;
}

} // namespace detail

/// Checks that a reduction has the same bits on the CPU with 1, 2, 3 and 8 threads, with its columns at every misalignment
/// their types allow, and on the GPU where there is one, from host and from device memory. True when all agree. Columns may
/// lie in host or device memory; throws what run throws.
template <class R>
bool check_same_bits(R const& r) {
  auto const bound = bind_checked(r);
  using Program = std::remove_cvref_t<decltype(bound.program)>;
  bool all_same = true;
  auto const answers_of = [&](Program const& p, auto where) {
    return tally::v0::detail::answers_of(r, bound, compute(p, where, contract::reproducible));
  };
  detail::displaced_columns<Program> const aligned(bound.program, 0, false);
  auto const expected = answers_of(aligned.moved(), on::cpu.threads(1));
  auto const check = [&](Program const& p, auto where, std::string const& how) {
    bool const same = same_bits(expected, answers_of(p, where));
    all_same = all_same && same;
    DOCTEST_CHECK_MESSAGE(same, how << " gives other bits than one thread of the CPU: " << text_of(r));
  };
  for (int threads : {2, 3, 8})
    check(aligned.moved(), on::cpu.threads(threads), std::to_string(threads) + " threads");
  constexpr bool for_gpu = Program::lowerable;
  bool const gpu_is_there = for_gpu && gpu::device_count() > 0 && gpu::can_compile();
  if constexpr (for_gpu)
    if (gpu_is_there)
      check(aligned.moved(), on::gpu, "the GPU, from host memory,");
  for (int shift = 0; shift < detail::distinct_shifts(bound.program); ++shift) {
    std::string const where = " at a misalignment of " + std::to_string(shift) + " alignments";
    if (shift > 0)
      check(detail::displaced_columns<Program>(bound.program, shift, false).moved(), on::cpu.threads(2), "the CPU" + where);
    if constexpr (for_gpu)
      if (gpu_is_there)
        check(detail::displaced_columns<Program>(bound.program, shift, true).moved(), on::gpu, "the GPU" + where);
  }
  return all_same;
}

namespace detail {

/// A pipeline's columns with its rows in another order (a row of -1: every bit set), as memory of their own; with InPlace,
/// columns that are computed stay as they are.
template <bool InPlace, class... Columns>
class rearranged_rows {
public:
  rearranged_rows(pack<Columns...> const& columns, std::vector<i64> const& order)
      : columns_(columns), n_(static_cast<i64>(order.size())) {
    for_each_index<int(sizeof...(Columns))>([&](auto i) {
      using V = typename nth_t<i, Columns...>::value_type;
      auto& to = get<i>(arrays_);
      to.reset(new V[order.size()]);
      for (std::size_t k = 0; k < order.size(); ++k)
        if (order[k] >= 0)
          to[k] = get<i>(columns).at(order[k]);
        else if constexpr (std::is_same_v<V, bool>)
          to[k] = true;
        else
          std::memset(static_cast<void*>(&to[k]), 0xff, sizeof(V));
    });
  }
  /// From all rows, as one axis or as several.
  template <class Values, class Mask, class... Extents>
  auto pipe(Values const& values, Mask const& mask, Extents... extents) const {
    return [&]<int... I>(index_list<I...>) {
      auto const source = from(sized(column<I>(), extents...)...).source;
      return piped<std::remove_cvref_t<decltype(source)>, Values, Mask>{source, values, mask};
    }(indices_up_to<int(sizeof...(Columns))>{});
  }

private:
  pack<Columns...> columns_;
  pack<std::unique_ptr<typename Columns::value_type[]>...> arrays_;
  i64 n_;

  template <int I>
  auto column() const {
    using Column = nth_t<I, Columns...>;
    if constexpr (InPlace && !memory_column<Column>)
      return get<I>(columns_);
    else
      return contiguous<typename Column::value_type>{get<I>(arrays_).get()};
  }
  template <class Column, class... Extents>
  auto sized(Column const& c, Extents... extents) const {
    if constexpr (sizeof...(extents) == 0)
      return sized_column<Column>{c, n_};
    else
      return shaped_column<Column, int(sizeof...(extents))>{c, n_, {extents...}};
  }
};
/// Whether a column goes on behind its last row: memory is copied, numbers are counted on.
template <class Column>
inline constexpr bool extendable = memory_column<Column>;
template <class T>
inline constexpr bool extendable<counting<T>> = true;

template <class E>
inline constexpr bool asks_for_index = std::is_same_v<E, position>;
template <template <class...> class Node, class... Parts>
inline constexpr bool asks_for_index<Node<Parts...>> = (false || ... || asks_for_index<Parts>);

/// Whether a leaf may meet rows in any order: its law says so, and where a row stands is no part of what it keeps.
template <class Program, class Leaf>
bool takes_any_order(Program const& p, Leaf const& leaf) {
  using M = typename Leaf::monoid_type;
  if constexpr (!M::law.order_free || asks_for_index<decltype(leaf.values)> || asks_for_index<decltype(leaf.mask)>) {
    return false;
  } else if constexpr (exact_monoid<M>) {
    return true;
  } else {
    auto const lifted = [&](i64 at) {
      return unpack([&](auto const&... v) { return leaf.monoid.lift(at, v.eval(p.row_at(0))...); }, leaf.values);
    };
    auto const here = lifted(0), there = lifted(i64(1) << 20);
    return std::memcmp(&here, &there, sizeof here) == 0;
  }
}
template <class Program>
bool takes_any_order(Program const& p) {
  return p.extent > 0 && unpack([&](auto const&... leaf) { return (true && ... && takes_any_order(p, leaf)); }, p.leaves);
}

/// The states of a program from parts that are computed apart: halves of its tree, down to pieces of a few leaves.
template <class Program>
auto states_in_parts(Program const& p, int depth) {
  i64 const leaf = shape_of<Program>.elements(), leaves = p.extent == 0 ? 0 : (p.extent - 1) / leaf + 1;
  i64 half = 1;
  while (2 * half < leaves)
    half *= 2;
  if (leaves < 2 || depth == 0)
    return compute(p, on::cpu.threads(1), contract::reproducible);
  return p.combine(states_in_parts(p.part(0, half * leaf), depth - 1),
                   states_in_parts(p.part(half * leaf, p.extent - half * leaf), depth - 1));
}
/// The first of every array of answers.
template <class Answers>
auto first_answers(Answers const& a) {
  if constexpr (requires { std::tuple_size<Answers>::value; })
    return std::apply([](auto const&... of) { return std::tuple(of[0]...); }, a);
  else
    return a[0];
}

/// The runs of a reduction that must not change a bit of it.
template <class R, class Promise>
class invariance_check;
template <class Source, class Values, class Mask, class... Folds, class Promise>
class invariance_check<reduced<piped<Source, Values, Mask>, Folds...>, Promise> {
public:
  using reduction = reduced<piped<Source, Values, Mask>, Folds...>;
  invariance_check(reduction const& r, Promise promise)
      : r_(r), promise_(promise), bound_(bind_checked<Promise>(r)), expected_(run(r, on::cpu.threads(1), promise)) {}

  bool all() {
    split();
    if constexpr (extendable_ && !names_axes_) {
      pad();
      batch_up();
    }
    if constexpr (!names_axes_)
      permute();
    return all_same_;
  }

private:
  using bound_type = decltype(bind_checked<Promise>(std::declval<reduction const&>()));
  reduction const& r_;
  Promise promise_;
  bound_type bound_;
  decltype(run(std::declval<reduction const&>(), on::cpu, std::declval<Promise>())) expected_;
  bool all_same_ = true;
  static constexpr bool extendable_ = []<class... Columns>(pack<Columns...> const*) {
    return (true && ... && extendable<Columns>);
  }(static_cast<decltype(bound_.program.columns) const*>(nullptr));

  /// index_along of a source of other axes would be another number.
  static constexpr bool names_axes_ = tally::v0::detail::highest_axis<pack<Values, Mask, Folds...>> >= 0;

  template <class Answers>
  void check(Answers const& got, char const* how) {
    bool const same = same_bits(expected_, got);
    all_same_ = all_same_ && same;
    DOCTEST_CHECK_MESSAGE(same, std::string(how) << " gives other bits than alone: " << text_of(r_));
  }
  template <bool InPlace>
  auto rearranged(std::vector<i64> const& order) const {
    return [&]<class... Columns>(pack<Columns...> const& columns) {
      return rearranged_rows<InPlace, Columns...>(columns, order);
    }(bound_.program.columns);
  }
  std::vector<i64> rows_and(i64 more) const {
    std::vector<i64> order(static_cast<std::size_t>(bound_.program.extent + more), -1);
    for (i64 i = 0; i < bound_.program.extent; ++i)
      order[static_cast<std::size_t>(i)] = i;
    return order;
  }
  template <class Pipe>
  static auto again(Pipe const& pipe, pack<Folds...> const& folds) {
    return reduced<Pipe, Folds...>{pipe, folds};
  }
  void split() {
    for (int depth = 1; depth <= 3; ++depth)
      check(tally::v0::detail::answers_of(r_, bound_, states_in_parts(bound_.program, depth)), "split into subtrees, it");
  }
  void pad() {
    i64 const n = bound_.program.extent;
    auto const mask = both_masks(r_.pipe.mask, tally::v0::index < n);
    for (i64 const more : {i64(1), i64(1000), 4 * n + 5}) {
      auto const rows = rearranged<true>(rows_and(more));
      check(run(again(rows.pipe(r_.pipe.values, mask), r_.folds), on::cpu.threads(2), promise_), "padded with masked rows, it");
    }
  }
  void batch_up() {
    i64 const n = bound_.program.extent;
    check(std::get<0>(run(batch(r_, r_), on::cpu, promise_)), "in a batch, it");
    auto const rows = rearranged<true>(rows_and(2 * n));
    auto const matrix = rows.pipe(r_.pipe.values, r_.pipe.mask, i64(3), n);
    if constexpr (std::same_as<decltype(tally::v0::detail::judge_group_folds<std::remove_cvref_t<decltype(matrix)>, Folds...>()), allowed>) {
      auto const as_rows = unpack([](auto... f) { return over<1>(f...); }, r_.folds);
      if (n > 0)
        check(first_answers(run(matrix | as_rows, on::cpu, promise_)), "as a row among others, it");
      std::vector<i64> const offsets{0, n, 3 * n};
      auto const as_segment = unpack([&](auto... f) { return by_segment(offsets, f...); }, r_.folds);
      check(first_answers(run(rows.pipe(r_.pipe.values, r_.pipe.mask) | as_segment, on::cpu, promise_)), "as a segment, it");
    }
  }
  void permute() {
    if (!takes_any_order(bound_.program))
      return;
    auto order = rows_and(0);
    std::reverse(order.begin(), order.end());
    u64 random = 20261120;
    for (int round = 0; round < 3; ++round) {
      auto const rows = rearranged<false>(order);
      check(run(again(rows.pipe(r_.pipe.values, r_.pipe.mask), r_.folds), on::cpu.threads(2), promise_), "permuted, it");
      for (std::size_t i = order.size(); i > 1; --i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        std::swap(order[i - 1], order[(random >> 33) % i]);
      }
    }
  }
};

} // namespace detail

/// Checks, on the CPU, that no bit of a reduction changes when it is computed in parts, padded with rows that a mask holds back (of
/// NaN, where there is one), run in a batch, as a row of a matrix and as a segment among others; and when its rows are permuted,
/// where every fold is free of order (under tally::exact: sums of floats too). True when all agree; throws what run throws.
template <class R, class Promise = contract>
  requires(finished<R> && !is_grouped<R>)
bool check_invariance(R const& r, Promise promise = contract::reproducible) {
  return detail::invariance_check<R, Promise>(r, promise).all();
}

namespace detail {

inline std::string text_of_plan(plan const& p) {
  int sources = max_sources, folds = max_folds;
  while (sources > 0 && p.sources[sources - 1] == source_choice{})
    --sources;
  while (folds > 1 && p.folds[folds - 1] == fold_choice{})
    --folds;
  return spell(p, sources, folds);
}
inline std::string text_of_planned(planned const& p) {
  std::string out = text_of_plan(p.plan) + " on " + std::to_string(p.blocks) + " blocks";
  for (int i = 0; i < p.why_not.count; ++i) {
    refusal const& no = p.why_not.entries[i];
    std::string reason = no.reason;
    for (int k = 0; k < 2; ++k)
      if (auto const at = reason.find("{" + std::to_string(k) + "}"); at != std::string::npos)
        reason.replace(at, 3, std::to_string(no.numbers[k]));
    out += std::string("\n  not ") + no.choice + ": " + reason;
  }
  return out;
}
template <class T>
std::string text_of_pipeline(T const& p) {
  if constexpr (finished<T>) {
    return text_of(p);
  } else {
    printer out;
    print_pipe(out, p);
    return out.out.substr(0, out.out.size() - 3); // nothing follows
  }
}
inline doctest::String shown(std::string const& s) { return s.c_str(); }

} // namespace detail

} // namespace tally::v0::testing

namespace tally::v0 {
// doctest finds these by the type of their argument; enumerations would otherwise be printed as numbers.
inline doctest::String toString(contract c) { return spell(c); }
inline doctest::String toString(combine_order o) { return spell(o); }
inline doctest::String toString(load_primitive l) { return spell(l); }
inline doctest::String toString(block_algorithm b) { return spell(b); }
} // namespace tally::v0

namespace doctest {
template <>
struct StringMaker<tally::v0::plan> {
  static String convert(tally::v0::plan const& p) { return tally::v0::testing::detail::shown(tally::v0::testing::detail::text_of_plan(p)); }
};
template <>
struct StringMaker<tally::v0::planned> {
  static String convert(tally::v0::planned const& p) {
    return tally::v0::testing::detail::shown(tally::v0::testing::detail::text_of_planned(p));
  }
};
template <>
struct StringMaker<tally::v0::explanation> {
  static String convert(tally::v0::explanation const& e) { return tally::v0::testing::detail::shown("\n" + e.text()); }
};
template <class T>
  requires tally::v0::pipeline<T>
struct StringMaker<T> {
  static String convert(T const& p) { return tally::v0::testing::detail::shown(tally::v0::testing::detail::text_of_pipeline(p)); }
};
template <class T>
  requires(tally::v0::expression<T> || tally::v0::fold_like<T>)
struct StringMaker<T> {
  static String convert(T const& e) { return tally::v0::testing::detail::shown(tally::v0::text_of(e)); }
};
template <class T>
struct StringMaker<tally::v0::extent_of_values<T>> {
  static String convert(tally::v0::extent_of_values<T> const& e) {
    std::ostringstream out;
    out << "min " << +e.min << ", max " << +e.max;
    return out.str().c_str();
  }
};
template <class A, int K>
struct StringMaker<tally::v0::moments_result<A, K>> {
  static String convert(tally::v0::moments_result<A, K> const& m) {
    std::ostringstream out;
    out << m.n << " elements, mean " << m.mean << ", central moments";
    for (auto c : m.central)
      out << " " << c;
    return out.str().c_str();
  }
};
} // namespace doctest

namespace tally {
using v0::block_algorithm, v0::cluster_combine, v0::combine_order, v0::load_primitive; // what plans hold
} // namespace tally
