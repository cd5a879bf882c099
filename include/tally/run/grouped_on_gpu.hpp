// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction with groupings on a GPU: what shares a read, and a launch for everything else, queued one behind the other. Layer 5.
#pragma once

#include <tally/run/begun_groupings.hpp>
#include <tally/run/grouped_items.hpp>

namespace tally::v0::detail {

/// What the reads of a reduction on a GPU share: its items, its folds of the whole, bound, its keyed groupings that may be beside others, and its
/// segments that may take turns.
template <bool Fast, class R, class Pipe, class Whole, class Keys, class Segments>
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
  Segments& segments_;
  on::gpu_place where_;
  contract c_;
  gpu::keys_of_read joined_{};
  bool segments_joined_ = false, each_joined_ = false;

public:
  shared_reads(R const& r, Pipe const& pipe, Whole const& whole, Keys& keys, Segments& segments, on::gpu_place where, contract c)
      : r_(r), pipe_(pipe), whole_(whole), keys_(keys), segments_(segments), where_(where), c_(c) {}

  auto run() {
    [[maybe_unused]] gpu::keys_of_read possible{};
    if constexpr (Domains::size > 0) {
      gpu::keys_beside_request* first[max_keys_beside]{};
      keys_.list(first, max_keys_beside);
      possible = gpu::plan_beside_each_other(first, where_.ordinal, any_exact_leaf(static_cast<decltype(whole_.program.leaves) const*>(nullptr)));
    }
    if constexpr (is_matrix) {
      if constexpr (Domains::size > 0)
        if (possible.any()) {
          joined_ = possible;
          auto both = mixed_read_of<matrix, keyed_domains<Domains>>(r_.folds, pipe_, whole_.program.leaves, where_, c_, false, &joined_);
          if (both.joins())
            return answers_of_matrix(both);
          joined_ = {};
        }
      auto alone = mixed_read_of<matrix>(r_.folds, pipe_, whole_.program.leaves, where_, c_);
      if (alone.joins())
        return answers_of_matrix(alone);
    }
    if constexpr (Segments::count > 0)
      if (gpu::queued_run queued{}; queue_in_turns(possible, queued))
        return answers([](auto) {}, [&] {
          auto states = whole_.program.identity();
          if constexpr (Program::leaf_count > 0)
            std::memcpy(&states, queued.states.wait(), sizeof states);
          return states;
        });
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
    return planning::keys_join_the_whole(n, Program::leaf_count > 0);
  }
  /// What is folded of the whole, and the keys beside.
  auto whole_with_keys() {
    static gpu::kernels_of<plan_beside<plan>> kernels;
    auto p = read_with_keys<Domains>(r_.pipe.source, whole_.program);
    using With = decltype(p);
    keys_.make_room(joined_);
    auto request = request_for(p, where_, c_);
    return whole_on_gpu<With>(p, [&] { return gpu::enqueue(request, joined_, kernels, &definitions_with_keys<With, Domains>); });
  }
  /// Queues segments that take turns with the folds of the whole and with keys; false where they do not.
  bool queue_in_turns(gpu::keys_of_read const& possible, gpu::queued_run& queued) {
    bool const any_whole = Program::leaf_count > 0 || possible.any();
    if (!planning::take_turns(Segments::count, any_whole) || !segments_.prepare())
      return false;
    auto p = read_with_keys<Domains>(r_.pipe.source, whole_.program);
    auto of_whole = request_for(p, where_, c_);
    auto turns = segments_.template request<decltype(p), Domains>(any_whole ? &of_whole : nullptr, possible);
    if (!gpu::plan_turns(turns, where_.ordinal).joins)
      return false;
    joined_ = possible;
    segments_joined_ = true;
    keys_.make_room(joined_);
    queued = gpu::enqueue(turns);
    return true;
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
    if constexpr (matrix.each >= 0)
      each_joined_ = read.planned().total_joins();
    else if (read.planned().total_joins())
      return answers(of_matrix, [&] { return read.total(); });
    whole_on_gpu<Program> of_whole(whole_.program, where_, c_);
    return answers(of_matrix, [&]() -> auto& { return of_whole.states(); }, [&] { return read.each_of(r_.pipe.source); });
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
  static constexpr bool may_take_turns = Segments::count > 0 && folds_segments<item<I>, Pipe>;
  template <int I>
  bool has_joined() const {
    if constexpr (is_matrix && I == matrix.each)
      return each_joined_;
    else if constexpr (may_take_turns<I>)
      return segments_joined_;
    else if constexpr (number_among_keys<I>() >= 0)
      return joined_.of[number_among_keys<I>()] != nullptr;
    else
      return false;
  }
  /// The answers of item I, which has joined.
  template <int I>
  auto fetch_joined() { // clang looks into the type of the keys where this is said in a lambda that is not called
    if constexpr (may_take_turns<I>)
      return segments_.template fetch<number_of_segments<I, Pipe>(static_cast<Items const*>(nullptr))>();
    else
      return keys_.template get<number_among_keys<I>()>().fetch();
  }
  struct no_batch {
    void operator()() const {} // clang looks at calls that are never made
  };
  /// All answers: `of_matrix` has those that a read of a matrix made, the others are nothing; `whole` waits for the states of the whole; `of_each` has the answers
  /// of every matrix of a batch.
  template <class OfMatrix, class WholeStates, class OfEach = no_batch>
  auto answers(OfMatrix const& of_matrix, WholeStates const& whole, [[maybe_unused]] OfEach const& of_each = {}) {
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
        if constexpr (is_matrix && I == matrix.each && !std::same_as<OfEach, no_batch>)
          if (has_joined<I>())
            return of_each();
        if constexpr (may_take_turns<I> || number_among_keys<I>() >= 0)
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
  constexpr bool segments = []<class... I>(pack<I...> const*) { return (false || ... || folds_segments<I, Pipe>); }(static_cast<Items const*>(nullptr));
  return Items::size > 1 && (keyed || segments || mixed_items_of<R>.any());
}

/// On a GPU, with as few reads as there need be: columns, rows and the whole of a matrix in one, or the whole, keys beside, and segments in turn.
template <bool Fast, class... Options, class R>
auto run_grouped_on_gpu(R const& r, on::gpu_place where, contract c) {
  if (gpu::device_count() == 0)
    throw no_gpu(gpu::why_no_device());
  auto const pipe = pipe_for<Options...>(r.pipe);
  using Pipe = std::remove_cvref_t<decltype(pipe)>;
  auto whole = bind_to(pipe, whole_folds(r.folds));
  check_folds(whole.program.leaves);
  if (where.ordinal < 0) {
    auto all = bind_to(pipe, pack<>{}).program;
    gpu::column_place places[max_sources]{};
    places_of(all, places);
    int const home = all.extent > 0 ? gpu::home_of(places, decltype(all.columns)::size) : -1;
    where.ordinal = home < 0 ? 0 : home;
  }
  auto const beside = [&] {
    if constexpr (may_share_reads<Options...>(static_cast<R const*>(nullptr)))
      return domains_beside<Fast>(r.folds, pipe);
    else
      return pack<>{};
  }();
  auto keys = keys_beside_of(beside, r.pipe.source, where, c);
  using Segments = decltype(segments_in_reduction(r, pipe));
  segments_in_turns<Segments> segments(segments_in_reduction(r, pipe), where, c);
  return shared_reads<Fast, R, Pipe, std::remove_cvref_t<decltype(whole)>, decltype(keys), decltype(segments)>(r, pipe, whole, keys, segments, where, c).run();
}

} // namespace tally::v0::detail
