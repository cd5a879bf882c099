// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When elements and all lets they look at can be one kernel, and what that kernel is given: the lets in the order in which they depend
// on each other, their folds over one row of columns and answers. Layer 5.
#pragma once

#include <tally/run/gpu_rows.hpp>
#include <tally/run/kept_part.hpp>
#include <tally/run/lets.hpp>

namespace tally::v0::detail {

template <class T, class... Ts>
constexpr int index_in(pack<Ts...> const*) {
  int at = -1, i = 0;
  ((at < 0 && std::same_as<T, Ts> ? void(at = i++) : void(++i)), ...);
  return at;
}
template <class T, class Pack>
inline constexpr int index_among = index_in<T>(static_cast<Pack const*>(nullptr));

/// All lets that some lets need, each behind those it looks at, one of a type.
template <class Found>
constexpr auto in_order(Found const& found, pack<> const&) {
  return found;
}
template <class Found, class Let, class... Lets>
constexpr auto in_order(Found const& found, pack<Let, Lets...> const& lets) {
  auto const before = in_order(found, all_lets(lets.first.pipe, make_pack(lets.first.item)));
  if constexpr (index_among<Let, std::remove_cvref_t<decltype(before)>> >= 0)
    return in_order(before, lets.rest);
  else
    return in_order(join(before, make_pack(lets.first)), lets.rest);
}
/// Whether lets of one type are one let everywhere.
template <class Chain, class... Lets>
bool as_in(Chain const& chain, pack<Lets...> const& lets) {
  return [&]<int... I>(index_list<I...>) {
    return (true && ... && (same_let(get<I>(lets), get<index_among<Lets, Chain>>(chain)) &&
                            as_in(chain, all_lets(get<I>(lets).pipe, make_pack(get<I>(lets).item)))));
  }(indices_up_to<int(sizeof...(Lets))>{});
}

template <class Let, class... Options>
constexpr auto answers_nowhere();
/// A pipe with lets beside columns of answers that are nowhere yet.
template <class... Options, class Pipe, class Items>
constexpr auto beside_no_answers(Pipe const& pipe, Items const& items) {
  if constexpr (decltype(all_lets(pipe, items))::size == 0) {
    return pipe_and_items<Pipe, Items>{pipe, items};
  } else {
    auto const own = grid_of(pipe.source);
    auto const columns = unpack(
        [&](auto const&... l) {
          return make_pack(
              column_of_let<Items>(l, typename decltype(answers_nowhere<std::remove_cvref_t<decltype(l)>, Options...>())::type{}, own)...);
        },
        all_lets(pipe, items));
    return with_columns_for_lets<decltype(own.columns)::size>(beside(own, columns), pipe, items);
  }
}
template <class... Options, class Let>
constexpr auto domain_of_let(Let const& l) {
  auto const r = beside_no_answers<Options...>(l.pipe, make_pack(l.item));
  return get<0>(r.items).bind(pipe_for<Options...>(r.pipe));
}
/// The type of the answers of a let.
template <class Let, class... Options>
constexpr auto answers_nowhere() {
  using Domain = std::remove_cvref_t<decltype(domain_of_let<Options...>(std::declval<Let const&>()))>;
  return reason<typename answers_of_where<answer_in_domain<Domain>, std::remove_cvref_t<decltype(Domain::where)>, std::remove_cvref_t<decltype(Domain::program)>>::type>{};
}

/// Which column of the main source is column I of another, by type; -1: none.
template <int I, class Columns, class Main>
constexpr int column_in_main() {
  using C = std::remove_cvref_t<decltype(get<I>(std::declval<Columns const&>()))>;
  if constexpr (I < Main::size) {
    if constexpr (std::same_as<C, std::remove_cvref_t<decltype(get<I>(std::declval<Main const&>()))>>)
      return I;
    else
      return index_among<C, Main>;
  } else {
    return index_among<C, Main>;
  }
}
/// From the columns and lets of one pipe to those of the kernel's row.
template <class Chain, class Main, class Columns, class... Lets>
constexpr auto into_row(pack<Lets...> const*) {
  return [&]<int... I>(index_list<I...>) {
    return pack<placeholder<column_in_main<I, Columns, Main>()>..., placeholder<Main::size + index_among<Lets, Chain>>...>{};
  }(indices_up_to<Columns::size>{});
}
template <class M, class Values, class Mask, class Into>
constexpr auto leaf_in_row(bound<M, Values, Mask> const& l, Into const& into) {
  auto values = unpack([&](auto const&... v) { return make_pack(v.substitute(into)...); }, l.values);
  auto mask = l.mask.substitute(into);
  return bound<M, decltype(values), decltype(mask)>{l.monoid, values, mask};
}
/// One let as a step of the kernel.
template <class Chain, class Main, class Let>
constexpr auto step_of_let(Let const& l) {
  auto const d = domain_of_let(l);
  using Columns = std::remove_cvref_t<decltype(l.pipe.source.columns)>;
  using Lets = std::remove_cvref_t<decltype(all_lets(l.pipe, make_pack(l.item)))>;
  auto const leaves = unpack(
      [&](auto const&... leaf) { return make_pack(leaf_in_row(leaf, into_row<Chain, Main, Columns>(static_cast<Lets const*>(nullptr)))...); },
      d.program.leaves);
  return [&]<class... Ls>(pack<Ls...> const& all) { return program<pack<>, Ls...>{{}, 0, 0, all}; }(leaves);
}

template <class Main, class... Columns>
constexpr bool all_in_main(pack<Columns...> const*) {
  return [&]<int... I>(index_list<I...>) { return (true && ... && (column_in_main<I, pack<Columns...>, Main>() >= 0)); }(
      indices_up_to<int(sizeof...(Columns))>{});
}
/// Whether a set of axes is the innermost one.
template <class Where>
constexpr bool reduces_innermost() {
  bool only_last = Where::rank > 1;
  for (int k = 0; k < Where::rank; ++k)
    only_last = only_last && Where::is_reduced(k) == (k == Where::rank - 1);
  return only_last;
}
/// Why a let does not fold the rows of the main source away, in its tree; null where it does.
template <int Rank, class Main, class Source, class Let>
constexpr char const* why_not_in_row() {
  if constexpr (!lets_along_axes<Let>) {
    return "its groups are no rows";
  } else if constexpr (Let::where::rank != Rank || !reduces_innermost<typename Let::where>()) {
    return "it folds other axes than the innermost";
  } else if constexpr (any_checked(leaves_of<decltype(domain_of_let(std::declval<Let const&>()).program)>)) {
    return "a checked sum tells of its overflow beside its answer";
  } else {
    using Columns = std::remove_cvref_t<decltype(std::declval<Let const&>().pipe.source.columns)>;
    if constexpr (!all_in_main<Main>(static_cast<Columns const*>(nullptr)))
      return "it reads columns that the elements do not";
    else
      return tally::v0::shape_of<decltype(domain_of_let(std::declval<Let const&>()).program)> == tally::v0::shape_of<Source>
                 ? nullptr
                 : "its leaves have another shape than those of the elements";
  }
}

/// The columns of a source, row by row.
template <class Source>
constexpr auto rows_of_source(Source const& s) {
  constexpr int rank = rank_of<Source>;
  return bind_domain(groups_along_axes<rank, (u32(1) << (rank - 1))>{}, piped<Source, pack<>, always>{s, {}, {}}, pack<>{}).program;
}
/// Everything that one kernel needs for elements with lets.
template <class Pipe>
struct rows_of_pipe {
  static constexpr int rank = rank_of<decltype(Pipe::source)>;
  using Main = std::remove_cvref_t<decltype(std::declval<Pipe const&>().source.columns)>;
  using Chain = std::remove_cvref_t<decltype(in_order(pack<>{}, all_lets(std::declval<Pipe const&>(), pack<>{})))>;
  using Source = decltype(rows_of_source(std::declval<Pipe const&>().source)); ///< all of its columns

  template <class... Lets>
  static constexpr bool all_fit(pack<Lets...> const*) {
    return sizeof...(Lets) > 0 && Main::size + int(sizeof...(Lets)) <= max_columns &&
           (true && ... && (why_not_in_row<rank, Main, Source, Lets>() == nullptr));
  }
  static constexpr bool possible = all_fit(static_cast<Chain const*>(nullptr));

  static constexpr auto steps(Chain const& c) {
    return unpack([](auto const&... l) { return make_pack(step_of_let<Chain, Main>(l)...); }, c);
  }
  static constexpr auto nodes(Chain const& c) {
    return unpack([](auto const&... l) { return make_pack(get<0>(domain_of_let(l).nodes)...); }, c);
  }
  template <class... Lets>
  static auto answers_of(pack<Lets...> const*) -> pack<typename decltype(answers_nowhere<Lets>())::type::answer...>;
  static constexpr auto values(Pipe const& p) {
    using Lets = std::remove_cvref_t<decltype(all_lets(p, pack<>{}))>;
    auto const r = beside_no_answers(p, pack<>{});
    return unpack(
        [&](auto const&... v) {
          return make_pack(with_axes_of(p.source, v).substitute(into_row<Chain, Main, Main>(static_cast<Lets const*>(nullptr)))...);
        },
        r.pipe.values);
  }
};

/// Whether the columns of a let are those of the main source that its types name.
template <class Let, int Rank, class... Columns>
bool reads_the_same(Let const& l, grid<Rank, Columns...> const& main) {
  auto const own = grid_of(l.pipe.source);
  for (int k = 0; k < Rank; ++k)
    if (extent_along(own, k) != main.extent_along(k))
      return false;
  using Own = std::remove_cvref_t<decltype(own.columns)>;
  return [&]<int... I>(index_list<I...>) {
    return (true && ... && (same_bytes(get<I>(own.columns), get<column_in_main<I, Own, pack<Columns...>>()>(main.columns)) &&
                            same_bytes(own.axes[I], main.axes[column_in_main<I, Own, pack<Columns...>>()])));
  }(indices_up_to<Own::size>{});
}

/// Why lets and elements of fitting types are not those of one row; null where they are.
template <class Pipe, class Chain>
char const* why_rows_differ(Pipe const& pipe, Chain const& chain) {
  if (!as_in(chain, all_lets(pipe, pack<>{})))
    return "two lets of one type are of different columns";
  return unpack([&](auto const&... l) { return (true && ... && reads_the_same(l, pipe.source)); }, chain) ? nullptr
                                                                                                        : "a let reads other columns than the elements";
}

template <class... Columns, class... Lets>
auto row_beside(pack<Columns...> const*, pack<Lets...> const*) -> row<typename Columns::value_type..., Lets...>;
template <class... Columns>
constexpr u32 columns_in_memory(pack<Columns...> const*) {
  u32 mask = 0;
  int c = 0;
  ((mask |= u32(memory_column<Columns>) << c++), ...);
  return mask;
}

template <class Row, class... Kept>
struct row_beside_kept {
  using type = Row;
};
template <class... Ts, class Part>
struct row_beside_kept<row<Ts...>, Part> {
  using type = row<Ts..., std::remove_cvref_t<decltype(std::declval<Part const&>().eval(std::declval<row<Ts...> const&>()))>>;
};
template <class Base, class Row, class Steps, class Kept, class Values>
struct text_of_rows;
template <class Base, class RowOfLets, class... Steps, class... Kept, class... Es>
struct text_of_rows<Base, RowOfLets, pack<Steps...>, pack<Kept...>, pack<Es...>> {
  using Row = typename row_beside_kept<RowOfLets, Kept...>::type;
  template <class... Leaves>
  static void collect(definitions& d, program<pack<>, Leaves...> const*) {
    (text_in<Leaves>::collect(d), ...);
    (text_in_leaf<Row, Leaves>::collect(d), ...);
  }
  [[gnu::cold]] static std::string text() {
    definitions d;
    text_in<Base>::collect(d);
    (collect(d, static_cast<Steps const*>(nullptr)), ...);
    (text_in<Kept>::collect(d), ...);
    (text_in_values<RowOfLets, Kept>::collect(d), ...);
    (text_in<Es>::collect(d), ...);
    (text_in_values<Row, Es>::collect(d), ...);
    return d.structs + d.functions;
  }
};

/// What the kernel of rows computes: the lets as steps, the part that is kept, in a pack of it or of none, and the elements.
template <class Steps, class Kept, class Values>
struct computed_rows {
  Steps steps;
  Kept kept;
  Values values;
};
template <class Pipe>
struct computing_rows {
  using Rows = rows_of_pipe<Pipe>;
  using Chain = typename Rows::Chain;
  using Steps = std::remove_cvref_t<decltype(Rows::steps(std::declval<Chain const&>()))>;
  using Values = std::remove_cvref_t<decltype(Rows::values(std::declval<Pipe const&>()))>;
  template <class... Ss>
  static constexpr u32 columns_of(pack<Ss...> const*) {
    return (u32(0) | ... | columns_folded<Ss>);
  }
  static constexpr u32 columns_of_lets = columns_of(static_cast<Steps const*>(nullptr));
  /// The columns of the source that lets or elements name, row by row.
  static constexpr auto base(Pipe const& p) { return program_reading<columns_of_lets | columns_named<Values>>(rows_of_source(p.source)); }
  using Base = decltype(base(std::declval<Pipe const&>()));
  static axes_layout layout(Base const& b, Pipe const& p) {
    return layout_of(b, p.source, [](int k) { return k == Rows::rank - 1; });
  }
  using Columns = std::remove_cvref_t<decltype(std::declval<Base const&>().columns)>;
  using Lets = decltype(Rows::answers_of(static_cast<Chain const*>(nullptr)));
  using Row = decltype(row_beside(static_cast<Columns const*>(nullptr), static_cast<Lets const*>(nullptr)));
  static constexpr int last = Steps::size - 1;
  static constexpr auto folded_last(Steps const& s) { return expressions_of(get<last>(s).leaves); }
  using keeping = kept_part<Row, columns_in_memory(static_cast<Columns const*>(nullptr)), decltype(folded_last(std::declval<Steps const&>())), Values>;
  static constexpr bool may_keep = keeping::exists;
  /// Columns in memory that no let looks at, a bit for each.
  static constexpr int written_only = int(columns_in_memory(static_cast<Columns const*>(nullptr)) & ~columns_of_lets);

  template <bool Keeps>
  static constexpr auto of(Pipe const& p, Chain const& c) {
    auto const steps = Rows::steps(c);
    auto const values = Rows::values(p);
    if constexpr (!Keeps) {
      return computed_rows<Steps, pack<>, Values>{steps, {}, values};
    } else {
      using Part = typename keeping::part;
      auto const kept = make_pack(part_among<Part>(folded_last(steps)));
      auto const folding = [&]<int... I>(index_list<I...>) {
        return make_pack(get<I>(steps)..., program_with_element<Part, keeping::element>(get<last>(steps)));
      }(indices_up_to<last>{});
      auto const written = all_with_element<Part, keeping::element>(values);
      return computed_rows<std::remove_const_t<decltype(folding)>, std::remove_const_t<decltype(kept)>, std::remove_const_t<decltype(written)>>{folding, kept, written};
    }
  }
  /// Whether the numbers of run time in a part are the same wherever it stands.
  static bool keeps(Pipe const& p, Chain const& c) {
    if constexpr (may_keep) {
      using Part = typename keeping::part;
      auto const folded = folded_last(Rows::steps(c));
      auto const one = part_among<Part>(folded);
      return !Part::captures || (equal_everywhere(one, folded) && equal_everywhere(one, Rows::values(p)));
    }
    return false;
  }
  /// f(a constant: whether a part is kept).
  template <class F>
  static decltype(auto) choose(Pipe const& p, Chain const& c, F const& f) {
    if constexpr (may_keep)
      if (keeps(p, c))
        return f(std::true_type{});
    return f(std::false_type{});
  }
};

/// The constants of the types of rows and their lets, one object for each.
template <class Pipe, bool Keeps>
gpu::rows_type const& rows_type_of() {
  using Computing = computing_rows<Pipe>;
  using Base = typename Computing::Base;
  using Computed = decltype(Computing::template of<Keeps>(std::declval<Pipe const&>(), std::declval<typename Computing::Chain const&>()));
  using Steps = decltype(Computed::steps);
  using Kept = decltype(Computed::kept);
  using Values = decltype(Computed::values);
  using Nodes = std::remove_cvref_t<decltype(Computing::Rows::nodes(std::declval<typename Computing::Chain const&>()))>;
  static gpu::rows_type const type{&name_of<Base>, &name_of<Steps>, &name_of<Nodes>, &name_of<typename Computing::Lets>, &name_of<Kept>, &name_of<Values>,
                                   &text_of_rows<Base, typename Computing::Row, Steps, Kept, Values>::text, sizeof(Base), sizeof(Steps), sizeof(Nodes),
                                   sizeof(Kept), sizeof(Values)};
  return type;
}

/// Queues elements and their lets as one kernel, where types, columns and the length of rows allow it; false: nothing was done.
template <class Pipe, class... Ts>
bool queue_rows([[maybe_unused]] Pipe const& pipe, [[maybe_unused]] pack<Ts*...> const& to, [[maybe_unused]] on::gpu_place where,
                [[maybe_unused]] gpu::staged_columns& staged) {
  using Rows = rows_of_pipe<Pipe>;
  if constexpr (!Rows::possible) {
    return false;
  } else {
    auto const chain = in_order(pack<>{}, all_lets(pipe, pack<>{}));
    auto base = computing_rows<Pipe>::base(pipe);
    axes_layout const at = computing_rows<Pipe>::layout(base, pipe);
    if (why_rows_differ(pipe, chain) != nullptr || at.groups == 0 || at.extent == 0 || at.reduced_axes != 1)
      return false;
    auto const nodes = Rows::nodes(chain);
    base.extent = at.extent;
    return computing_rows<Pipe>::choose(pipe, chain, [&](auto keeps) {
      auto const computed = computing_rows<Pipe>::template of<decltype(keeps)::value>(pipe, chain);
      unpack([](auto const&... s) { (check_folds(s.leaves), ...); }, computed.steps);
      static gpu::kernels_of<elements_plan> kernels;
      gpu::rows_request r{&rows_type_of<Pipe, decltype(keeps)::value>(), &kernels, &base, &computed.steps, &nodes, &computed.kept, &computed.values, {},
                          {facts_of(base, target{}, contract{}), at, computing_rows<Pipe>::written_only}, {}, {}, int(sizeof...(Ts)), where.ordinal, where.queue};
      for_each_index<int(sizeof...(Ts))>([&](auto i) {
        r.to.at[i] = get<i>(to);
        r.written[i] = {int(sizeof(nth_t<i, Ts...>)), alignment_of(get<i>(to))};
      });
      places_in_grid(base, at, r.columns);
      return gpu::enqueue(r, staged);
    });
  }
}

} // namespace tally::v0::detail
