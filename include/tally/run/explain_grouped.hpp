// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// explain for reductions with groupings: every grouping, and the folds of the whole together, as a domain of its own. Layer 5. Here
// types become plain facts; placing, planning and rendering are compiled.
#pragma once

#include <tally/pipeline/keyed.hpp>
#include <tally/plan/explain_grouped.hpp>
#include <tally/run/explain.hpp>
#include <tally/run/run_group_by.hpp>
#include <tally/run/run_grouped.hpp>
#include <tally/run/run_keyed.hpp>

namespace tally::v0 {

namespace detail {

template <class R, class... Options>
concept explainable_grouped = runnable_grouped<R, place_for<Options>...>;

/// The folds of a domain: answers, columns and leaves.
template <class Pipe, class Folds, class Program>
[[gnu::cold]] void describe_folds(description& d, Pipe const& pipe, Folds const& folds, Program const& p, contract c, name_list names) {
  unpack([&](auto const&... f) { (d.add_answer(text_of(f, names.of_columns())), ...); }, folds);
  d.facts = facts_of(p, target{}, c);
  unpack([&](auto const&... column) { (describe_column(d, column), ...); }, p.columns);
  unpack([&](auto const&... f) { name_all(pipe, pack<>{}, names, f...); }, folds);
  describe_leaves(d, p, names);
  d.leaves_per_tile = cpu::leaves_per_tile;
}

/// Where the elements of a source are when none of its axes is kept.
template <class Program, class Source>
axes_layout layout_of_all(Program const& p, Source const& s) {
  return layout_of(p, s, [](int) { return true; });
}

template <class Program, class Nodes>
[[gnu::cold]] std::string ptx_of_axes(domain_description const& d) {
  return gpu::ptx_of(gpu::unit_of(group_type_of<Program, Nodes>(), d.planned.plan, d.of.facts.source_count), d.of.facts.target);
}
template <class Program, class Nodes>
[[gnu::cold]] std::string ptx_of_exact_rows(domain_description const& d) {
  return gpu::ptx_of(gpu::unit_of(group_type_of<Program, Nodes>(), offset_text<evenly>(), d.of_segments), d.of.facts.target);
}
template <class Offset, class Program, class Nodes>
[[gnu::cold]] std::string ptx_of_segments(domain_description const& d) {
  return gpu::ptx_of(gpu::unit_of(group_type_of<Program, Nodes>(), offset_text<Offset>(), d.of_segments), d.of.facts.target);
}
/// Of sorted elements, of rows that are sorted and of elements that are partitioned, both kernels: what brings them in order, and the folds.
template <class Where, class Program, class Nodes>
[[gnu::cold]] std::string ptx_of_keys(domain_description const& d) {
  auto const& type = keyed_types<Where, Program, Nodes>::type();
  target const& t = d.of.facts.target;
  if (d.of_sorted.folds.blocks > 0)
    return gpu::ptx_of(gpu::unit_of_sort(type, d.of_sorted.sort.plan), t) + gpu::ptx_of(gpu::unit_of_folds(type, d.of_sorted.plan), t);
  else if (auto const& rows = d.of_sorted_rows; rows.blocks > 0)
    return gpu::ptx_of(gpu::unit_of_sort(type, rows.sort.plan), t) + gpu::ptx_of(gpu::unit_of_folds(type, rows.plan), t);
  else if (auto const& partitioned = d.of_partitions; partitioned.blocks > 0)
    return gpu::ptx_of(gpu::unit_of_partition(type, partitioned.plan), t) + gpu::ptx_of(gpu::unit_of_folds(type, partitioned.plan), t);
  else
    return gpu::ptx_of(gpu::unit_of(type, d.of_keys.plan), t);
}
/// What the planner of keys knows of the types of a domain, whose elements are Sorted or not.
template <bool Sorted, class Where, class Program, class Nodes>
[[gnu::cold]] void describe_keys(domain_description& out, domain<Where, Program, Nodes> const& d) {
  out.by_key = facts_of_keys(d, d.program, out.at, target{}, contract{});
  out.by_key.slots = out.groups;
  out.is_sorted = Sorted;
  if constexpr (Program::lowerable && Where::lowerable)
    out.ptx_of = &ptx_of_keys<Where, Program, Nodes>;
}
/// The search, and the folds as they are planned for most keys of the first table.
template <class Where, class Program, class Nodes>
[[gnu::cold]] std::string ptx_of_found_keys(domain_description const& d) {
  using search = find_keys_types<Where, Program>;
  using Numbered = typename groups_by_number<Where, typename search::word>::type;
  return gpu::ptx_of(gpu::unit_of(search::type(), d.of_search.plan), d.of.facts.target) + ptx_of_keys<Numbered, Program, Nodes>(d);
}
/// The same of a domain whose keys are found first, folded by their numbers.
template <bool Sorted, class Where, class Program, class Nodes>
[[gnu::cold]] void describe_found_keys(domain_description& out, domain<Where, Program, Nodes> const& d) {
  using search = find_keys_types<Where, Program>;
  using Numbered = typename groups_by_number<Where, typename search::word>::type;
  describe_keys<Sorted>(out, domain<Numbered, Program, Nodes>{Numbered(groups_by_number<Where, typename search::word>::among(d.where, {}, 0)), d.program, d.nodes});
  out.columns_of_key = columns_of_key<Where>;
  out.key_bytes = int(sizeof(key_type_of<Where, Program>));
  if constexpr (Program::lowerable && Where::lowerable)
    out.ptx_of = &ptx_of_found_keys<Where, Program, Nodes>;
}

template <int Rank, u32 Reduced, class Program, class Nodes, class Source>
[[gnu::cold]] void describe_where(domain_description& out, domain<groups_along_axes<Rank, Reduced>, Program, Nodes> const& d, Source const& s) {
  out.kind = grouping_kind::axes;
  out.at = layout_of(d.program, s, groups_along_axes<Rank, Reduced>::is_reduced);
  out.groups = out.at.groups;
  out.of.facts.extent = out.at.extent;
  out.on_host = cpu::detail::host_axes_of(d.program, out.at);
  out.exact_rows = are_exact_rows<Program>(out.at);
  if constexpr (Program::lowerable)
    out.ptx_of = out.exact_rows ? &ptx_of_exact_rows<Program, Nodes> : &ptx_of_axes<Program, Nodes>;
}
template <class Offset, class Program, class Nodes, class Source>
[[gnu::cold]] void describe_where(domain_description& out, domain<groups_between_offsets<Offset>, Program, Nodes> const& d, Source const& s) {
  out.kind = grouping_kind::segments;
  out.at = layout_of_all(d.program, s);
  out.groups = d.where.segments();
  out.of.facts.extent = d.program.extent;
  out.bytes_beside = d.where.entries * i64(sizeof(Offset));
  out.is_counted = d.where.count != nullptr;
  if constexpr (Program::lowerable)
    out.ptx_of = &ptx_of_segments<Offset, Program, Nodes>;
}
/// Of a keyed domain, the folds as they are or as exact wants them.
template <bool AsTheyAre, class Where, class Program, class Nodes, class Direct, class Source>
[[gnu::cold]] void describe_bins(domain_description& out, keyed_domain<Where, Program, Nodes, Direct> const& d, Source const& s) {
  constexpr bool sorted = is_sorted<AsTheyAre, std::remove_cvref_t<decltype(d)>>;
  auto const& taken = domain_under<AsTheyAre>(d);
  if constexpr (requires { d.where.bins; }) {
    out.kind = grouping_kind::keys;
    out.at = layout_of(d.program, s, Where::is_reduced);
    out.groups = d.where.bins * out.at.groups;
    describe_keys<sorted>(out, taken);
  } else {
    out.kind = grouping_kind::found_keys;
    out.at = layout_of_all(d.program, s);
    out.groups = -1;
    describe_found_keys<sorted>(out, taken);
  }
  out.of.facts.extent = out.at.extent * out.at.groups;
}

/// Why no kernel folds a domain, beside what its columns and folds say themselves.
template <class Domain>
std::string why_no_kernel() {
  if constexpr (std::same_as<decltype(judge_domain<Domain, on::gpu_place>()), allowed> || !decltype(Domain::program)::lowerable)
    return {};
  else
    return "only the host can compute the keys";
}

/// The folds of a grouping and where its groups are.
template <class Pipe, class Domain, class Folds, class Source>
[[gnu::cold]] void describe_bound(domain_description& d, Pipe const& pipe, Domain const& bound, Folds const& folds, Source const& s, contract c, name_list const& names) {
  describe_folds(d.of, pipe, folds, bound.program, c, names);
  describe_where(d, bound, s);
}
/// Of a keyed grouping as a contract takes it: fast folds as they are, where that is another program, others so that no order is seen; and those that a GPU may take instead.
template <class Pipe, class Where, class Program, class Nodes, class Direct, class Folds, class Source>
[[gnu::cold]] void describe_bound(domain_description& d, Pipe const& pipe, keyed_domain<Where, Program, Nodes, Direct> const& bound, Folds const& folds, Source const& s, contract c,
                                  name_list const& names) {
  using Keyed = std::remove_cvref_t<decltype(bound)>;
  domain_description exactly = d;
  describe_folds(exactly.of, within_bins_exactly(pipe), folds, bound.program, c, names);
  describe_bins<false>(exactly, bound, s);
  if constexpr (has_other_folds<Keyed>)
    if (c == contract::fast) {
      describe_folds(d.of, within_bins(pipe), folds, bound.direct.program, c, names);
      describe_bins<true>(d, bound, s);
      if constexpr (has_exact_folds<Keyed>)
        d.exactly.push_back(std::move(exactly));
      return;
    }
  d = std::move(exactly);
}

template <class... Options, class R, class Item>
[[gnu::cold]] void describe_item(grouped_description& out, R const& r, Item const& item, contract c, name_list const& names) {
  if constexpr (grouping<Item>) {
    auto const pipe = pipe_for<Options...>(r.pipe);
    auto const bound = item.bind(pipe);
    using Bound = std::remove_cvref_t<decltype(bound)>;
    check_folds(bound.program.leaves);
    domain_description d;
    d.name = text_of(item, names.of_columns());
    d.bytes_of_answers = bytes_of_answers<decltype(Bound::program)>(static_cast<decltype(Bound::nodes) const*>(nullptr));
    d.no_kernel = why_no_kernel<Bound>();
    describe_bound(d, pipe, bound, item.folds, r.pipe.source, c, names);
    out.add(std::move(d));
  }
}

/// The folds of the whole source, if there are any, in the place of the first of them.
template <class... Options, class R>
[[gnu::cold]] void describe_whole(grouped_description& out, R const& r, contract c, name_list const& names) {
  auto const folds = whole_folds(r.folds);
  if constexpr (decltype(whole_folds(r.folds))::size > 0) {
    auto const one = unpack([&](auto const&... f) { return reduced<std::remove_cvref_t<decltype(r.pipe)>, std::remove_cvref_t<decltype(f)>...>{r.pipe, folds}; }, folds);
    auto const b = bind_for<Options...>(one);
    check_folds(b.program.leaves);
    domain_description d;
    d.of = describe_reduction<asks_exact<Options...>>(one, b, c, names);
    d.at = layout_of_all(b.program, r.pipe.source);
    d.bytes_of_answers = bytes_of_answers<decltype(b.program)>(&b.nodes);
    for (auto const& a : d.of.answers)
      d.name += (d.name.empty() ? "" : ", ") + a;
    out.add(std::move(d));
  }
}

/// The keyed domains that are beside others, as their kernel knows them.
template <class Domains>
struct described_keys;
template <class... Where, class... Program, class... Nodes>
struct described_keys<pack<domain<Where, Program, Nodes>...>> {
  gpu::keys_beside_request requests[sizeof...(Where) + 1]{};
  gpu::keys_of_read joined{};
  explicit described_keys(grouped_description const& d) {
    gpu::keyed_type const* const types[] = {&keyed_types<Where, Program, Nodes>::type()..., nullptr};
    std::size_t const bytes[] = {sizeof(keys_beside<Where, Program>)..., 0};
    for (auto const& one : d.domains)
      if (one.number_beside >= 0 && one.of_beside.joins) {
        auto& request = requests[one.number_beside];
        request.keys.type = types[one.number_beside];
        request.planned = one.of_beside;
        request.argument_bytes = bytes[one.number_beside];
        joined.of[one.number_beside] = &request;
      }
  }
};
template <class Read, class Domains>
[[gnu::cold]] std::string ptx_of_mixed(grouped_description const& d) {
  auto request = Read::request_of_types();
  described_keys<Domains> keys(d);
  request.f = d.mixed.facts;
  request.keys = &keys.joined;
  return gpu::ptx_of(gpu::unit_of(request, d.joined.plan), d.head.facts.target);
}
template <class Program, class Domains>
[[gnu::cold]] std::string ptx_of_whole(grouped_description const& d) {
  described_keys<Domains> const keys(d);
  return gpu::ptx_of(gpu::unit_of(type_of<Program>(), d.of_whole.plan, d.whole, keys.joined, &definitions_with_keys<Program, Domains>), d.head.facts.target);
}
/// How many domains stand in front of those of a reduction.
template <class R>
int domains_before(grouped_description const& out, R const& r) {
  constexpr bool any_whole = decltype(whole_folds(r.folds))::size > 0;
  return int(out.domains.size()) - groupings_in(static_cast<std::remove_cvref_t<decltype(r.folds)> const*>(nullptr)) - int(any_whole);
}
/// Segments that take turns, as their kernel knows them, with the folds of the whole or a count.
template <class Program, class Keyed, class Segments>
struct described_turns;
template <class Program, class Keyed, class... Offset, class... Of, class... Nodes>
struct described_turns<Program, Keyed, pack<domain<groups_between_offsets<Offset>, Of, Nodes>...>> {
  static std::string ptx(grouped_description const& d) {
    described_keys<Keyed> const keys(d);
    gpu::full_request whole{};
    whole.type = &type_of<Program>();
    whole.f = d.whole;
    gpu::segments_request segments[sizeof...(Of)]{};
    gpu::turns_request r{};
    r.whole = d.in_turns.blocks.of[0] > 0 ? &whole : nullptr;
    r.keys = keys.joined;
    r.segments_bytes = sizeof(pack<segments_read<Of, Nodes, Offset>...>);
    r.definitions = &definitions_in_turns<Program, Keyed, domain<groups_between_offsets<Offset>, Of, Nodes>...>;
    int i = 0;
    auto const describe = [&](gpu::group_type const& t, char const* offset, std::size_t bytes) {
      segments[i].type = &t;
      segments[i].offset_type = offset;
      segments[i].argument_bytes = bytes;
      r.segments[i] = &segments[i];
      ++i;
    };
    (describe(group_type_of<Of, Nodes>(), offset_text<Offset>(), sizeof(segments_read<Of, Nodes, Offset>)), ...);
    return gpu::ptx_of(gpu::unit_of(r, d.in_turns), d.head.facts.target);
  }
};
/// Groupings by segment that may take turns.
template <class... Options, class R, class Program, class Keyed>
[[gnu::cold]] void describe_turns(grouped_description& out, R const& r, Program const*, Keyed const*) {
  using Pipe = decltype(pipe_for<Options...>(r.pipe));
  using Items = std::remove_cvref_t<decltype(r.folds)>;
  using Segments = decltype(segments_in_reduction(r, std::declval<Pipe const&>()));
  if constexpr (Segments::size > 0) {
    int const before = domains_before(out, r);
    for_each_index<Items::size>([&](auto i) {
      if constexpr (folds_segments<std::remove_cvref_t<decltype(get<i>(r.folds))>, Pipe>)
        out.domains[std::size_t(before + i - whole_folds_before<i>(&r.folds))].number_in_turns = number_of_segments<i, Pipe>(static_cast<Items const*>(nullptr));
    });
    if constexpr (Program::lowerable && Segments::size <= max_segments_in_turns)
      out.ptx_of_turns = &described_turns<Program, Keyed, Segments>::ptx;
  }
}
/// Keyed groupings whose elements another read may fold too.
template <bool Fast, class... Options, class R>
[[gnu::cold]] void describe_keys_beside(grouped_description& out, R const& r, contract c) {
  auto const pipe = pipe_for<Options...>(r.pipe);
  using Pipe = std::remove_cvref_t<decltype(pipe)>;
  using Domains = decltype(domains_beside<Fast>(r.folds, pipe));
  using Items = std::remove_cvref_t<decltype(r.folds)>;
  int const before = domains_before(out, r);
  for_each_index<Items::size>([&](auto i) {
    if constexpr (is_beside<Fast, std::remove_cvref_t<decltype(get<i>(r.folds))>, Pipe>) {
      constexpr int number = number_beside<Fast, i, Pipe>(static_cast<Items const*>(nullptr));
      if (number < max_keys_beside)
        out.domains[std::size_t(before + i - whole_folds_before<i>(&r.folds))].number_beside = number;
    }
  });
  auto const whole = read_with_keys<Domains>(r.pipe.source, bind_to(pipe, whole_folds(r.folds)).program);
  using Program = std::remove_cvref_t<decltype(whole)>;
  out.whole = facts_of(whole, target{}, c);
  out.whole.keys_beside = true;
  if constexpr (Program::lowerable)
    out.ptx_of_whole = &ptx_of_whole<Program, Domains>;
  describe_turns<Options...>(out, r, static_cast<Program const*>(nullptr), static_cast<Domains const*>(nullptr));
}
template <mixed_items At, class Domains, class R, class Pipe, class Leaves>
[[gnu::cold]] void describe_matrix_read(matrix_read_description& out, R const& r, Pipe const& pipe, Leaves const& whole, contract c) {
  auto const of = domains_of_matrix<At, keyed_domains<Domains>>(r.folds, pipe, whole);
  using read = typename std::remove_cvref_t<decltype(of)>::template read<keyed_domains<Domains>>;
  out.facts = read::facts(of.columns.program, layout_of_matrix<At>(of.columns.program, r.pipe.source), c);
  if constexpr (decltype(of.columns.program)::lowerable)
    out.ptx_of = &ptx_of_mixed<read, Domains>;
}
/// What is known of a matrix whose columns, rows and whole may share a read, with keys beside and without.
template <bool Fast, class... Options, class R>
[[gnu::cold]] void describe_mixed(grouped_description& out, R const& r, contract c) {
  constexpr mixed_items at = mixed_items_of<R>;
  int const before = domains_before(out, r);
  auto const pipe = pipe_for<Options...>(r.pipe);
  auto const whole = bind_to(pipe, whole_folds(r.folds));
  using Domains = decltype(domains_beside<Fast>(r.folds, pipe));
  out.is_matrix = true;
  if constexpr (at.columns >= 0)
    out.columns = before + at.columns - whole_folds_before<at.columns>(&r.folds);
  if constexpr (at.rows >= 0)
    out.rows = before + at.rows - whole_folds_before<at.rows>(&r.folds);
  if constexpr (at.each >= 0)
    out.each = before + at.each - whole_folds_before<at.each>(&r.folds);
  describe_matrix_read<at, pack<>>(out.alone, r, pipe, whole.program.leaves, c);
  describe_matrix_read<at, Domains>(out.mixed, r, pipe, whole.program.leaves, c);
  if constexpr (at.batch == 0)
    out.walk = matrix_on_host<at, std::remove_cvref_t<decltype(r.folds)>, std::remove_cvref_t<decltype(pipe)>, std::remove_cvref_t<decltype(whole.program)>>::facts(
        r.folds, pipe, whole.program, 1);
}

template <bool Fast, class... Options, class R>
[[gnu::cold]] void describe_shared_reads(grouped_description& out, R const& r, contract c) {
  if constexpr (mixed_items_of<R>.any())
    describe_mixed<Fast, Options...>(out, r, c);
  describe_keys_beside<Fast, Options...>(out, r, c);
}

/// The columns of a pipe's source.
template <class Pipe>
[[gnu::cold]] void describe_head(grouped_description& out, Pipe const& pipe, contract c) {
  auto const b = bind_to(pipe, pack<>{});
  out.head.facts = facts_of(b.program, target{}, c);
  unpack([&](auto const&... column) { (describe_column(out.head, column), ...); }, b.program.columns);
}
/// The domains of a reduction without lets.
template <class... Options, class R>
[[gnu::cold]] void describe_items(grouped_description& out, R const& r, contract c, name_list const& names) {
  unpack([&](auto const&... item) { (describe_item<Options...>(out, r, item, c, names), ...); }, r.folds);
  describe_whole<Options...>(out, r, c, names);
  if constexpr (may_share_reads<Options...>(static_cast<R const*>(nullptr))) {
    if (c == contract::fast)
      describe_shared_reads<true, Options...>(out, r, c);
    else
      describe_shared_reads<false, Options...>(out, r, c);
  }
}
template <class... Options, class R>
[[gnu::cold]] grouped_description describe_grouped(R const& r, contract c) {
  grouped_description out;
  out.pipeline = text_of(r);
  describe_head(out, r.pipe, c);
  describe_items<Options...>(out, r, c, {});
  return out;
}
/// Where the columns of a program lie, which must outlive that; Possible: a GPU may take them.
template <bool Possible, class Program>
column_places places_of_head(Program& p) {
  column_places places{{}, -1};
  if (p.extent > 0) {
    places_of(p, places.columns);
    if (Possible && gpu::device_count() > 0)
      places.of_any = gpu::home_of(places.columns, decltype(p.columns)::size);
  }
  return places;
}

/// Compiled in dsl/plan: plans for a place or a target, and says why not another.
grouped_explanation explain_at(grouped_description d, column_places const& places, asked_place const& asked);

} // namespace detail

/// What run would do with a reduction with groupings: a value that prints itself and has text(), json(), mermaid() and ptx(), domain by
/// domain. Options and errors are those of explain of a reduction; offsets and keys are not looked at.
template <grouped_reduction R, class... Options>
  requires detail::explainable_grouped<R, Options...>
auto explain(R const& r, Options... options) {
  check_source(r.pipe.source);
  auto const c = detail::contract_in(options...);
  auto d = detail::describe_grouped<Options...>(r, c);
  constexpr bool possible = std::same_as<decltype(detail::judge_grouped_call<R, on::gpu_place>()), allowed>;
  auto b = detail::bind_to(r.pipe, pack<>{});
  auto const places = detail::places_of_head<possible>(b.program);
  return detail::explain_at(std::move(d), places, detail::asked_in(options...));
}

/// What run refuses is refused, and the type says why.
template <grouped_reduction R, class... Options>
  requires(!looks_back<R> && !detail::explainable_grouped<R, Options...>)
auto explain(R const&, Options const&...) -> typename decltype(detail::judge_grouped_call<R, detail::place_for<Options>...>())::type {
  return {};
}

} // namespace tally::v0
