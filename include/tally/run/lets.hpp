// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a pipeline with lets to one without: every let is folded, where the pipeline runs, and a column of its answers takes its
// place. Layer 5. Answers stay where they were computed; a fold that several lets name is run once.
#pragma once

#include <vector>

#include <tally/element/earlier.hpp>
#include <tally/run/arena.hpp>
#include <tally/run/heap_array.hpp>
#include <tally/run/run_grouped.hpp>
#include <tally/run/same_let.hpp>

namespace tally::inline v0::detail {

template <class T>
inline char const tag_of_type{};

/// Answers of lets, alive as long as this.
class answers_of_lets {
public:
  /// Where the answers of a let are; null when it has not run.
  template <class Let>
  void const* find(Let const& let) const {
    for (auto const& e : all_)
      if (e.type == &tag_of_type<Let> && same_let(*static_cast<Let const*>(e.let), let))
        return e.data;
    return nullptr;
  }
  /// What owns the answers of a let.
  template <class Memory>
  Memory& keep(Memory memory) {
    return memory_.keep(std::move(memory));
  }
  template <class Let>
  void add(Let const& let, void const* data) {
    all_.push_back({&tag_of_type<Let>, &memory_.keep(let), data});
  }

private:
  struct entry {
    void const *type, *let, *data;
  };
  arena memory_;
  std::vector<entry> all_;
};

/// A source as a grid.
template <class... Columns>
constexpr auto grid_of(source<Columns...> const& s) {
  grid<1, Columns...> g{};
  g.columns = s.columns;
  for (std::size_t i = 0; i < sizeof...(Columns); ++i)
    g.extents[i] = g.axes[i][0] = s.extents[i];
  return g;
}
template <int Rank, class... Columns>
constexpr auto grid_of(grid<Rank, Columns...> const& s) {
  return s;
}

/// The extents of a let's answers must be those of the source, along the axes that they have.
template <class Let, int Rank, class... Columns>
void check_let(Let const& let, grid<Rank, Columns...> const& beside) {
  using Where = typename Let::where;
  if constexpr (Where::kept > 0)
    for (int k = 0; k < Rank; ++k)
      if (i64 const has = extent_along(let.pipe.source, k); !Where::is_reduced(k) && has != beside.extent_along(k))
        throw extent_mismatch("a let has " + std::to_string(has) + " answers along axis " + std::to_string(k) + ", the source has " +
                              std::to_string(beside.extent_along(k)) + " elements.");
}

/// The answers of a let along the axes of a source.
template <class T, class Let, int Rank, class... Columns>
earlier_along<T, Rank> answers_along(Let const& let, T const* data, grid<Rank, Columns...> const& beside) {
  using Where = typename Let::where;
  earlier_along<T, Rank> c{data, {}, {}};
  i64 step = 1;
  for (int k = Rank - 1; k >= 0; --k) {
    c.extents[k] = beside.extent_along(k);
    bool const kept = Where::kept > 0 && !Where::is_reduced(k);
    c.strides[k] = kept ? step : 0;
    if (kept)
      step *= extent_along(let.pipe.source, k);
  }
  return c;
}
/// The answers of a let as a column beside those of a source. Where elements go by keys or by segments the one answer of a whole source is none in memory,
/// so that the others are still read by neighbours.
template <class Items, class T, class Let, int Rank, class... Columns>
auto column_of_let(Let const& let, T const* data, grid<Rank, Columns...> const& beside) {
  using Where = typename Let::where;
  if constexpr (Where::kept == 0 && !go_along_axes<Items>)
    return sole_answer<T>{data};
  else
    return answers_along<T>(let, data, beside);
}

/// A grid with further columns that have all its axes.
template <int Rank, class... Columns, class... More>
constexpr auto beside(grid<Rank, Columns...> const& g, pack<More...> const& more) {
  constexpr int own = int(sizeof...(Columns)), all = own + int(sizeof...(More));
  grid<Rank, Columns..., More...> out{};
  out.columns = join(g.columns, more);
  i64 whole = 1;
  for (int k = 0; k < Rank; ++k)
    whole *= g.extent_along(k);
  for (int i = 0; i < all; ++i) {
    out.extents[i] = i < own ? g.extents[i] : whole;
    for (int k = 0; k < Rank; ++k)
      out.axes[i][k] = i < own ? g.axes[i][k] : any_extent;
  }
  return out;
}

/// A pipe and what follows it, without lets.
template <class Pipe, class Items>
struct pipe_and_items {
  Pipe pipe;
  Items items;
};
/// Puts columns in the place of lets; source has them behind its own, Own in number.
template <int Own, class Source, class Pipe, class Items>
constexpr auto with_columns_for_lets(Source const& source, Pipe const& pipe, Items const& items) {
  constexpr int of_mask = Own + let_count<decltype(pipe.values)>, of_items = of_mask + let_count<decltype(pipe.mask)>;
  auto values = without_lets<Own, false>(pipe.values);
  auto mask = without_lets<of_mask, false>(pipe.mask);
  auto rest = without_lets<of_items, true>(items);
  using Pipe2 = piped<Source, decltype(values), decltype(mask)>;
  return pipe_and_items<Pipe2, decltype(rest)>{{source, values, mask}, rest};
}

template <class... Options, class Pipe, class Items, class Place>
auto without_lets_in(Pipe const& pipe, Items const& items, Place where, contract c, answers_of_lets& kept);

/// The type of the answers of a domain with one fold.
template <class Domain>
using answer_in_domain = group_answer_of<std::remove_cvref_t<decltype(get<0>(std::declval<Domain const&>().nodes))>, decltype(Domain::program)>;

/// Where the answers of a domain begin: an array's, or the one.
template <class T>
T const* first_of(T const& one) {
  return &one;
}
template <class T, int Rank>
T const* first_of(mdarray<T, Rank> const& all) {
  return all.data();
}

/// Folds on the host.
template <class Let, class T, class Domain, class Source>
T const* answers_kept(Let const& let, Domain const& d, Source const& s, on::cpu_place where, contract c, answers_of_lets& kept) {
  T const* const data = first_of(kept.keep(compute_groups(d, s, where, c)));
  kept.add(let, data);
  return data;
}
/// Folds on a GPU, in the order of its stream; the answers stay there.
template <class Let, class T, class Domain, class Source>
T const* answers_kept(Let const& let, Domain const& d, Source const& s, on::gpu_place where, contract c, answers_of_lets& kept) {
  using Where = typename Let::where;
  axes_layout const at = layout_of(s, Where::is_reduced);
  struct memory_of_answers {
    gpu::device_memory answers;
    gpu::staged_columns staged;
  };
  auto& memory = kept.keep(memory_of_answers{});
  auto const bytes = static_cast<std::size_t>(at.groups) * sizeof(T);
  if constexpr (any_checked(leaves_of<decltype(d.program)>)) { // by the host, which looks at them
    auto const answers = compute_groups(d, s, where, c);
    if (at.groups > 0)
      memory.answers = gpu::stage(first_of(answers), bytes, where.ordinal, where.queue);
  } else if (at.groups > 0 && (at.extent == 0 || decltype(d.program)::leaf_count == 0)) {
    heap_array<T> const same(static_cast<std::size_t>(at.groups));
    for (i64 g = 0; g < at.groups; ++g)
      same[static_cast<std::size_t>(g)] = group_answer(get<0>(d.nodes), d.program.leaves, d.program.identity(), at.extent);
    memory.answers = gpu::stage(same.data(), bytes, where.ordinal, where.queue);
  } else if (at.groups > 0) {
    auto p = d.program;
    memory.answers = gpu::allocate(bytes, where.ordinal, where.queue);
    answer_arrays to{};
    to.at[0] = memory.answers.data();
    queue_groups(p, d.nodes, at, where, c, to, memory.staged);
  }
  auto const* data = static_cast<T const*>(memory.answers.data());
  kept.add(let, data);
  return data;
}

/// Throws empty_input where a let folds a whole source that has no element, and its fold has no answer of nothing.
template <class Node, class Program, class Let>
void check_not_empty(Node const& node, Program const& p, Let const& let, i64 extent) {
  auto const nothing = p.identity();
  answers::outcome<std::remove_cvref_t<decltype(p.leaves)>, typename Program::states> const o{p.leaves, nothing, {0}};
  if (extent == 0 && answers::is_empty(node, o))
    throw_no_element(text_of(let.fold), 0);
}

/// The answers of a let: those that are there, or folded now, after the lets in it.
template <class... Options, class Let, class Place>
auto answers_of_let(Let const& let, Place where, contract c, answers_of_lets& kept) {
  auto const r = without_lets_in<Options...>(let.pipe, make_pack(let.fold), where, c, kept);
  auto const d = bind_domain(typename Let::where{}, pipe_for<Options...>(r.pipe), r.items);
  using T = answer_in_domain<std::remove_cvref_t<decltype(d)>>;
  if (auto const* there = static_cast<T const*>(kept.find(let)))
    return there;
  check_folds(d.program.leaves);
  if constexpr (Let::where::kept == 0)
    check_not_empty(get<0>(d.nodes), d.program, let, layout_of(r.pipe.source, Let::where::is_reduced).extent);
  return answers_kept<Let, T>(let, d, r.pipe.source, where, c, kept);
}

/// A pipe and its items with columns of answers in the place of lets; `kept` owns the answers.
template <class... Options, class Pipe, class Items, class Place>
auto without_lets_in(Pipe const& pipe, Items const& items, Place where, contract c, answers_of_lets& kept) {
  check_source(pipe.source);
  auto const lets = all_lets(pipe, items);
  constexpr int count = decltype(all_lets(pipe, items))::size;
  if constexpr (count == 0) {
    return pipe_and_items<Pipe, Items>{pipe, items};
  } else {
    auto const own = grid_of(pipe.source);
    unpack([&](auto const&... l) { (check_let(l, own), ...); }, lets);
    auto const columns = unpack(
        [&](auto const&... l) { return make_pack(column_of_let<Items>(l, answers_of_let<Options...>(l, where, c, kept), own)...); }, lets);
    return with_columns_for_lets<decltype(own.columns)::size>(beside(own, columns), pipe, items);
  }
}

} // namespace tally::inline v0::detail
