// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The folds of whole sources of a batch that a GPU folds in one launch: of any types, none of them large. Layer 5.
#pragma once

#include <array>
#include <cstring>
#include <tuple>

#include <tally/run/gpu_batch.hpp>
#include <tally/run/run.hpp>

namespace tally::v0::detail {

/// The programs of a batch that may share a launch: those that fold something, by kernels.
template <class Underway>
constexpr auto program_in_batch() {
  if constexpr (requires(Underway& one) { one.program(); }) {
    using Program = std::remove_cvref_t<decltype(std::declval<Underway&>().program())>;
    if constexpr (Program::lowerable && Program::leaf_count > 0)
      return pack<reason<Program>>{};
    else
      return pack<>{};
  } else {
    return pack<>{};
  }
}

/// The launch of those of them that go to one GPU, if there are two at least: queued when it is made, given to the reductions later.
template <class Items, class Programs>
class batch_of_types;
template <class... Items>
class batch_of_types<std::tuple<Items...>, pack<>> {
public:
  template <class Place>
  batch_of_types(std::tuple<Items...>&, Place, contract) {}
  int programs() const { return 0; }
  void finish() {}
};
template <class... Items, class... Programs>
class batch_of_types<std::tuple<Items...>, pack<reason<Programs>...>> {
  static constexpr int count = sizeof...(Programs);
  using Argument = pack<Programs...>;
  static constexpr bool fits = count > 1 && count <= max_batch_programs && sizeof(Argument) <= max_batch_bytes;

public:
  template <class Place>
  batch_of_types(std::tuple<Items...>& items, [[maybe_unused]] Place where, [[maybe_unused]] contract c) : items_(items) {
    if constexpr (fits && !std::same_as<Place, on::cpu_place>) {
      choose(where);
      if (taken_ > 1)
        queue(where, c);
    }
  }
  batch_of_types(batch_of_types const&) = delete;
  /// How many share the launch.
  int programs() const { return taken_ > 1 ? taken_ : 0; }
  /// Waits.
  void finish() {
    if constexpr (fits)
      if (auto const* const states = static_cast<char const*>(states_.wait()))
        for_each_item([&](auto i, auto& item) {
          if (takes_part_[i])
            std::memcpy(&item.states(), states + cut_.of[i].answer, sizeof item.states());
        });
  }

private:
  std::tuple<Items...>& items_;
  std::array<bool, count> takes_part_{};
  int taken_ = 0, ordinal_ = -1;
  batch_of_types_cut cut_{};
  std::array<gpu::staged_columns, count> staged_{};
  gpu::readback states_;

  /// f(number among those that may share the launch, item).
  template <class F>
  void for_each_item(F const& f) {
    for_each_index<int(sizeof...(Items))>([&](auto k) {
      using Item = std::tuple_element_t<k, std::tuple<Items...>>;
      if constexpr (decltype(program_in_batch<Item>())::size > 0)
        f(index_constant<number_of<k>()>{}, std::get<k>(items_));
    });
  }
  template <int K>
  static constexpr int number_of() {
    int n = 0, k = 0;
    ((n += k++ < K ? int(decltype(program_in_batch<Items>())::size) : 0), ...);
    return n;
  }
  /// Small ones, on the GPU of the first of them.
  template <class Place>
  void choose(Place where) {
    for_each_item([&](auto i, auto& item) {
      i64 const extent = item.program().extent;
      if (extent == 0 || item.large())
        return;
      int const ordinal = item.ordinal_in(where);
      if (ordinal < 0 || (ordinal_ >= 0 && ordinal != ordinal_))
        return;
      ordinal_ = ordinal;
      takes_part_[i] = true;
      ++taken_;
    });
  }
  template <class Place>
  void queue([[maybe_unused]] Place where, contract c) {
    static gpu::kernels_of<batch_of_types_plan> kernels;
    Argument programs = unpack_programs();
    gpu::batch_of_types_request r{{&type_of<Programs>()...}, {}, count, &kernels, &definitions_of<Programs...>, &programs, sizeof programs, ordinal_, {}};
    if constexpr (std::same_as<Place, on::gpu_place>)
      r.stream = where.queue;
    for_each_item([&](auto i, auto& item) {
      auto& p = get<i>(programs);
      facts f = facts_of(p, target{}, c);
      if (takes_part_[i]) {
        gpu::column_place places[max_sources]{};
        places_of(p, places);
        gpu::stage_columns(places, f.source_count, f.sources, ordinal_, r.stream, staged_[i]);
        item.is_taken();
      } else {
        f.extent = 0;
      }
      r.programs[i] = {f, type_of<std::remove_cvref_t<decltype(p)>>().words_per_partial, i64(sizeof item.states())};
    });
    states_ = gpu::enqueue(r, cut_);
  }
  Argument unpack_programs() {
    return [&]<int... K>(index_list<K...>) { return join_all(program_of_item<K>()...); }(indices_up_to<int(sizeof...(Items))>{});
  }
  template <int K>
  auto program_of_item() {
    if constexpr (decltype(program_in_batch<std::tuple_element_t<K, std::tuple<Items...>>>())::size > 0)
      return make_pack(std::get<K>(items_).program());
    else
      return pack<>{};
  }
};

/// The launch of the small reductions of a batch.
template <class... Items, class Place>
auto batch_of_types_in(std::tuple<Items...>& items, Place where, contract c) {
  return batch_of_types<std::tuple<Items...>, decltype(join_all(program_in_batch<Items>()...))>(items, where, c);
}

} // namespace tally::v0::detail
