// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// run for many reductions at once: a batch of any reductions, or a vector or span of reductions of one type. Layer 5. All are checked
// before anything is computed; small ones are spread over the cores, large ones take all cores one after the other.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <tally/pipeline/batch.hpp>
#include <tally/run/run_grouped.hpp>

namespace tally::inline v0 {

namespace detail {

/// Elements from which a reduction of a batch takes all cores.
inline constexpr i64 large_of_batch = 1 << 20;

template <class R, class... Options>
constexpr auto judge_of_batch() {
  if constexpr (is_grouped<R>)
    return judge_grouped_call<R, Options...>();
  else
    return judge_call<R, Options...>();
}
template <class... Options, class... Rs>
constexpr auto judge_batch(pack<Rs...> const*) {
  return first_reason<decltype(judge_of_batch<Rs, Options...>())...>();
}
template <class Reductions, class... Options>
concept runnable_batch = std::same_as<decltype(judge_batch<Options...>(static_cast<Reductions const*>(nullptr))), allowed>;

/// One reduction on its way: bound and checked, then computed, then asked for its answers.
template <class R, class... Options>
class underway {
public:
  explicit underway(R const& r) : r_(r), bound_(bind_checked<Options...>(r)), states_(bound_.program.identity()) {}
  bool large() const { return bound_.program.extent >= large_of_batch; }
  template <class Place>
  void compute(Place where, contract c) {
    states_ = tally::compute(bound_.program, where, c);
  }
  auto answers() const { return answers_of(r_, bound_, states_); }

private:
  R const& r_;
  decltype(bind_for<Options...>(std::declval<R const&>())) bound_;
  typename decltype(bound_.program)::states states_;
};
/// One with groupings: its arrays are computed by all cores, when its turn comes.
template <grouped_reduction R, class... Options>
class underway<R, Options...> {
public:
  explicit underway(R const& r) : r_(r) { check_source(r.pipe.source); }
  bool large() const { return true; }
  template <class Place>
  void compute(Place where, contract c) {
    answers_.emplace(run_grouped_at<Options...>(r_, where, c));
  }
  auto answers() { return std::move(*answers_); }

private:
  using host = decltype(run_grouped_at<Options...>(std::declval<R const&>(), on::cpu, contract{}));
  R const& r_;
  std::optional<host> answers_;
};

/// Computes count reductions, of which visit(k, f) calls f with number k.
template <class Place, class Visit>
void compute_batch(i64 count, Place where, contract c, Visit const& visit) {
  if constexpr (std::same_as<Place, on::cpu_place>) {
    std::vector<i64> small;
    for (i64 k = 0; k < count; ++k)
      visit(k, [&](auto& one) { one.large() ? one.compute(where, c) : small.push_back(k); });
    i64 const smalls = static_cast<i64>(small.size()), chunk = smalls / (16 * (where.thread_count > 0 ? where.thread_count : cpu::core_count())) + 1;
    if (smalls > 0)
      cpu::detail::spread_over_cores((smalls - 1) / chunk + 1, where.thread_count, [&](i64 part) {
        for (i64 k = part * chunk; k < smalls && k < (part + 1) * chunk; ++k)
          visit(small[std::size_t(k)], [&](auto& one) { one.compute(on::cpu.threads(1), c); });
      });
  } else {
    for (i64 k = 0; k < count; ++k)
      visit(k, [&](auto& one) { one.compute(where, c); });
  }
}

template <class... Options>
using place_of = std::remove_cvref_t<decltype(place_in(std::declval<Options>()...))>;

/// The place of a batch: an array of answers is made on the host unless a GPU was asked for.
template <class... Rs, class... Options>
auto place_of_batch(Options... options) {
  auto const where = place_in(options...);
  if constexpr (std::same_as<place_of<Options...>, on::any_place> && (is_grouped<Rs> || ...))
    return on::cpu;
  else
    return where;
}

template <class R, class... Options>
auto run_alike(R const* reductions, std::size_t count, Options... options) {
  std::vector<underway<R, Options...>> items;
  items.reserve(count);
  for (std::size_t k = 0; k < count; ++k)
    items.emplace_back(reductions[k]);
  compute_batch(static_cast<i64>(count), place_of_batch<R>(options...), contract_in(options...),
                [&](i64 k, auto const& f) { f(items[static_cast<std::size_t>(k)]); });
  std::vector<decltype(items[0].answers())> out;
  out.reserve(count);
  for (auto& one : items)
    out.push_back(one.answers());
  return out;
}

} // namespace detail

/// Computes all reductions of a batch: a std::tuple with what run gives for each of them alone, to the bit. Options are those of run,
/// for all together, and so are errors: nothing has run when one input is at fault.
template <class... Rs, class... Options>
  requires detail::runnable_batch<pack<Rs...>, Options...>
auto run(batched<Rs...> const& b, Options... options) {
  auto items = unpack([](auto const&... r) { return std::tuple(detail::underway<std::remove_cvref_t<decltype(r)>, Options...>(r)...); }, b.reductions);
  detail::compute_batch(i64(sizeof...(Rs)), detail::place_of_batch<Rs...>(options...), detail::contract_in(options...),
                        [&](i64 k, auto const& f) {
                          for_each_index<int(sizeof...(Rs))>([&](auto i) { k == i ? f(std::get<i>(items)) : void(); });
                        });
  return std::apply([](auto&... one) { return std::tuple(one.answers()...); }, items);
}

/// Computes many reductions of one type, such as one for every column of a table: a vector with what run gives for each alone.
template <finished R, class Allocator, class... Options>
  requires detail::runnable_batch<pack<R>, Options...>
auto run(std::vector<R, Allocator> const& reductions, Options... options) {
  return detail::run_alike(reductions.data(), reductions.size(), options...);
}
template <class R, std::size_t Count, class... Options>
  requires finished<std::remove_const_t<R>> && detail::runnable_batch<pack<std::remove_const_t<R>>, Options...>
auto run(std::span<R, Count> reductions, Options... options) {
  return detail::run_alike(static_cast<std::remove_const_t<R> const*>(reductions.data()), reductions.size(), options...);
}

/// What cannot be run there is refused, and the type says why.
template <class... Rs, class... Options>
  requires(!detail::runnable_batch<pack<Rs...>, Options...>)
auto run(batched<Rs...> const&, Options const&...) ->
    typename decltype(detail::judge_batch<Options...>(static_cast<pack<Rs...> const*>(nullptr)))::type {
  return {};
}
template <finished R, class Allocator, class... Options>
  requires(!detail::runnable_batch<pack<R>, Options...>)
auto run(std::vector<R, Allocator> const&, Options const&...) ->
    typename decltype(detail::judge_batch<Options...>(static_cast<pack<R> const*>(nullptr)))::type {
  return {};
}

} // namespace tally::inline v0
