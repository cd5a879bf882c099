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
#include <tally/run/batch_of_types.hpp>
#include <tally/run/run_grouped.hpp>

namespace tally::v0 {

namespace detail {

/// Elements from which a reduction of a batch takes all cores.
inline constexpr i64 large_of_batch = 1 << 20;

template <class R, class... Options>
constexpr auto judge_of_batch() {
  if constexpr (looks_back<R>)
    return reason<because::batch_takes_reductions<because::answers<1>, because::type_of<R>>>{};
  else if constexpr (is_grouped<R>)
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
    states_ = tally::v0::compute(bound_.program, where, c);
  }
  /// Another launch has it.
  void is_taken() { taken_ = true; }
  /// Queues it where it goes to a GPU; false where it does not.
  template <class Place>
  bool begin([[maybe_unused]] Place where, [[maybe_unused]] contract c) {
    if (taken_)
      return true;
    if constexpr (!std::same_as<Place, on::cpu_place> && decltype(bound_.program)::lowerable)
      if (int const ordinal = ordinal_in(where); ordinal >= 0) {
        if (bound_.program.extent > 0) {
          auto p = bound_.program;
          auto request = request_for(p, on::gpu(ordinal), c);
          request.f.queued = true;
          if constexpr (std::same_as<Place, on::gpu_place>)
            request.stream = where.queue;
          queued_ = gpu::enqueue(request);
        }
        return true;
      }
    return false;
  }
  void finish() {
    if (auto const* const come = queued_.states.wait())
      states_ = *static_cast<decltype(states_) const*>(come);
  }
  /// The GPU it goes to, -1 for the host.
  template <class Place>
  int ordinal_in([[maybe_unused]] Place where) {
    if constexpr (std::same_as<Place, on::cpu_place> || decltype(bound_.program)::leaf_count == 0) {
      return -1;
    } else {
      int const home = gpu_for(bound_.program);
      if constexpr (std::same_as<Place, on::any_place>)
        return home;
      else
        return where.ordinal >= 0 ? where.ordinal : home < 0 ? 0 : home;
    }
  }
  auto answers() const { return answers_of(r_, bound_, states_); }
  auto& program() { return bound_.program; }
  auto& states() { return states_; }

private:
  R const& r_;
  decltype(bind_for<Options...>(std::declval<R const&>())) bound_;
  typename decltype(bound_.program)::states states_;
  gpu::queued_run queued_{};
  bool taken_ = false;
};
/// One with groupings: its arrays are computed by all cores, or by a GPU, when its turn comes.
template <grouped_reduction R, class... Options>
class underway<R, Options...> {
public:
  explicit underway(R const& r) : r_(r) { check_source(r.pipe.source); }
  bool large() const { return true; }
  template <class Place>
  void compute(Place where, contract c) {
    answers_.emplace(run_grouped_at<Options...>(r_, where, c));
  }
  template <class Place>
  bool begin(Place where, contract c) {
    if constexpr (std::same_as<Place, on::any_place>)
      answers_.emplace(run_grouped_anywhere<Options...>(r_, c));
    else if constexpr (std::same_as<Place, on::gpu_place>)
      compute(where, c);
    return !std::same_as<Place, on::cpu_place>;
  }
  void finish() {}
  auto answers() { return std::move(*answers_); }

private:
  using host = decltype(run_grouped_at<Options...>(std::declval<R const&>(), on::cpu, contract{}));
  R const& r_;
  std::optional<host> answers_;
};

/// Reductions of one type on one GPU, in one launch; those without elements keep their identities.
template <class Underway>
void compute_together(std::vector<Underway*> const& items, int ordinal, gpu::stream_ref stream, contract c) {
  using Program = std::remove_cvref_t<decltype(items[0]->program())>;
  static gpu::kernels_of<segments_plan> kernels;
  std::vector<Program> programs;
  std::vector<i64> extents;
  std::vector<gpu::staged_columns> staged(items.size());
  facts f = facts_of(items[0]->program(), target{}, c);
  for (std::size_t k = 0; k < items.size(); ++k) {
    programs.push_back(items[k]->program());
    extents.push_back(programs[k].extent);
    gpu::column_place places[max_sources]{};
    if (extents[k] > 0) {
      places_of(programs[k], places);
      gpu::stage_columns(places, f.source_count, f.sources, ordinal, stream, staged[k]);
    }
  }
  bool nothing = true;
  for (i64 const n : extents)
    nothing = nothing && n == 0;
  if (nothing)
    return;
  auto const slot = gpu::compute(gpu::batch_request{&type_of<Program>(), &kernels, programs.data(), extents.data(), i64(items.size()), f, ordinal, stream});
  auto const* const states = static_cast<typename Program::states const*>(slot.host());
  for (std::size_t k = 0; k < items.size(); ++k)
    if (extents[k] > 0)
      items[k]->states() = states[k];
}

/// Computes reductions on the host; visit(k, f) calls f with number k.
template <class Visit>
void compute_on_cores(std::vector<i64> const& numbers, on::cpu_place where, contract c, Visit const& visit) {
  std::vector<i64> small;
  for (i64 const k : numbers)
    visit(k, [&](auto& one) { one.large() ? one.compute(where, c) : small.push_back(k); });
  i64 const smalls = static_cast<i64>(small.size()), chunk = smalls / (16 * (where.thread_count > 0 ? where.thread_count : cpu::core_count())) + 1;
  if (smalls > 0)
    cpu::detail::spread_over_cores((smalls - 1) / chunk + 1, where.thread_count, [&](i64 part) {
      for (i64 k = part * chunk; k < smalls && k < (part + 1) * chunk; ++k)
        visit(small[std::size_t(k)], [&](auto& one) { one.compute(on::cpu.threads(1), c); });
    });
}

/// The cores that a batch may use for what does not go to a GPU.
template <class Place>
on::cpu_place cores_of([[maybe_unused]] Place where) {
  if constexpr (std::same_as<Place, on::cpu_place>)
    return where;
  else
    return on::cpu;
}
template <class Place>
void check_place([[maybe_unused]] Place where) {
  if constexpr (std::same_as<Place, on::gpu_place>) {
    if (gpu::device_count() == 0)
      throw no_gpu(gpu::why_no_device());
    if (where.ordinal >= 0)
      (void)gpu::facts_of(where.ordinal); // says where there is none
  }
}

/// Computes reductions of any types: folds of the whole source on GPUs are queued before the host folds others, groupings are run in their turn.
template <class Place, class Visit>
void compute_mixed(i64 count, Place where, contract c, Visit const& visit) {
  std::vector<i64> at_home;
  for (i64 k = 0; k < count; ++k)
    visit(k, [&](auto& one) { one.begin(where, c) ? void() : at_home.push_back(k); });
  compute_on_cores(at_home, cores_of(where), c, visit);
  for (i64 k = 0; k < count; ++k)
    visit(k, [](auto& one) { one.finish(); });
}

/// Computes reductions of one type.
template <class Underway, class Place>
void compute_alike(std::vector<Underway>& items, Place where, contract c) {
  std::vector<i64> at_home;
  std::vector<Underway*> of_gpu[gpu::max_devices];
  for (std::size_t k = 0; k < items.size(); ++k)
    if (int const ordinal = items[k].ordinal_in(where); ordinal >= 0 && ordinal < gpu::max_devices)
      of_gpu[ordinal].push_back(&items[k]);
    else
      at_home.push_back(static_cast<i64>(k));
  if constexpr (std::remove_cvref_t<decltype(items[0].program())>::lowerable) {
    gpu::stream_ref stream{};
    if constexpr (std::same_as<Place, on::gpu_place>)
      stream = where.queue;
    for (int ordinal = 0; ordinal < gpu::device_count(); ++ordinal)
      if (!of_gpu[ordinal].empty())
        compute_together(of_gpu[ordinal], ordinal, stream, c);
  }
  compute_on_cores(at_home, cores_of(where), c, [&](i64 k, auto const& f) { f(items[static_cast<std::size_t>(k)]); });
}

template <class R, class... Options>
auto run_alike(R const* reductions, std::size_t count, Options... options) {
  std::vector<underway<R, Options...>> items;
  items.reserve(count);
  for (std::size_t k = 0; k < count; ++k)
    items.emplace_back(reductions[k]);
  check_place(place_in(options...));
  if constexpr (is_grouped<R>)
    compute_mixed(static_cast<i64>(count), place_in(options...), contract_in(options...),
                  [&](i64 k, auto const& f) { f(items[static_cast<std::size_t>(k)]); });
  else
    compute_alike(items, place_in(options...), contract_in(options...));
  std::vector<decltype(items[0].answers())> out;
  out.reserve(count);
  for (auto& one : items)
    out.push_back(one.answers());
  return out;
}

} // namespace detail

/// Computes all reductions of a batch: a std::tuple with what run gives for each of them alone, to the bit. Options are those of run,
/// for all together, and so are errors: nothing is returned when one input is at fault, and folds of the whole source have been checked before any has run.
template <class... Rs, class... Options>
  requires detail::runnable_batch<pack<Rs...>, Options...>
auto run(batched<Rs...> const& b, Options... options) {
  auto items = unpack([](auto const&... r) { return std::tuple(detail::underway<std::remove_cvref_t<decltype(r)>, Options...>(r)...); }, b.reductions);
  auto const where = detail::place_in(options...);
  auto const c = detail::contract_in(options...);
  detail::check_place(where);
  auto together = detail::batch_of_types_in(items, where, c);
  detail::compute_mixed(i64(sizeof...(Rs)), where, c, [&](i64 k, auto const& f) {
    for_each_index<int(sizeof...(Rs))>([&](auto i) { k == i ? f(std::get<i>(items)) : void(); });
  });
  together.finish();
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

} // namespace tally::v0
