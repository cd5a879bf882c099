// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain for pipelines in which lets stand, and for those that end with collect: every let is a domain, in the order in which they are
// folded, then what looks at them. Layer 5.
#pragma once

#include <tally/run/explain_grouped.hpp>
#include <tally/run/run_collect.hpp>
#include <tally/run/run_let.hpp>

namespace tally::v0 {

namespace detail {

template <class R, class... Options>
concept explainable_with_lets = runnable_with_lets<R, place_for<Options>...> || runnable_collection<R, place_for<Options>...>;

/// Which lets are described, and in which domain.
class described_lets {
public:
  template <class Let>
  int find(Let const& let) const {
    auto const* at = static_cast<int const*>(known_.find(let));
    return at == nullptr ? -1 : *at;
  }
  template <class Let>
  void add(Let const& let, int domain) {
    known_.add(let, &known_.keep(domain));
  }

private:
  answers_of_lets known_;
};

/// Which column of another source, in the same way, a column is; -1: none.
template <class Column, class Source>
int same_column_of([[maybe_unused]] Column const& c, [[maybe_unused]] Source const& main) {
  int at = -1;
  for_each_index<decltype(main.columns)::size>([&](auto i) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(get<i>(main.columns))>, Column> && Column::lowerable)
      if (at < 0 && same_bytes(get<i>(main.columns), c))
        at = i;
  });
  return at;
}
/// Whether a column has to be copied to a GPU.
template <class Column>
bool lies_on_host([[maybe_unused]] Column const& c) {
  if constexpr (memory_column<Column>) {
    auto const where = gpu::residence_of(c.data);
    return where == gpu::residence::host || where == gpu::residence::pinned;
  } else {
    return false;
  }
}

/// Says where the columns of a domain come from: those of its source, then the answers of its lets.
template <class Source, class Main, class Lets>
[[gnu::cold]] void describe_origins(domain_description& d, Source const& own, Main const& main, Lets const& lets, described_lets const& known) {
  constexpr bool is_main = std::same_as<Source, Main>;
  for_each_index<decltype(own.columns)::size>([&](auto i) {
    auto const& c = get<i>(own.columns);
    int at = is_main && static_cast<void const*>(&own) == &main ? int(i) : same_column_of(c, main);
    d.add_origin(at >= 0 ? column_home::head : column_home::apart, at);
    if (at < 0)
      d.of.sources[std::size_t(i)].staged = lies_on_host(c);
  });
  unpack(
      [&](auto const&... l) {
        ((d.of.sources[d.origins.size()].name = text_of(l), d.add_origin(column_home::answers, known.find(l))), ...);
      },
      lets);
}
/// What columns are called in the folds of a pipe: those of its source by their numbers, lets by their text.
template <class Pipe, class Lets>
[[gnu::cold]] name_list names_beside(Pipe const& pipe, Lets const& lets) {
  name_list names;
  for (int i = 1; i <= decltype(pipe.source.columns)::size; ++i)
    names.add_column("_" + std::to_string(i));
  unpack([&](auto const&... l) { (names.add_column(text_of(l)), ...); }, lets);
  return names;
}
/// A range that only host code knows, read by a let alone.
[[gnu::cold]] inline std::string why_host_alone(domain_description const& d) {
  for (std::size_t i = 0; i < d.origins.size(); ++i)
    if (d.origins[i].home == column_home::apart && d.of.sources[i].host_only)
      return "only host code knows the elements of a range of it";
  return {};
}

template <class... Options, class Main, class Pipe, class Items>
[[gnu::cold]] void describe_lets(grouped_description& out, Main const& main, Pipe const& pipe, Items const& items, contract c, described_lets& known);
/// One let, after those in it.
template <class... Options, class Main, class Let>
[[gnu::cold]] void describe_let(grouped_description& out, Main const& main, Let const& let, contract c, described_lets& known) {
  auto const own = make_pack(let.item);
  check_source(let.pipe.source);
  describe_lets<Options...>(out, main, let.pipe, own, c, known);
  if (known.find(let) >= 0)
    return;
  auto const lets = all_lets(let.pipe, own);
  auto const r = beside_no_answers<Options...>(let.pipe, own);
  auto const pipe = pipe_for<Options...>(r.pipe);
  auto const bound = get<0>(r.items).bind(pipe);
  using Bound = std::remove_cvref_t<decltype(bound)>;
  check_folds(bound.program.leaves);
  domain_description d;
  d.name = text_of(let);
  d.is_let = true;
  d.bytes_of_answers = bytes_of_answers<decltype(Bound::program)>(static_cast<decltype(Bound::nodes) const*>(nullptr));
  describe_bound(d, pipe, bound, get<0>(r.items).folds, r.pipe.source, c, names_beside(let.pipe, lets));
  describe_origins(d, grid_of(let.pipe.source), main, lets, known);
  d.no_kernel = why_host_alone(d);
  if (d.no_kernel.empty())
    d.no_kernel = why_no_kernel<Bound>();
  known.add(let, int(out.domains.size()));
  out.add(std::move(d));
}
template <class... Options, class Main, class Pipe, class Items>
[[gnu::cold]] void describe_lets(grouped_description& out, Main const& main, Pipe const& pipe, Items const& items, contract c, described_lets& known) {
  auto const own = grid_of(pipe.source);
  unpack([&](auto const&... l) { (check_let(l, own), ...); }, all_lets(pipe, items));
  unpack([&](auto const&... l) { (describe_let<Options...>(out, main, l, c, known), ...); }, all_lets(pipe, items));
}

template <class Plain>
[[gnu::cold]] std::string ptx_of_elements(domain_description const& d) {
  using Program = decltype(program_of_elements(std::declval<Plain const&>()));
  using Values = std::remove_cvref_t<decltype(std::declval<Plain const&>().values)>;
  return gpu::ptx_of(gpu::unit_of(elements_type_of<Program, row_of<Plain>, Values>(), d.of_elements.plan, d.of.facts.source_count, d.arrays),
                     d.of.facts.target);
}
template <class Pipe, class Plain, bool Keeps>
[[gnu::cold]] std::string ptx_of_rows(domain_description const& d) {
  if (!d.of_rows.possible)
    return ptx_of_elements<Plain>(d);
  return gpu::ptx_of(gpu::unit_of(rows_type_of<Pipe, Keeps>(), d.of_rows.plan, d.rows.of.source_count, d.arrays), d.of.facts.target);
}

/// Whether elements and their lets may be one kernel, or why not.
template <class Plain, class... Options, class Pipe>
[[gnu::cold]] void describe_rows(domain_description& d, Pipe const& pipe) {
  using Rows = rows_of_pipe<Pipe>;
  auto const refuse = [&](char const* reason, std::string of = {}) { d.refuse_rows(reason, std::move(of)); };
  auto const chain = in_order(pack<>{}, all_lets(pipe, pack<>{}));
  if constexpr (asks_exact<Options...>) {
    refuse("the contract is exact, sums keep every bit until the end");
  } else if constexpr (Rows::possible) {
    auto base = computing_rows<Pipe>::base(pipe);
    axes_layout const at = computing_rows<Pipe>::layout(base, pipe);
    if (auto const* why = why_rows_differ(pipe, chain))
      refuse(why);
    else if (at.reduced_axes != 1)
      refuse("a row is one element");
    base.extent = at.extent;
    d.rows = {facts_of(base, target{}, contract{}), at};
    if constexpr (has_device_text(static_cast<Plain const*>(nullptr))) {
      d.rows.written_only = computing_rows<Pipe>::written_only;
      d.ptx_of = computing_rows<Pipe>::choose(pipe, chain, [](auto keeps) { return &ptx_of_rows<Pipe, Plain, decltype(keeps)::value>; });
    }
  } else {
    unpack(
        [&]<class... Lets>(Lets const&... l) {
          ([&] {
            if (auto const* why = why_not_in_row<Rows::rank, typename Rows::Main, typename Rows::Source, Lets>())
              refuse(why, text_of(l));
          }(), ...);
        },
        chain);
    if (d.no_rows.empty())
      refuse("its columns and lets together are more than 8");
  }
}

/// The elements, written behind their lets.
template <class... Options, class R>
[[gnu::cold]] void describe_elements(grouped_description& out, R const& r, contract c) {
  auto const beside = beside_no_answers<Options...>(r.pipe, pack<>{}).pipe;
  auto const values = unpack([&](auto const&... v) { return make_pack(with_axes_of(beside.source, v)...); }, beside.values);
  using Plain = piped<std::remove_cvref_t<decltype(beside.source)>, std::remove_cvref_t<decltype(values)>, always>;
  auto const p = program_of_elements(Plain{beside.source, values, {}});
  domain_description d;
  d.name = "collect";
  d.kind = grouping_kind::elements;
  describe_folds(d.of, r.pipe, pack<>{}, p, c, {});
  unpack([&](auto const&... v) { (d.of.add_answer(text_of(v)), ...); }, r.pipe.values);
  d.at = layout_of(p, beside.source, nothing_reduced);
  d.groups = d.of.facts.extent = d.at.groups;
  [&]<class... Ts>(pack<Ts...> const*) {
    ((d.written[d.arrays++] = {int(sizeof(Ts)), 16}, d.bytes_of_answers += i64(sizeof(Ts))), ...);
  }(static_cast<typename element_types<Plain>::type const*>(nullptr));
  if constexpr (has_device_text(static_cast<Plain const*>(nullptr)))
    d.ptx_of = &ptx_of_elements<Plain>;
  else if constexpr (all_lowerable(static_cast<std::remove_cvref_t<decltype(r.pipe.source.columns)> const*>(nullptr)))
    d.no_kernel = "a host function has no device text; TALLY_FUNCTION would have";
  if constexpr (decltype(all_lets(r.pipe, pack<>{}))::size > 0)
    describe_rows<Plain, Options...>(d, r.pipe);
  out.add(std::move(d));
}

template <class... Options, class R>
[[gnu::cold]] grouped_description describe_with_lets(R const& r, contract c) {
  grouped_description out;
  out.pipeline = text_of(r);
  describe_head(out, r.pipe, c);
  described_lets known;
  auto const main = grid_of(r.pipe.source);
  auto const lets = all_lets(r.pipe, r.folds);
  describe_lets<Options...>(out, main, r.pipe, r.folds, c, known);
  std::size_t const earlier = out.domains.size();
  if constexpr (is_collected<R>)
    describe_elements<Options...>(out, r, c);
  else
    describe_items<Options...>(out, reduction_of(beside_no_answers<Options...>(r.pipe, r.folds)), c, names_beside(r.pipe, lets));
  for (std::size_t i = earlier; i < out.domains.size(); ++i)
    describe_origins(out.domains[i], main, main, lets, known);
  return out;
}

template <class R>
constexpr bool gpu_may_take() {
  if constexpr (is_collected<R>)
    return runnable_collection<R, on::gpu_place>;
  else
    return runnable_with_lets<R, on::gpu_place>;
}

} // namespace detail

/// What run would do with a pipeline in which lets stand, or that ends with collect: every let is a domain before those that look at
/// it, or is folded in the kernel of the elements. Options and errors are those of explain of a reduction with groupings.
template <class R, class... Options>
  requires(looks_back<R> && detail::explainable_with_lets<R, Options...>)
auto explain(R const& r, Options... options) {
  check_source(r.pipe.source);
  auto d = detail::describe_with_lets<detail::place_for<Options>...>(r, detail::contract_in(options...));
  auto b = detail::bind_to(r.pipe, pack<>{});
  auto const places = detail::places_of_head<detail::gpu_may_take<R>()>(b.program);
  return detail::explain_at(std::move(d), places, detail::asked_in(options...));
}

/// What run refuses is refused, and the type says why.
template <detail::collection R, class... Options>
  requires(!detail::explainable_with_lets<R, Options...>)
auto explain(R const&, Options const&...) -> typename decltype(detail::judge_collect<R, detail::place_for<Options>...>())::type {
  return {};
}
template <detail::reduction_with_lets R, class... Options>
  requires(!detail::explainable_with_lets<R, Options...>)
auto explain(R const&, Options const&...) -> typename decltype(detail::judge_call_with_lets<R, detail::place_for<Options>...>())::type {
  return {};
}

} // namespace tally::v0
