// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run for reductions with groupings: folds of the whole source give values, groupings give arrays, in the order they were
// written. Layer 5. Everything is computed before anything is returned.
#pragma once

#include <tally/run/begun_groupings.hpp>
#include <tally/run/matrix_on_host.hpp>
#include <tally/run/run.hpp>
#include <tally/run/run_mixed.hpp>

namespace tally::inline v0 {

namespace detail {

/// The items of a grouped reduction that are folds of the whole source, as a pack.
constexpr pack<> whole_folds(pack<> const&) { return {}; }
template <class Item, class... Items>
constexpr auto whole_folds(pack<Item, Items...> const& items) {
  if constexpr (grouping<Item>)
    return whole_folds(items.rest);
  else
    return join(make_pack(items.first), whole_folds(items.rest));
}
/// How many of the items in front of item I are folds of the whole source.
template <int I, class... Items>
constexpr int whole_folds_before(pack<Items...> const*) {
  int n = 0, i = 0;
  ((n += i < I && !grouping<Items> ? 1 : 0, ++i), ...);
  return n;
}

template <class... Items>
constexpr int groupings_in(pack<Items...> const*) {
  return (0 + ... + int(grouping<Items>));
}

/// The pipe that folds are planted over under the contract among the options.
template <class... Options, class Pipe>
constexpr auto pipe_for(Pipe const& pipe) {
  if constexpr (asks_exact<Options...>)
    return answers::exactly<Pipe, answers::powers::of_floats>{pipe};
  else
    return pipe;
}

/// Why one program of a grouped reduction cannot be run there.
template <class Program, class Place, class... Options>
constexpr auto judge_program() {
  if constexpr (Program::leaf_count > max_folds)
    return reason<because::one_read_has_room_for_no_more<because::there_are<Program::leaf_count>>>{};
  else if constexpr (std::same_as<Place, on::gpu_place> && !Program::lowerable)
    return reason<because::the_gpu_needs_device_text<because::type_of<Place>>>{};
  else if constexpr (asks_exact<Options...>)
    return judge_exact<because::answers<1>>(static_cast<decltype(Program::leaves) const*>(nullptr));
  else
    return allowed{};
}
template <class Domain>
constexpr auto judge_on_gpu() {
  if constexpr (requires { Domain::judge_on_gpu(); })
    return Domain::judge_on_gpu();
  else
    return allowed{};
}
/// The same of a grouping's domain, which may know more reasons.
template <class Domain, class Place, class... Options>
constexpr auto judge_domain() {
  using Verdict = decltype(judge_program<decltype(Domain::program), Place, Options...>());
  if constexpr (!std::same_as<Verdict, allowed> || !std::same_as<Place, on::gpu_place>)
    return Verdict{};
  else
    return judge_on_gpu<Domain>();
}
template <class Item, class Pipe, class Place, class... Options>
constexpr auto judge_run_of_item() {
  if constexpr (grouping<Item>)
    return judge_domain<decltype(std::declval<Item const&>().bind(pipe_for<Options...>(std::declval<Pipe const&>()))), Place, Options...>();
  else
    return judge_program<decltype(bind_to(pipe_for<Options...>(std::declval<Pipe const&>()), std::declval<pack<Item> const&>()).program),
                         Place, Options...>();
}
template <class Place, class... Options, class Pipe, class... Items>
constexpr auto judge_run_grouped(grouped<Pipe, Items...> const*) {
  return first_reason<decltype(judge_run_of_item<Items, Pipe, Place, Options...>())...>();
}
/// Why a call of run with a grouped reduction is refused, as a verdict.
template <class R, class... Options>
constexpr auto judge_grouped_call() {
  if constexpr (!is_grouped<R>) // clang looks into the type of an overload before it asks whether it applies
    return allowed{};
  else if constexpr (looks_back<R>)
    return reason<because::a_let_has_the_axes_of_its_source<because::type_of<R>>>{};
  else if constexpr (!options_of_run<Options...>)
    return reason<because::run_takes_a_place_and_a_contract<because::answers<decltype(R::folds)::size>, Options...>>{};
  else
    return judge_run_grouped<std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>, Options...>(
        static_cast<R const*>(nullptr));
}
template <class R, class... Options>
concept runnable_grouped = grouped_reduction<R> && std::same_as<decltype(judge_grouped_call<R, Options...>()), allowed>;

/// The answer of item I, a fold of the whole source, given the bound reduction of all of them and its states.
template <int I, class R, class Whole, class States>
auto answer_of_whole(R const& r, Whole const& whole, States const& states) {
  answers::outcome<decltype(whole.program.leaves), States> const o{whole.program.leaves, states, {whole.program.extent}};
  constexpr int at = whole_folds_before<I>(static_cast<decltype(r.folds) const*>(nullptr));
  return answer_of(get<at>(whole.nodes), get<I>(r.folds), o);
}
/// The answers of all items, one alone or a tuple; `answer(index)` has that of one.
template <class R, class Answer>
auto answers_of_items(R const&, Answer const& answer) {
  return [&]<int... I>(index_list<I...>) {
    if constexpr (sizeof...(I) == 1)
      return answer(index_constant<0>{});
    else
      return std::tuple(answer(index_constant<I>{})...);
  }(indices_up_to<decltype(R::folds)::size>{});
}

/// What may join in one read of a matrix among the items of a reduction.
template <class R>
inline constexpr mixed_items mixed_items_of =
    find_mixed_items(rank_of<std::remove_cvref_t<decltype(R::pipe.source)>>, static_cast<decltype(R::folds) const*>(nullptr));

/// On the host: columns, rows and the whole of a matrix in one walk where that is worth it, everything else in a walk of its own.
template <class... Options, class R>
auto run_grouped_on_host(R const& r, on::cpu_place where, contract c) {
  auto const pipe = pipe_for<Options...>(r.pipe);
  auto const whole = bind_to(pipe, whole_folds(r.folds));
  check_folds(whole.program.leaves);
  constexpr mixed_items matrix = mixed_items_of<R>;
  constexpr bool may_join = matrix.any() && int(matrix.columns >= 0) + int(matrix.rows >= 0) + int(decltype(whole.program)::leaf_count > 0) > 1;
  auto together = [&] {
    if constexpr (may_join)
      return matrix_on_host<matrix, std::remove_cvref_t<decltype(r.folds)>, std::remove_cvref_t<decltype(pipe)>, std::remove_cvref_t<decltype(whole.program)>>(r.folds, pipe, whole.program, where);
    else
      return no_matrix{};
  }();
  auto const states = [&] {
    if constexpr (may_join)
      if (together.has_whole())
        return together.states();
    return compute(whole.program, where, c);
  }();
  check_overflow(whole.program.leaves, states);
  return answers_of_items(r, [&]<int I>(index_constant<I>) {
    auto const& item = get<I>(r.folds);
    if constexpr (grouping<std::remove_cvref_t<decltype(item)>>) {
      if constexpr (may_join && (I == matrix.columns || I == matrix.rows))
        if (has_item<I>(together))
          return take_item<I>(together);
      auto const d = item.bind(pipe);
      check_folds(d.program.leaves);
      return compute_groups(d, r.pipe.source, where, c);
    } else {
      return answer_of_whole<I>(r, whole, states);
    }
  });
}

/// What the reads of a reduction on a GPU share: its items, its folds of the whole, bound, and its keyed groupings that may be beside others.
template <bool Fast, class R, class Pipe, class Whole, class Keys>
class shared_reads {
  static constexpr int items = decltype(R::folds)::size;
  static constexpr mixed_items matrix = mixed_items_of<R>;
  static constexpr bool is_matrix = items > 1 && matrix.any();
  using Items = std::remove_cvref_t<decltype(R::folds)>;
  template <int I>
  using item = std::remove_cvref_t<decltype(get<I>(std::declval<Items const&>()))>;
  using Program = decltype(Whole::program);
  using Domains = typename Keys::domains;
  R const& r_;
  Pipe const& pipe_;
  Whole const& whole_;
  Keys& keys_;
  on::gpu_place where_;
  contract c_;
  gpu::keys_of_read joined_{};

public:
  shared_reads(R const& r, Pipe const& pipe, Whole const& whole, Keys& keys, on::gpu_place where, contract c)
      : r_(r), pipe_(pipe), whole_(whole), keys_(keys), where_(where), c_(c) {}

  auto run() {
    [[maybe_unused]] gpu::keys_of_read possible{};
    if constexpr (Domains::size > 0) {
      gpu::keys_beside_request* first[max_keys_beside]{};
      keys_.list(first, max_keys_beside);
      possible = gpu::plan_beside_each_other(first, where_.ordinal);
    }
    if constexpr (is_matrix) {
      joined_ = possible;
      auto both = mixed_read_of<matrix, keyed_domains<Domains>>(r_.folds, pipe_, whole_.program.leaves, where_, c_, false, &joined_);
      if (both.joins())
        return answers_of_matrix(both);
      joined_ = {};
      if (possible.any()) {
        auto alone = mixed_read_of<matrix, keyed_domains<Domains>>(r_.folds, pipe_, whole_.program.leaves, where_, c_);
        if (alone.joins())
          return answers_of_matrix(alone);
      }
    }
    if constexpr (Domains::size > 0)
      if (may_join_the_whole(possible)) {
        joined_ = possible;
        auto of_both = whole_with_keys();
        return answers([](auto) {}, [&]() -> typename Program::states {
          if constexpr (Program::leaf_count > 0)
            return of_both.states();
          else
            return of_both.states(), typename Program::states{};
        });
      }
    whole_on_gpu<Program> of_whole(whole_.program, where_, c_);
    return answers([](auto) {}, [&]() -> auto& { return of_whole.states(); });
  }

private:
  bool may_join_the_whole(gpu::keys_of_read const& keys) const {
    int n = 0;
    for (auto const* one : keys.of)
      n += one != nullptr ? 1 : 0;
    return planning::keys_join_the_whole(n, Program::leaf_count > 0, any_exact_leaf(static_cast<decltype(whole_.program.leaves) const*>(nullptr)));
  }
  /// What is folded of the whole, and the keys beside.
  auto whole_with_keys() {
    static gpu::kernels_of<plan_beside<plan>> kernels;
    auto p = read_with_keys(whole_.program);
    using With = decltype(p);
    keys_.make_room(joined_);
    auto request = request_for(p, where_, c_);
    return whole_on_gpu<With>(p, [&] { return gpu::enqueue(request, joined_, kernels, &definitions_with_keys<With, Domains>); });
  }
  template <class Read>
  auto answers_of_matrix(Read& read) {
    keys_.make_room(joined_);
    read.queue();
    auto const of_matrix = [&]<int I>(index_constant<I>) {
      if constexpr (I == matrix.columns)
        return read.columns_of(r_.pipe.source);
      else if constexpr (I == matrix.rows)
        return read.rows_of(r_.pipe.source);
    };
    if (read.planned().total_joins())
      return answers(of_matrix, [&] { return read.total(); });
    whole_on_gpu<Program> of_whole(whole_.program, where_, c_);
    return answers(of_matrix, [&]() -> auto& { return of_whole.states(); });
  }
  /// Where item I stands among the keyed groupings that may be beside others; -1: nowhere.
  template <int I>
  static constexpr int number_among_keys() {
    if constexpr (Domains::size == 0)
      return -1;
    else if constexpr (!is_beside<Fast, item<I>, Pipe> || number_beside<Fast, I, Pipe>(static_cast<Items const*>(nullptr)) >= max_keys_beside)
      return -1;
    else
      return number_beside<Fast, I, Pipe>(static_cast<Items const*>(nullptr));
  }
  template <int I>
  bool has_joined() const {
    if constexpr (number_among_keys<I>() >= 0)
      return joined_.of[number_among_keys<I>()] != nullptr;
    else
      return false;
  }
  /// The answers of item I, which has joined.
  template <int I>
  auto fetch_joined() { // clang looks into the type of the keys where this is said in a lambda that is not called
    return keys_.template get<number_among_keys<I>()>().fetch();
  }
  /// All answers: `of_matrix` has those that a read of a matrix made, the others are nothing; `whole` waits for the states of the whole.
  template <class OfMatrix, class WholeStates>
  auto answers(OfMatrix const& of_matrix, WholeStates const& whole) {
    begun_groupings<Fast, 0, Pipe, Items> begun(r_.folds, pipe_, where_, c_, [&]<int I>(index_constant<I> i) {
      return std::is_void_v<decltype(of_matrix(i))> && !has_joined<I>();
    });
    decltype(auto) states = whole();
    check_overflow(whole_.program.leaves, states);
    return answers_of_items(r_, [&]<int I>(index_constant<I> i) {
      if constexpr (!std::is_void_v<decltype(of_matrix(i))>) {
        return of_matrix(i);
      } else if constexpr (!grouping<item<I>>) {
        return answer_of_whole<I>(r_, whole_, states);
      } else {
        if constexpr (number_among_keys<I>() >= 0)
          if (has_joined<I>())
            return fetch_joined<I>();
        return begun.template fetch<I>();
      }
    });
  }
};

/// Whether several items of a reduction may share a read on a GPU.
template <class... Options, class R>
constexpr bool may_share_reads(R const*) {
  using Pipe = decltype(pipe_for<Options...>(std::declval<R const&>().pipe));
  using Items = std::remove_cvref_t<decltype(std::declval<R const&>().folds)>;
  constexpr bool keyed = []<class... I>(pack<I...> const*) { return (false || ... || (is_beside<false, I, Pipe> || is_beside<true, I, Pipe>)); }(static_cast<Items const*>(nullptr));
  return Items::size > 1 && (keyed || mixed_items_of<R>.any());
}

/// On a GPU, with as few reads as there need be: columns, rows and the whole of a matrix in one, or the whole, and keys beside.
template <bool Fast, class... Options, class R>
auto run_grouped_on_gpu(R const& r, on::gpu_place where, contract c) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  auto const pipe = pipe_for<Options...>(r.pipe);
  using Pipe = std::remove_cvref_t<decltype(pipe)>;
  auto whole = bind_to(pipe, whole_folds(r.folds));
  check_folds(whole.program.leaves);
  if (where.ordinal < 0) {
    gpu::column_place places[max_sources]{};
    places_of(whole.program, places);
    int const home = whole.program.extent > 0 ? gpu::home_of(places, decltype(whole.program.columns)::size) : -1;
    where.ordinal = home < 0 ? 0 : home;
  }
  auto const beside = [&] {
    if constexpr (may_share_reads<Options...>(static_cast<R const*>(nullptr)))
      return domains_beside<Fast>(r.folds, pipe);
    else
      return pack<>{};
  }();
  auto keys = keys_beside_of(beside, r.pipe.source, where, c);
  return shared_reads<Fast, R, Pipe, std::remove_cvref_t<decltype(whole)>, decltype(keys)>(r, pipe, whole, keys, where, c).run();
}

template <class... Options, class R, class Place>
auto run_grouped_at(R const& r, Place where, contract c) {
  if constexpr (std::same_as<Place, on::gpu_place>)
    return c == contract::fast ? run_grouped_on_gpu<true, Options...>(r, where, c) : run_grouped_on_gpu<false, Options...>(r, where, c);
  else
    return run_grouped_on_host<Options...>(r, where, c);
}

/// On the GPU that holds the columns, else on the CPU.
template <class... Options, class R>
auto run_grouped_anywhere(R const& r, contract c) {
  if constexpr (std::same_as<decltype(judge_grouped_call<R, Options..., on::gpu_place>()), allowed>) {
    auto b = bind_to(r.pipe, pack<>{});
    gpu::column_place places[max_sources]{};
    if (gpu::device_count() > 0 && b.program.extent > 0) {
      places_of(b.program, places);
      if (int const ordinal = gpu::home_of(places, decltype(b.program.columns)::size); ordinal >= 0)
        return run_grouped_at<Options...>(r, on::gpu(ordinal), c);
    }
  }
  return run_grouped_at<Options...>(r, on::cpu, c);
}

} // namespace detail

/// Computes a reduction with groupings: its one answer, or a std::tuple. A fold gives a value, a grouping an mdarray with the axes
/// it keeps, or a std::tuple of one for each of its folds. An empty group has the answer of the fold's identity, or what or_else
/// says. Options and errors are those of run.
template <grouped_reduction R, class... Options>
  requires detail::runnable_grouped<R, Options...>
auto run(R const& r, Options... options) {
  check_source(r.pipe.source);
  auto const where = detail::place_in(options...);
  using Place = std::remove_cvref_t<decltype(where)>;
  auto const c = detail::contract_in(options...);
  if constexpr (!std::same_as<Place, on::any_place>)
    return detail::run_grouped_at<Options...>(r, where, c);
  else
    return detail::run_grouped_anywhere<Options...>(r, c);
}

/// What cannot be run there is refused, and the type says why.
template <grouped_reduction R, class... Options>
  requires(!looks_back<R> && !detail::runnable_grouped<R, Options...>)
auto run(R const&, Options const&...) -> typename decltype(detail::judge_grouped_call<R, Options...>())::type {
  return {};
}

} // namespace tally::inline v0
