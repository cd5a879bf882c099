// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run and run_into for pipelines that end with collect: every element is written. Layer 5.
#pragma once

#include <cstring>

#include <tally/run/collected.hpp>
#include <tally/run/rows_with_let.hpp>
#include <tally/run/run_into.hpp>
#include <tally/run/run_let.hpp>

namespace tally::v0 {

namespace detail {

template <class R>
concept collection = is_collected<R>;

/// The types of the elements of a pipe without lets.
template <class Pipe>
struct element_types;
template <class Source, class... Es, class Mask>
struct element_types<piped<Source, pack<Es...>, Mask>> {
  using row = row_of<piped<Source, pack<Es...>, Mask>>;
  using type = pack<std::remove_cvref_t<value_of<Es, row>>...>;
  using pointers = pack<std::remove_cvref_t<value_of<Es, row>>*...>;
};
template <class R, class Place, class... Options>
using pipe_without_lets = std::remove_cvref_t<decltype(without_lets_in<Options...>(
    std::declval<R const&>().pipe, pack<>{}, std::declval<Place>(), contract{}, std::declval<answers_of_lets&>()).pipe)>;

template <class Source, class... Es, class Mask>
constexpr bool has_device_text(piped<Source, pack<Es...>, Mask> const*) {
  return (true && ... && Es::lowerable) && all_lowerable(static_cast<std::remove_cvref_t<decltype(std::declval<Source>().columns)> const*>(nullptr));
}

/// Why a call of run with a collection is refused, as a verdict.
template <class R, class... Options>
constexpr auto judge_collect() {
  if constexpr (!collection<R>) { // clang looks into the type of an overload before it asks whether it applies
    return allowed{};
  } else if constexpr (!options_of_run<Options...>) {
    return reason<because::run_takes_a_place_and_a_contract<because::answers<1>, Options...>>{};
  } else {
    using Place = std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>;
    using Found = std::conditional_t<std::same_as<Place, on::any_place>, on::cpu_place, Place>;
    using Verdict = decltype(judge_lets<Found, Options...>(static_cast<decltype(R::pipe) const*>(nullptr), static_cast<pack<> const*>(nullptr)));
    if constexpr (!std::same_as<Verdict, allowed>)
      return Verdict{};
    else if constexpr (std::same_as<Place, on::gpu_place> && !has_device_text(static_cast<pipe_without_lets<R, Found, Options...> const*>(nullptr)))
      return reason<because::the_gpu_needs_device_text<because::type_of<R>>>{};
    else
      return allowed{};
  }
}
template <class R, class... Options>
concept runnable_collection = collection<R> && std::same_as<decltype(judge_collect<R, Options...>()), allowed>;

/// Whether memory that is written meets a column in another way than element by element.
template <class Pipe, class... Ts>
bool overlaps(Pipe const& pipe, pack<Ts*...> const& to) {
  auto p = program_of_elements(pipe);
  axes_layout const at = layout_of(p, pipe.source, nothing_reduced);
  if (at.groups == 0)
    return false;
  gpu::column_place places[max_sources]{};
  places_in_grid(p, at, places);
  bool meets = false;
  for_each_index<int(sizeof...(Ts))>([&](auto i) {
    auto const* const out = reinterpret_cast<char const*>(get<i>(to));
    i64 const bytes = at.groups * i64(sizeof(nth_t<i, Ts...>));
    for (int c = 0; c < decltype(p.columns)::size; ++c) {
      if (places[c].pointer == nullptr)
        continue;
      auto const* const low = static_cast<char const*>(*places[c].pointer) + places[c].low_bytes;
      bool in_place = sizeof...(Ts) == 1 && low == out && places[c].bytes == bytes;
      for (int k = 0; k < at.kept_axes; ++k)
        in_place = in_place && at.kept[k].steps[c] == at.kept[k].position_step;
      meets = meets || (low < out + bytes && out < low + places[c].bytes && !in_place);
    }
  });
  return meets;
}

template <class Source>
auto extents_of(Source const& s) {
  struct all {
    i64 of[rank_of<Source>];
  } e{};
  for (int k = 0; k < rank_of<Source>; ++k)
    e.of[k] = extent_along(s, k);
  return e;
}

/// The elements as arrays of the host.
template <class Pipe, class Types>
struct collected_arrays;
template <class Pipe, class... Ts>
struct collected_arrays<Pipe, pack<Ts...>> {
  static constexpr int rank = rank_of<decltype(Pipe::source)>;
  static auto given(std::tuple<mdarray<Ts, rank>...>&& arrays) {
    if constexpr (sizeof...(Ts) == 1)
      return std::get<0>(std::move(arrays));
    else
      return std::move(arrays);
  }
  static auto compute(Pipe const& pipe, on::cpu_place where) {
    auto const extents = extents_of(pipe.source);
    std::tuple<mdarray<Ts, rank>...> out(mdarray<Ts, rank>(extents.of)...);
    write_collected(pipe, std::apply([](auto&... a) { return make_pack(a.data()...); }, out), where);
    return given(std::move(out));
  }
  /// queue(to) writes to device memory.
  template <class Source, class Queue>
  static auto compute(Source const& source, on::gpu_place where, Queue const& queue) {
    auto const extents = extents_of(source);
    std::tuple<mdarray<Ts, rank>...> out(mdarray<Ts, rank>(extents.of)...);
    gpu::device_memory memory[sizeof...(Ts)];
    [&]<int... I>(index_list<I...>) {
      ((memory[I] = gpu::allocate(std::get<I>(out).size() * sizeof(Ts), where.ordinal, where.queue)), ...);
      queue(make_pack(static_cast<Ts*>(memory[I].data())...));
      (gpu::copy(std::get<I>(out).data(), memory[I].data(), std::get<I>(out).size() * sizeof(Ts), where.ordinal, where.queue), ...);
    }(indices_up_to<int(sizeof...(Ts))>{});
    gpu::wait(where.ordinal, where.queue);
    return given(std::move(out));
  }
};

/// The pipe of a collection without lets, its indices along axes as numbers.
template <class... Options, class R, class Place>
auto pipe_to_collect(R const& r, Place where, contract c, answers_of_lets& kept) {
  auto const plain = without_lets_in<Options...>(r.pipe, pack<>{}, where, c, kept).pipe;
  auto values = unpack([&](auto const&... v) { return make_pack(with_axes_of(plain.source, v)...); }, plain.values);
  return piped<std::remove_cvref_t<decltype(plain.source)>, decltype(values), always>{plain.source, values, {}};
}

/// What must live until the stream has passed.
struct collecting_on_gpu {
  answers_of_lets kept;
  gpu::staged_columns staged;
};
/// Queues all on a GPU: one kernel where rows fit on the chip, else the lets and then the elements.
template <class... Options, class R, class... Ts>
void queue_all(R const& r, pack<Ts*...> const& to, on::gpu_place where, contract c, collecting_on_gpu& alive) {
  check_source(r.pipe.source);
  if constexpr (!asks_exact<Options...>)
    if (queue_rows(r.pipe, to, where, alive.staged))
      return;
  queue_collected(pipe_to_collect<Options...>(r, where, c, alive.kept), to, where, alive.staged);
}

template <class... Options, class R>
auto run_collect_at(R const& r, on::cpu_place where, contract c) {
  answers_of_lets kept;
  auto const plain = pipe_to_collect<Options...>(r, where, c, kept);
  using Pipe = std::remove_cvref_t<decltype(plain)>;
  return collected_arrays<Pipe, typename element_types<Pipe>::type>::compute(plain, where);
}
template <class... Options, class R>
auto run_collect_at(R const& r, on::gpu_place asked, contract c) {
  auto const where = settled(asked, r.pipe);
  check_source(r.pipe.source);
  collecting_on_gpu alive;
  using Pipe = pipe_without_lets<R, on::gpu_place, Options...>;
  return collected_arrays<Pipe, typename element_types<Pipe>::type>::compute(
      r.pipe.source, where, [&](auto const& to) { queue_all<Options...>(r, to, where, c, alive); });
}

} // namespace detail

/// Computes every element: an mdarray of the shape of the source, or a std::tuple of one for each of several elements. Options and
/// errors are those of run; the contract is that of the lets.
template <detail::collection R, class... Options>
  requires detail::runnable_collection<R, Options...>
auto run(R const& r, Options... options) {
  auto const c = detail::contract_in(options...);
  return detail::at_place<detail::runnable_collection<R, on::gpu_place>>(r.pipe, [&](auto where) { return detail::run_collect_at<Options...>(r, where, c); }, options...);
}
/// What cannot be run there is refused, and the type says why.
template <detail::collection R, class... Options>
  requires(!detail::runnable_collection<R, Options...>)
auto run(R const&, Options const&...) -> typename decltype(detail::judge_collect<R, Options...>())::type {
  return {};
}

namespace detail {

/// An output for elements: where it begins, and how many it holds; -1: as many as there are.
template <class T>
struct elements_output {
  T* to;
  i64 size;
};
template <class A>
constexpr auto elements_output_of(A& a) {
  using T = std::remove_reference_t<A>;
  if constexpr (run_option<std::remove_cv_t<T>>)
    return pack<>{};
  else if constexpr (std::is_pointer_v<std::decay_t<T>> && !std::is_array_v<T>)
    return make_pack(elements_output<std::remove_pointer_t<std::decay_t<T>>>{a, -1});
  else if constexpr (requires { std::data(a); std::size(a); })
    return make_pack(elements_output<std::remove_pointer_t<decltype(std::data(a))>>{std::data(a), static_cast<i64>(std::size(a))});
  else
    return make_pack(no_output{});
}
template <class... Arguments>
using elements_outputs = decltype(join_all(elements_output_of(std::declval<Arguments&>())...));

template <class R, class... Options>
using collected_types = typename element_types<pipe_without_lets<R, on::cpu_place, Options...>>::type;
template <class Outputs, class Types>
inline constexpr bool hold_elements = false;
template <class... Ts>
inline constexpr bool hold_elements<pack<elements_output<Ts>...>, pack<Ts...>> = true;

template <class R, class... Options, class Outputs>
constexpr auto judge_collect_into(pack<Options...> const*, Outputs const*) {
  using Verdict = decltype(judge_collect<R, Options...>());
  if constexpr (!std::same_as<Verdict, allowed>)
    return Verdict{};
  else if constexpr (hold_elements<Outputs, collected_types<R, Options...>>)
    return allowed{};
  else
    return reason<because::run_into_needs_an_output_for_each_answer<collected_types<R, Options...>, Outputs>>{};
}
template <class R, class... Arguments>
using verdict_on_collect_into = decltype(judge_collect_into<R>(static_cast<options_in<Arguments...> const*>(nullptr),
                                                               static_cast<elements_outputs<Arguments...> const*>(nullptr)));

/// Writes to memory of the host from the CPU, to memory of its device or of the host from a GPU.
template <class Pipe, class... Ts>
void collect_into(Pipe const& pipe, pack<Ts*...> const& to, on::cpu_place where) {
  if (!overlaps(pipe, to))
    return write_collected(pipe, to, where);
  auto const arrays = collected_arrays<Pipe, pack<Ts...>>::compute(pipe, where);
  auto const copy = [](auto const& from, auto* there) {
    if (from.size() > 0)
      std::memcpy(there, from.data(), static_cast<std::size_t>(from.size()) * sizeof *there);
  };
  if constexpr (sizeof...(Ts) == 1)
    copy(arrays, to.first);
  else
    for_each_index<int(sizeof...(Ts))>([&](auto i) { copy(std::get<i>(arrays), get<i>(to)); });
}
template <class Pipe, class Queue, class... Ts>
void collect_into(Pipe const& pipe, pack<Ts*...> const& to, on::gpu_place where, Queue const& queue) {
  i64 const n = layout_of(pipe.source, nothing_reduced).groups;
  bool const apart = overlaps(pipe, to);
  gpu::device_memory memory[sizeof...(Ts)];
  pack<Ts*...> there = to;
  for_each_index<int(sizeof...(Ts))>([&](auto i) {
    int owner = -1;
    auto const lives = gpu::residence_of(get<i>(to), &owner);
    if (lives == gpu::residence::device && owner != where.ordinal)
      throw wrong_residence("output " + std::to_string(i + 1) + " is in the memory of GPU " + std::to_string(owner) + ", the run is on GPU " +
                            std::to_string(where.ordinal) + ".");
    if (apart || lives == gpu::residence::host || lives == gpu::residence::pinned) {
      memory[i] = gpu::allocate(static_cast<std::size_t>(n) * sizeof(nth_t<i, Ts...>), where.ordinal, where.queue);
      get<i>(there) = static_cast<nth_t<i, Ts...>*>(memory[i].data());
    }
  });
  queue(there);
  for_each_index<int(sizeof...(Ts))>([&](auto i) {
    if (get<i>(there) != get<i>(to))
      gpu::copy(get<i>(to), get<i>(there), static_cast<std::size_t>(n) * sizeof(nth_t<i, Ts...>), where.ordinal, where.queue);
  });
  gpu::wait(where.ordinal, where.queue);
}

template <class... Options, class R, class... Ts, class Place>
void run_collect_into_at(R const& r, pack<elements_output<Ts>...> const& outputs, Place asked, contract c) {
  auto const where = settled(asked, r.pipe);
  check_source(r.pipe.source);
  auto const at = layout_of(r.pipe.source, nothing_reduced);
  for_each_index<int(sizeof...(Ts))>([&](auto i) {
    auto const& o = get<i>(outputs);
    if (o.size >= 0 && o.size != at.groups)
      throw extent_mismatch("output " + std::to_string(i + 1) + " holds " + std::to_string(o.size) + " elements, the source has " +
                            std::to_string(at.groups) + ".");
    if (o.to == nullptr && at.groups > 0)
      throw null_column("output " + std::to_string(i + 1) + " is a null pointer.");
  });
  auto const to = unpack([](auto const&... o) { return make_pack(o.to...); }, outputs);
  if constexpr (std::same_as<Place, on::gpu_place>) {
    collecting_on_gpu alive;
    collect_into(r.pipe, to, where, [&](auto const& there) { queue_all<Options...>(r, there, where, c, alive); });
  } else {
    answers_of_lets kept;
    collect_into(pipe_to_collect<Options...>(r, where, c, kept), to, where);
  }
}

} // namespace detail

/// Computes every element and writes it into memory that the caller owns, of the host or of a device: a pointer to room for all, or a
/// container or span of their number, one for each element of the pipeline. It may be the memory that is read.
template <detail::collection R, class... Arguments>
  requires std::same_as<detail::verdict_on_collect_into<R, Arguments...>, allowed>
void run_into(R const& r, Arguments&&... arguments) {
  auto const outputs = join_all(detail::elements_output_of(arguments)...);
  unpack(
      [&]<class... Options>(Options... options) {
        auto const c = detail::contract_in(options...);
        detail::at_place<detail::runnable_collection<R, on::gpu_place>>(r.pipe, [&](auto where) { detail::run_collect_into_at<Options...>(r, outputs, where, c); }, options...);
      },
      join_all(detail::option_of(arguments)...));
}
/// What run refuses, and outputs that do not hold the elements, are refused, and the type says why.
template <detail::collection R, class... Arguments>
  requires(!std::same_as<detail::verdict_on_collect_into<R, Arguments...>, allowed>)
auto run_into(R const&, Arguments&&...) -> typename detail::verdict_on_collect_into<R, Arguments...>::type {
  return {};
}

} // namespace tally::v0
